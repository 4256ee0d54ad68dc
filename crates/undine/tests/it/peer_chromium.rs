//! Pages in a real browser.

use std::path::Path;
use undine::{Options, catalogue, run};
use undine_render::files::png;
use undine_scene::Scene;

/// How many pixels of a picture are of a colour that few others have: not the ground, not its shades.
fn coloured(pixels: &[[u8; 4]]) -> usize {
    let spread = |pixel: &[u8; 4]| {
        let [r, g, b, _] = *pixel;
        r.max(g).max(b) - r.min(g).min(b)
    };
    pixels.iter().filter(|pixel| spread(pixel) > 80).count()
}

#[test]
fn a_browser_shows_the_report_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bouncing-balls/scene.kdl");
    let text = std::fs::read_to_string(example).unwrap();
    let mut scene =
        Scene::parse(&folder.path().join("scene.kdl"), &text, &catalogue(), &[]).unwrap();
    scene.settings.end_at("12").unwrap();
    run(&scene, &Options::default(), &mut ()).unwrap_or_else(|why| panic!("{why}"));
    let page = undine::run::cache_folder(&scene).join("report.html");
    let bytes = peers::chromium(&page, [1280, 1600]);
    let (shown, _) = png::decoded(&bytes, Path::new("page.png")).unwrap();
    assert_eq!((shown.size.width, shown.size.height), (1280, 1600));
    // Bars and lines in the colours of series, in the upper half and in the lower one.
    let (upper, lower) = shown.pixels.split_at(shown.pixels.len() / 2);
    assert!(coloured(upper) > 2000, "{}", coloured(upper));
    assert!(coloured(lower) > 500, "{}", coloured(lower));
}
