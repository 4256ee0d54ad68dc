//! Walls that a liquid may leave: in cells along them the pressure may push, but not pull (Batty, Bertails and Bridson 2007, §5;
//! solved as Loki, §7.1).
//!
//! Where the pressure would be negative it stays zero, and the cell may open: what flows out of it is more than what flows in.

use super::layers::{ones, step, upper};
use super::project::Fluid;
use undine_core::{Accessor, Handle};
use undine_linsolve::Operator;
use undine_linsolve::lcp::{Bounds, predictor_corrector};
use undine_linsolve::pressure::PressureSystem;
use undine_linsolve::report::{Report, Stop};
use undine_sim::Result;

/// Solves for a pressure that does not pull at walls. `p` goes in as a first guess. Collective.
pub fn solve(
    fluid: &Fluid<'_>,
    system: &PressureSystem,
    b: &[f64],
    p: &mut [f64],
    stop: &Stop,
) -> Result<Report> {
    // The right-hand side has been read, so that its channel is free.
    mark(fluid)?;
    let (lower, above) = system.bounds(fluid.volume, Some(fluid.inflow), None)?;
    // What is without bounds is no number for a channel to keep.
    fluid.volume.column_mut(fluid.inflow)?.fill(0.0);
    system.write(b, fluid.domain, fluid.volume, fluid.inflow)?;
    let bounds = Bounds::new(system.rows(), &lower, &above)?;
    bounds.project(p);
    let mut multigrid = system.multigrid();
    let solved = predictor_corrector(system, &mut multigrid, b, &bounds, p, stop)?;
    Ok(solved.report)
}

/// Sets the lower bounds of pressures: zero in liquid cells that a wall closes a part of, and none in others.
fn mark(fluid: &Fluid<'_>) -> Result<()> {
    let Fluid { domain, volume, field, inflow, .. } = *fluid;
    let around = |faces: [Handle<f32>; 3]| faces.map(|face| volume.around(face, 1));
    let kernel =
        (volume.own(field.cells.words), around(field.walls.area.faces), volume.write(inflow));
    Accessor::new("mark cells along walls", domain).over(volume.topology()).level(0).run(
        kernel,
        |_, (cells, area, lower)| {
            lower.fill(f32::NEG_INFINITY);
            let cells = super::layers::bits(cells);
            if cells == [0; 8] {
                return;
            }
            for (axis, area) in area.iter().enumerate() {
                let (x, y, z) = step(axis, 1);
                let above = upper(axis, area.chunk(), area.neighbour(x, y, z));
                for n in ones(&cells).filter(|&n| area.chunk()[n] < 1.0 || above[n] < 1.0) {
                    lower[n] = 0.0;
                }
            }
        },
    )?;
    Ok(())
}
