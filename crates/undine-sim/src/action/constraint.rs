//! Constraints as Actions: which points they act on, what they remember in channels, and how the coupled system sees them.
//!
//! A Constraint's mathematics is in [`constraint`](crate::constraint). What is added here is a [`Bond`]: it chooses its points
//! (*emission*), once or in every step, and gives each element its rest state. Elements, rest states, friction and
//! multipliers are channels of an [`ElementSet`], so that a run goes on after a crash as if nothing had been. Parameters that
//! vary from element to element are looked up when a substep begins, so that they follow channels and animated values.

use crate::arena::Id;
use crate::behavior::{Behavior, Ingest};
use crate::constraint::dahl::Dahl;
use crate::constraint::{Constraint, Placed};
use crate::coupling::{self, Coupling};
use crate::elements::ElementSet;
use crate::error::Result;
use crate::newton::element::Values as Spread;
use crate::newton::{ConstraintTerm, Damping, Embedded as Hung, Mode, Shape, Term};
use crate::offers::{Dofs, Embedded, ObjectId, Offers};
use crate::stage::Stage;
use crate::surface::{self, Closest, Place, Surface};
use crate::task::{Hosted, Moment, Reach, Tasks, Worker};
use crate::values::Values;
use crate::world::{StoreId, World};
use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::ChannelSpec;
use undine_schema::setup::Scope;
use undine_schema::{Dimension, Parameter};

/// How long motion of the rows takes to die away: every Constraint has it.
pub const DAMPING_TIME: Parameter = Parameter::number(
    "damping-time",
    Dimension::TIME,
    0.0,
    "relaxation time of Rayleigh damping: motion dies away within about as long as this",
)
.not_negative()
.usually(0.0, 10.0);

/// The limit of Dahl friction: every Constraint has it.
pub const FRICTION_LIMIT: Parameter = Parameter::number(
    "friction-limit",
    Dimension::FORCE,
    0.0,
    "force of inner friction, which does not depend on speed (Dahl)",
)
.not_negative()
.advanced();

/// The transition length of Dahl friction: every Constraint has it.
pub const FRICTION_LENGTH: Parameter = Parameter::number(
    "friction-length",
    Dimension::LENGTH,
    1e-3,
    "how far it goes after a turn until inner friction is nearly at its limit",
)
.positive()
.advanced();

/// Stiffness or multipliers: every Constraint has it.
pub const SOLVED_BY: Parameter = Parameter::choice(
    "solved-by",
    &[
        ("stiffness", "forces and their derivatives; for what is soft"),
        ("multipliers", "Lagrange multipliers; for what is stiff"),
    ],
    "how it enters the coupled system",
)
.advanced();

/// Elements that one task makes.
const ELEMENTS_PER_TASK: usize = 512;

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
    /// Its surface, if it is a target that has one and the Constraint [looks at it](Bond::looks_at_surfaces).
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
    fn len(&self) -> usize {
        self.points.len()
    }

    fn on_surface(&self, element: usize) -> Option<&Closest> {
        self.on_surface.get(element).and_then(|closest| closest.as_ref())
    }

    /// Where the points of an element are.
    fn placed(&self, element: usize, ends: &[End<'_>]) -> [Placed; N] {
        std::array::from_fn(|n| match (self.on_surface(element), self.points[element][n]) {
            (Some(closest), _) if n + 1 == N => closest.at,
            (_, (end, particle)) => ends[end].placed[particle as usize],
        })
    }

    /// The Objects and ids of the points of an element: of a place on a surface, the part that it is on, since all of it that moves as one
    /// is the same to whoever is held by it already.
    fn key(&self, element: usize, ends: &[End<'_>]) -> Key<N> {
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
type Key<const N: usize> = (bool, [(u32, u64); N]);

/// The channels of places on surfaces: the corners of a triangle and their weights; or a body, without further corners, and the offset on
/// it. Elements between particles have no corner at all.
const CORNERS: [&str; 3] = ["corner-0", "corner-1", "corner-2"];
const WEIGHTS: [&str; 3] = ["weight-0", "weight-1", "weight-2"];
const NO_CORNER: u64 = u64::MAX;

fn to_channels(place: Option<Place>) -> ([u64; 3], [f64; 3]) {
    match place {
        None => ([NO_CORNER; 3], [0.0; 3]),
        Some(Place::Between { corners, weights }) => (corners, weights),
        Some(Place::Fixed { body, offset }) => ([body, NO_CORNER, NO_CORNER], offset.to_array()),
    }
}

fn from_channels(corners: [u64; 3], weights: [f64; 3]) -> Option<Place> {
    match corners {
        [NO_CORNER, ..] => None,
        [body, NO_CORNER, _] => Some(Place::Fixed { body, offset: weights.into() }),
        corners => Some(Place::Between { corners, weights }),
    }
}

/// A Constraint that chooses its points.
pub trait Bond<const M: usize, const N: usize>:
    Constraint<M, N, Element: Pod> + Send + Sized + 'static
{
    /// The names of the numbers that an element remembers, in order: its rest state.
    const REST: &'static [&'static str];

    /// Parameters that may vary from element to element: their values stand in an element behind its rest state, in this
    /// order. Where points of an element have the parameter's channel, it is the mean of those; else that of the Objects
    /// whose input says so as a whole; else what the scene says.
    const VARIES: &'static [&'static str] = &[];

    /// Channels of its points that an element takes the mean of; they stand behind varying parameters, in this order. Objects
    /// whose boundary particles lack any of them have no elements.
    const MATERIAL: &'static [&'static str] = &[];

    /// Whether elements [keep](Self::keep) anything.
    const KEEPS: bool = false;

    /// Whether the last point of an element may be a place on the surface of a target.
    const ON_SURFACES: bool = false;

    /// Makes it from the values of its parameters.
    fn create(ingest: &mut Ingest<'_>) -> Result<Self>;

    /// Takes the values of this moment.
    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        *self = Self::create(ingest)?;
        Ok(())
    }

    /// Whether it can act on an Object that offers this.
    fn suits(_offers: &Offers) -> bool {
        true
    }

    /// Chooses points.
    fn emit(&self, ends: &[End<'_>]) -> Result<Chosen<N>>;

    /// Whether it is sure to choose no points, of Objects that have edges or have none: it takes no part then.
    fn is_idle(&self, _with_edges: bool) -> bool {
        false
    }

    /// Whether it looks at surfaces when it chooses points, if it [can be on them](Self::ON_SURFACES).
    fn looks_at_surfaces(&self) -> bool {
        Self::ON_SURFACES
    }

    /// Whether points are chosen anew in every step.
    fn emits_every_step(&self) -> bool {
        false
    }

    /// The rest state of an element that begins here. What it says of varying parameters is not read.
    fn rest(&self, at: &[Placed; N]) -> Self::Element;

    /// What an element keeps of where a step has ended, beside friction and multipliers; nothing, usually.
    fn keep(&self, _element: &mut Self::Element, _at: &[Placed; N]) {}

    /// Whether any of its rows is hard, so that only multipliers can hold it.
    fn is_hard(&self) -> bool {
        false
    }

    /// How far its elements reach.
    fn reach(&self) -> Reach {
        Reach::Local
    }
}

/// What emission sees of an Object.
struct Seen {
    object: ObjectId,
    is_target: bool,
    placed: Vec<Placed>,
    ids: Vec<u64>,
    edges: Vec<[u32; 2]>,
    bodies: Vec<u32>,
    joints: Vec<[u32; 2]>,
    strands: Vec<u32>,
}

impl Seen {
    /// An Object where it is now; one without boundary particles has nothing but a surface.
    fn of(world: &World, object: ObjectId, is_target: bool) -> Result<Self> {
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

    fn end<'a>(&'a self, surface: Option<&'a Surface<'a>>) -> End<'a> {
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

/// Elements between the same Objects.
struct Batch<E, const M: usize, const N: usize> {
    objects: [ObjectId; N],
    /// What the last points of all its elements are, if that is not particles: element n has place n.
    on_surface: Option<OnSurface>,
    /// Their places in the store.
    places: Vec<u32>,
    elements: Vec<E>,
    stencil: Vec<[u32; N]>,
    start: Vec<[f64; M]>,
    friction: Vec<[f64; M]>,
    multipliers: Vec<[f64; M]>,
}

/// Places on the surface of an Object.
struct OnSurface {
    places: Vec<Place>,
    /// How they hang on unknowns, and where they are.
    shape: Shape,
    placed: Vec<Placed>,
    /// Whether those that the scene moves are where this substep has them.
    is_led: bool,
}

/// A Constraint and the Objects in its scope.
pub(crate) struct Bound<B: Bond<M, N>, const M: usize, const N: usize> {
    bond: B,
    label: &'static str,
    scope: Arc<Scope>,
    store: Id<ElementSet>,
    ends: Vec<(ObjectId, bool)>,
    damping: Rows<M>,
    /// The time [s] that its elements have their values of.
    time: f64,
    batches: Vec<Batch<B::Element, M, N>>,
}

/// How rows are damped and solved.
#[derive(Debug, Clone, Copy)]
struct Rows<const M: usize> {
    relaxation: f64,
    dahl: Option<[Dahl; M]>,
    mode: Mode,
}

impl<const M: usize> Rows<M> {
    fn of(scope: &Scope, time: f64, hard: bool) -> Result<Self> {
        let values = Values::new(scope, time);
        let declared =
            |parameter: &Parameter| scope.declaration.parameter(parameter.name).is_some();
        let number = |parameter: &Parameter| match declared(parameter) {
            true => values.number(parameter.name),
            false => Ok(0.0),
        };
        let (limit, length) = (number(&FRICTION_LIMIT)?, number(&FRICTION_LENGTH)?);
        let multipliers = declared(&SOLVED_BY) && values.text(SOLVED_BY.name)? == "multipliers";
        Ok(Self {
            relaxation: number(&DAMPING_TIME)?,
            dahl: (limit > 0.0).then_some([Dahl { limit, length }; M]),
            mode: if multipliers || hard { Mode::Compliance } else { Mode::Stiffness },
        })
    }
}

/// "Springs."
pub(crate) struct ConstraintBehavior<B: Bond<M, N>, const M: usize, const N: usize> {
    action: Option<Hosted<Bound<B, M, N>>>,
}

impl<B: Bond<M, N>, const M: usize, const N: usize> ConstraintBehavior<B, M, N> {
    pub fn new() -> Self {
        Self { action: None }
    }
}

impl<B: Bond<M, N>, const M: usize, const N: usize> Behavior for ConstraintBehavior<B, M, N> {
    fn ingest(&mut self, _: &mut Ingest<'_>) -> Result<()> {
        Ok(())
    }

    fn bind(&mut self, ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<()> {
        let declaration = ingest.scope.declaration;
        let to = declaration.parameter("to").map(|_| ingest.values().optional_text("to"));
        let targets = to.transpose()?.flatten().map_or(Vec::new(), |path| (ingest.targets)(&path));
        let mut ends: Vec<(ObjectId, bool)> =
            scope.iter().map(|object| (*object, targets.contains(object))).collect();
        let outside = targets.iter().filter(|object| !scope.contains(object));
        ends.extend(outside.map(|object| (*object, true)));
        ends.retain(|(object, is_target)| {
            let offers = &ingest.world.object(*object).offers;
            let on_surface = B::ON_SURFACES && *is_target && surface::is_offered(offers);
            (offers.boundary.is_some() || on_surface) && B::suits(offers)
        });
        if ends.is_empty() {
            return Ok(());
        }
        let bond = B::create(ingest)?;
        let edges = |object: &ObjectId| ingest.world.object(*object).offers.edges.as_deref();
        if bond.is_idle(ends.iter().any(|(object, _)| edges(object).is_some_and(|e| !e.is_empty())))
        {
            return Ok(());
        }
        let mut elements = ElementSet::new(ingest.path);
        for n in 0..N {
            elements.add_channel(&ChannelSpec::new(format!("object-{n}"), 0_u32))?;
            elements.add_channel(&ChannelSpec::new(format!("point-{n}"), 0_u64))?;
        }
        if B::ON_SURFACES {
            for (corner, weight) in CORNERS.into_iter().zip(WEIGHTS) {
                elements.add_channel(&ChannelSpec::new(corner, NO_CORNER))?;
                elements.add_channel(&ChannelSpec::new(weight, 0.0_f64))?;
            }
        }
        for name in B::REST {
            elements.add_channel(&ChannelSpec::new(*name, 0.0_f64))?;
        }
        for m in 0..M {
            elements.add_channel(&ChannelSpec::new(format!("friction-{m}"), 0.0_f64))?;
            elements.add_channel(&ChannelSpec::new(format!("multiplier-{m}"), 0.0_f64))?;
        }
        for (object, _) in &ends {
            ingest.world.objects[object.0].coupled = true;
        }
        let store = ingest.world.elements.add(elements);
        let damping = Rows::of(ingest.scope, ingest.time, bond.is_hard())?;
        let label = declaration.name;
        let scope = Arc::new(ingest.scope.clone());
        let time = ingest.time;
        let bound = Bound { bond, label, scope, store, ends, damping, time, batches: Vec::new() };
        let mut action = Hosted::new(bound);
        let world = &*ingest.world;
        action.host(|bound, on| bound.tasks(on, world));
        self.action = Some(action);
        Ok(())
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        let Some(action) = &mut self.action else { return Ok(()) };
        action.it.bond.update(ingest)?;
        action.it.damping = Rows::of(ingest.scope, ingest.time, action.it.bond.is_hard())?;
        Ok(())
    }

    fn workers(&mut self) -> Vec<&mut dyn Worker> {
        self.action.iter_mut().map(|action| action as &mut dyn Worker).collect()
    }

    fn coupling(&mut self) -> Option<&mut dyn Coupling> {
        self.action.as_mut().map(|action| &mut action.it as &mut dyn Coupling)
    }

    fn elastic_energy(&self, world: &World) -> Result<f64> {
        self.action.as_ref().map_or(Ok(0.0), |action| action.it.elastic_energy(world))
    }
}

/// What elements remember, by the points they are between: numbers, and the place on a surface.
type Memories<const N: usize> = BTreeMap<Key<N>, (Vec<f64>, Option<Place>)>;

impl<B: Bond<M, N>, const M: usize, const N: usize> Bound<B, M, N> {
    fn tasks(&self, on: &mut Tasks<Self>, world: &World) {
        let mut stores: Vec<StoreId> = Vec::new();
        for (object, _) in &self.ends {
            let offers = &world.object(*object).offers;
            stores.extend(offers.boundary.map(|boundary| boundary.store()));
            stores.extend(offers.dofs.map(|dofs| dofs.store()));
            let solids = offers.solids.as_ref().filter(|_| B::ON_SURFACES);
            stores.extend(solids.map(|solids| StoreId::from(solids.bodies.centres.points)));
        }
        stores.sort();
        stores.dedup();
        let read = || stores.iter().map(|store| store.everything());
        let own = StoreId::from(self.store);
        let emit = on.task(Stage::ChoosePoints, "choose points", Self::emit);
        let emit = emit.reads(read()).writes([own.everything()]);
        if self.bond.reach() == Reach::Everywhere {
            emit.reaches_everywhere();
        }
        on.task(Stage::Remember, "remember", Self::remember)
            .reads(read())
            .writes([own.everything()]);
    }

    /// Chooses points if it is time to, and gathers the elements of this substep.
    fn emit(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        if now.count == 0 || self.bond.emits_every_step() {
            self.choose(world, now)?;
        }
        self.gather(world, now.time + now.step, now.time)
    }

    fn choose(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let seen = self
            .ends
            .iter()
            .map(|(object, is_target)| Seen::of(world, *object, *is_target))
            .collect::<Result<Vec<_>>>()?;
        let surface = |end: &Seen| match self.bond.looks_at_surfaces() && end.is_target {
            true => Surface::of(world, end.object, now.time),
            false => Ok(None),
        };
        let surfaces = seen.iter().map(surface).collect::<Result<Vec<_>>>()?;
        for (surface, (object, _)) in surfaces.iter().zip(&self.ends).filter(|_| now.count == 0) {
            let flat = surface.as_ref().map_or(0, Surface::flat_triangles);
            if flat > 0 {
                let path = &world.object(*object).path;
                tracing::warn!(
                    "{flat} triangles of `{path}` have no area: nothing is held by them"
                );
            }
        }
        let ends: Vec<End<'_>> =
            seen.iter().zip(&surfaces).map(|(seen, surface)| seen.end(surface.as_ref())).collect();
        let chosen = self.bond.emit(&ends)?;
        drop(ends);
        drop(surfaces);
        let ends: Vec<End<'_>> = seen.iter().map(|seen| seen.end(None)).collect();
        let elements = &mut world.elements[self.store];
        let known = self.known(elements)?;
        let kept = |element: usize| match known.is_empty() {
            true => None,
            false => known.get(&chosen.key(element, &ends)),
        };
        elements.resize(0);
        elements.resize(chosen.len());
        for n in 0..N {
            let mut objects =
                elements.column_mut(elements.handle::<u32>(&format!("object-{n}"))?)?;
            let mut points = elements.column_mut(elements.handle::<u64>(&format!("point-{n}"))?)?;
            for element in 0..chosen.len() {
                (objects[element], points[element]) = chosen.key(element, &ends).1[n];
            }
        }
        if B::ON_SURFACES {
            // Who is held by a surface stays where it is held.
            let place = |element: usize| {
                let new = chosen.on_surface(element).map(|closest| closest.place);
                to_channels(kept(element).map_or(new, |(_, place)| *place))
            };
            let places: Vec<_> = (0..chosen.len()).map(place).collect();
            for k in 0..3 {
                let mut corner = elements.column_mut(elements.handle::<u64>(CORNERS[k])?)?;
                let mut weight = elements.column_mut(elements.handle::<f64>(WEIGHTS[k])?)?;
                for (element, (corners, weights)) in places.iter().enumerate() {
                    (corner[element], weight[element]) = (corners[k], weights[k]);
                }
            }
        }
        for (k, name) in B::REST.iter().enumerate() {
            let mut column = elements.column_mut(elements.handle::<f64>(name)?)?;
            for element in 0..chosen.len() {
                let rest = self.bond.rest(&chosen.placed(element, &ends));
                let numbers: &[f64] = bytemuck::cast_slice(std::slice::from_ref(&rest));
                column[element] = numbers[k];
            }
        }
        // Those that were there before stay what they were: rest state, friction and multipliers.
        for (k, name) in self.memory().iter().enumerate() {
            let mut column = elements.column_mut(elements.handle::<f64>(name)?)?;
            for element in 0..chosen.len() {
                if let Some((numbers, _)) = kept(element) {
                    column[element] = numbers[k];
                }
            }
        }
        Ok(())
    }

    /// The channels of what an element remembers.
    fn memory(&self) -> Vec<String> {
        let rows = (0..M).flat_map(|m| [format!("friction-{m}"), format!("multiplier-{m}")]);
        B::REST.iter().map(|name| (*name).to_owned()).chain(rows).collect()
    }

    /// What the elements there are remember, by the points they are between.
    fn known(&self, elements: &ElementSet) -> Result<Memories<N>> {
        let mut objects = Vec::with_capacity(N);
        let mut points = Vec::with_capacity(N);
        for n in 0..N {
            objects.push(elements.column(elements.handle::<u32>(&format!("object-{n}"))?)?);
            points.push(elements.column(elements.handle::<u64>(&format!("point-{n}"))?)?);
        }
        let memory: Vec<_> = self
            .memory()
            .iter()
            .map(|name| elements.column(elements.handle::<f64>(name)?))
            .collect::<Result<_>>()?;
        let places = self.places(elements)?;
        let between =
            |element: usize| std::array::from_fn(|n| (objects[n][element], points[n][element]));
        let numbers = |element: usize| memory.iter().map(|column| column[element]).collect();
        let known = |element: usize| {
            let place = places.get(element).copied().flatten();
            ((place.is_some(), between(element)), (numbers(element), place))
        };
        Ok((0..elements.len()).map(known).collect())
    }

    /// The place on a surface of each element that has one; empty where none can have one.
    fn places(&self, elements: &ElementSet) -> Result<Vec<Option<Place>>> {
        if !B::ON_SURFACES {
            return Ok(Vec::new());
        }
        let (mut corners, mut weights) = (Vec::with_capacity(3), Vec::with_capacity(3));
        for k in 0..3 {
            corners.push(elements.column(elements.handle::<u64>(CORNERS[k])?)?);
            weights.push(elements.column(elements.handle::<f64>(WEIGHTS[k])?)?);
        }
        let place = |element: usize| {
            let corners = std::array::from_fn(|k| corners[k][element]);
            from_channels(corners, std::array::from_fn(|k| weights[k][element]))
        };
        Ok((0..elements.len()).map(place).collect())
    }

    /// The elements of this substep with values as they are at `time` [s], and their rows where it begins, `now` [s], for damping and
    /// friction, if there are any.
    fn gather(&mut self, world: &World, time: f64, now: f64) -> Result<()> {
        self.time = time;
        self.batches = self.gathered(world, now)?;
        let (bond, damping) = (&self.bond, self.damping);
        let damped = damping.relaxation != 0.0 || damping.dahl.is_some();
        for batch in self.batches.iter_mut().filter(|_| damped) {
            let placed = batch.placed(world, 0.0)?;
            let mut start = std::mem::take(&mut batch.start);
            let rows = Rows { relaxation: 0.0, dahl: None, ..damping };
            batch.still(self.label, bond, rows, &placed).values(&mut start)?;
            batch.start = start;
        }
        Ok(())
    }

    /// ½ Cᵀ S C of all elements where their points are [J], but for hard rows, which hold no energy; added up in order.
    fn elastic_energy(&self, world: &World) -> Result<f64> {
        let mut sum = 0.0;
        // Points may have come and gone since the elements were gathered.
        for batch in self.gathered(world, self.time)? {
            let placed = batch.placed(world, 0.0)?;
            let places = batch.points(&placed);
            for (element, stencil) in batch.elements.iter().zip(&batch.stencil) {
                let at = std::array::from_fn(|n| places[n][stencil[n] as usize]);
                let value = self.bond.evaluate(element, &at).value;
                let force = self.bond.scaling(element).times(&value);
                let soft = force.iter().zip(&value).filter(|(force, _)| force.is_finite());
                sum += soft.map(|(force, value)| 0.5 * force * value).sum::<f64>();
            }
        }
        Ok(sum)
    }

    /// From channels to elements of the system, by the Objects they are between. Places on surfaces are where they are `now` [s].
    fn gathered(&self, world: &World, now: f64) -> Result<Vec<Batch<B::Element, M, N>>> {
        let elements = &world.elements[self.store];
        let mut objects = Vec::with_capacity(N);
        let mut points = Vec::with_capacity(N);
        for n in 0..N {
            objects.push(elements.column(elements.handle::<u32>(&format!("object-{n}"))?)?);
            points.push(elements.column(elements.handle::<u64>(&format!("point-{n}"))?)?);
        }
        let rest: Vec<_> = B::REST
            .iter()
            .map(|name| elements.column(elements.handle::<f64>(name)?))
            .collect::<Result<_>>()?;
        let rows = |what: &str| -> Result<Vec<_>> {
            (0..M)
                .map(|m| elements.column(elements.handle::<f64>(&format!("{what}-{m}"))?))
                .collect()
        };
        let (friction, multipliers) = (rows("friction")?, rows("multiplier")?);
        let mut by_id = BTreeMap::new();
        let values = Values::new(&self.scope, self.time);
        let mut uniform: Vec<f64> =
            B::VARIES.iter().map(|name| values.number(name)).collect::<Result<_>>()?;
        uniform.resize(B::VARIES.len() + B::MATERIAL.len(), 0.0);
        for (object, _) in &self.ends {
            let boundary = world.object(*object).offers.boundary.as_ref();
            let ids = boundary.map_or(Ok(Vec::new()), |boundary| coupling::ids(world, boundary))?;
            let mut varying = Varying::all(world, *object, boundary, values, B::VARIES)?;
            for name in B::MATERIAL {
                let channel = boundary.map(|boundary| coupling::numbers(world, boundary, name));
                let channel = channel.transpose()?.flatten();
                varying.push(Varying { channel, attribute: None });
            }
            by_id.insert(*object, (varying, Places::of(&ids)));
        }
        let places = self.places(elements)?;
        let on_surface = |element: usize| places.get(element).copied().flatten();
        let objects: Vec<&[u32]> = objects.iter().map(|column| &column[..]).collect();
        let points: Vec<&[u64]> = points.iter().map(|column| &column[..]).collect();
        let rest: Vec<&[f64]> = rest.iter().map(|column| &column[..]).collect();
        let friction: Vec<&[f64]> = friction.iter().map(|column| &column[..]).collect();
        let multipliers: Vec<&[f64]> = multipliers.iter().map(|column| &column[..]).collect();
        let mut batches: BTreeMap<([ObjectId; N], bool), Batch<B::Element, M, N>> = BTreeMap::new();
        let mut element = 0;
        while element < elements.len() {
            // Elements between the same Objects mostly follow each other.
            let of = |element: usize| -> ([ObjectId; N], bool) {
                let between = std::array::from_fn(|n| ObjectId(objects[n][element] as usize));
                (between, on_surface(element).is_some())
            };
            let (between, is_on_surface) = of(element);
            let end = (element..elements.len()).find(|&e| of(e) != (between, is_on_surface));
            let run = element..end.unwrap_or(elements.len());
            element = run.end;
            let mut known = Vec::with_capacity(N);
            known.extend(between.iter().filter_map(|object| by_id.get(object)));
            // What is not an end of this Constraint any more is not held.
            if known.len() < N {
                continue;
            }
            let batch = batches
                .entry((between, is_on_surface))
                .or_insert_with(|| Batch::new(between, is_on_surface, world));
            let particles = if is_on_surface { N - 1 } else { N };
            let held = |element: usize| -> Option<(usize, [u32; N])> {
                let mut stencil = [0; N];
                let place = |n: usize| known[n].1.get(points[n][element]);
                // What has left its Object, to another Group or a sink, is not held any more.
                let is_there = |n: usize| place(n).map(|place| stencil[n] = place).is_some();
                (0..particles).all(is_there).then_some((element, stencil))
            };
            let run = run.into_par_iter().with_min_len(ELEMENTS_PER_TASK);
            let mut held: Vec<(usize, [u32; N])> = run.filter_map(held).collect();
            if let Some(surface) = &mut batch.on_surface {
                surface.add(&mut held, world, between[N - 1], on_surface, now)?;
            }
            let made = |&(element, stencil): &(usize, [u32; N])| -> B::Element {
                let mut made = B::Element::zeroed();
                let numbers: &mut [f64] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut made));
                let (own, varying) = numbers.split_at_mut(rest.len());
                own.iter_mut().zip(&rest).for_each(|(own, column)| *own = column[element]);
                let particle = |n: usize| (n < particles).then_some(stencil[n]);
                let at: [_; N] = std::array::from_fn(|n| (&known[n].0, particle(n)));
                for (k, (value, uniform)) in varying.iter_mut().zip(&uniform).enumerate() {
                    *value = Varying::of(k, &at, *uniform);
                }
                made
            };
            let rows = |all: &[&[f64]], element: usize| std::array::from_fn(|m| all[m][element]);
            let held = held.par_iter().with_min_len(ELEMENTS_PER_TASK);
            batch.places.par_extend(held.clone().map(|held| held.0 as u32));
            batch.stencil.par_extend(held.clone().map(|held| held.1));
            batch.elements.par_extend(held.clone().map(made));
            batch.friction.par_extend(held.clone().map(|held| rows(&friction, held.0)));
            batch.multipliers.par_extend(held.map(|held| rows(&multipliers, held.0)));
        }
        Ok(batches.into_values().collect())
    }

    /// What elements know of their rest state goes into channels.
    fn keep_rest(&self, world: &World) -> Result<()> {
        let elements = &world.elements[self.store];
        for (k, name) in B::REST.iter().enumerate() {
            let mut column = elements.column_mut(elements.handle::<f64>(name)?)?;
            for batch in &self.batches {
                for (element, &place) in batch.elements.iter().zip(&batch.places) {
                    let numbers: &[f64] = bytemuck::cast_slice(std::slice::from_ref(element));
                    column[place as usize] = numbers[k];
                }
            }
        }
        Ok(())
    }

    /// What friction and multipliers have become goes into channels.
    fn remember(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let follows = self.damping.dahl.is_some() || B::KEEPS;
        for batch in self.batches.iter_mut().filter(|_| follows) {
            let end = now.time + now.step;
            let object = batch.objects[N - 1];
            if let Some(surface) = &mut batch.on_surface {
                surface.follow(world, object, end)?;
            }
            let placed = batch.placed(world, now.step)?;
            let mut friction = Vec::new();
            batch.still(self.label, &self.bond, self.damping, &placed).friction(&mut friction)?;
            if !friction.is_empty() {
                batch.friction = friction;
            }
            if B::KEEPS {
                let mut elements = std::mem::take(&mut batch.elements);
                let places = batch.points(&placed);
                let each = elements.par_iter_mut().with_min_len(ELEMENTS_PER_TASK);
                each.zip(&batch.stencil).for_each(|(element, stencil)| {
                    let at = std::array::from_fn(|n| places[n][stencil[n] as usize]);
                    self.bond.keep(element, &at);
                });
                batch.elements = elements;
            }
        }
        let elements = &world.elements[self.store];
        if B::KEEPS {
            self.keep_rest(world)?;
        }
        // What nothing changes in a step is in its channel already.
        let changes = [
            ("friction", self.damping.dahl.is_some()),
            ("multiplier", self.damping.mode == Mode::Compliance),
        ];
        for (what, _) in changes.into_iter().filter(|(_, changes)| *changes) {
            for m in 0..M {
                let mut column =
                    elements.column_mut(elements.handle::<f64>(&format!("{what}-{m}"))?)?;
                for batch in &self.batches {
                    let rows =
                        if what == "friction" { &batch.friction } else { &batch.multipliers };
                    for (row, &place) in rows.iter().zip(&batch.places) {
                        column[place as usize] = row[m];
                    }
                }
            }
        }
        Ok(())
    }
}

impl<E: Pod + Send + Sync, const M: usize, const N: usize> Batch<E, M, N> {
    fn new(objects: [ObjectId; N], is_on_surface: bool, world: &World) -> Self {
        Self {
            objects,
            on_surface: is_on_surface.then(|| OnSurface::new(world, objects[N - 1])),
            places: Vec::new(),
            elements: Vec::new(),
            stencil: Vec::new(),
            start: Vec::new(),
            friction: Vec::new(),
            multipliers: Vec::new(),
        }
    }

    fn placed(&self, world: &World, ahead: f64) -> Result<BTreeMap<ObjectId, Vec<Placed>>> {
        let mut placed = BTreeMap::new();
        for object in self.objects {
            if let (Some(boundary), false) =
                (world.object(object).offers.boundary, placed.contains_key(&object))
            {
                placed.insert(object, coupling::placed(world, &boundary, ahead)?);
            }
        }
        Ok(placed)
    }

    /// Where the points of its elements are, by their numbers in the stencil.
    fn points<'a>(&'a self, placed: &'a BTreeMap<ObjectId, Vec<Placed>>) -> [&'a [Placed]; N] {
        std::array::from_fn(|n| match &self.on_surface {
            Some(surface) if n + 1 == N => &surface.placed[..],
            _ => placed.get(&self.objects[n]).map_or(&[][..], |placed| placed),
        })
    }

    /// Its elements with everything nailed down where it is.
    fn still<'a, B: Bond<M, N> + Constraint<M, N, Element = E>>(
        &'a self,
        name: &'a str,
        bond: &'a B,
        rows: Rows<M>,
        placed: &'a BTreeMap<ObjectId, Vec<Placed>>,
    ) -> ConstraintTerm<'a, B, M, N> {
        self.term(name, bond, rows, self.points(placed).map(Hung::fixed))
    }

    /// Its elements, given how each Object's particles hang on unknowns.
    fn hanging<'a, B: Bond<M, N> + Constraint<M, N, Element = E>>(
        &'a self,
        name: &'a str,
        bond: &'a B,
        rows: Rows<M>,
        hung: &dyn Fn(ObjectId) -> Hung<'a>,
    ) -> ConstraintTerm<'a, B, M, N> {
        let embedded = std::array::from_fn(|n| match &self.on_surface {
            Some(surface) if n + 1 == N => {
                hung(self.objects[n]).others(&surface.shape, &surface.placed)
            }
            _ => hung(self.objects[n]),
        });
        self.term(name, bond, rows, embedded)
    }

    fn term<'a, B: Bond<M, N> + Constraint<M, N, Element = E>>(
        &'a self,
        name: &'a str,
        bond: &'a B,
        rows: Rows<M>,
        embedded: [Hung<'a>; N],
    ) -> ConstraintTerm<'a, B, M, N> {
        ConstraintTerm {
            name,
            constraint: bond,
            elements: &self.elements,
            stencil: &self.stencil,
            embedded,
            mode: rows.mode,
            damping: Damping {
                relaxation: Spread::All(rows.relaxation),
                dahl: rows.dahl.map(Spread::All),
                start: &self.start,
                friction: &self.friction,
            },
            multipliers: &self.multipliers,
        }
    }
}

impl OnSurface {
    /// None yet, on the surface of this Object.
    fn new(world: &World, object: ObjectId) -> Self {
        let shape = match world.object(object).offers.dofs {
            Some(Dofs::Bodies(_)) => Shape::Rigid { body: Vec::new(), rest: Vec::new() },
            _ => Shape::Fixed,
        };
        Self { places: Vec::new(), shape, placed: Vec::new(), is_led: false }
    }

    /// Adds the places of these elements, and strikes out elements whose place is not there any more.
    fn add<const N: usize>(
        &mut self,
        elements: &mut Vec<(usize, [u32; N])>,
        world: &World,
        object: ObjectId,
        place: impl Fn(usize) -> Option<Place>,
        now: f64,
    ) -> Result<()> {
        let places: Vec<Place> = elements.iter().filter_map(|held| place(held.0)).collect();
        let mut found = places.iter().zip(surface::placed(world, object, &places, now)?);
        elements.retain_mut(|(_, stencil)| {
            let Some((place, Some(placed))) = found.next() else { return false };
            stencil[N - 1] = self.places.len() as u32;
            if let (Shape::Rigid { body, rest }, Place::Fixed { body: number, offset }) =
                (&mut self.shape, place)
            {
                body.push(*number as u32);
                rest.push(Placed::at(*offset));
            }
            self.places.push(*place);
            self.placed.push(placed);
            true
        });
        Ok(())
    }

    /// Goes where the World has the surface at a time [s]. What has vanished since the substep began stays where it was.
    fn follow(&mut self, world: &World, object: ObjectId, time: f64) -> Result<()> {
        let found = surface::placed(world, object, &self.places, time)?;
        for (placed, found) in self.placed.iter_mut().zip(found) {
            *placed = found.unwrap_or(*placed);
        }
        Ok(())
    }
}

impl<B: Bond<M, N>, const M: usize, const N: usize> Coupling for Bound<B, M, N> {
    fn objects(&self) -> Vec<ObjectId> {
        self.ends.iter().map(|(object, _)| *object).collect()
    }

    fn take_elements(&mut self, world: &World, time: f64) -> Result<()> {
        self.gather(world, time, time)
    }

    fn follow<'a>(&mut self, world: &World, hung: &dyn Fn(ObjectId) -> Hung<'a>) -> Result<()> {
        let time = self.time;
        for batch in &mut self.batches {
            let object = batch.objects[N - 1];
            let Some(surface) = &mut batch.on_surface else { continue };
            match &surface.shape {
                // What the scene moves stays where it is while a substep is solved.
                Shape::Fixed if surface.is_led => {}
                Shape::Fixed => {
                    surface.follow(world, object, time)?;
                    surface.is_led = true;
                }
                shape => shape.place(&[], hung(object).bodies(), &mut surface.placed)?,
            }
        }
        Ok(())
    }

    fn terms<'a>(&'a self, hung: &dyn Fn(ObjectId) -> Hung<'a>) -> Vec<Box<dyn Term + 'a>> {
        let term = |batch: &'a Batch<B::Element, M, N>| {
            let term = batch.hanging(self.label, &self.bond, self.damping, hung);
            Box::new(term) as Box<dyn Term + 'a>
        };
        self.batches.iter().map(term).collect()
    }

    fn parameters(&self) -> Vec<(f64, [f64; 2])> {
        let elements = self.batches.iter().flat_map(|batch| &batch.elements);
        let of = |element: &B::Element| {
            let mut element = *element;
            let bounds: Vec<[f64; 2]> =
                (0..B::REST_PARAMETERS).map(|p| self.bond.bounds(&element, p)).collect();
            let value = |p: usize| self.bond.parameter(&mut element, p).map_or(0.0, |value| *value);
            (0..B::REST_PARAMETERS).map(value).zip(bounds).collect::<Vec<_>>()
        };
        elements.flat_map(of).collect()
    }

    fn set_parameters<'v>(&mut self, values: &'v [f64]) -> &'v [f64] {
        let mut rest = values.iter();
        for element in self.batches.iter_mut().flat_map(|batch| &mut batch.elements) {
            for p in 0..B::REST_PARAMETERS {
                if let (Some(own), Some(value)) = (self.bond.parameter(element, p), rest.next()) {
                    *own = *value;
                }
            }
        }
        rest.as_slice()
    }

    fn keep_parameters(&mut self, world: &World, time: f64) -> Result<()> {
        self.keep_rest(world)?;
        // What holds in balance is where multipliers begin.
        if self.damping.mode == Mode::Compliance {
            let elements = &world.elements[self.store];
            for batch in &self.batches {
                let placed = batch.placed(world, 0.0)?;
                let places = batch.points(&placed);
                for (n, &place) in batch.places.iter().enumerate() {
                    let at = std::array::from_fn(|k| places[k][batch.stencil[n][k] as usize]);
                    let value = self.bond.evaluate(&batch.elements[n], &at).value;
                    let force = self.bond.scaling(&batch.elements[n]).times(&value);
                    for (m, force) in force.into_iter().enumerate().filter(|(_, f)| f.is_finite()) {
                        let handle = elements.handle::<f64>(&format!("multiplier-{m}"))?;
                        elements.column_mut(handle)?[place as usize] = -force;
                    }
                }
            }
        }
        self.gather(world, time, time)
    }

    fn take_multipliers(&mut self, found: &mut dyn Iterator<Item = Vec<f64>>) {
        for (batch, found) in self.batches.iter_mut().zip(found) {
            for (multipliers, found) in batch.multipliers.iter_mut().zip(found.chunks_exact(M)) {
                multipliers.copy_from_slice(found);
            }
        }
    }
}

/// What one Object says of a parameter that may vary.
struct Varying {
    /// By its particles' channel.
    channel: Option<Vec<f64>>,
    /// By what its input says of it as a whole.
    attribute: Option<f64>,
}

impl Varying {
    fn all(
        world: &World,
        object: ObjectId,
        boundary: Option<&Embedded>,
        values: Values<'_>,
        parameters: &[&str],
    ) -> Result<Vec<Self>> {
        let attributes = &world.object(object).attributes;
        let mut all = Vec::with_capacity(parameters.len());
        for name in parameters {
            let channel = values.channel_of(name);
            let attribute = match channel.is_some_and(|channel| attributes.contains_key(channel)) {
                true => Some(values.of_object(attributes).number(name)?),
                false => None,
            };
            let channel = match channel.zip(boundary) {
                Some((channel, boundary)) => coupling::numbers(world, boundary, channel)?,
                None => None,
            };
            for (n, value) in channel.iter().flatten().enumerate() {
                values.check(name, n as u64, &[*value])?;
            }
            all.push(Self { channel, attribute });
        }
        Ok(all)
    }

    /// The value for an element: of parameter `k`, on points of Objects, of which places on surfaces have no channels.
    #[inline(always)]
    fn of<const N: usize>(k: usize, points: &[(&Vec<Self>, Option<u32>); N], uniform: f64) -> f64 {
        let (mut channels, mut attributes) = ((0.0, 0.0), (0.0, 0.0));
        let add = |(count, sum): &mut (f64, f64), value: f64| {
            *count += 1.0;
            *sum += value;
        };
        for (varying, particle) in points {
            if let (Some(values), Some(particle)) = (&varying[k].channel, particle) {
                add(&mut channels, values[*particle as usize]);
            }
            if let Some(value) = varying[k].attribute {
                add(&mut attributes, value);
            }
        }
        let mean = |(count, sum): (f64, f64)| (count > 0.0).then(|| sum / count);
        mean(channels).or_else(|| mean(attributes)).unwrap_or(uniform)
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

/// Refuses a declared element that is not made of the numbers it names.
pub(crate) const fn check_rest<E>(names: usize) {
    assert!(
        size_of::<E>() == 8 * names,
        "an element is made of exactly the numbers that REST and VARIES name"
    );
}
