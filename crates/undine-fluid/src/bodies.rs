//! Rigid bodies in fluids: each as a collider that goes from where it is when a step begins to where the step takes it.
//!
//! `walls` cuts them out of cells and keeps particles out of them, and `pressure` couples them to the fluid. A step begins with
//! [`Swimmers::begin`], at Stage CutCells, when nothing has moved yet: bodies are cut out where they are, as particles are where they are
//! then. Cut out where they go, they would leave a void behind them that no pressure holds. After they have moved, [`Swimmers::end`]
//! tells their true way.

use undine_core::glam::{DQuat, DVec3};
use undine_core::particles::TopologicalParticles;
use undine_geometry::motion::{Interpolation, Key};
use undine_geometry::{Collider, Motion, Pose, Twist};
use undine_sim::offers::SolidBodies;
use undine_sim::world::ChannelKey;
use undine_sim::{Moment, ObjectId, Result, StoreId, World};

/// The rigid bodies in the scope of a fluid.
#[derive(Debug, Clone, Default)]
pub struct Swimmers {
    on: Vec<(ObjectId, SolidBodies)>,
    /// Where they were when the step began.
    starts: Vec<Placed>,
}

/// A body where it is, and how fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// From its form's own coordinates to the world.
    pub pose: Pose,
    /// Its centre of mass [m].
    pub centre: DVec3,
    /// That in its form's own coordinates [m].
    pub pivot: DVec3,
    /// The velocity of its centre, and its spin.
    pub twist: Twist,
}

impl Placed {
    /// Where it is after flying freely for a while [s].
    pub fn after(&self, time: f64) -> Self {
        let turn = DQuat::from_scaled_axis(time * self.twist.angular);
        let centre = self.centre + time * self.twist.linear;
        let arm = self.pose.translation - self.centre;
        let pose = Pose {
            rotation: (turn * self.pose.rotation).normalize(),
            translation: centre + turn * arm,
        };
        Self { pose, centre, ..*self }
    }

    /// How it is turned, and where its centre of mass is.
    fn of_centre(&self) -> Pose {
        Pose { translation: self.centre, ..self.pose }
    }
}

impl Swimmers {
    /// Those of some Objects.
    pub fn among(world: &World, objects: &[ObjectId]) -> Self {
        let solids = |id: &ObjectId| Some((*id, world.object(*id).offers.solids.clone()?));
        Self { on: objects.iter().filter_map(solids).collect(), starts: Vec::new() }
    }

    /// Where the centre of one was when the step began [m], in the order of [`Self::placed`]: where it is cut out of the fluid.
    pub(crate) fn centre(&self, body: usize) -> Option<DVec3> {
        self.starts.get(body).map(|placed| placed.centre)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.on.is_empty()
    }

    /// The Objects that they belong to, and what those offer.
    pub fn objects(&self) -> &[(ObjectId, SolidBodies)] {
        &self.on
    }

    /// The channels that tell where they are and how fast.
    pub fn channels(&self) -> impl Iterator<Item = ChannelKey> {
        self.on.iter().flat_map(|(_, solids)| {
            StoreId::from(solids.bodies.centres.points).channels([
                "position",
                "orient",
                "orientation",
                "pivot",
                "v",
                "angular-momentum",
                "inertia",
            ])
        })
    }

    /// Every body in turn, Object by Object, as the last step left it.
    pub fn placed(&self, world: &World) -> Result<Vec<Placed>> {
        let mut all = Vec::new();
        for (_, solids) in &self.on {
            let points = &world.points[solids.bodies.centres.points];
            place(points, solids, &mut all)?;
        }
        Ok(all)
    }

    /// Every body as a collider, in the order of [`Self::placed`], that comes to where it is with the velocity that it has. To be
    /// called when nothing of the step has moved yet: [`Self::end`] goes from there.
    pub fn begin(&mut self, world: &World, now: &Moment) -> Result<Vec<Collider>> {
        self.starts = self.placed(world)?;
        let come: Vec<Placed> = self.starts.iter().map(|placed| placed.after(-now.step)).collect();
        self.colliders(world, [&come, &self.starts], now)
    }

    /// Every body as a collider that goes from where the step began to where it is now.
    pub fn end(&self, world: &World, now: &Moment) -> Result<Vec<Collider>> {
        self.colliders(world, [&self.starts, &self.placed(world)?], now)
    }

    /// Between both ends, it is centres of mass that go straight: the origin of a form's own coordinates is where the scene has its
    /// own, which may be kilometres away.
    fn colliders(
        &self,
        world: &World,
        [starts, ends]: [&[Placed]; 2],
        now: &Moment,
    ) -> Result<Vec<Collider>> {
        let count = |solids: &SolidBodies| world.points[solids.bodies.centres.points].len();
        let forms = self.on.iter().flat_map(|(_, solids)| {
            (0..count(solids)).map(|n| solids.forms[n % solids.forms.len()].clone())
        });
        let mut colliders = Vec::with_capacity(ends.len());
        for ((n, form), end) in forms.enumerate().zip(ends) {
            let start = starts.get(n).unwrap_or(end);
            let motion = match now.step > 0.0 && start.pose != end.pose {
                false => Motion::still(end.of_centre())?,
                true => {
                    let [from, to] = [(now.time, start), (now.time + now.step, end)];
                    let keys = [from, to].map(|(time, at)| Key { time, pose: at.of_centre() });
                    Motion::keyed(keys.to_vec(), Interpolation::Linear)?
                }
            };
            colliders.push(form.with_motion(motion.about(end.pivot)));
        }
        Ok(colliders)
    }
}

/// Adds the bodies of an Object to a list.
fn place(points: &TopologicalParticles, solids: &SolidBodies, all: &mut Vec<Placed>) -> Result<()> {
    let (centre, velocity) =
        (points.column(points.position())?, points.column(solids.bodies.centres.velocity)?);
    let (orient, pivot) = (points.column(solids.orient)?, points.column(solids.pivot)?);
    let (turn, inertia) =
        (points.column(solids.bodies.orientation)?, points.column(solids.bodies.inertia)?);
    let momentum = points.column(solids.momentum)?;
    all.extend((0..points.len()).map(|n| Placed {
        pose: Pose { rotation: orient[n], translation: centre[n] - orient[n] * pivot[n] },
        centre: centre[n],
        pivot: pivot[n],
        twist: Twist {
            linear: velocity[n],
            angular: turn[n] * ((turn[n].inverse() * momentum[n]) / inertia[n]),
        },
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_flies_turns_about_its_centre() {
        let centre = DVec3::new(1.0, 2.0, 3.0);
        let start = Placed {
            pose: Pose { rotation: DQuat::from_rotation_x(0.3), translation: DVec3::ZERO },
            centre,
            pivot: DQuat::from_rotation_x(-0.3) * centre,
            twist: Twist { linear: DVec3::new(0.0, -1.0, 0.0), angular: DVec3::new(0.0, 0.0, 2.0) },
        };
        let end = start.after(0.1);
        assert!((end.centre - DVec3::new(1.0, 1.9, 3.0)).length() < 1e-12);
        // Its own place of the centre stays the centre, and its points turn with it.
        let own = start.pose.to_local(centre);
        assert!((end.pose.to_world(own) - end.centre).length() < 1e-12);
        let arm = end.pose.to_world(own + DVec3::X) - end.centre;
        let wanted = DQuat::from_rotation_z(0.2) * (start.pose.rotation * DVec3::X);
        assert!((arm - wanted).length() < 1e-12);
        assert_eq!(start.after(0.0).centre, centre);
    }
}
