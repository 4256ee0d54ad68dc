//! splashsurf surfaces the very particles that a benchmark surfaces.

use super::command::{last_line, number, words};
use super::install::{folder, python_with};
use super::{PeerChoice, PeerError};
use crate::Result;
use crate::report::Value;
use std::io::Write;
use std::process::Command;
use undine_core::glam::DVec3;

/// What splashsurf took for some particles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeerSurface {
    /// Median time of the reconstruction alone [s].
    pub plain_seconds: f64,
    /// Median time with its clean-up, weighted smoothing and normals [s].
    pub smoothed_seconds: f64,
    /// Triangles of the reconstruction alone.
    pub triangles: u64,
    /// What the process took at most [bytes].
    pub peak_bytes: u64,
}

/// Has splashsurf surface some particles, if peers are chosen and it can be had; says on standard output what came of it. The radius
/// is half of the spacing [m], a cube is so many radii wide.
pub fn splashsurf(
    choice: PeerChoice,
    positions: &[DVec3],
    radius: f64,
    cube: f64,
    threads: usize,
) -> Option<PeerSurface> {
    if !choice.runs("splashsurf", false) {
        return None;
    }
    match measure(positions, radius, cube, threads) {
        Ok(found) => {
            let [plain, smoothed] =
                [found.plain_seconds, found.smoothed_seconds].map(Value::Number);
            println!("  splashsurf: {plain} s, smoothed {smoothed} s, {} bytes", found.peak_bytes);
            Some(found)
        }
        Err(error) => {
            println!("  splashsurf: left out, {error}");
            None
        }
    }
}

fn measure(positions: &[DVec3], radius: f64, cube: f64, threads: usize) -> Result<PeerSurface> {
    let python = python_with("splashsurf")?;
    let mut file = tempfile::NamedTempFile::new()?;
    let single: Vec<[f32; 3]> = positions.iter().map(|at| at.as_vec3().to_array()).collect();
    file.write_all(bytemuck::cast_slice(&single))?;
    file.flush()?;
    let mut command = Command::new(python);
    command
        .arg(folder("peers").join("splashsurf.py"))
        .arg(file.path())
        .args(["--radius", &radius.to_string(), "--cube", &cube.to_string()])
        .args(["--threads", &threads.to_string()]);
    let last = last_line(&mut command)?;
    let found = PeerSurface::of_line(&last);
    Ok(found.ok_or_else(|| PeerError::NoSurface { command: words(&command), found: last })?)
}

impl PeerSurface {
    fn of_line(line: &str) -> Option<Self> {
        let positive = |key| number(line, key).filter(|&number| number > 0.0);
        Some(Self {
            plain_seconds: positive("plain_seconds")?,
            smoothed_seconds: positive("smoothed_seconds")?,
            triangles: positive("triangles")? as u64,
            peak_bytes: positive("peak_bytes")? as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_memory_are_read_from_the_line() {
        let line = "splashsurf: triangles=7 plain_seconds=0.5 smoothed_seconds=2 peak_bytes=1024";
        let wanted = PeerSurface {
            plain_seconds: 0.5,
            smoothed_seconds: 2.0,
            triangles: 7,
            peak_bytes: 1024,
        };
        assert_eq!(PeerSurface::of_line(line), Some(wanted));
        assert_eq!(PeerSurface::of_line(&line.replace("0.5", "0")), None);
    }

    #[test]
    fn without_peers_nothing_is_run() {
        assert_eq!(splashsurf(PeerChoice::None, &[], 1.0, 1.0, 1), None);
    }
}
