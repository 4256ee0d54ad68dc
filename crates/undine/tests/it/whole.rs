//! What holds for all Behaviors together: no conflicts, no undeclared changes, no NaN that goes unnoticed, and a reference that
//! is the declarations.

use std::path::{Path, PathBuf};
use undine::{behaviors, catalogue, declarations, prepare};
use undine_core::ElementType;
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;
use undine_schema::Kind;
use undine_schema::faces::reference;
use undine_sim::registry::{StoreMut, Stores};
use undine_sim::{SimError, Simulation};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn simulation(path: &Path, text: &str) -> Simulation {
    let scene = Scene::parse(path, text, &catalogue(), &[]);
    let scene = scene.unwrap_or_else(|report| panic!("{}", report.render(100)));
    prepare::simulation(&scene, MemoryBudget::unlimited()).unwrap_or_else(|why| panic!("{why}"))
}

fn examples() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("examples")).expect("examples");
    let mut all: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path().join("scene.kdl")).collect();
    all.retain(|scene| scene.is_file());
    all.sort();
    all
}

/// Every Behavior there is in one setup, on every Object that it can act on.
const EVERYTHING: &str = include_str!("everything.kdl");

#[test]
fn one_setup_has_every_behavior_and_no_two_tasks_of_a_stage_conflict() {
    for kind in behaviors() {
        let name = kind.declaration.name;
        let used = EVERYTHING.lines().any(|line| line.split_whitespace().next() == Some(name));
        assert!(used, "`{name}` is not in everything.kdl");
    }
    let simulation = simulation(&root().join("everything.kdl"), EVERYTHING);
    for entry in &simulation.tree().behaviors {
        assert_eq!(entry.left_out, None, "{}", entry.path);
    }
    assert!(simulation.schedule().entries().len() > behaviors().len());
}

/// Two frames of scenes, with all that Tasks change held against what they declare.
fn audit(scenes: impl IntoIterator<Item = (PathBuf, String)>) {
    for (path, text) in scenes {
        let mut simulation = simulation(&path, &text);
        simulation.audited(true);
        for _ in 0..2 {
            simulation
                .advance_frame(&mut (), |_, _| Ok(()))
                .unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        }
    }
}

/// Examples with liquid, or those without.
fn examples_with_liquid(wanted: bool) -> impl Iterator<Item = (PathBuf, String)> {
    let texts = examples().into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    });
    texts.filter(move |(_, text)| text.contains("hybrid ") == wanted)
}

#[test]
fn tasks_of_liquids_change_only_what_they_declare() {
    audit(examples_with_liquid(true));
}

#[test]
fn tasks_of_all_else_change_only_what_they_declare() {
    audit(examples_with_liquid(false));
}

#[test]
fn tasks_of_everything_together_change_only_what_they_declare() {
    audit([(root().join("everything.kdl"), EVERYTHING.to_owned())]);
}

/// Puts NaN into the first element of the channel with this number of all floating channels; its name, or nothing if there are
/// fewer.
fn poison(simulation: &mut Simulation, number: usize) -> Option<(String, String)> {
    let mut left = number;
    let mut poisoned = None;
    simulation.world.each_mut(&mut |store| {
        let mut poison = |label: &str, name: &str, element: ElementType, bytes: &mut [u8]| {
            let width = match element.scalar() {
                undine_core::element::ScalarType::F32 => 4,
                undine_core::element::ScalarType::F64 => 8,
                _ => return,
            };
            if poisoned.is_some() || bytes.len() < width {
                return;
            }
            if left > 0 {
                left -= 1;
                return;
            }
            match width {
                4 => bytes[..4].copy_from_slice(&f32::NAN.to_le_bytes()),
                _ => bytes[..8].copy_from_slice(&f64::NAN.to_le_bytes()),
            }
            poisoned = Some((label.to_owned(), name.to_owned()));
        };
        match store {
            StoreMut::Particles(particles, _) => {
                let label = particles.label().to_owned();
                let slots = particles.topology().local() as u32;
                for (info, column) in particles.columns_mut() {
                    let full = (0..slots).find(|slot| !column.chunk_bytes_mut(*slot).is_empty());
                    if let Some(slot) = full {
                        poison(&label, &info.name, info.element, column.chunk_bytes_mut(slot));
                    }
                }
            }
            StoreMut::Topological(points) => {
                let label = points.label().to_owned();
                for (info, column) in points.columns_mut() {
                    poison(&label, &info.name, info.element, column.bytes_mut());
                }
            }
            StoreMut::Flat(channels, _) => {
                let label = channels.label().to_owned();
                for (info, column) in channels.columns_mut() {
                    poison(&label, &info.name, info.element, column.bytes_mut());
                }
            }
            _ => {}
        }
    });
    poisoned
}

#[test]
fn a_nan_in_any_channel_is_caught_within_one_substep_and_named() {
    let path = root().join("examples/hanging-net/scene.kdl");
    let text = std::fs::read_to_string(&path).unwrap().replace("substeps=4", "substeps=1");
    let mut number = 0;
    let mut tried = 0;
    loop {
        let mut simulation = simulation(&path, &text);
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
        let Some((store, channel)) = poison(&mut simulation, number) else { break };
        number += 1;
        tried += 1;
        let caught = simulation.advance_frame(&mut (), |_, _| Ok(()));
        let why = caught.expect_err(&format!("NaN in {store}.{channel} went unnoticed"));
        let SimError::At { place, .. } = &why else { panic!("{store}.{channel}: no place: {why}") };
        assert_eq!((place.now.frame, place.now.substep), (3, 0), "{store}.{channel}: {why}");
        // Object, channel, element and, where elements have one, position.
        assert!(!place.owner.is_empty(), "{why}");
        let told = why.to_string();
        let named = told.contains(&format!("`{channel}` of {store}")) && told.contains(" at ");
        assert!(named, "{store}.{channel}: {told}");
        let is_somewhere = told.contains("particle") && channel != "position";
        assert!(!is_somewhere || told.contains(") m"), "{told}");
    }
    assert!(tried > 10, "only {tried} channels");
}

/// With UNDINE_UPDATE set, writes the reference instead.
#[test]
fn the_reference_is_made_from_the_declarations() {
    let folder = root().join("docs/reference");
    let pages = reference::reference(&declarations());
    for (name, text) in &pages {
        let path = folder.join(name);
        if std::env::var_os("UNDINE_UPDATE").is_some() {
            std::fs::write(&path, text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == *text, "{}: run the tests with UNDINE_UPDATE=1", path.display());
    }
    let kept = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(kept, pages.len(), "pages that nothing makes any more");
}

/// Every example line of a declaration is one that the scene reader takes.
#[test]
fn the_example_of_every_declaration_is_a_scene() {
    for declaration in declarations() {
        let example = declaration.example;
        let text = match declaration.kind {
            Kind::Settings if declaration.name == "setup" => example.to_owned(),
            Kind::Settings => format!("setup \"a\" frames=2\n{example}\n"),
            Kind::Source | Kind::Filter if example.trim_start().starts_with("input") => {
                format!("setup \"a\" frames=2\n{example}\n")
            }
            Kind::Source => format!("setup \"a\" frames=2\ninput \"i\" {{\n{example}\n}}\n"),
            Kind::Filter => format!("setup \"a\" frames=2\ninput \"i\" {{\nbox\n{example}\n}}\n"),
            _ => format!("setup \"a\" frames=2\n{example}\n"),
        };
        if let Err(report) = Scene::parse(Path::new("example.kdl"), &text, &catalogue(), &[]) {
            // What an example names need not be there; how it is written has to be right.
            let wrong: Vec<_> = report
                .diagnostics()
                .iter()
                .filter(|found| !found.message.contains("there is no"))
                .map(|found| found.message.clone())
                .collect();
            assert!(wrong.is_empty(), "`{}`: {wrong:?}\n{text}", declaration.name);
        }
    }
}
