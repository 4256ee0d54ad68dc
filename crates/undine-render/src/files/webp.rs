//! Animated WebP: a run as one file that every browser plays. The container (WebP Container Specification, Google) is our own;
//! its frames are lossless.

use super::wrong;
use crate::error::{RenderError, Result};
use crate::image::{Display, Size};
use image_webp::{ColorType, WebPEncoder};

/// The longest side that a lossless frame may have [px].
const LONGEST: usize = 16_384;

/// The longest time that a frame may stay [ms].
const LONGEST_STAY: u64 = (1 << 24) - 1;

/// A frame that takes the place of what was there, and stays when its time is over.
const REPLACE: u8 = 0b10;

/// A frame that is laid over what was there, and stays when its time is over.
const LAY_OVER: u8 = 0b00;

/// An animation that grows by a frame at a time.
pub struct Animation {
    size: Size,
    fps: f64,
    /// How many frames there were, those that were merged included.
    count: u64,
    last: Option<Display>,
    /// What changed with each frame, and how long it stays [ms].
    parts: Vec<(Vec<u8>, u64)>,
}

impl Animation {
    /// An animation without frames, which will repeat for ever.
    pub fn new(size: Size, fps: f64) -> Result<Self> {
        if size.width > LONGEST || size.height > LONGEST {
            let why = format!("a side of an animated WebP has at most {LONGEST} pixels");
            return Err(RenderError::Size { width: size.width, height: size.height, why });
        }
        if !(0.001..=1000.0).contains(&fps) {
            return Err(RenderError::Asked {
                what: "the frame rate of an animation".into(),
                found: fps.to_string(),
                wanted: "it must be 0.001 to 1000 frames a second".into(),
            });
        }
        Ok(Self { size, fps, count: 0, last: None, parts: Vec::new() })
    }

    /// Adds a frame. Of one that equals the last, only the time is added; of others, only the rectangle that changed.
    pub fn push(&mut self, frame: &Display) -> Result<()> {
        if frame.size != self.size || !frame.is_whole() {
            return Err(RenderError::Asked {
                what: format!("frame {} of an animation", self.count + 1),
                found: format!("{}x{} pixels", frame.size.width, frame.size.height),
                wanted: format!("the first is {}x{}", self.size.width, self.size.height),
            });
        }
        // Milliseconds are too coarse for 24 frames a second: each frame ends at the one that is nearest to its true end.
        let ends = |count: u64| (count as f64 * 1000.0 / self.fps).round() as u64;
        let stay = ends(self.count + 1) - ends(self.count);
        let changed = match &self.last {
            Some(last) => changed(last, frame),
            None => Some([0, 0, self.size.width, self.size.height]),
        };
        match (changed, self.parts.last_mut()) {
            (None, Some((_, stays))) if *stays + stay <= LONGEST_STAY => *stays += stay,
            (changed, _) => {
                let part = smallest(frame, self.last.as_ref(), changed.unwrap_or([0, 0, 1, 1]))?;
                self.parts.push((part, stay.min(LONGEST_STAY)));
            }
        }
        self.count += 1;
        self.last = Some(frame.clone());
        Ok(())
    }

    /// How many frames it has, those that were merged included.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The file.
    pub fn finished(self) -> Result<Vec<u8>> {
        if self.parts.is_empty() {
            return Err(wrong("an animated WebP", "it has no frame"));
        }
        let mut body = b"WEBP".to_vec();
        // Has an animation, and perhaps alpha.
        let mut extended = vec![0b0001_0010, 0, 0, 0];
        extended.extend(three_bytes(self.size.width as u64 - 1));
        extended.extend(three_bytes(self.size.height as u64 - 1));
        chunk(&mut body, b"VP8X", &extended);
        // A background that no frame shows, and repeating without end.
        chunk(&mut body, b"ANIM", &[0; 6]);
        for (mut part, stay) in self.parts {
            part[12..15].copy_from_slice(&three_bytes(stay));
            chunk(&mut body, b"ANMF", &part);
        }
        let length = u32::try_from(body.len())
            .map_err(|_| wrong("an animated WebP", "it would be larger than 4 GB"))?;
        let mut file = b"RIFF".to_vec();
        file.extend(length.to_le_bytes());
        file.append(&mut body);
        Ok(file)
    }
}

/// The smallest rectangle in which two pictures differ: left, top, width and height. It begins at even places, as the format asks.
fn changed(last: &Display, frame: &Display) -> Option<[usize; 4]> {
    let width = frame.size.width;
    let rows = || last.pixels.chunks(width).zip(frame.pixels.chunks(width));
    let differs = |(a, b): (&[[u8; 4]], &[[u8; 4]])| a != b;
    let top = rows().position(differs)?;
    let bottom = rows().rposition(differs)?;
    let (mut left, mut right) = (width, 0);
    for (a, b) in rows().skip(top).take(bottom - top + 1) {
        let differs = |(a, b): (&[u8; 4], &[u8; 4])| a != b;
        left = left.min(a.iter().zip(b).position(differs).unwrap_or(width));
        right = right.max(a.iter().zip(b).rposition(differs).unwrap_or(0));
    }
    let [left, top] = [left, top].map(|n| n & !1);
    Some([left, top, right + 1 - left, bottom + 1 - top])
}

/// What is in a chunk `ANMF`, with no duration yet: a rectangle of a frame that replaces what was there, or one that is laid over
/// it, and transparent where nothing changed. Which is smaller depends on how much changed.
fn smallest(frame: &Display, last: Option<&Display>, area: [usize; 4]) -> Result<Vec<u8>> {
    let pixels = cut(frame, area);
    let replaced = part(&pixels, area, REPLACE)?;
    let Some(last) = last else { return Ok(replaced) };
    let mut over = pixels;
    for (pixel, before) in over.iter_mut().zip(cut(last, area)) {
        if *pixel == before {
            *pixel = [0; 4];
        } else if pixel[3] < 255 {
            // What is laid over cannot make anything transparent.
            return Ok(replaced);
        }
    }
    let laid_over = part(&over, area, LAY_OVER)?;
    Ok(if laid_over.len() < replaced.len() { laid_over } else { replaced })
}

fn cut(frame: &Display, [left, top, width, height]: [usize; 4]) -> Vec<[u8; 4]> {
    let rows = frame.pixels.chunks(frame.size.width).skip(top).take(height);
    rows.flat_map(|row| &row[left..left + width]).copied().collect()
}

fn part(pixels: &[[u8; 4]], [left, top, width, height]: [usize; 4], how: u8) -> Result<Vec<u8>> {
    let mut still = Vec::new();
    let is_opaque = pixels.iter().all(|pixel| pixel[3] == 255);
    let colours: Vec<u8>;
    let (bytes, colour): (&[u8], _) = if is_opaque {
        colours = pixels.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
        (&colours, ColorType::Rgb8)
    } else {
        (bytemuck::cast_slice(pixels), ColorType::Rgba8)
    };
    WebPEncoder::new(&mut still)
        .encode(bytes, width as u32, height as u32, colour)
        .map_err(|why| wrong("an animated WebP", why))?;
    let mut part = Vec::with_capacity(still.len() + 4);
    for number in [left / 2, top / 2, width - 1, height - 1, 0] {
        part.extend(three_bytes(number as u64));
    }
    part.push(how);
    // A still file is `RIFF`, a length, `WEBP`, and then the chunk of the frame.
    part.extend(still.get(12..).unwrap_or_default());
    Ok(part)
}

fn three_bytes(number: u64) -> [u8; 3] {
    let [a, b, c, ..] = number.to_le_bytes();
    [a, b, c]
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], content: &[u8]) {
    file.extend(name);
    file.extend((content.len() as u32).to_le_bytes());
    file.extend(content);
    if content.len() % 2 == 1 {
        file.push(0);
    }
}
