//! Ctrl-C: the first asks the run to end after its substep, the second ends it at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Is set when somebody asks the program to end.
pub fn watch() -> Arc<AtomicBool> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // In this order: the second time the first line finds the flag set, and ends the program.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, asked.clone());
        let _ = signal_hook::flag::register(signal, asked.clone());
    }
    asked
}
