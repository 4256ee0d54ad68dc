//! PNG: what is looked at, with notes of what it shows.

use super::{SOFTWARE, backed, wrong};
use crate::error::Result;
use crate::image::{Display, MOST_PIXELS, Size};
use png::{BitDepth, ColorType, Compression, Decoder, Encoder, Limits, Transformations};
use std::io::Cursor;
use std::path::Path;

/// A PNG of a picture, with notes by name, such as `("scene", "dam-break")`.
pub fn encoded(display: &Display, notes: &[(&str, &str)]) -> Result<Vec<u8>> {
    let Size { width, height } = display.size;
    let failed = |why: png::EncodingError| wrong("a PNG", why);
    let is_opaque = display.pixels.iter().all(|pixel| pixel[3] == 255);
    let mut bytes = Vec::new();
    let [across, down] = [width, height].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let mut encoder = Encoder::new(&mut bytes, across, down);
    encoder.set_color(if is_opaque { ColorType::Rgb } else { ColorType::Rgba });
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Balanced);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    for (name, note) in [("Software", SOFTWARE)].iter().chain(notes) {
        let [name, text] = [name, note].map(|&text| text.to_owned());
        // The plain kind of note has no room for other alphabets.
        if text.is_ascii() {
            encoder.add_text_chunk(name, text).map_err(failed)?;
        } else {
            encoder.add_itxt_chunk(name, text).map_err(failed)?;
        }
    }
    let mut writer = encoder.write_header().map_err(failed)?;
    let whole: &[u8] = bytemuck::cast_slice(&display.pixels);
    if is_opaque {
        let colours: Vec<u8> = display.pixels.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
        writer.write_image_data(&colours).map_err(failed)?;
    } else {
        writer.write_image_data(whole).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// The picture of a PNG, and its notes by name. The name of the file is for what is wrong with it.
pub fn decoded(bytes: &[u8], file: &Path) -> Result<(Display, Vec<(String, String)>)> {
    let failed = |why: png::DecodingError| wrong(file, why);
    let limits = Limits { bytes: 16 * MOST_PIXELS };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::normalize_to_color8() | Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(failed)?;
    let info = reader.info();
    let size = Size::new(info.width as usize, info.height as usize)?;
    let promised = info.raw_row_length().saturating_sub(1).checked_mul(size.height);
    backed(file, promised, bytes.len())?;
    let (colour, depth) = reader.output_color_type();
    let parts = colour.samples();
    if depth != BitDepth::Eight {
        return Err(wrong(file, "its pixels cannot be made bytes"));
    }
    let mut whole = vec![0; size.pixels() * parts];
    reader.next_frame(&mut whole).map_err(failed)?;
    // What a frame leaves out comes after it, such as notes at the end.
    let _ = reader.finish();
    let pixel = |pixel: &[u8]| match *pixel {
        [grey] => [grey, grey, grey, 255],
        [grey, alpha] => [grey, grey, grey, alpha],
        [r, g, b] => [r, g, b, 255],
        [r, g, b, alpha, ..] => [r, g, b, alpha],
        [] => [0; 4],
    };
    let pixels = whole.chunks_exact(parts).map(pixel).collect();
    let info = reader.info();
    let plain = info.uncompressed_latin1_text.iter();
    let plain = plain.map(|note| (note.keyword.clone(), note.text.clone()));
    let other = info
        .utf8_text
        .iter()
        .filter_map(|note| note.get_text().ok().map(|text| (note.keyword.clone(), text)));
    Ok((Display { size, pixels }, plain.chain(other).collect()))
}
