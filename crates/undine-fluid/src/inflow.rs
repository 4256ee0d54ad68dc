//! Wind from outside: the velocity through the edge of a fluid that fills Buckets is given.
//!
//! At the edge of its Buckets such a fluid is open: what surrounds it has no pressure. Here faces between the outermost layer of
//! cells, which stands for the surroundings, and the next one are closed for the solves of a step, as those of a source are, with the
//! wind's velocity through them. By default these are the faces through which it enters, so that it leaves freely on the other
//! side. With `sides=all` nothing else gets through anywhere; a velocity of zero then makes the edge a wall without friction.

use crate::pressure::layers::{bits, is_on};
use crate::source::boundary::{Closed, Face};
use undine_core::glam::{DVec3, Vec3};
use undine_core::{Accessor, DiscreteVolume, GridDomain};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Setting};
use undine_sim::offers::FluidField;
use undine_sim::{Ingest, Moment, ObjectId, Operator, Result, Stage, StoreId, Tasks, World};

/// "There is wind."
pub const DECLARATION: Declaration = Declaration {
    name: "inflow",
    kind: Kind::Operator,
    doc: "Gives the velocity of the wind at the edge of air",
    about: "At the outermost cells of every fluid without a surface in its scope. Give a `volume` the same `velocity`, so that the wind is \
            there to begin with, and in Buckets that come later.",
    parameters: &[
        Parameter::vector("velocity", Dimension::VELOCITY, [0.0; 3], "velocity of the wind")
            .required()
            .usually(-100.0, 100.0),
        Parameter::choice(
            "sides",
            &[
                ("entering", "where the wind blows in; elsewhere all flows out freely"),
                ("all", "on all sides: at rest, it is a wall without friction"),
            ],
            "where the velocity is given",
        ),
        Parameter::new(
            "axes",
            undine_schema::Type::Text,
            "axes along which sides are looked at, such as `xz`; without it, all",
        )
        .optional()
        .advanced(),
    ],
    example: "inflow velocity=\"4 0 0 m/s\"",
};

/// Gives the velocity at the edge of fluids.
pub struct Inflow {
    on: Vec<On>,
    velocity: DVec3,
    wind: Option<Setting>,
    is_everywhere: bool,
    axes: [bool; 3],
}

/// A fluid, and its faces that are closed in this Newton loop.
struct On {
    object: ObjectId,
    field: FluidField,
    closed: Closed,
}

impl Operator for Inflow {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let fluid = |object: &ObjectId| {
            let field = ingest.world.object(*object).offers.fluid?;
            let on = On { object: *object, field, closed: Closed::default() };
            field.distance.is_none().then_some(on)
        };
        let on: Vec<On> = scope.iter().filter_map(fluid).collect();
        if on.is_empty() {
            tracing::warn!(
                "{}: there is no fluid without a surface in its scope, so that nothing blows; put it into the Group of a `volume`",
                ingest.path
            );
            return Ok(None);
        }
        let mut inflow =
            Self { on, velocity: DVec3::ZERO, wind: None, is_everywhere: false, axes: [true; 3] };
        inflow.update(ingest)?;
        Ok(Some(inflow))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        let values = ingest.values();
        self.velocity = values.vector("velocity")?;
        self.wind = ingest.scope.setting("velocity", None).map(|(wind, _)| wind);
        self.is_everywhere = values.text("sides")? == "all";
        if let Some(axes) = values.optional_text("axes")? {
            if axes.is_empty() || !axes.chars().all(|axis| "xyz".contains(axis)) {
                let what = format!("`{axes}` names no axes");
                return Err(ingest.bad(
                    "axes",
                    what,
                    "write some of `x`, `y` and `z`, such as `xz`",
                ));
            }
            self.axes = ['x', 'y', 'z'].map(|axis| axes.contains(axis));
        }
        Ok(())
    }

    fn brings(&self, [from, to]: [f64; 2]) -> Option<Vec<(ObjectId, f64)>> {
        let speed = self.wind.as_ref().map_or(0.0, |wind| wind.largest(from, to));
        Some(self.on.iter().map(|on| (on.object, speed)).collect())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let stores = || self.on.iter().map(|on| StoreId::from(on.field.volume));
        // Several may do these in turn, each on faces of its own.
        on.task(Stage::Predict, "close the edge to the wind", Self::close)
            .reads(stores().map(|store| store.channel("cells")))
            .accumulates(stores().flat_map(|store| store.channels(["open", "wall-v"])));
        on.task(Stage::Remember, "open the edge again", Self::open)
            .accumulates(stores().flat_map(|store| store.channels(["open", "wall-v", "v"])));
    }
}

impl Inflow {
    fn close(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let wind = self.velocity.as_vec3();
        for on in &mut self.on {
            let domain = &world.domains[world.object(on.object).domain];
            let volume = &world.volumes[on.field.volume];
            let enters = |axis: usize, below: bool| {
                let inwards = if below { wind[axis] } else { -wind[axis] };
                self.axes[axis] && (self.is_everywhere || inwards > 0.0)
            };
            on.closed = close_edge(domain, volume, &on.field, wind, &enters)?;
        }
        Ok(())
    }

    fn open(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        for on in &mut self.on {
            let domain = &world.domains[world.object(on.object).domain];
            let closed = std::mem::take(&mut on.closed);
            closed.open(domain, &world.volumes[on.field.volume], &on.field)?;
        }
        Ok(())
    }
}

/// Closes the faces behind the outermost layer of cells, on the sides below and above axes that are asked for.
fn close_edge(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    wind: Vec3,
    asked: &(dyn Fn(usize, bool) -> bool + Sync),
) -> Result<Closed> {
    let access = (
        volume.around(field.cells.words, 1),
        field.walls.area.faces.map(|face| volume.write(face)),
        field.walls.velocity.faces.map(|face| volume.write(face)),
    );
    let faces = Accessor::new("close the edge", domain).over(volume.topology()).map(
        access,
        |_, (cells, open, wall)| {
            let here = bits(cells.chunk());
            let mut faces = Vec::new();
            for axis in 0..3 {
                let stride = [64, 8, 1][axis];
                for below in [true, false] {
                    let mut step = [0; 3];
                    step[axis] = if below { -1 } else { 1 };
                    if !asked(axis, below) || cells.exists(step[0], step[1], step[2]) {
                        continue;
                    }
                    // The face between the first cell and the second, or between the last two; and the cell within.
                    let (plane, within) = if below { (1, 0) } else { (7, stride) };
                    for n in (0..512).filter(|n| (n / stride) & 7 == plane) {
                        if is_on(&here, n - within) && open[axis][n] > 0.0 {
                            let (was, of_wall) = (open[axis][n], wall[axis][n]);
                            faces.push(Face::new(axis, n, wind[axis], was, of_wall));
                            wall[axis][n] = was * wind[axis] + (1.0 - was) * of_wall;
                            open[axis][n] = 0.0;
                        }
                    }
                }
            }
            faces
        },
    )?;
    Ok(Closed::of(faces))
}
