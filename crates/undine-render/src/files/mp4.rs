//! MP4, by the program `ffmpeg` where it is installed: frames go to it through a pipe, one by one.

use super::wrong;
use crate::error::{RenderError, Result};
use crate::image::{Display, Size};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;

/// What is said where there is no `ffmpeg`.
pub const MISSING: &str = "no MP4 was made: the program `ffmpeg` is not on the PATH";

/// The program `ffmpeg`, if it is on the PATH.
pub fn ffmpeg() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let name = format!("ffmpeg{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| file.is_file())
}

/// A film that is being made. If it is dropped before it is finished, nothing is left of it.
pub struct Film {
    path: PathBuf,
    partial: PathBuf,
    size: Size,
    child: Child,
    frames: Option<ChildStdin>,
    complaints: Option<JoinHandle<String>>,
}

impl Film {
    /// Starts `ffmpeg` to make a film of H.264 that every player plays.
    pub fn begin(ffmpeg: &Path, path: &Path, size: Size, fps: f64) -> Result<Self> {
        if !(0.001..=1000.0).contains(&fps) {
            return Err(RenderError::Asked {
                what: "the frame rate of a film".into(),
                found: fps.to_string(),
                wanted: "it must be 0.001 to 1000 frames a second".into(),
            });
        }
        let mut partial = OsString::from(".");
        partial.push(path.file_name().unwrap_or_default());
        partial.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(partial);
        let failed = |source| RenderError::Disk { file: path.into(), doing: "written", source };
        let mut child = Command::new(ffmpeg)
            .args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"])
            .args(["-s", &format!("{}x{}", size.width, size.height), "-r", &fps.to_string()])
            .args(["-i", "-", "-an", "-c:v", "libx264", "-preset", "medium", "-crf", "18"])
            // Colours are kept for every two by two pixels: an odd side gets one row more. Players want to know which matrix.
            .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2,scale=out_color_matrix=bt709"])
            .args(["-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries", "bt709"])
            .args(["-color_trc", "iec61966-2-1", "-movflags", "+faststart", "-map_metadata", "-1"])
            .args(["-fflags", "+bitexact", "-flags:v", "+bitexact", "-f", "mp4"])
            .arg(&partial)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let frames = child.stdin.take();
        // What it says is read all the while, so that it never waits for us to listen.
        let complaints = child.stderr.take().map(|mut stream| {
            std::thread::spawn(move || {
                let mut said = Vec::new();
                let _ = (&mut stream).take(64 << 10).read_to_end(&mut said);
                let _ = std::io::copy(&mut stream, &mut std::io::sink());
                String::from_utf8_lossy(&said).trim().to_owned()
            })
        });
        Ok(Self { path: path.into(), partial, size, child, frames, complaints })
    }

    /// Adds a frame, on black where it is transparent.
    pub fn push(&mut self, frame: &Display) -> Result<()> {
        if frame.size != self.size || !frame.is_whole() {
            return Err(RenderError::Asked {
                what: "a frame of a film".into(),
                found: format!("{}x{} pixels", frame.size.width, frame.size.height),
                wanted: format!("the first is {}x{}", self.size.width, self.size.height),
            });
        }
        let over_black = |&[r, g, b, a]: &[u8; 4]| {
            [r, g, b].map(|colour| ((u16::from(colour) * u16::from(a) + 127) / 255) as u8)
        };
        let colours: Vec<u8> = frame.pixels.iter().flat_map(over_black).collect();
        let sent = self.frames.as_mut().is_some_and(|pipe| pipe.write_all(&colours).is_ok());
        if sent { Ok(()) } else { Err(self.why()) }
    }

    /// Ends the film and puts it in its place.
    pub fn finish(mut self) -> Result<()> {
        drop(self.frames.take());
        let file = self.path.clone();
        let failed = |source| RenderError::Disk { file: file.clone(), doing: "written", source };
        if !self.child.wait().map_err(failed)?.success() {
            return Err(self.why());
        }
        std::fs::rename(&self.partial, &self.path).map_err(failed)
    }

    /// Why `ffmpeg` gave up, in its own words.
    fn why(&mut self) -> RenderError {
        drop(self.frames.take());
        // It may still run, with its pipe closed by something else.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let said = self.complaints.take().and_then(|thread| thread.join().ok());
        let said = said.filter(|said| !said.is_empty()).unwrap_or_else(|| "nothing".into());
        wrong(&self.path, format!("ffmpeg could not make the film; it says: {said}"))
    }
}

impl Drop for Film {
    fn drop(&mut self) {
        drop(self.frames.take());
        // Both fail if it has ended long ago, which is as well.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.partial);
    }
}
