//! What colliders and rigid bodies look like, and where they are at a time: for pictures, and for the files of a cache.
//!
//! A collider is where its input is at that time, whatever step the Simulation last made; a body is where the World has it. Forms
//! are made once, and again only where an input deforms; whoever draws them shares them.

mod seen;

use seen::Seen;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_geometry::{Detail, Form, Pose, Twist};
use undine_sim::offers::{BodyLooks, Looks, PieceLooks};
use undine_sim::{ObjectId, Result, Simulation};

/// All colliders and rigid bodies of a Simulation.
#[derive(Debug)]
pub struct Shapes {
    /// Object by Object.
    pub(crate) things: Vec<Thing>,
}

/// A collider or body where it is.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Its path in the setup; with the number of the body, where there are several: `crates/7`.
    pub name: Arc<str>,
    /// What it is.
    pub kind: ShapeKind,
    /// What it looks like, in its own coordinates.
    pub form: Arc<Form>,
    /// Where it is.
    pub pose: Pose,
    /// How it moves: a point x at the velocity linear + angular × (x − about).
    pub twist: Twist,
    /// What it turns about, in the world [m].
    pub about: DVec3,
}

/// What a shape belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ShapeKind {
    /// Something to bump into.
    Collider,
    /// A rigid body that is simulated.
    Body,
    /// A rigid body that the scene moves.
    KinematicBody,
}

/// What time does to a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing.
    Still,
    /// It is turned and moved.
    Moves,
    /// It becomes another one.
    Deforms,
}

/// One Object that is more than points.
#[derive(Debug)]
pub(crate) struct Thing {
    /// Its path in the setup.
    pub path: String,
    /// The Object.
    pub object: ObjectId,
    /// What it is.
    pub kind: ShapeKind,
    /// What time does to it.
    pub change: Change,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Input { name: String, seen: Seen, names: Vec<Arc<str>> },
    Bodies { looks: BodyLooks, forms: Vec<Arc<[Arc<Form>]>>, names: Vec<Arc<str>> },
}

/// More bodies than these look like coarser ones: nobody sees each of so many.
const MANY: usize = 256;

/// How finely many bodies are shown.
const COARSE: Detail = Detail { segments: 24, cells: 32, reach: 100.0 };

/// So many frames are looked at to find out whether a shape by formulas only moves.
const PROBES: i64 = 16;

impl Shapes {
    /// Those of a Simulation.
    pub fn of(simulation: &Simulation) -> Result<Self> {
        let mut things = Vec::new();
        for (n, entry) in simulation.world.objects.iter().enumerate() {
            let (kind, change, source) = match &entry.offers.looks {
                // Strands are seen as what they are simulated as.
                None | Some(Looks::Strands(_)) => continue,
                Some(Looks::Input(name)) => {
                    let source = Source::Input {
                        name: name.clone(),
                        seen: Seen::default(),
                        names: Vec::new(),
                    };
                    (ShapeKind::Collider, change_of(name, simulation)?, source)
                }
                Some(Looks::Bodies(looks)) => {
                    let kind = match looks.kinematic {
                        true => ShapeKind::KinematicBody,
                        false => ShapeKind::Body,
                    };
                    (kind, Change::Moves, bodies(&entry.path, looks, simulation)?)
                }
            };
            things.push(Thing {
                path: entry.path.clone(),
                object: ObjectId(n),
                kind,
                change,
                source,
            });
        }
        Ok(Self { things })
    }

    /// All of them where they are at a time [s]; bodies, where they are now.
    pub fn at(&mut self, simulation: &Simulation, time: f64) -> Result<Vec<Placed>> {
        let mut all = Vec::new();
        for thing in &mut self.things {
            all.extend(thing.at(simulation, time)?);
        }
        Ok(all)
    }
}

impl Thing {
    /// All of it at a time [s].
    pub fn at(&mut self, simulation: &Simulation, time: f64) -> Result<Vec<Placed>> {
        let kind = self.kind;
        match &mut self.source {
            Source::Input { name, seen, names } => {
                let data = simulation.inputs().data(name, time)?;
                let pose = data.pose(time);
                let twist = data.motion.as_ref().map(|motion| motion.twist(time));
                let twist = twist.unwrap_or_default();
                let forms = seen.forms(&data.geometry)?;
                extend_names(names, &self.path, forms.len());
                let placed = forms.iter().zip(names.iter());
                Ok(placed
                    .map(|(form, name)| Placed {
                        name: name.clone(),
                        kind,
                        form: form.clone(),
                        pose,
                        twist,
                        about: pose.translation,
                    })
                    .collect())
            }
            Source::Bodies { looks, forms, names } => {
                let poses = poses(looks, simulation)?;
                let (centres, twists) = twists(looks, simulation)?;
                let mut names = names.iter();
                let mut placed = Vec::with_capacity(poses.len());
                for (n, (pose, forms)) in poses.iter().zip(forms.iter().cycle()).enumerate() {
                    placed.extend(forms.iter().zip(&mut names).map(|(form, name)| Placed {
                        name: name.clone(),
                        kind,
                        form: form.clone(),
                        pose: *pose,
                        twist: twists[n],
                        about: centres[n],
                    }));
                }
                Ok(placed)
            }
        }
    }

    /// What its forms are turned about [m], in their own coordinates: the centres of bodies; nothing of the kind for colliders.
    /// One for each that [`Self::at`] gives.
    pub fn pivots(&self, simulation: &Simulation) -> Result<Option<Vec<DVec3>>> {
        let Source::Bodies { looks, forms, .. } = &self.source else { return Ok(None) };
        let points = &simulation.world.points[looks.points];
        let pivots = points.column(looks.pivot)?;
        let each = pivots[..points.len()].iter().zip(forms.iter().cycle());
        Ok(Some(each.flat_map(|(pivot, forms)| forms.iter().map(|_| *pivot)).collect()))
    }
}

/// Bodies, and what each of their pieces looks like.
fn bodies(path: &str, looks: &BodyLooks, simulation: &Simulation) -> Result<Source> {
    let count = simulation.world.points[looks.points].len();
    let detail = if count > MANY { COARSE } else { Detail::default() };
    let forms = looks.pieces.iter().map(|piece| {
        Ok(match piece {
            PieceLooks::Shape(shape) => shape.forms(&detail)?.into_iter().map(Arc::new).collect(),
            PieceLooks::Mesh(mesh) => {
                Arc::new([Arc::new(Form::Mesh(mesh.as_ref().clone()))]) as Arc<[_]>
            }
        })
    });
    let forms: Vec<Arc<[Arc<Form>]>> = forms.collect::<Result<_>>()?;
    let mut names = Vec::new();
    for (n, forms) in (0..count).zip(forms.iter().cycle()) {
        let body = if count == 1 { path.to_owned() } else { format!("{path}/{n}") };
        let mut of_body = Vec::new();
        extend_names(&mut of_body, &body, forms.len());
        names.extend(of_body);
    }
    Ok(Source::Bodies { looks: looks.clone(), forms, names })
}

/// Where bodies are: a point p of a piece is at centre + orient (p − pivot).
fn poses(looks: &BodyLooks, simulation: &Simulation) -> Result<Vec<Pose>> {
    let points = &simulation.world.points[looks.points];
    let (centre, orient) = (points.column(points.position())?, points.column(looks.orient)?);
    let pivot = points.column(looks.pivot)?;
    let pose =
        |n: usize| Pose { rotation: orient[n], translation: centre[n] - orient[n] * pivot[n] };
    Ok((0..points.len()).map(pose).collect())
}

/// The centres of bodies [m], and how they move about these.
fn twists(looks: &BodyLooks, simulation: &Simulation) -> Result<(Vec<DVec3>, Vec<Twist>)> {
    let points = &simulation.world.points[looks.points];
    let centre = points.column(points.position())?;
    let (velocity, momentum) = (points.column(looks.velocity)?, points.column(looks.momentum)?);
    let (turn, inertia) = (points.column(looks.orientation)?, points.column(looks.inertia)?);
    let twist = |n: usize| Twist {
        linear: velocity[n],
        angular: turn[n] * ((turn[n].inverse() * momentum[n]) / inertia[n]),
    };
    Ok((centre[..points.len()].to_vec(), (0..points.len()).map(twist).collect()))
}

/// A name for each form of one thing.
fn extend_names(names: &mut Vec<Arc<str>>, path: &str, count: usize) {
    for n in names.len()..count {
        names.push(if n == 0 { path.into() } else { format!("{path} {}", n + 1).into() });
    }
}

/// What time does to an input, as far as a look at its first frames can tell.
fn change_of(input: &str, simulation: &Simulation) -> Result<Change> {
    let inputs = simulation.inputs();
    if !inputs.changes(input) {
        return Ok(Change::Still);
    }
    let timeline = simulation.timeline();
    let first = inputs.data(input, timeline.time(timeline.first))?;
    for frame in (timeline.first + 1..=timeline.last).take(PROBES as usize) {
        // What cannot be had is told when it is needed.
        match inputs.data(input, timeline.time(frame)) {
            Ok(data) if seen::are_same(&first.geometry, &data.geometry) => {}
            _ => return Ok(Change::Deforms),
        }
    }
    Ok(Change::Moves)
}
