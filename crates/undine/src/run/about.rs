//! What is told of a run as a whole: `run.json`, beside the statistics of its frames.

use super::LOG;
use crate::cache::write_atomically;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use undine_scene::Scene;

/// Which scene ran, where, when, and how it ended. Whatever an older run did not tell is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// The scene's name.
    pub scene: Option<String>,
    /// The first frame and the last that the run is to make.
    pub frames: Option<(i64, i64)>,
    /// The Undine that ran it.
    pub undine: Option<String>,
    /// Processor, cores and memory of the machine.
    pub machine: Option<String>,
    /// How many threads worked.
    pub threads: Option<usize>,
    /// How many processes made it together.
    pub processes: Option<usize>,
    /// When it began, or went on: `2026-03-01 12:00 UTC`.
    pub began: Option<String>,
    /// How it ended; nothing while it runs, and if it was killed.
    pub ended: Option<String>,
}

/// The name of the file.
pub const ABOUT: &str = "run.json";

/// How a run ended that somebody ended at once.
const AT_ONCE: &str = "interrupted at once";

/// No such file is longer [bytes].
const LARGEST: u64 = 1 << 20;

impl About {
    /// Of a run of this scene that begins now and here, on so many processes.
    pub fn now(scene: &Scene, processes: usize) -> Self {
        Self {
            scene: Some(scene.settings.name.clone()),
            frames: Some((scene.settings.first, scene.settings.last)),
            undine: Some(env!("CARGO_PKG_VERSION").to_owned()),
            machine: Some(machine()),
            threads: Some(rayon::current_num_threads()),
            processes: Some(processes),
            began: SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|t| date(t.as_secs())),
            ended: None,
        }
    }

    /// Of the run whose cache this is; nothing is known where its file is missing, or is none.
    pub fn read(folder: &Path) -> Self {
        let mut bytes = Vec::new();
        let read = |file: File| file.take(LARGEST).read_to_end(&mut bytes);
        match File::open(folder.join(ABOUT)).and_then(read) {
            Ok(_) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(_) => Self::default(),
        }
    }

    /// Whether the run was killed, or ended before it could sum itself up.
    pub fn is_cut_off(&self) -> bool {
        self.began.is_some() && self.ended.as_deref().is_none_or(|ended| ended == AT_ONCE)
    }

    /// As the bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

/// Notes in a cache, as well as that can be done, that its run is ended at once: for a host that is about to end its process
/// while the run goes on. A run that has told of its end already stays as it is.
pub fn end_at_once(folder: &Path) {
    let mut about = About::read(folder);
    if about.began.is_none() || about.ended.is_some() {
        return;
    }
    about.ended = Some(AT_ONCE.to_owned());
    let _ = write_atomically(&folder.join(ABOUT), &about.to_bytes());
    let log = std::fs::OpenOptions::new().append(true).open(folder.join(LOG));
    // A line of its own, whatever is being written just now.
    let _ = log.and_then(|mut log| log.write_all(format!("\nended: {AT_ONCE}\n").as_bytes()));
}

/// The most that this process has had of memory so far [bytes]; nothing where the system does not tell.
pub fn peak_memory() -> Option<u64> {
    let line = field("/proc/self/status", "VmHWM")?;
    let kibibytes: u64 = line.trim_end_matches("kB").trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The machine in a line: processor, cores, memory.
fn machine() -> String {
    let cpu =
        field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = field("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or_else(String::new, |kibibytes| format!(", {:.0} GiB", kibibytes / 1_048_576.0));
    format!("{cpu}, {cores} cores{memory}")
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

/// Seconds since 1970 as a date (Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March).
fn date(seconds: u64) -> String {
    let (days, minutes) = (seconds / 86_400, seconds % 86_400 / 60);
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + next;
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400 + 3661), "2000-02-29 01:01 UTC");
        assert_eq!(date(1_772_323_200), "2026-03-01 00:00 UTC");
    }

    #[test]
    fn what_an_older_run_did_not_tell_is_nothing() {
        let about: About = serde_json::from_str(r#"{"scene": "drops", "colour": 7}"#).unwrap();
        assert_eq!(about, About { scene: Some("drops".into()), ..About::default() });
    }

    #[test]
    fn a_run_that_is_ended_at_once_says_so_and_may_still_be_summed_up() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let began = About { began: Some("2026-03-01 12:00 UTC".into()), ..About::default() };
        std::fs::write(at(ABOUT), began.to_bytes()).unwrap();
        std::fs::write(at(LOG), "frame 1: 2 par").unwrap();
        end_at_once(folder.path());
        let log = std::fs::read_to_string(at(LOG)).unwrap();
        assert_eq!(log, "frame 1: 2 par\nended: interrupted at once\n");
        let ended = About::read(folder.path());
        assert_eq!(ended.ended.as_deref(), Some(AT_ONCE));
        assert!(ended.is_cut_off());
        // What a run has told itself stays.
        let complete = About { ended: Some("complete".into()), ..began };
        std::fs::write(at(ABOUT), complete.to_bytes()).unwrap();
        end_at_once(folder.path());
        assert_eq!(About::read(folder.path()), complete);
        assert_eq!(std::fs::read_to_string(at(LOG)).unwrap(), log);
    }

    #[test]
    fn the_process_has_had_some_memory() {
        if cfg!(target_os = "linux") {
            assert!(peak_memory().unwrap() > 1 << 20);
        }
    }
}
