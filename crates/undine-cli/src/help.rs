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
        None => {
            eprintln!("{}", help::unknown(name, &all));
            ExitCode::BadScene
        }
    }
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
