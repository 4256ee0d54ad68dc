//! Elements between the same Objects, as the coupled system sees them.

use super::on_surface::OnSurface;
use super::{
    Bond, DAMPING_TIME, FRICTION_LENGTH, FRICTION_LIMIT, SOLVED_BY, TURNING_FRICTION_LENGTH,
    TURNING_FRICTION_LIMIT,
};
use crate::constraint::dahl::Dahl;
use crate::constraint::{Constraint, Placed};
use crate::coupling;
use crate::error::Result;
use crate::newton::element::Values as Spread;
use crate::newton::{ConstraintTerm, Damping, Embedded as Hung, Mode};
use crate::offers::ObjectId;
use crate::values::Values;
use crate::world::World;
use bytemuck::Pod;
use std::collections::BTreeMap;
use undine_schema::Parameter;
use undine_schema::setup::Scope;

/// Elements between the same Objects.
pub(super) struct Batch<E, const M: usize, const N: usize> {
    pub objects: [ObjectId; N],
    /// What the last points of all its elements are, if that is not particles: element n has place n.
    pub on_surface: Option<OnSurface>,
    /// Their places in the store.
    pub places: Vec<u32>,
    pub elements: Vec<E>,
    pub stencil: Vec<[u32; N]>,
    pub start: Vec<[f64; M]>,
    pub friction: Vec<[f64; M]>,
    pub multipliers: Vec<[f64; M]>,
}

/// How rows are damped and solved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<const M: usize> {
    pub relaxation: f64,
    pub dahl: Option<[Dahl; M]>,
    pub mode: Mode,
}

impl<const M: usize> Rows<M> {
    pub fn of<B: Bond<M, N>, const N: usize>(bond: &B, scope: &Scope, time: f64) -> Result<Self> {
        let values = Values::new(scope, time);
        let declared =
            |parameter: &Parameter| scope.declaration.parameter(parameter.name).is_some();
        let number = |parameter: &Parameter| match declared(parameter) {
            true => values.number(parameter.name),
            false => Ok(0.0),
        };
        let moving = Dahl { limit: number(&FRICTION_LIMIT)?, length: number(&FRICTION_LENGTH)? };
        let turning = Dahl {
            limit: number(&TURNING_FRICTION_LIMIT)?,
            length: number(&TURNING_FRICTION_LENGTH)?,
        };
        let dahl = std::array::from_fn(|m| if m < B::ROWS_OF_FORCE { moving } else { turning });
        let multipliers = declared(&SOLVED_BY) && values.text(SOLVED_BY.name)? == "multipliers";
        Ok(Self {
            relaxation: number(&DAMPING_TIME)?,
            dahl: dahl.iter().any(|row: &Dahl| row.limit > 0.0).then_some(dahl),
            mode: if multipliers || bond.is_hard() { Mode::Compliance } else { Mode::Stiffness },
        })
    }
}

impl<E: Pod + Send + Sync, const M: usize, const N: usize> Batch<E, M, N> {
    pub fn new(objects: [ObjectId; N], is_on_surface: bool, world: &World) -> Self {
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

    pub fn placed(&self, world: &World, ahead: f64) -> Result<BTreeMap<ObjectId, Vec<Placed>>> {
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
    pub fn points<'a>(&'a self, placed: &'a BTreeMap<ObjectId, Vec<Placed>>) -> [&'a [Placed]; N] {
        std::array::from_fn(|n| match &self.on_surface {
            Some(surface) if n + 1 == N => &surface.placed[..],
            _ => placed.get(&self.objects[n]).map_or(&[][..], |placed| placed),
        })
    }

    /// Its elements with everything nailed down where it is.
    pub fn still<'a, B: Bond<M, N> + Constraint<M, N, Element = E>>(
        &'a self,
        name: &'a str,
        bond: &'a B,
        rows: Rows<M>,
        placed: &'a BTreeMap<ObjectId, Vec<Placed>>,
    ) -> ConstraintTerm<'a, B, M, N> {
        self.term(name, bond, rows, self.points(placed).map(Hung::fixed))
    }

    /// Its elements, given how each Object's particles hang on unknowns.
    pub fn hanging<'a, B: Bond<M, N> + Constraint<M, N, Element = E>>(
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
