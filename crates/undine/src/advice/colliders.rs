//! What is odd about the surfaces that colliders are made of: holes, and faces that look inwards.

use undine_core::glam::DVec3;
use undine_core::mesh::Surface;
use undine_scene::{GraphNode, Scene};
use undine_schema::{Type, Value};
use undine_sim::Simulation;
use undine_sim::input::Geometry;

/// What is odd about the surface of an input that the collider at this path is made of, in words, and what to do; where it is no sheet.
pub fn oddity(
    scene: &Scene,
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
            // One of several pieces may hold the others; what counts is what is inside of all of them.
            let volume = surface.volume().ok().filter(|volume| *volume < 0.0)?;
            let inverted = |name: &str| is_inverted(scene, name, &mut Vec::new());
            let what = format!(
                "the surface of `{path}` is inside out: its faces look inwards, so that all of space is solid but for {:.3e} m³",
                -volume
            );
            let help = "turn its faces around; or if that is meant, as of a tank, write `invert` in the input of what looks outwards";
            (!inverted(input)).then_some((what, help))
        }
    }
}

fn hole(surface: &Surface) -> Option<[DVec3; 2]> {
    undine_liquid::seed::hole(surface).ok()?
}

/// Whether an input, or one that it is made from, is turned inside out on purpose.
fn is_inverted(scene: &Scene, name: &str, seen: &mut Vec<String>) -> bool {
    if seen.iter().any(|known| known == name) {
        return false;
    }
    seen.push(name.to_owned());
    scene.input(name).is_some_and(|input| input.nodes.iter().any(|node| inverts(scene, node, seen)))
}

fn inverts(scene: &Scene, node: &GraphNode, seen: &mut Vec<String>) -> bool {
    if node.disabled {
        return false;
    }
    let mut inputs = node.declaration.parameters.iter().filter(|one| one.takes == Type::Input);
    node.declaration.name == "invert"
        || inputs.any(|parameter| match node.settings.get(parameter.name).map(|set| set.at(0.0)) {
            Some(Value::Text(name)) => is_inverted(scene, &name, seen),
            _ => false,
        })
        || node.children.iter().any(|child| inverts(scene, child, seen))
}
