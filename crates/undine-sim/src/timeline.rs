//! Time: which frames there are, when they are, and how they are divided into substeps.

use crate::error::{Result, SimError};
use crate::newton::NewtonSettings;
use undine_core::glam::Vec3;
use undine_core::{Accessor, GridDomain, Handle, ParticleSystem};

/// The frames of a run, and how steps are made.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Frames in a second.
    pub fps: f64,
    /// The first frame: the state at its time is the initial one, or what the preroll made of it.
    pub first: i64,
    /// The last frame.
    pub last: i64,
    /// Frames that are simulated before the first and not written.
    pub preroll: u32,
    /// How much simulated time passes in a second of film; 0.5 is slow motion.
    pub time_scale: f64,
    /// How frames are divided.
    pub substeps: Substeps,
    /// How many moments of a frame are written: 1 is its end alone.
    pub outputs_per_frame: u32,
    /// The seed of the run's random numbers.
    pub seed: u64,
    /// How a substep is solved.
    pub newton: NewtonSettings,
}

/// How a frame is divided into substeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Substeps {
    /// Always so many.
    Fixed(u32),
    /// As many as fluids ask for, with what moves in them; one where there are none. Never more than a frame may have: there, steps
    /// are longer.
    Automatic {
        /// At most so many.
        most: u32,
        /// How many voxels a fluid, or what moves in it, may cross in one.
        cfl: f64,
    },
    /// As many as Objects ask for, within bounds.
    Adaptive {
        /// At least so many.
        least: u32,
        /// More are an error.
        most: u32,
        /// How many voxels anything may cross in one.
        cfl: f64,
    },
}

/// How far anything may go in a substep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Courant {
    /// How many voxels anything may cross.
    pub number: f64,
    /// What Forces accelerate everything by [m/s²].
    pub acceleration: f64,
}

impl Courant {
    /// The longest step [s] for something that has this speed [m/s] on voxels of this size [m]: the speed u grows to u + a·t
    /// meanwhile, so that t·(u + a·t) has to stay within what may be crossed.
    pub fn longest_step(&self, speed: f64, voxel: f64) -> f64 {
        let way = self.number * voxel;
        // In this form nothing cancels, and without acceleration it is way/speed.
        let root = (speed * speed + 4.0 * self.acceleration * way).sqrt();
        if root > 0.0 { 2.0 * way / (speed + root) } else { f64::INFINITY }
    }
}

/// The speed of the fastest of all particles [m/s], by their velocities. Collective.
pub fn fastest(
    domain: &GridDomain,
    particles: &ParticleSystem,
    velocity: Handle<Vec3>,
) -> Result<f64> {
    let square = Accessor::new("speed", domain).over(particles.topology()).reduce(
        particles.own(velocity),
        |_, velocity| velocity.iter().fold(0.0_f32, |most, v| most.max(v.length_squared())),
        f32::max,
    )?;
    Ok(f64::from(square.unwrap_or(0.0)).sqrt())
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            fps: 24.0,
            first: 1,
            last: 24,
            preroll: 0,
            time_scale: 1.0,
            substeps: Substeps::Fixed(1),
            outputs_per_frame: 1,
            seed: 0,
            newton: NewtonSettings::default(),
        }
    }
}

impl Timeline {
    /// Simulated time at a frame [s]: zero at the first one.
    pub fn time(&self, frame: i64) -> f64 {
        // In i128, since a frame may be as far from the first one as an i64 can be.
        let frames = (i128::from(frame) - i128::from(self.first)) as f64;
        frames * self.frame_time()
    }

    /// Simulated time at a frame's number, with its part between frames [s]; 0 at the first.
    pub fn time_at(&self, number: f64) -> f64 {
        (number - self.first as f64) * self.frame_time()
    }

    /// Simulated time from frame to frame [s].
    pub fn frame_time(&self) -> f64 {
        self.time_scale / self.fps
    }

    /// The frame whose state is the initial one.
    pub fn start(&self) -> i64 {
        self.first.saturating_sub(i64::from(self.preroll))
    }

    /// The length of the substep to take next [s], in what is left of a piece of a frame.
    ///
    /// Pieces are divided evenly, so that no step is much shorter than the others.
    pub fn next_step(&self, left: f64, longest: f64, asks: &str) -> Result<f64> {
        if let Substeps::Fixed(_) = self.substeps {
            return Ok(left);
        }
        // What is left of a frame is known up to rounding; that must not cost another substep.
        let pieces = (left / longest * (1.0 - 1e-9)).ceil().max(1.0);
        // No number of steps is enough for one that asks for steps of no length.
        let pieces = if longest > 0.0 { pieces } else { f64::INFINITY };
        let most = self.most_substeps();
        if pieces > f64::from(most) {
            return Err(SimError::TooManySubsteps {
                wanted: pieces,
                most,
                object: asks.to_owned(),
                step: longest,
            });
        }
        Ok(left / pieces)
    }

    /// No substep has to be shorter than this [s], where their number is automatic: what is `left` of a piece of a frame, after so many
    /// substeps of that frame, is divided evenly among those that it still may have.
    pub(crate) fn short_enough(&self, left: f64, piece: u32, made: u32) -> f64 {
        let Substeps::Automatic { most, .. } = self.substeps else { return 0.0 };
        let pieces = u64::from(self.pieces());
        let until_its_end = u64::from(most).max(pieces) * (u64::from(piece) + 1) / pieces;
        left / until_its_end.saturating_sub(made.into()).max(1) as f64
    }

    /// How many voxels anything may cross in a substep; 1 where their number is fixed, so that steps are measured all the same.
    pub fn cfl(&self) -> f64 {
        match self.substeps {
            Substeps::Fixed(_) => 1.0,
            Substeps::Adaptive { cfl, .. } | Substeps::Automatic { cfl, .. } => cfl,
        }
    }

    /// How many substeps a frame may have.
    pub fn most_substeps(&self) -> u32 {
        match self.substeps {
            Substeps::Fixed(count) => count,
            Substeps::Adaptive { most, .. } | Substeps::Automatic { most, .. } => most,
        }
    }

    /// Into how many pieces of equal length a frame is divided at least: each ends at a moment that is written, or that the
    /// setup asks for.
    pub fn pieces(&self) -> u32 {
        let least = match self.substeps {
            Substeps::Fixed(count) => count,
            Substeps::Automatic { .. } => 1,
            Substeps::Adaptive { least, .. } => least,
        };
        least.max(1).next_multiple_of(self.outputs_per_frame.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_falls_from_rest_crosses_as_many_voxels_as_it_may() {
        let courant = Courant { number: 2.0, acceleration: 9.81 };
        for speed in [0.0, 1e-6, 0.3, 40.0] {
            let step = courant.longest_step(speed, 0.05);
            let crossed = step * (speed + 9.81 * step) / 0.05;
            assert!((crossed - 2.0).abs() < 1e-12, "{crossed} voxels from {speed} m/s");
        }
    }

    #[test]
    fn without_acceleration_a_step_is_the_way_over_the_speed() {
        let courant = Courant { number: 3.0, acceleration: 0.0 };
        assert_eq!(courant.longest_step(6.0, 0.5), 0.25);
        assert_eq!(courant.longest_step(0.0, 0.5), f64::INFINITY);
    }
}
