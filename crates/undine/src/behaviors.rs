//! Every Behavior there is, and every other node of a scene.

use undine_scene::{Catalogue, OUTPUT, RENDER, SETUP, graph};
use undine_schema::Declaration;
use undine_sim::BehaviorKind;

/// Every Behavior, crate by crate.
pub fn behaviors() -> Vec<BehaviorKind> {
    [
        undine_particles::BEHAVIORS,
        undine_liquid::BEHAVIORS,
        undine_gas::BEHAVIORS,
        undine_solid::BEHAVIORS,
        undine_fluid::BEHAVIORS,
        undine_actions::BEHAVIORS,
    ]
    .concat()
}

/// The declarations of every node that a scene may hold: Behaviors, the data graph, and settings.
pub fn declarations() -> Vec<&'static Declaration> {
    let behaviors = behaviors().into_iter().map(|kind| kind.declaration);
    let nodes = graph::NODES.iter().map(|node| node.declaration);
    behaviors.chain(nodes).chain([&SETUP, &OUTPUT, &RENDER]).collect()
}

/// What the scene reader knows.
pub fn catalogue() -> Catalogue {
    Catalogue::new(declarations())
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_schema::declaration::{clashes, faults};

    #[test]
    fn declarations_have_no_faults() {
        let all = declarations();
        let found: Vec<String> = all.iter().flat_map(|declaration| faults(declaration)).collect();
        assert_eq!(found, [""; 0]);
        assert_eq!(clashes(&all), [""; 0]);
    }
}
