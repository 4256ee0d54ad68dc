//! Crates that stand on each other: their contacts are solved in few sweeps, and nothing moves.

use super::scene::{of_points, simulation, steps_of_frame};
use crate::page::Case;
use crate::verdict::Verdict;
use undine_core::glam::DVec3;
use undine_sim::Result;

/// The case.
pub const STACK: Case = Case {
    name: "outside-stack",
    doc: "Two stacks of three crates at rest: the contacts of every step converge, in at most 200 sweeps, and no crate moves within a \
          second, at two lengths of steps.",
    run: || run().unwrap_or_else(Verdict::broken),
};

fn scene(substeps: u32) -> String {
    format!(
        r#"
setup "stack" fps=24 frames=25 substeps={substeps}
input "floor" {{
    plane
}}
input "crate" {{
    box size="12 12 12 cm"
}}
input "places" {{
    points at="0 6 0 cm; 0 18 0 cm; 0 30 0 cm; 20 6 0 cm; 20 18 0 cm; 20 30 0 cm"
}}
rigid-body "crates" input="places" shape="crate" density="500 kg/m3"
collider "floor" input="floor"
collision friction=0.4
gravity
"#
    )
}

fn run() -> Result<Verdict> {
    let mut verdict = Verdict::new();
    for substeps in [1, 4] {
        let mut simulation = simulation(&scene(substeps));
        let begun: Vec<DVec3> = of_points(&simulation, "position")?;
        let (mut solves, mut moved) = (Vec::new(), 0.0_f64);
        for _ in 0..24 {
            let steps = steps_of_frame(&mut simulation)?;
            let of_contacts = steps.into_iter().flat_map(|step| step.solves);
            solves.extend(of_contacts.filter(|solve| solve.system == "contacts"));
            let now: Vec<DVec3> = of_points(&simulation, "position")?;
            moved = begun.iter().zip(now).map(|(a, b)| a.distance(b)).fold(moved, f64::max);
        }
        let name = |what: &str| format!("{what}, {substeps} steps in a frame");
        let astray = solves.iter().filter(|solve| !solve.converged).count();
        let sweeps = solves.iter().map(|solve| solve.iterations).max().unwrap_or(0);
        verdict = verdict
            .at_least(&name("solves"), solves.len() as f64, f64::from(24 * substeps))
            .same(&name("solves that have not converged"), astray, 0)
            .at_most(&name("most sweeps of a solve"), sweeps as f64, 200.0)
            .at_most(&name("farthest that a crate moves [m]"), moved, 1e-5);
    }
    Ok(verdict)
}
