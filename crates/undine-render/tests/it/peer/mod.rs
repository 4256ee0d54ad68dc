//! What Blender makes of our pictures.

use crate::pictures::{display, image};
use std::path::Path;
use undine_render::files::{self, exr, png, webp};

/// Asks Blender for pixels of files: for each, its size, how many parts a pixel has, and the pixels, from the top.
fn ask(files: &[&Path]) -> Vec<(usize, usize, Vec<f32>)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/pictures_blender.py");
    let said = peers::python(script, files);
    let answers = said.lines().filter_map(|line| line.strip_prefix("answer:"));
    let answer = |line: &str| {
        let mut numbers = line.split_whitespace();
        let mut side = || numbers.next().unwrap().parse().unwrap();
        let (width, height) = (side(), side());
        (width, height, numbers.map(|number| number.parse().unwrap()).collect())
    };
    answers.map(answer).collect()
}

#[test]
fn blender_sees_the_pixels_that_we_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let [still, light, moving] = ["a.png", "b.exr", "c.webp"].map(|name| folder.path().join(name));
    let (seen, linear) = (display(31, 17, 1), image(31, 17));
    files::write(&still, &png::encoded(&seen, &[("scene", "a")]).unwrap()).unwrap();
    files::write(&light, &exr::encoded(&linear, exr::Precision::Half, &[]).unwrap()).unwrap();
    let mut animation = webp::Animation::new(seen.size, 24.0).unwrap();
    animation.push(&seen).unwrap();
    files::write(&moving, &animation.finished().unwrap()).unwrap();
    let found = ask(&[&still, &light]);
    assert!(found.iter().all(|&(width, height, _)| (width, height) == (31, 17)), "{found:?}");
    for (found, pixel) in found[0].2.chunks(4).zip(&seen.pixels) {
        let bytes: Vec<u8> = found.iter().map(|part| (part * 255.0).round() as u8).collect();
        assert_eq!(bytes, pixel);
    }
    for (found, light) in found[1].2.chunks(4).zip(&linear.light) {
        assert_eq!(found, light.to_array());
    }
}
