//! Pictures as files, and back.

use crate::pictures::{display, image};
use image_webp::WebPDecoder;
use std::io::Cursor;
use std::path::Path;
use undine_render::files::{self, exr, png, webp};
use undine_render::{Display, Size};

#[test]
fn a_png_comes_back_with_its_notes() {
    let mut display = display(37, 21, 1);
    let notes = [("scene", "dam-break"), ("frame", "48"), ("title", "Wasser — 水")];
    for alpha in [255, 40] {
        display.pixels[100][3] = alpha;
        let bytes = png::encoded(&display, &notes).unwrap();
        let (back, found) = png::decoded(&bytes, Path::new("a.png")).unwrap();
        assert_eq!(back, display);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(name, note)| (name.as_str(), note.as_str())).collect();
        assert!(notes.iter().all(|note| found.contains(note)), "{found:?}");
        assert!(found.contains(&("Software", files::SOFTWARE)));
    }
}

#[test]
fn a_note_without_a_name_is_refused() {
    assert!(png::encoded(&display(4, 4, 0), &[("", "x")]).is_err());
}

#[test]
fn every_broken_png_is_an_error_or_a_picture() {
    let bytes = png::encoded(&display(23, 19, 1), &[("scene", "a")]).unwrap();
    for end in 0..bytes.len() {
        assert!(png::decoded(&bytes[..end], Path::new("a.png")).is_err() || end > bytes.len() - 16);
    }
    for place in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut broken = bytes.clone();
            broken[place] ^= change;
            let _ = png::decoded(&broken, Path::new("a.png"));
        }
    }
    let said = png::decoded(b"GIF89a", Path::new("holiday.png")).unwrap_err().to_string();
    assert!(said.contains("holiday.png"), "{said}");
}

#[test]
fn a_png_that_promises_more_than_it_has_is_refused_before_room_is_made() {
    // A head of 8000 × 8000 pixels with no more content than a small picture has, by a checksum that is right.
    let small = png::encoded(&display(4, 4, 0), &[]).unwrap();
    let mut head = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut head, 8000, 8000);
    encoder.set_color(::png::ColorType::Rgb);
    drop(encoder.write_header().unwrap());
    let bytes = [&head[..33], &small[33..]].concat();
    let said = png::decoded(&bytes, Path::new("bomb.png")).unwrap_err().to_string();
    assert!(said.contains("promises more pixels"), "{said}");
}

#[test]
fn an_exr_comes_back_with_depth_and_velocity() {
    let image = image(33, 18);
    for precision in [exr::Precision::Half, exr::Precision::Float] {
        let bytes = exr::encoded(&image, precision, &[("scene", "dam-break")]).unwrap();
        assert_eq!(exr::decoded(&bytes, Path::new("a.exr")).unwrap(), image);
    }
}

#[test]
fn every_broken_exr_is_an_error_or_a_picture() {
    let bytes = exr::encoded(&image(9, 7), exr::Precision::Half, &[]).unwrap();
    for end in 0..bytes.len() {
        assert!(exr::decoded(&bytes[..end], Path::new("a.exr")).is_err());
    }
    for place in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut broken = bytes.clone();
            broken[place] ^= change;
            let _ = exr::decoded(&broken, Path::new("a.exr"));
        }
    }
}

#[test]
fn files_are_the_same_on_any_number_of_threads() {
    let made = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut animation = webp::Animation::new(Size::new(40, 30).unwrap(), 24.0).unwrap();
            (0..3).for_each(|moment| animation.push(&display(40, 30, moment)).unwrap());
            [
                png::encoded(&display(200, 100, 0), &[]).unwrap(),
                exr::encoded(&image(200, 100), exr::Precision::Half, &[]).unwrap(),
                animation.finished().unwrap(),
            ]
        })
    };
    let alone = made(1);
    for threads in [2, 3, 7] {
        assert!(made(threads) == alone, "{threads} threads");
    }
}

/// All frames of an animation, with how long each stays [ms].
fn played(bytes: &[u8]) -> Vec<(Vec<u8>, u32)> {
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).unwrap();
    let parts = if decoder.has_alpha() { 4 } else { 3 };
    let (width, height) = decoder.dimensions();
    let mut frames = Vec::new();
    for _ in 0..decoder.num_frames() {
        let mut frame = vec![0; width as usize * height as usize * parts];
        let stay = decoder.read_frame(&mut frame).unwrap();
        frames.push((frame, stay));
    }
    frames
}

#[test]
fn an_animation_plays_the_frames_that_were_put_in() {
    // Odd sizes, and a change that begins at odd places.
    let frames: Vec<Display> = (0..6).map(|moment| display(41, 23, moment)).collect();
    let mut animation = webp::Animation::new(frames[0].size, 24.0).unwrap();
    frames.iter().for_each(|frame| animation.push(frame).unwrap());
    let bytes = animation.finished().unwrap();
    let played = played(&bytes);
    assert_eq!(played.len(), 6);
    for (frame, (played, _)) in frames.iter().zip(&played) {
        assert_eq!(&frame.pixels.concat(), played);
    }
    // 6 frames of 24 in a second are 250 ms, though none is a whole number of them.
    assert_eq!(played.iter().map(|(_, stay)| stay).sum::<u32>(), 250);
}

#[test]
fn frames_that_do_not_change_are_merged_and_cost_nothing() {
    let still = display(40, 30, 0);
    let length = |count: usize| {
        let mut animation = webp::Animation::new(still.size, 24.0).unwrap();
        (0..count).for_each(|_| animation.push(&still).unwrap());
        animation.finished().unwrap()
    };
    let (one, many) = (length(1), length(48));
    assert_eq!(one.len(), many.len());
    let played = played(&many);
    assert_eq!((played.len(), played[0].1), (1, 2000));
}

#[test]
fn a_transparent_animation_keeps_its_alpha() {
    let mut frames = [display(20, 20, 0), display(20, 20, 1)];
    frames[1].pixels[0] = [0, 0, 0, 0];
    frames[1].pixels[399] = [9, 9, 9, 128];
    let mut animation = webp::Animation::new(frames[0].size, 10.0).unwrap();
    frames.iter().for_each(|frame| animation.push(frame).unwrap());
    let played = played(&animation.finished().unwrap());
    assert_eq!(frames[1].pixels.concat(), played[1].0);
}

#[test]
fn an_animation_refuses_what_it_cannot_hold() {
    let size = Size::new(20, 20).unwrap();
    assert!(webp::Animation::new(Size::new(20_000, 2).unwrap(), 24.0).is_err());
    for fps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(webp::Animation::new(size, fps).is_err());
    }
    let mut animation = webp::Animation::new(size, 24.0).unwrap();
    let said = animation.push(&display(21, 20, 0)).unwrap_err().to_string();
    assert!(said.contains("21x20") && said.contains("20x20"), "{said}");
    assert!(animation.finished().is_err());
}

#[test]
fn a_file_that_cannot_be_written_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let said = files::write(&folder.path().join("no folder/a.png"), b"x").unwrap_err().to_string();
    assert!(said.contains("a.png could not be written"), "{said}");
    files::write(&folder.path().join("a.png"), b"x").unwrap();
    assert_eq!(files::read(&folder.path().join("a.png")).unwrap(), b"x");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
