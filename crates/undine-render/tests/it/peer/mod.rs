//! What Blender makes of our pictures.

use crate::pictures::{display, image};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use undine_render::files::{self, exr, png, webp};

/// Asks Blender for the pixels of files, all of 31 × 17 pixels: by file and pass, four numbers a pixel from the top.
fn ask(files: &[PathBuf]) -> BTreeMap<(String, String), Vec<[f32; 4]>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/pictures_blender.py");
    let said = peers::python(script, files);
    let answers = said.lines().filter_map(|line| line.strip_prefix("answer:"));
    let answer = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[2..4], ["31", "17"]);
        let number = |word: &&str| word.parse().unwrap();
        let pixels = words[4..].chunks(4);
        let pixels = pixels.map(|pixel| std::array::from_fn(|part| number(&pixel[part])));
        ((words[0].to_owned(), words[1].to_owned()), pixels.collect())
    };
    answers.map(answer).collect()
}

/// The first frame of an animation as a still: Blender does not play them.
fn still(animation: &[u8]) -> Vec<u8> {
    let begin = animation.windows(4).position(|name| name == b"VP8L").unwrap();
    let length = u32::from_le_bytes(animation[begin + 4..begin + 8].try_into().unwrap());
    let frame = &animation[begin..begin + 8 + length as usize];
    let mut still = b"RIFF".to_vec();
    still.extend((frame.len() as u32 + 4).to_le_bytes());
    still.extend(b"WEBP");
    still.extend(frame);
    still
}

#[test]
fn blender_sees_the_pixels_that_we_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a.png", "b.webp", "c.exr"].map(|name| folder.path().join(name));
    let (seen, linear) = (display(31, 17, 1), image(31, 17));
    let mut animation = webp::Animation::new(seen.size, 24.0).unwrap();
    animation.push(&seen).unwrap();
    animation.push(&display(31, 17, 2)).unwrap();
    files::write(&files[0], &png::encoded(&seen, &[("scene", "a")]).unwrap()).unwrap();
    files::write(&files[1], &still(&animation.finished().unwrap())).unwrap();
    let notes = [("scene", "dam-break")];
    let bytes = exr::encoded(&linear, exr::Precision::Half, &notes).unwrap();
    files::write(&files[2], &bytes).unwrap();
    let found = ask(&files);
    let found = |file: &str, pass: &str| &found[&(file.to_owned(), pass.to_owned())];
    for file in ["a.png", "b.webp"] {
        let bytes = |pixel: &[f32; 4]| pixel.map(|part| (part * 255.0).round() as u8);
        assert!(
            found(file, "Combined").iter().map(bytes).eq(seen.pixels.iter().copied()),
            "{file}"
        );
    }
    // Blender opens light, depth and velocity as passes of one picture.
    let light = linear.light.iter().map(|light| light.to_array());
    assert!(found("c.exr", "Combined").iter().copied().eq(light));
    let depth = found("c.exr", "Depth").iter().map(|pixel| pixel[0]);
    assert!(depth.eq(linear.depth.iter().copied()));
    let velocity = found("c.exr", "velocity").iter().map(|&[x, y, z, _]| [x, y, z]);
    assert!(velocity.eq(linear.velocity.iter().map(|velocity| velocity.to_array())));
}
