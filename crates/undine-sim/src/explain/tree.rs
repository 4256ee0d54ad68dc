//! The tree of Groups and Behaviors, in the order of evaluation, and why some take no part.

use super::plain::{padded, shown, widest};
use crate::simulation::Simulation;
use crate::tree::{BehaviorEntry, Tree};

/// A line of the tree: branches and name, kind, what it is, and what there is to say of it.
struct Line {
    name: String,
    kind: &'static str,
    is: String,
    note: String,
}

/// The tree in words.
pub(super) fn text(simulation: &Simulation) -> String {
    let mut lines = Vec::new();
    grow(simulation.tree(), 0, "  ", &mut lines);
    let names = widest(lines.iter().map(|line| line.name.as_str()));
    let kinds = widest(lines.iter().map(|line| line.kind));
    let declared = widest(lines.iter().map(|line| line.is.as_str()));
    let mut text = "SETUP: Groups and Behaviors, in the order of evaluation\n\n".to_owned();
    if lines.is_empty() {
        text.push_str("  nothing\n");
    }
    for Line { name, kind, is, note } in &lines {
        let (name, kind, is) = (padded(name, names), padded(kind, kinds), padded(is, declared));
        text.push_str(&format!("{name}  {kind}  {is}  {note}\n"));
    }
    text
}

/// What a Group holds: Groups, then Behaviors.
fn grow(tree: &Tree, group: usize, branch: &str, lines: &mut Vec<Line>) {
    let here = |entry: &&BehaviorEntry| entry.group == group;
    let behaviors: Vec<_> = tree.behaviors.iter().filter(here).collect();
    let groups: Vec<_> =
        (0..tree.groups.len()).filter(|&child| tree.groups[child].parent == Some(group)).collect();
    let (mut left, above) = (groups.len() + behaviors.len(), tree.groups[group].path.as_str());
    let mut twig = || {
        left -= 1;
        if left > 0 { ("├─ ", "│  ") } else { ("└─ ", "   ") }
    };
    for child in groups {
        let (joint, below) = twig();
        let entry = &tree.groups[child];
        let note = match (entry.disabled, tree.objects_in(child).is_empty()) {
            (true, _) => "disabled",
            (_, true) => "holds no Object",
            _ => "",
        };
        lines.push(Line {
            name: format!("{branch}{joint}{}", shown(own_name(above, &entry.path))),
            kind: "Group",
            is: String::new(),
            note: note.to_owned(),
        });
        grow(tree, child, &format!("{branch}{below}"), lines);
    }
    for entry in behaviors {
        let reason = entry.left_out.as_ref();
        lines.push(Line {
            name: format!("{branch}{}{}", twig().0, shown(own_name(above, &entry.path))),
            kind: entry.scope.declaration.kind.noun(),
            is: entry.scope.declaration.name.to_owned(),
            note: reason.map_or(String::new(), |why| format!("left out: {}", shown(why))),
        });
    }
}

/// The last part of a path, below the path of the Group it is in.
pub(super) fn own_name<'a>(above: &str, path: &'a str) -> &'a str {
    path.strip_prefix(above).map_or(path, |rest| rest.strip_prefix('/').unwrap_or(rest))
}
