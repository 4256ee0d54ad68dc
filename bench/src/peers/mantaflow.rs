//! Blender's Mantaflow bakes the dam break of `flip-dam`, and the plume of `smoke`.

use super::command::{number, output, words};
use super::install::{BLENDER, debian, folder};
use super::{PeerChoice, PeerError};
use crate::Result;
use crate::report::Value;
use std::process::Command;

/// What is baked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bake {
    /// The dam break of `flip-dam`.
    Dam,
    /// The plume of `smoke`.
    Plume,
}

/// What Mantaflow took for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeerBake {
    /// Time of a frame [s].
    pub seconds_per_frame: f64,
    /// Its greatest memory, less what Blender had before the bake [bytes].
    pub extra_bytes: u64,
}

/// Has Mantaflow bake the frames up to `last` in a box `size` cells across, of which those after `warm_up` are timed, if
/// peers are chosen and it can be had; says on standard output what came of it.
pub fn mantaflow(
    choice: PeerChoice,
    what: Bake,
    size: usize,
    threads: usize,
    [warm_up, last]: [usize; 2],
) -> Option<PeerBake> {
    if !choice.runs("mantaflow", false) {
        return None;
    }
    match bake(what, size, threads, [warm_up, last]) {
        Ok(bake) => {
            let seconds = Value::Number(bake.seconds_per_frame);
            println!("  mantaflow: {seconds} s a frame, {} bytes", bake.extra_bytes);
            Some(bake)
        }
        Err(error) => {
            println!("  mantaflow: left out, {error}");
            None
        }
    }
}

fn bake(what: Bake, size: usize, threads: usize, [warm_up, last]: [usize; 2]) -> Result<PeerBake> {
    debian(&[BLENDER])?;
    let threads = threads.to_string();
    let mut command = Command::new("blender");
    command
        .args(["--background", "--threads", &threads, "--python-exit-code", "1", "--python"])
        .arg(folder("peers").join("mantaflow.py"))
        .args(["--", "--threads", &threads, "--size", &size.to_string()])
        .args(["--kind", if what == Bake::Dam { "liquid" } else { "gas" }])
        .args(["--warm-up", &warm_up.to_string(), "--frames", &last.to_string()])
        .env("OMP_NUM_THREADS", &threads);
    let said = String::from_utf8_lossy(&output(&mut command)?.stdout).into_owned();
    // Blender has the last word ("Blender quit").
    let found = said.lines().rev().find(|line| line.starts_with("mantaflow:")).unwrap_or_default();
    let bake = PeerBake::of_line(found);
    Ok(bake
        .ok_or_else(|| PeerError::NoBake { command: words(&command), found: found.to_owned() })?)
}

impl PeerBake {
    fn of_line(line: &str) -> Option<Self> {
        let positive = |key| number(line, key).filter(|&number| number > 0.0);
        Some(Self {
            seconds_per_frame: positive("seconds_per_frame")?,
            extra_bytes: positive("extra_bytes")? as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_memory_are_read_from_the_line() {
        let line = "mantaflow: size=64 seconds_per_frame=1.5 extra_bytes=2048 particles=7";
        let wanted = PeerBake { seconds_per_frame: 1.5, extra_bytes: 2048 };
        assert_eq!(PeerBake::of_line(line), Some(wanted));
        assert_eq!(PeerBake::of_line("mantaflow: seconds_per_frame=0 extra_bytes=1"), None);
    }

    #[test]
    fn without_peers_nothing_is_baked() {
        assert_eq!(mantaflow(PeerChoice::None, Bake::Dam, 64, 1, [3, 12]), None);
    }
}
