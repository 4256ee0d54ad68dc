//! Ctrl-C, and what farms send to end a program (SIGTERM), which are the same: what is not a whole step or file yet ends at once;
//! while something is being made, the first asks to end after it, and a later one ends at once.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whether there is nothing to finish.
static AT_ONCE: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(true)));

/// What is done last before the program is ended at once while it makes something.
static AT_LAST: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// What the shell is told of a program that was asked to end.
const INTERRUPTED: i32 = 130;

/// Signals within this time are one: `timeout` and shells send theirs to a program and to the group that it is in, too.
const ONE: Duration = Duration::from_secs(2);

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
    // Without a thread that waits for them, they go on ending the program at once.
    if let Ok(signals) = Signals::new(SIGNALS) {
        let flag = asked.clone();
        let waiting = std::thread::Builder::new().spawn(move || wait(signals, &flag));
        AT_ONCE.store(waiting.is_err(), Ordering::SeqCst);
    }
    asked
}

/// Does this before the program is ended at once, if it ever is.
pub fn at_last(last: impl FnOnce() + Send + 'static) {
    *AT_LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(last));
}

/// Sets the flag at the first signal, and ends the program at one that comes later.
fn wait(mut signals: Signals, asked: &AtomicBool) {
    let mut first: Option<Instant> = None;
    for _ in signals.forever() {
        asked.store(true, Ordering::SeqCst);
        if first.get_or_insert_with(Instant::now).elapsed() < ONE {
            continue;
        }
        let last = AT_LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(last) = last {
            last();
        }
        signal_hook::low_level::exit(INTERRUPTED);
    }
}
