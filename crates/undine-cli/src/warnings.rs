//! Warnings and notes of everything below: what it tells by `tracing::warn!` and `tracing::info!` is kept until it can be printed without
//! spoiling a line.

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use undine::run::Told;

/// What was told and not printed yet.
static TOLD: Mutex<Vec<Told>> = Mutex::new(Vec::new());

/// No more than this is kept, should nobody ask.
const MOST: usize = 1000;

/// Keeps warnings and notes.
pub struct Warnings;

/// The warnings and notes since it was asked last, in their order.
pub fn take() -> Vec<Told> {
    std::mem::take(&mut TOLD.lock().unwrap_or_else(PoisonError::into_inner))
}

impl<S: Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let kind = match *event.metadata().level() {
            Level::WARN => Told::Warning,
            // Those of libraries that we use are not for people.
            Level::INFO if event.metadata().target().starts_with("undine") => Told::Note,
            _ => return,
        };
        let mut message = Message::default();
        event.record(&mut message);
        keep(kind(message.0));
    }
}

/// Keeps a warning until it can be printed.
pub fn tell(warning: String) {
    keep(Told::Warning(warning));
}

fn keep(new: Told) {
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.len() < MOST {
        told.push(new);
    }
}

/// The words of an event.
#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
