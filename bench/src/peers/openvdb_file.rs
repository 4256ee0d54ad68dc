//! OpenVDB reads a file that a benchmark has written, and writes its grid again.

use super::command::{last_line, number, words};
use super::install::{NUMPY, OPENVDB, debian, folder};
use super::{PeerChoice, PeerError};
use crate::Result;
use crate::report::Value;
use std::path::Path;
use std::process::Command;

/// What OpenVDB took for a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeerFile {
    /// Median time to read all of it [s].
    pub read_seconds: f64,
    /// Median time to write it again [s].
    pub write_seconds: f64,
    /// How long the file is that it wrote [bytes].
    pub bytes: u64,
}

/// Has OpenVDB read a file and write it again, if peers are chosen and it can be had; says on standard output what came of it.
pub fn openvdb_file(choice: PeerChoice, path: &Path, threads: usize) -> Option<PeerFile> {
    if !choice.runs("openvdb", false) {
        return None;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match measure(path, threads) {
        Ok(file) => {
            let [read, write] = [file.read_seconds, file.write_seconds].map(Value::Number);
            println!("  openvdb: {name}: read {read} s, write {write} s, {} bytes", file.bytes);
            Some(file)
        }
        Err(error) => {
            println!("  openvdb: {name}: left out, {error}");
            None
        }
    }
}

fn measure(path: &Path, threads: usize) -> Result<PeerFile> {
    debian(&[OPENVDB, NUMPY])?;
    // The system's own Python is the one that Debian's packages are for.
    let mut command = Command::new("/usr/bin/python3");
    command
        .arg(folder("peers").join("openvdb_file.py"))
        .args(["--threads", &threads.to_string()])
        .arg(path)
        // Otherwise it leaves the values on disk until somebody looks at them.
        .env("OPENVDB_DISABLE_DELAYED_LOAD", "1");
    let last = last_line(&mut command)?;
    let found = PeerFile::of_line(&last);
    Ok(found.ok_or_else(|| PeerError::NoFile { command: words(&command), found: last })?)
}

impl PeerFile {
    fn of_line(line: &str) -> Option<Self> {
        let positive = |key| number(line, key).filter(|&number| number > 0.0);
        Some(Self {
            read_seconds: positive("read_seconds")?,
            write_seconds: positive("write_seconds")?,
            bytes: positive("bytes")? as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_length_are_read_from_the_line() {
        let line = "openvdb-file: voxels=7 read_seconds=0.5 write_seconds=0.25 bytes=1024";
        let wanted = PeerFile { read_seconds: 0.5, write_seconds: 0.25, bytes: 1024 };
        assert_eq!(PeerFile::of_line(line), Some(wanted));
        assert_eq!(PeerFile::of_line("openvdb-file: read_seconds=0 write_seconds=1 bytes=1"), None);
        assert_eq!(PeerFile::of_line("read_seconds=1"), None);
    }

    #[test]
    fn without_peers_nothing_is_run() {
        assert_eq!(openvdb_file(PeerChoice::None, Path::new("/no/such/file.vdb"), 1), None);
    }
}
