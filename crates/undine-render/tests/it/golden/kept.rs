//! Pictures that are kept, and how a new one is compared with them.

use std::path::{Path, PathBuf};
use undine_core::glam::Vec3;
use undine_render::difference::side_by_side;
use undine_render::files::{png, read, write};
use undine_render::shot::Shot;
use undine_render::{
    Background, Difference, Display, Image, Legend, Quality, Size, exposed, render,
};

/// The mean of all pixels may differ by this. Another processor rounds the last bit of light otherwise (it may fuse a product
/// and a sum), and another library its sines: a byte here and there is one more or less, which after the blur of a
/// [`Difference`] is about 0.0005 in the mean if it happens to *every* pixel. A tenth of a stop, a colour that is
/// 10 % off on a quarter of the picture, or a missing shadow are each several times more than this.
const MEAN: f32 = 0.0015;

/// All but one pixel in twenty may differ by this, a quarter of what can be seen. An edge that rounding moves into the next
/// pixel does so in one of many passes, and edges are a small part of a picture.
const MOST: f32 = 0.005;

/// Small enough to keep many of them, and large enough to see what is wrong.
fn size() -> Size {
    Size::new(240, 135).unwrap()
}

/// Makes a picture of a Shot on several numbers of threads, which have to agree in every bit, and compares what it looks like
/// with the one that is kept under a name. With UNDINE_UPDATE set, keeps it instead.
pub fn check(name: &str, shot: &Shot<'_>) -> Image {
    check_with(name, shot, &Legend::default())
}

/// The same with something written on the picture.
pub fn check_with(name: &str, shot: &Shot<'_>, legend: &Legend) -> Image {
    let picture = |passes| {
        let image = render(shot, size(), Quality { passes }).unwrap();
        let shown = exposed(&image, 0.0, Background::Light(Vec3::ZERO));
        (image, legend.on(&shown).unwrap())
    };
    // A few passes do all that many do.
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| picture(4))
    };
    let one = on(1);
    for threads in [2, 3, 7] {
        assert!(one == on(threads), "{name} is another picture on {threads} threads");
    }
    let (image, found) = picture(16);
    let file = folder().join(name).with_extension("png");
    if is_update() {
        write(&file, &png::encoded(&found, &[]).unwrap()).unwrap();
    } else {
        compare(name, &file, &found);
    }
    image
}

fn is_update() -> bool {
    std::env::var_os("UNDINE_UPDATE").is_some()
}

/// Where the kept pictures are.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Fails where a picture does not look like the one of a file, and leaves both and where they differ for a look.
fn compare(name: &str, file: &Path, found: &Display) {
    let kept = read(file)
        .and_then(|bytes| png::decoded(&bytes, file))
        .unwrap_or_else(|why| panic!("{why}: make it with UNDINE_UPDATE=1"))
        .0;
    let difference = Difference::of(&kept, found).unwrap();
    if is_within(&difference) {
        return;
    }
    let seen = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
    std::fs::create_dir_all(&seen).unwrap();
    let beside = side_by_side(("kept", &kept), ("found", found), 0.1).unwrap();
    let [picture, view] =
        ["found", "difference"].map(|what| seen.join(format!("{name}.{what}.png")));
    write(&picture, &png::encoded(found, &[]).unwrap()).unwrap();
    write(&view, &png::encoded(&beside, &[]).unwrap()).unwrap();
    panic!(
        "{name} looks different: {difference}\n  kept   {}\n  found  {}\n  both   {}\n\
         if it is right, run the tests with UNDINE_UPDATE=1",
        file.display(),
        picture.display(),
        view.display()
    );
}

fn is_within(difference: &Difference) -> bool {
    difference.mean <= MEAN && difference.most <= MOST
}

/// The bounds let pass what rounding does, and catch what an eye would. Tried on every kept picture.
#[test]
fn the_bounds_tell_rounding_from_a_change() {
    // While pictures are made anew there are none to try.
    if is_update() {
        return;
    }
    let mut files: Vec<_> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    for file in files {
        let kept = png::decoded(&read(&file).unwrap(), &file).unwrap().0;
        let name = file.display();
        let changed = |change: &dyn Fn(usize, u8) -> u8| {
            let pixel = |n: usize| {
                let [r, g, b, a] = kept.pixels[n];
                [change(n, r), change(n, g), change(n, b), a]
            };
            let pixels = (0..kept.pixels.len()).map(pixel).collect();
            Difference::of(&kept, &Display { size: kept.size, pixels }).unwrap()
        };
        // Every pixel up or down by a byte.
        let rounded = changed(&|n, byte| {
            let up = undine_geometry::random::bits(1, n as u64) & 1 == 1;
            if up { byte.saturating_add(1) } else { byte.saturating_sub(1) }
        });
        assert!(is_within(&rounded), "{name} rounded: {rounded}");
        // All of it brighter by about a tenth of a stop.
        let brighter = changed(&|_, byte| (f32::from(byte) * 1.033).round() as u8);
        assert!(!is_within(&brighter), "{name} brighter: {brighter}");
        // All of it moved by a pixel.
        let moved = Display {
            size: kept.size,
            pixels: (0..kept.pixels.len()).map(|n| kept.pixels[n.saturating_sub(1)]).collect(),
        };
        let moved = Difference::of(&kept, &moved).unwrap();
        assert!(!is_within(&moved), "{name} moved: {moved}");
    }
}
