//! Whom a Constraint may choose its points among, and what it has chosen.

use crate::constraint::Placed;
use crate::coupling;
use crate::error::Result;
use crate::offers::{Embedded, ObjectId, Offers};
use crate::surface::{Closest, Surface};
use crate::world::World;
use std::collections::BTreeMap;

/// Boundary particles of an Object, as emission sees them: those that things are held by.
pub struct End<'a> {
    /// The Object.
    pub object: ObjectId,
    /// Whether it is one of those that the Constraint's `to` names.
    pub is_target: bool,
    /// Where its particles are.
    pub placed: &'a [Placed],
    /// Their stable ids.
    pub ids: &'a [u64],
    /// Pairs of them that belong together, by their places in `placed`.
    pub edges: &'a [[u32; 2]],
    /// Which rigid body each is fixed to; empty where each moves by itself.
    pub bodies: &'a [u32],
    /// Pairs of them that carry the frames of two edges of a rod that meet, by their places in `placed`.
    pub joints: &'a [[u32; 2]],
    /// Which strand each is a vertex of; empty where they are not of strands.
    pub strands: &'a [u32],
    /// Its surface, if it is a target that has one and the Constraint [looks at it](super::Bond::looks_at_surfaces).
    pub surface: Option<&'a Surface<'a>>,
}

/// Whether the boundary particles of an Object are vertices of rods, for Constraints that only those can have.
pub fn are_rods(offers: &Offers) -> bool {
    matches!(offers.boundary, Some(Embedded::OnRods(_)))
}

/// The points of an element: which [`End`], and which particle of it.
pub type Points<const N: usize> = [(usize, u32); N];

/// What elements are between.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chosen<const N: usize> {
    /// The particles of each.
    pub points: Vec<Points<N>>,
    /// What each holds in place of its last particle, if that is the closest place on the surface of the particle's [`End`]; empty where no
    /// element is on a surface.
    pub on_surface: Vec<Option<Closest>>,
}

impl<const N: usize> From<Vec<Points<N>>> for Chosen<N> {
    fn from(points: Vec<Points<N>>) -> Self {
        Self { points, on_surface: Vec::new() }
    }
}

impl<const N: usize> Chosen<N> {
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    pub(super) fn on_surface(&self, element: usize) -> Option<&Closest> {
        self.on_surface.get(element).and_then(|closest| closest.as_ref())
    }

    /// Where the points of an element are.
    pub(super) fn placed(&self, element: usize, ends: &[End<'_>]) -> [Placed; N] {
        std::array::from_fn(|n| match (self.on_surface(element), self.points[element][n]) {
            (Some(closest), _) if n + 1 == N => closest.at,
            (_, (end, particle)) => ends[end].placed[particle as usize],
        })
    }

    /// The Objects and ids of the points of an element: of a place on a surface, the part that it is on, since all of it that moves as one
    /// is the same to whoever is held by it already.
    pub(super) fn key(&self, element: usize, ends: &[End<'_>]) -> Key<N> {
        let on_surface = self.on_surface(element);
        let of = |n: usize| match (on_surface, self.points[element][n]) {
            (Some(closest), (end, _)) if n + 1 == N => (end, closest.place.part()),
            (_, (end, particle)) => (end, ends[end].ids[particle as usize]),
        };
        let between = std::array::from_fn(|n| {
            let (end, id) = of(n);
            (ends[end].object.0 as u32, id)
        });
        (on_surface.is_some(), between)
    }
}

/// Whether the last point of an element is on a surface, and the Object and id of each.
pub(super) type Key<const N: usize> = (bool, [(u32, u64); N]);

/// What emission sees of an Object.
pub(super) struct Seen {
    pub object: ObjectId,
    pub is_target: bool,
    placed: Vec<Placed>,
    ids: Vec<u64>,
    edges: Vec<[u32; 2]>,
    bodies: Vec<u32>,
    joints: Vec<[u32; 2]>,
    strands: Vec<u32>,
}

impl Seen {
    /// An Object where it is now; one without boundary particles has nothing but a surface.
    pub fn of(world: &World, object: ObjectId, is_target: bool) -> Result<Self> {
        let offers = &world.object(object).offers;
        let Some(boundary) = &offers.boundary else {
            let (placed, ids, edges) = (Vec::new(), Vec::new(), Vec::new());
            let (bodies, joints, strands) = (Vec::new(), Vec::new(), Vec::new());
            return Ok(Self { object, is_target, placed, ids, edges, bodies, joints, strands });
        };
        let mut placed = coupling::placed(world, boundary, 0.0)?;
        let mut ids = coupling::ids(world, boundary)?;
        let mut bodies = coupling::bodies(world, boundary)?;
        let between = coupling::between(world, boundary, offers.between)?;
        if !between.is_empty() {
            // Nothing is held by what was added to touch with.
            let own: Vec<usize> =
                (0..between.len()).filter(|n| between[*n] == [*n as u32; 3]).collect();
            placed = own.iter().map(|n| placed[*n]).collect();
            ids = own.iter().map(|n| ids[*n]).collect();
            bodies = own.iter().filter_map(|n| bodies.get(*n).copied()).collect();
        }
        let by_id = Places::of(&ids);
        let edges = offers.edges.as_deref().unwrap_or(&[]);
        let place = |[a, b]: &[u64; 2]| Some([by_id.get(*a)?, by_id.get(*b)?]);
        Ok(Self {
            object,
            is_target,
            placed,
            edges: edges.iter().filter_map(place).collect(),
            bodies,
            joints: coupling::joints(world, boundary)?,
            strands: coupling::strands(world, boundary)?,
            ids,
        })
    }

    pub fn end<'a>(&'a self, surface: Option<&'a Surface<'a>>) -> End<'a> {
        End {
            object: self.object,
            is_target: self.is_target,
            placed: &self.placed,
            ids: &self.ids,
            edges: &self.edges,
            bodies: &self.bodies,
            joints: &self.joints,
            strands: &self.strands,
            surface,
        }
    }
}

/// Where particles are by their ids.
pub(crate) enum Places {
    /// Ids follow each other.
    Row { first: u64, count: u64 },
    /// Any ids.
    Any(BTreeMap<u64, u32>),
}

impl Places {
    pub fn of(ids: &[u64]) -> Self {
        let first = ids.first().copied().unwrap_or(0);
        let in_row = |(n, &id): (usize, &u64)| id == first.wrapping_add(n as u64);
        match ids.iter().enumerate().all(in_row) {
            true => Self::Row { first, count: ids.len() as u64 },
            false => Self::Any(ids.iter().enumerate().map(|(n, &id)| (id, n as u32)).collect()),
        }
    }

    #[inline]
    pub fn get(&self, id: u64) -> Option<u32> {
        match self {
            Self::Row { first, count } => {
                let place = id.wrapping_sub(*first);
                (place < *count).then_some(place as u32)
            }
            Self::Any(places) => places.get(&id).copied(),
        }
    }
}
