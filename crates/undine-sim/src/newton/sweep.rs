//! Visits of contacts: how one takes the force that fulfils its laws and hands it on, and when there were enough of them.
//!
//! A visit reads and writes the coordinates of the blocks that its contact touches and of no others, so that visits which see other
//! blocks may be made beside each other ([`parts`](super::parts)).

use super::coulomb::Law;
use super::touch::TouchSettings;
use multiversion::multiversion;
use std::borrow::Cow;
use std::ops::Range;
use undine_core::glam::{DMat3, DVec3};

/// A contact that is off by this part of the tolerance has nothing to tell the others.
const LITTLE: f64 = 0.1;

/// Where laws may be off on the mean over contacts, the worst of them may be so many times.
pub const SPREAD: f64 = 10.0;

/// Most sweeps over contacts of what moves so much that its laws may be off: what is left is taken up when they are looked for again.
const WHILE_MOVING: usize = 200;

/// What a contact has to do with one node or body of a block, or with its own coordinates there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lever {
    pub block: u32,
    /// Its first unknown in the block, and how many they are.
    pub first: u32,
    pub width: usize,
    /// The contact's displacement by each unknown, along normal and tangents.
    pub by: [DVec3; 6],
}

/// A contact while it is solved, along normal and tangents.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub number: u32,
    /// The first node that it hangs on.
    pub node: u32,
    pub frame: DMat3,
    pub b: DVec3,
    pub w: DMat3,
    /// Its laws, with what the contact itself gives way.
    pub law: Law,
    pub force: DVec3,
    /// What it hangs on, and the same in the coordinates in which blocks move.
    pub hangs: Range<usize>,
    pub levers: Range<usize>,
}

/// How a block moves while contacts are solved: in its own unknowns, or in the coordinates of its contacts.
#[derive(Debug)]
pub(super) struct Moving<'a> {
    /// Where its coordinates begin in z, and how many they are.
    pub start: usize,
    pub width: usize,
    /// How each follows from a force on each, row after row; symmetric.
    pub inverse: Cow<'a, [f64]>,
    /// Whether these are its own unknowns.
    pub is_own: bool,
}

/// A sweep over contacts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sweep {
    /// Its number, from 1.
    pub number: usize,
    /// Whether all contacts are visited, also those to which nothing was done.
    pub all: bool,
    /// A contact that is off by less has nothing to tell the others [m].
    pub little: f64,
    /// By how much a contact was off at most so far [m], the node that it hangs on, and the sum of squares [m²].
    pub residual: f64,
    pub worst: Option<u32>,
    pub squares: f64,
}

/// When sweeps are over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    /// Enough when no contact is off by more than this [m].
    tolerance: f64,
    /// Also enough when they are off by no more than this on the mean, and none by more than [`SPREAD`] times as much [m].
    accuracy: f64,
    contacts: f64,
    /// Most sweeps.
    sweeps: usize,
}

impl Goal {
    /// Of so many contacts.
    pub fn new(settings: &TouchSettings, accuracy: f64, contacts: usize) -> Self {
        let TouchSettings { tolerance, sweeps } = *settings;
        let moves = accuracy > tolerance;
        let sweeps = if moves { sweeps.min(WHILE_MOVING) } else { sweeps };
        Self { tolerance, accuracy, contacts: contacts.max(1) as f64, sweeps }
    }

    /// Whether there may be another sweep after so many. One that was enough for those it visited is followed by one of all, however many there
    /// were.
    pub fn goes_on(&self, after: usize, is_last: bool) -> bool {
        after < self.sweeps || is_last
    }

    /// The next sweep over the contacts, after so many.
    pub fn sweep(&self, after: usize, all: bool) -> Sweep {
        let little = LITTLE * self.tolerance.max(self.accuracy);
        Sweep { number: after + 1, all, little, residual: 0.0, worst: None, squares: 0.0 }
    }

    /// Whether a sweep is the last one.
    pub fn is_reached(&self, sweep: &Sweep) -> bool {
        let mean = (sweep.squares / self.contacts).sqrt();
        sweep.residual <= self.tolerance
            || (mean <= self.accuracy && sweep.residual <= SPREAD * self.accuracy)
    }

    /// By how much the worst contact of a sweep may be off [m]: where it is off by little and too many others are as well, by no more than what is
    /// little enough for all of them.
    pub fn most(&self, sweep: &Sweep) -> f64 {
        let most = self.tolerance.max(SPREAD * self.accuracy);
        let is_mean = sweep.residual <= most && !self.is_reached(sweep);
        if is_mean { self.tolerance } else { most }
    }
}

impl Sweep {
    /// Whether it goes from the first contact to the last, and not back.
    pub fn is_forth(&self) -> bool {
        self.number % 2 == 1
    }

    /// The same sweep, of which nothing is known yet.
    pub fn begun(&self) -> Self {
        Self { residual: 0.0, worst: None, squares: 0.0, ..*self }
    }

    /// Takes in by how much a contact on a node was off [m].
    #[inline]
    fn notice(&mut self, off: f64, node: u32) {
        self.worsen(off, Some(node));
        self.squares += off * off;
    }

    /// Takes in what was found elsewhere in the same sweep.
    pub fn join(&mut self, other: &Self) {
        self.worsen(other.residual, other.worst);
        self.squares += other.squares;
    }

    #[inline]
    fn worsen(&mut self, off: f64, node: Option<u32>) {
        // A NaN is kept, to be found.
        if off.is_nan() || off > self.residual {
            (self.residual, self.worst) = (off, node);
        }
    }
}

/// Blocks that follow each other, as far as visits change them.
#[derive(Debug, Default)]
pub(super) struct Run<'v> {
    /// The first of them, and where its coordinates begin among all.
    pub block: usize,
    pub start: usize,
    pub z: &'v mut [f64],
    /// The last sweep in which something was done to each.
    pub moved: &'v mut [usize],
}

/// What one thread sees of a cluster while it visits contacts: one or two runs of blocks, of which nobody else sees any meanwhile.
#[derive(Debug)]
pub(super) struct View<'v> {
    pub moving: &'v [Moving<'v>],
    pub levers: &'v [Lever],
    /// The blocks; those of the second run come behind those of the first.
    pub near: Run<'v>,
    pub far: Option<Run<'v>>,
}

impl<'v> View<'v> {
    #[inline]
    fn run(&self, block: u32) -> &Run<'v> {
        match &self.far {
            Some(far) if block as usize >= far.block => far,
            _ => &self.near,
        }
    }

    #[inline]
    fn run_mut(&mut self, block: u32) -> &mut Run<'v> {
        match &mut self.far {
            Some(far) if block as usize >= far.block => far,
            _ => &mut self.near,
        }
    }

    /// Hands a change of a contact's force on to what it touches.
    #[inline]
    pub fn give(&mut self, point: &Point, change: DVec3) {
        let (moving, levers) = (self.moving, self.levers);
        for lever in &levers[point.levers.clone()] {
            let Moving { start, width, ref inverse, .. } = moving[lever.block as usize];
            let run = self.run_mut(lever.block);
            let z = &mut run.z[start - run.start..][..width];
            // Unknowns come in threes.
            for (k, by) in lever.by[..lever.width].chunks_exact(3).enumerate() {
                let force = [by[0].dot(change), by[1].dot(change), by[2].dot(change)];
                let columns = &inverse[width * (lever.first as usize + 3 * k)..][..3 * width];
                add(z, columns, force);
            }
        }
    }

    /// Visits a contact; by how much it was off [m].
    #[inline]
    fn visit(&mut self, point: &mut Point) -> f64 {
        let mut u = point.b - point.w * point.force;
        for lever in &self.levers[point.levers.clone()] {
            let run = self.run(lever.block);
            let start = self.moving[lever.block as usize].start - run.start;
            let z = &run.z[start + lever.first as usize..];
            for (z, by) in z[..lever.width].iter().zip(&lever.by) {
                u += *by * *z;
            }
        }
        let force = point.law.solve(u);
        let change = force - point.force;
        if change == DVec3::ZERO {
            return 0.0;
        }
        let off = (point.w * change).length();
        point.force = force;
        self.give(point, change);
        off
    }

    /// Visits a contact in a sweep; by how much it was off [m]. One between blocks to which next to nothing was done since it was visited is
    /// left as it is.
    #[inline]
    pub fn look(&mut self, point: &mut Point, sweep: &mut Sweep) -> f64 {
        let has_moved = |lever: &Lever| {
            let run = self.run(lever.block);
            run.moved[lever.block as usize - run.block] + 1 >= sweep.number
        };
        if !sweep.all && !self.levers[point.levers.clone()].iter().any(has_moved) {
            return 0.0;
        }
        let off = self.visit(point);
        self.mark(point, off, sweep);
        sweep.notice(off, point.node);
        off
    }

    /// Remembers that a contact which was off [m] has done something to its blocks.
    #[inline]
    pub fn mark(&mut self, point: &Point, off: f64, sweep: &Sweep) {
        if off.is_nan() || off > sweep.little {
            let levers = self.levers;
            for lever in &levers[point.levers.clone()] {
                let run = self.run_mut(lever.block);
                run.moved[lever.block as usize - run.block] = sweep.number;
            }
        }
    }

    /// Visits contacts one after another: to and fro, so that what a stack rests on is heard of at its top in the same sweep, and the
    /// other way round.
    pub fn sweep(&mut self, points: &mut [Point], sweep: &mut Sweep) {
        for k in 0..points.len() {
            let n = if sweep.is_forth() { k } else { points.len() - 1 - k };
            self.look(&mut points[n], sweep);
        }
    }
}

/// Adds what three forces do, each by its column. Not by fused products, so that bits are the same with and without wide registers.
#[multiversion(targets("x86_64+avx2"))]
fn add(z: &mut [f64], columns: &[f64], force: [f64; 3]) {
    let (first, others) = columns.split_at(z.len());
    let (second, third) = others.split_at(z.len());
    for (((z, a), b), c) in z.iter_mut().zip(first).zip(second).zip(third) {
        *z += a * force[0] + b * force[1] + c * force[2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Off by little each, and too many of them: what is told is enough would have ended the sweeps, and is less than by what they are off.
    #[test]
    fn what_a_sweep_misses_is_more_than_what_is_told_to_be_enough() {
        let settings = TouchSettings { tolerance: 1e-6, sweeps: 10 };
        let goal = Goal::new(&settings, 1e-5, 100);
        let sweep = |residual: f64, mean: f64| Sweep {
            residual,
            squares: 100.0 * mean * mean,
            ..goal.sweep(0, true)
        };
        for (residual, mean) in [(1e-4, 5e-5), (2e-5, 1.5e-5), (2e-5, 5e-6), (5e-7, 5e-7)] {
            let sweep = sweep(residual, mean);
            assert_eq!(goal.is_reached(&sweep), residual <= goal.most(&sweep), "{sweep:?}");
        }
        assert!(!goal.goes_on(10, false) && goal.goes_on(10, true) && goal.goes_on(9, false));
    }
}
