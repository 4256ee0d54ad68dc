//! What is odd about the surfaces that colliders are made of: holes, and faces that look inwards.

use undine_core::glam::DVec3;
use undine_core::mesh::Surface;
use undine_sim::Simulation;
use undine_sim::input::Geometry;

/// What is odd about the surface of an input that the collider at this path is made of, in words, and what to do; where it is no sheet.
pub fn oddity(
    simulation: &Simulation,
    path: &str,
    input: &str,
    is_among_fluids: bool,
) -> Option<(String, &'static str)> {
    let entry = simulation.tree().behaviors.iter().find(|entry| entry.path == path)?;
    let time = simulation.timeline().time(simulation.clock().frame);
    let thickness = undine_sim::Values::new(&entry.scope, time).number("thickness");
    if thickness.is_ok_and(|thickness| thickness > 0.0) {
        return None;
    }
    let data = simulation.inputs().data(input, time).ok()?;
    let Geometry::Surface(surface) = &data.geometry else { return None };
    match hole(surface) {
        Some([a, b]) if is_among_fluids => {
            let what = format!(
                "the surface of `{path}` has a hole, so that it is a guess what is inside: its edge from {a:.4} to {b:.4} m has a face on \
                 one side only"
            );
            Some((what, "close it, or make a sheet of it by a `thickness`"))
        }
        Some(_) => None,
        None => {
            let volume = surface.volume().ok().filter(|volume| *volume < 0.0)?;
            let what = format!(
                "the surface of `{path}` is inside out: its faces look inwards, so that all of space is solid but for {:.3e} m³",
                -volume
            );
            let help = "turn its faces around; if that is meant, as of a tank, make it a shape with `invert`, or a sheet with a `thickness`";
            Some((what, help))
        }
    }
}

fn hole(surface: &Surface) -> Option<[DVec3; 2]> {
    undine_liquid::seed::hole(surface).ok()?
}
