//! What is told by `tracing`: warnings, and with `--trace` every Task as a span in the format of chrome://tracing, written line
//! by line.

use crate::warnings::{self, Warnings};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

/// What the trace is written to; nothing without one, after its end, and once the disk has refused it.
static FILE: Mutex<Option<BufWriter<File>>> = Mutex::new(None);

/// Begins to keep warnings, and to write a trace if there is to be one; the file is whole after each event but for its closing
/// bracket, which [`end`] writes and viewers do not need.
pub fn begin(path: Option<&Path>) -> std::io::Result<()> {
    let trace = match path {
        Some(path) => {
            let mut file = BufWriter::new(File::create(path)?);
            write!(file, "[").and_then(|()| file.flush())?;
            *FILE.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
            let name = path.display().to_string();
            Some(ChromeTrace { name, is_first: AtomicBool::new(true), began: Instant::now() })
        }
        None => None,
    };
    // A program has one subscriber; a second call keeps the first.
    let subscriber = Registry::default().with(trace).with(Warnings);
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

/// Ends the trace, if there is one: what is told afterwards is not in it.
pub fn end() {
    let file = FILE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(mut file) = file
        && let Err(why) = writeln!(file, "\n]").and_then(|()| file.flush())
    {
        drop(file.into_parts());
        warnings::tell(format!("the trace ends before its last line: {why}"));
    }
}

struct ChromeTrace {
    name: String,
    /// Whether no event is written yet: those that follow stand behind a comma.
    is_first: AtomicBool,
    began: Instant,
}

/// What a span is called.
#[derive(Default)]
struct Named {
    name: String,
    owner: String,
}

impl Visit for Named {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "name" => self.name = text.trim_matches('"').to_owned(),
            "owner" => self.owner = text.trim_matches('"').to_owned(),
            _ => {}
        }
    }
}

impl ChromeTrace {
    fn write(&self, name: &Named, phase: &str) {
        let event = serde_json::json!({
            "name": name.name, "cat": name.owner, "ph": phase, "pid": 1, "tid": 1,
            "ts": self.began.elapsed().as_secs_f64() * 1e6,
        });
        let Ok(mut slot) = FILE.lock() else { return };
        let Some(file) = &mut *slot else { return };
        let comma = if self.is_first.swap(false, Ordering::Relaxed) { "" } else { "," };
        if let Err(why) = write!(file, "{comma}\n{event}").and_then(|()| file.flush()) {
            // What it still holds would be tried again when it is dropped.
            slot.take().into_iter().for_each(|file| drop(file.into_parts()));
            warnings::tell(format!("the trace {} ends here: {why}", self.name));
        }
    }
}

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for ChromeTrace {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut named = Named::default();
        attributes.record(&mut named);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(named);
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(named) = span.extensions().get::<Named>()
        {
            self.write(named, "B");
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(named) = span.extensions().get::<Named>()
        {
            self.write(named, "E");
        }
    }
}
