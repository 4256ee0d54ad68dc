//! Where sweeps lead: what one has changed is a step downhill, and is followed as conjugate gradients follow theirs, begun anew where that does
//! not lead down (Silcowitz-Hansen, Niebe & Erleben 2010, *A nonsmooth nonlinear conjugate gradient method for interactive contact force
//! problems*, algorithm 1).

use super::sweep::Point;
use rayon::prelude::*;
use undine_core::glam::DVec3;

/// Numbers that one task goes on with. Sums are added up run by run, in their order, so that no number of threads shows.
const RUN: usize = 4096;

/// Forces and coordinates go on along a direction that is conjugate to those before.
#[derive(Debug, Default)]
pub(super) struct Downhill {
    /// Where the sweep began.
    forces: Vec<DVec3>,
    z: Vec<f64>,
    /// The direction.
    along: Vec<DVec3>,
    along_z: Vec<f64>,
    /// How large the change of the sweep before was, as energy [J].
    size: f64,
}

impl Downhill {
    /// How large the change of the sweep was, as energy [J]: of those points that are `counted`, by their numbers. Nothing before the first.
    pub fn change(&self, points: &[Point], counted: impl Fn(usize) -> bool + Sync) -> f64 {
        let size = |(run, (points, forces)): (usize, (&[Point], &[DVec3]))| {
            let each = points.iter().zip(forces).enumerate();
            let own = each.filter(|(n, _)| counted(RUN * run + n));
            own.fold(0.0, |sum, (_, (point, before))| {
                let change = point.force - *before;
                sum + change.dot(point.w * change)
            })
        };
        if self.forces.len() != points.len() {
            return 0.0;
        }
        if points.len() <= RUN {
            return size((0, (points, &self.forces)));
        }
        let runs = points.par_chunks(RUN).zip(self.forces.par_chunks(RUN)).enumerate();
        let sizes: Vec<f64> = runs.map(size).collect();
        sizes.into_iter().sum()
    }

    /// Goes on from where a sweep has led to, whose change was of this size [J]: by the direction before, as far as that is smaller than the one
    /// before. Where it is larger, the next one begins anew.
    pub fn follow(&mut self, points: &mut [Point], z: &mut [f64], size: f64) {
        if self.forces.len() == points.len() {
            self.go_on(points, z, size);
            return;
        }
        self.forces = points.iter().map(|point| point.force).collect();
        self.z = z.to_vec();
        self.along.resize(points.len(), DVec3::ZERO);
        self.along_z.resize(z.len(), 0.0);
    }

    fn go_on(&mut self, points: &mut [Point], z: &mut [f64], size: f64) {
        let share = if self.size > 0.0 && size <= self.size { size / self.size } else { 0.0 };
        self.size = size;
        let points = points.par_iter_mut().with_min_len(RUN);
        points.zip(&mut self.forces).zip(&mut self.along).for_each(|((point, before), along)| {
            let change = point.force - *before;
            point.force += *along * share;
            *along = *along * share + change;
            *before = point.force;
        });
        let z = z.par_iter_mut().with_min_len(RUN);
        z.zip(&mut self.z).zip(&mut self.along_z).for_each(|((z, before), along)| {
            let change = *z - *before;
            *z += *along * share;
            *along = *along * share + change;
            *before = *z;
        });
    }
}
