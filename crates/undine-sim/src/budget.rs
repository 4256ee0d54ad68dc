//! How much there is of what nature keeps: mass, momentum and energy.

use std::ops::Add;
use undine_core::glam::{DVec3, Vec3};
use undine_core::process::Processes;
use undine_core::{Accessor, GridDomain, Handle, ParticleSystem, Result};

/// What an Object has of what nature keeps.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Budget {
    /// Mass [kg].
    pub mass: f64,
    /// Linear momentum [kg m/s].
    pub momentum: DVec3,
    /// Angular momentum about the origin [kg m²/s].
    pub angular_momentum: DVec3,
    /// Kinetic energy [J].
    pub kinetic_energy: f64,
    /// Energy of place under Forces that have a potential, such as gravity, from the origin [J].
    pub potential_energy: f64,
    /// Energy of Constraints [J]: ½ Cᵀ S C of all their rows but hard ones, which hold none. What friction holds is not in it.
    pub elastic_energy: f64,
}

impl Budget {
    /// Of a point of this mass [kg].
    pub fn of_point(mass: f64, position: DVec3, velocity: DVec3) -> Self {
        let momentum = mass * velocity;
        Self {
            mass,
            momentum,
            angular_momentum: position.cross(momentum),
            kinetic_energy: 0.5 * momentum.dot(velocity),
            potential_energy: 0.0,
            elastic_energy: 0.0,
        }
    }

    /// Of the particles that this process has, by their velocities [m/s] and masses [kg], added in the order in which they are stored.
    pub fn of_particles(
        domain: &GridDomain,
        particles: &ParticleSystem,
        velocity: Handle<Vec3>,
        mass: Handle<f32>,
    ) -> Result<Self> {
        let kernel =
            (particles.own(particles.position()), particles.own(velocity), particles.own(mass));
        let sums = Accessor::new("budget", domain).over(particles.topology()).map(
            kernel,
            |here, (offset, velocity, mass)| {
                let corner = domain.frame().corner(here.bucket);
                (0..offset.len()).fold(Self::default(), |sum, n| {
                    let position = corner + offset[n].as_dvec3();
                    sum + Self::of_point(f64::from(mass[n]), position, velocity[n].as_dvec3())
                })
            },
        )?;
        Ok(sums.into_iter().fold(Self::default(), |sum, bucket| sum + bucket))
    }

    /// Kinetic energy, and that of places and Constraints [J].
    pub fn energy(&self) -> f64 {
        self.kinetic_energy + self.potential_energy + self.elastic_energy
    }

    /// The sum of what every process has, added in order of rank. Collective.
    pub fn of_all(self, processes: &dyn Processes) -> Result<Self> {
        let (p, l) = (self.momentum, self.angular_momentum);
        let energies = [self.kinetic_energy, self.potential_energy, self.elastic_energy];
        let [kinetic, place, elastic] = energies;
        let mut sums = [self.mass, p.x, p.y, p.z, l.x, l.y, l.z, kinetic, place, elastic];
        processes.all_sum_f64s(&mut sums)?;
        let [mass, px, py, pz, lx, ly, lz, kinetic_energy, potential_energy, elastic_energy] = sums;
        Ok(Self {
            mass,
            momentum: DVec3::new(px, py, pz),
            angular_momentum: DVec3::new(lx, ly, lz),
            kinetic_energy,
            potential_energy,
            elastic_energy,
        })
    }
}

impl Add for Budget {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            momentum: self.momentum + other.momentum,
            angular_momentum: self.angular_momentum + other.angular_momentum,
            kinetic_energy: self.kinetic_energy + other.kinetic_energy,
            potential_energy: self.potential_energy + other.potential_energy,
            elastic_energy: self.elastic_energy + other.elastic_energy,
        }
    }
}
