//! How solves of fluids take rigid bodies from the World, and give them back what the fluid does to them.
//!
//! Before a solve a body has taken its forces, and has been put to x = xⁿ + Δt v and turned by θ from its free turn; its angular
//! momentum is still that of the start. The fluid adds Δt·M⁻¹·Jᵀp: v changes, x by Δt times that, and θ so that the momentum that
//! the body takes from its turn, L = Lⁿ + J⁻ᵀĨθ/Δt, is what it had and Δt times the torque, exactly. A further Newton iteration takes
//! it back with the forces, and the solve gives it anew.

use super::afloat::{Afloat, Coverage};
use crate::bodies::Swimmers;
use undine_core::glam::{DMat3, DQuat, DVec3};
use undine_core::particles::TopologicalParticles;
use undine_geometry::Twist;
use undine_linsolve::pressure::{MOTIONS, RigidTerm};
use undine_sim::newton::rotation::{left_jacobian_inverse, turn_between};
use undine_sim::offers::SolidBodies;
use undine_sim::world::ChannelKey;
use undine_sim::{Moment, Result, StoreId, World};

/// Most steps of the iteration for θ: it converges by a factor of about θ each, and is over long before for all but wild turns.
const MOST_TURNS: usize = 64;

impl Swimmers {
    /// The channels that tell a solve where bodies are, and that it leaves as they are.
    pub(crate) fn unmoved(&self) -> impl Iterator<Item = ChannelKey> {
        let names = ["mass", "inertia", "angular-momentum", "flight", "free-turn"];
        self.objects().iter().flat_map(move |(_, solids)| {
            StoreId::from(solids.bodies.centres.points).channels(names)
        })
    }

    /// The channels in which bodies take what a fluid does to them.
    pub(crate) fn moved(&self) -> impl Iterator<Item = ChannelKey> {
        let names = ["v", "position", "orientation"];
        self.objects().iter().flat_map(move |(_, solids)| {
            StoreId::from(solids.bodies.centres.points).channels(names)
        })
    }

    /// Every body, Object by Object, with the velocity that its forces have given it, and a fluid that was solved before.
    pub(crate) fn afloat(&self, world: &World, now: &Moment) -> Result<Vec<Afloat>> {
        let mut all = Vec::new();
        for (_, solids) in self.objects() {
            let points = &world.points[solids.bodies.centres.points];
            for n in 0..points.len() {
                let centre = self.centre(all.len());
                all.push(afloat((points, solids, n), centre, now.step)?);
            }
        }
        Ok(all)
    }

    /// Gives bodies the velocities that a solve has found.
    pub(crate) fn take(&self, world: &mut World, found: &[Afloat], now: &Moment) -> Result<()> {
        let mut found = found.iter();
        let mut largest = 0.0_f64;
        for (_, solids) in self.objects() {
            let points = &world.points[solids.bodies.centres.points];
            for (n, body) in (0..points.len()).zip(&mut found) {
                if !solids.kinematic {
                    largest = largest.max(take(points, solids, n, body, now.step)?);
                }
            }
        }
        world.largest_change = world.largest_change.max(largest);
        Ok(())
    }
}

/// What a step knows of a body's turning.
struct Turning {
    /// Its orientation without torques.
    free: DQuat,
    /// Principal moments [kg m²].
    moments: DVec3,
    /// Angular momentum at the start [kg m²/s].
    start: DVec3,
}

impl Turning {
    fn of(points: &TopologicalParticles, solids: &SolidBodies, n: usize) -> Result<Self> {
        let turn =
            if solids.kinematic { solids.bodies.orientation } else { solids.bodies.free_turn };
        Ok(Self {
            free: points.column(turn)?[n],
            moments: points.column(solids.bodies.inertia)?[n],
            start: points.column(solids.momentum)?[n],
        })
    }

    /// Ĩ·v
    fn times(&self, v: DVec3) -> DVec3 {
        self.free * ((self.free.inverse() * v) * self.moments)
    }

    /// Ĩ⁻¹·v
    fn over(&self, v: DVec3) -> DVec3 {
        self.free * ((self.free.inverse() * v) / self.moments)
    }

    /// The angular momentum at the end of a step [s] of a body that is turned by θ from its free turn.
    fn momentum(&self, theta: DVec3, step: f64) -> DVec3 {
        self.start + left_jacobian_inverse(theta).transpose() * self.times(theta) / step
    }

    /// The θ with which it takes this momentum.
    fn turn(&self, momentum: DVec3, step: f64) -> DVec3 {
        let mut theta = step * self.over(momentum - self.start);
        for _ in 0..MOST_TURNS {
            let more = step * self.over(momentum - self.momentum(theta, step));
            theta += more;
            if more.length() <= f64::EPSILON * theta.length() {
                break;
            }
        }
        theta
    }
}

fn afloat(
    (points, solids, n): (&TopologicalParticles, &SolidBodies, usize),
    centre: Option<DVec3>,
    step: f64,
) -> Result<Afloat> {
    let turning = Turning::of(points, solids, n)?;
    let linear = points.column(solids.bodies.centres.velocity)?[n];
    if solids.kinematic {
        let centre = centre.unwrap_or(points.column(points.position())?[n]);
        let twist = Twist { linear, angular: turning.over(turning.start) };
        let inverse_mass = [[0.0; MOTIONS]; MOTIONS];
        return Ok(Afloat { centre, twist, inverse_mass, coverage: Coverage::default() });
    }
    let theta = turn_between(turning.free, points.column(solids.bodies.orientation)?[n]);
    let angular = turning.over(turning.momentum(theta, step));
    let turn = DMat3::from_quat(turning.free);
    let inertia = turn * DMat3::from_diagonal(turning.moments) * turn.transpose();
    let rows = inertia.transpose().to_cols_array_2d();
    let mass = points.column(solids.bodies.centres.mass)?[n];
    Ok(Afloat {
        centre: centre.unwrap_or(points.column(solids.bodies.flight)?[n]),
        twist: Twist { linear, angular },
        inverse_mass: RigidTerm::free(mass, rows)?,
        coverage: Coverage::default(),
    })
}

/// Gives a body what a solve has found; the change of its velocity [m/s].
fn take(
    points: &TopologicalParticles,
    solids: &SolidBodies,
    n: usize,
    found: &Afloat,
    step: f64,
) -> Result<f64> {
    let turning = Turning::of(points, solids, n)?;
    let mut velocity = points.column_mut(solids.bodies.centres.velocity)?;
    let mut position = points.column_mut(points.position())?;
    let mut orientation = points.column_mut(solids.bodies.orientation)?;
    let change = found.twist.linear - velocity[n];
    velocity[n] = found.twist.linear;
    position[n] += step * change;
    let theta = turning.turn(turning.times(found.twist.angular), step);
    orientation[n] = (DQuat::from_scaled_axis(theta) * turning.free).normalize();
    Ok(change.length())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_turns_so_that_it_takes_the_momentum_that_it_was_given() {
        let turning = Turning {
            free: DQuat::from_scaled_axis(DVec3::new(0.3, -1.0, 0.5)),
            moments: DVec3::new(1.0, 2.5, 4.0),
            start: DVec3::new(0.2, -0.4, 3.0),
        };
        for gained in [DVec3::ZERO, DVec3::new(1.0, -2.0, 0.5), DVec3::new(-6.0, 9.0, 20.0)] {
            let wanted = turning.start + gained;
            let theta = turning.turn(wanted, 0.04);
            let found = turning.momentum(theta, 0.04);
            assert!((found - wanted).length() < 1e-12 * wanted.length(), "{theta} {found}");
        }
        assert!((turning.over(turning.times(DVec3::X)) - DVec3::X).length() < 1e-15);
    }
}
