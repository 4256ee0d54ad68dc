//! `undine help` and `undine schema`: what there is, from its declarations.

use crate::arguments::Help;
use crate::{print, width};
use undine::{ExitCode, declarations};
use undine_schema::faces::{help, json};

/// Explains a node, or lists them all.
pub fn help(arguments: &Help) -> ExitCode {
    let all = declarations();
    let Some(name) = &arguments.name else {
        let commands = "Commands: undine run, check, explain, help, schema, fmt, info, convert; `undine run --help` explains one.\n\n";
        return print(&format!("{commands}{}", help::overview(&all, width())));
    };
    match all.iter().find(|declaration| declaration.name == name) {
        Some(declaration) => print(&help::help(declaration, width(), arguments.advanced)),
        None => {
            eprintln!("{}", help::unknown(name, &all));
            ExitCode::BadScene
        }
    }
}

/// Prints the JSON schema.
pub fn schema() -> ExitCode {
    print(&json::schema(&declarations()))
}
