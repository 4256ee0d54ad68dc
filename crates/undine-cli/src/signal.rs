//! Ctrl-C, and what farms send to end a program (SIGTERM), which are the same: what is not a whole step or file yet ends at once;
//! while something is being made, the first asks to end after it, and the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// Whether there is nothing to finish.
static AT_ONCE: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(true)));

const SIGNALS: [i32; 2] = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

/// What the shell is told of a program that was asked to end.
const INTERRUPTED: i32 = 130;

/// From here on both end the program in the same way.
pub fn begin() {
    for signal in SIGNALS {
        let at_once = AT_ONCE.clone();
        let _ = signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED, at_once);
    }
}

/// Is set when somebody asks the program to end, from here on after what it is making.
pub fn watch() -> Arc<AtomicBool> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        // In this order: the second time the first line finds the flag set, and ends the program.
        let _ =
            signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED, asked.clone());
        let _ = signal_hook::flag::register(signal, asked.clone());
    }
    AT_ONCE.store(false, Ordering::SeqCst);
    asked
}
