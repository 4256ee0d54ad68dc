//! `undine help` and `undine schema`: what there is, from its declarations.

use crate::arguments::{Arguments, Help};
use crate::{print, width};
use clap::CommandFactory;
use undine::{ExitCode, declarations};
use undine_schema::faces::{help, json};

/// Explains a node, or lists them all.
pub fn help(arguments: &Help) -> ExitCode {
    let all = declarations();
    let Some(name) = &arguments.name else {
        return print(&format!("{}\n{}", commands(), help::overview(&all, width())));
    };
    match all.iter().find(|declaration| declaration.name == name) {
        Some(declaration) => print(&help::help(declaration, width(), arguments.advanced)),
        None if Arguments::command().find_subcommand(name).is_some() => {
            eprintln!("`{name}` is a command: `undine {name} --help` explains it");
            ExitCode::BadScene
        }
        None => {
            let is_parameter = all.iter().any(|node| node.parameter(name).is_some());
            let page = page(name).filter(|_| !is_parameter);
            eprintln!("{}", page.unwrap_or_else(|| help::unknown(name, &all)));
            ExitCode::BadScene
        }
    }
}

/// What pages of the documentation tell of, and where they are.
const PAGES: &[(&[&str], &str)] = &[
    (&["scene", "scenes", "kdl"], "docs/scenes.md"),
    (&["file", "files", "format", "formats"], "docs/files.md"),
    (&["picture", "pictures"], "docs/pictures.md"),
    (&["surfacing", "mesh", "meshes"], "docs/surfacing.md"),
    (&["process", "processes", "mpi"], "docs/processes.md"),
    (&["unit", "units"], "docs/reference/units.md"),
];

/// Where something is told of that is no node of a scene.
fn page(name: &str) -> Option<String> {
    let (_, page) = PAGES.iter().find(|(names, _)| names.contains(&name))?;
    Some(format!(
        "`{name}` is no node of a scene: {page} tells of it\n`undine help` lists all nodes and commands"
    ))
}

/// What `undine` can do, a line each.
fn commands() -> String {
    let program = Arguments::command();
    let about = |command: &clap::Command| command.get_about().map(ToString::to_string);
    let all: Vec<(&str, String)> = program
        .get_subcommands()
        .map(|command| (command.get_name(), about(command).unwrap_or_default()))
        .collect();
    help::commands("undine", &all, width())
}

/// Prints the JSON schema.
pub fn schema() -> ExitCode {
    print(&json::schema(&declarations()))
}
