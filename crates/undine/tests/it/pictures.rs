//! Pictures of a run: which frames have one, that they are the same bytes whatever happens, and that they change nothing else.

use std::collections::BTreeMap;
use std::path::Path;
use undine::preview::ColourBy;
use undine::preview::contents::{Role, Solid};
use undine::run::FrameReport;
use undine::view::Source;
use undine::{ExitCode, Listener, Options, catalogue, run};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_scene::Scene;

const SCENE: &str = r#"
setup "thrown" fps=24 frames=20 substeps=1
input "cloud" {
    sphere radius="30 cm"
    scatter spacing="8 cm"
}
input "floor" { plane }
input "crate" { box size="30 30 30 cm" centre="1 0.15 0 m" }
particles "balls" input="cloud" radius="2 cm" velocity="2 6 0 m/s"
rigid-body "crate" input="crate" spacing="10 cm"
gravity
collider "floor" input="floor"
collision
"#;

const SMALL: &str = "render size=\"160x90\" samples=2\n";

fn scene(folder: &Path, more: &str) -> Scene {
    let text = format!("{SCENE}{more}");
    let scene = Scene::parse(&folder.join("scene.kdl"), &text, &catalogue(), &[]);
    scene.unwrap_or_else(|report| panic!("{}", report.render(100)))
}

fn pictures(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder.join("cache/pictures")) else {
        return BTreeMap::new();
    };
    let named = entries.map(|entry| {
        let path = entry.unwrap().path();
        (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())
    });
    named.collect()
}

/// Ends a run after a frame.
struct Until(i64, bool);

impl Listener for Until {
    fn frame(&mut self, report: &FrameReport) {
        self.1 |= report.frame >= self.0;
    }

    fn should_stop(&self) -> bool {
        self.1
    }
}

/// Takes down what a run says.
#[derive(Default)]
struct Notes {
    notes: Vec<String>,
    frames: Vec<i64>,
}

impl Listener for Notes {
    fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }

    fn frame(&mut self, report: &FrameReport) {
        self.frames.push(report.frame);
    }
}

#[test]
fn every_eighth_frame_and_the_last_have_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let mut notes = Notes::default();
    run(&scene(folder.path(), ""), &Options::default(), &mut notes).unwrap();
    // How long drawing takes is the clock's to say.
    notes.notes.retain(|note| !note.starts_with("a picture took"));
    assert_eq!(notes.notes, [""; 0]);
    let pictures = pictures(folder.path());
    let names: Vec<&str> = pictures.keys().map(String::as_str).collect();
    let wanted = [
        "preview.0001.png",
        "preview.0009.png",
        "preview.0017.png",
        "preview.0020.png",
        "preview.webp",
        "render.json",
        "sheet.png",
    ];
    assert_eq!(names, wanted);
    let (display, notes) = undine_render::files::png::decoded(
        &pictures["preview.0009.png"],
        Path::new("preview.0009.png"),
    )
    .unwrap();
    assert_eq!((display.size.width, display.size.height), (640, 360));
    assert!(notes.contains(&("frame".to_owned(), "0009".to_owned())), "{notes:?}");
    // Something is to be seen, and it moves.
    assert_ne!(pictures["preview.0001.png"], pictures["preview.0009.png"]);
}

/// The pixels of a picture, by row and column.
fn pixels(name: &str, bytes: &[u8]) -> (usize, Vec<[u8; 4]>) {
    let (display, _) = undine_render::files::png::decoded(bytes, Path::new(name)).unwrap();
    (display.size.width, display.pixels)
}

/// A crate that rests, and is warm where all else is cold, is at the same place in all pictures, whatever flies about: the camera stands still.
#[test]
fn all_pictures_of_a_run_are_seen_from_one_place() {
    let folder = tempfile::tempdir().unwrap();
    let small = "render size=\"320x180\" samples=2 every=4\n";
    run(&scene(folder.path(), small), &Options::default(), &mut ()).unwrap();
    let pictures = pictures(folder.path());
    let middle = |name: &str| {
        let (width, pixels) = pixels(name, &pictures[name]);
        let is_warm = |pixel: &[u8; 4]| i32::from(pixel[0]) > i32::from(pixel[2]) + 40;
        let warm: Vec<usize> = (0..pixels.len()).filter(|n| is_warm(&pixels[*n])).collect();
        assert!(warm.len() > 20, "{name}: {} pixels of a crate", warm.len());
        let mean = |of: &dyn Fn(usize) -> usize| {
            warm.iter().map(|n| of(*n)).sum::<usize>() as f64 / warm.len() as f64
        };
        [mean(&|n| n % width), mean(&|n| n / width)]
    };
    let first = middle("preview.0001.png");
    for frame in [5, 9, 13, 17, 20] {
        let found = middle(&format!("preview.{frame:04}.png"));
        let moved = (found[0] - first[0]).hypot(found[1] - first[1]);
        assert!(moved < 1.0, "frame {frame}: it is {moved} pixels away");
    }
}

/// What only turns is blurred by the shutter, too.
#[test]
fn colliders_that_turn_are_blurred() {
    let with = |shutter: &str| {
        let folder = tempfile::tempdir().unwrap();
        let blade = r#"
input "blade" {
    box size="60 10 2 cm"
    transform {
        rotate {
            key "0 s" "0 0 0 deg"
            key "1 s" "0 0 900 deg"
        }
    }
}
collider "blade" input="blade"
"#;
        let render = format!("render size=\"160x90\" samples=4 shutter={shutter}\n");
        let mut scene = scene(folder.path(), &format!("{blade}{render}"));
        scene.settings.last = 1;
        run(&scene, &Options::default(), &mut ()).unwrap();
        pixels("preview.0001.png", &pictures(folder.path())["preview.0001.png"]).1
    };
    let (sharp, blurred) = (with("0"), with("0.5"));
    let differ = sharp.iter().zip(&blurred).filter(|(a, b)| a != b).count();
    assert!(differ > 50, "{differ} pixels differ");
}

#[test]
fn a_run_that_ended_and_went_on_has_the_same_pictures() {
    let whole = tempfile::tempdir().unwrap();
    run(&scene(whole.path(), SMALL), &Options::default(), &mut ()).unwrap();
    let torn = tempfile::tempdir().unwrap();
    let torn_scene = scene(torn.path(), SMALL);
    let why = run(&torn_scene, &Options::default(), &mut Until(10, false)).unwrap_err();
    assert_eq!(why.exit_code(), ExitCode::Interrupted);
    // One that nobody finished is made again.
    std::fs::write(torn.path().join("cache/pictures/preview.0017.png"), b"torn").unwrap();
    run(&torn_scene, &Options::default(), &mut ()).unwrap();
    assert!(pictures(torn.path()) == pictures(whole.path()));
}

#[test]
fn any_number_of_threads_draws_the_same_bytes() {
    let drawn = |threads: usize| {
        let folder = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&scene(folder.path(), SMALL), &Options::default(), &mut ()).unwrap());
        pictures(folder.path())
    };
    let one = drawn(1);
    assert!(one.len() > 5);
    for threads in [2, 3, 7] {
        assert!(drawn(threads) == one, "{threads} threads");
    }
}

#[test]
fn what_render_says_changes_no_frame_of_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let off = scene(folder.path(), "render enabled=#false\n");
    run(&off, &Options::default(), &mut ()).unwrap();
    assert_eq!(pictures(folder.path()).len(), 0);
    // The same cache goes on, and nothing is made again.
    let mut later = scene(folder.path(), "render \"side\" size=\"64x36\" every=1 samples=1\n");
    later.settings.last = 22;
    let mut notes = Notes::default();
    run(&later, &Options::default(), &mut notes).unwrap();
    assert_eq!(notes.frames, [21, 22]);
    let names: Vec<String> = pictures(folder.path()).into_keys().collect();
    let wanted = ["render.json", "side-sheet.png", "side.0021.png", "side.0022.png", "side.webp"];
    assert_eq!(names, wanted);
}

#[test]
fn several_views_with_keys_and_all_their_settings_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let views = r#"
render "near" size="64x36" every=5 of="balls" color-by="id" map="turbo" range="0 100" points="splats" radius="3 cm" ground="none" {
    eye interpolation="cubic" {
        key 1 "0 1 3 m"
        key 20 "3 1 0 m"
    }
}
render "round" size="48x48" every=19 camera="orbit" shutter=0.5 overlay="buckets" samples=3 format="exr" legend=#false
"#;
    let mut notes = Notes::default();
    run(&scene(folder.path(), views), &Options::default(), &mut notes).unwrap();
    assert_eq!(notes.notes, [""; 0]);
    let names: Vec<String> = pictures(folder.path()).into_keys().collect();
    let wanted = [
        "near-sheet.png",
        "near.0001.png",
        "near.0006.png",
        "near.0011.png",
        "near.0016.png",
        "near.0020.png",
        "near.webp",
        "render.json",
        "round.0001.exr",
        "round.0020.exr",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn a_picture_that_cannot_be_drawn_is_told_once_and_ends_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut notes = Notes::default();
    let bad = scene(folder.path(), "render size=\"32x32\" every=1 color-by=\"colour\"\n");
    run(&bad, &Options::default(), &mut notes).unwrap();
    assert_eq!(notes.frames.len(), 20);
    let [note] = &notes.notes[..] else { panic!("{:?}", notes.notes) };
    assert!(note.contains("`colour`") && note.contains("pscale"), "{note}");
    // Where pictures cannot be put, there are none.
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("cache")).unwrap();
    std::fs::write(folder.path().join("cache/pictures"), b"a file").unwrap();
    let mut notes = Notes::default();
    run(&scene(folder.path(), SMALL), &Options::default(), &mut notes).unwrap();
    assert_eq!((notes.frames.len(), notes.notes.len()), (20, 1), "{:?}", notes.notes);
}

#[test]
fn wrong_views_are_refused_at_their_line() {
    for (more, word) in [
        ("render size=\"huge\"\n", "no size"),
        ("render \"a/b\"\n", "no good name"),
        ("render\nrender\n", "two views"),
        ("render of=\"bals\"\n", "balls"),
        ("render every=0\n", "every"),
        ("render colour-by=\"v\"\n", "color-by"),
        ("render { every { key 1 2; } }\n", "cannot change"),
        ("group \"a\" {\n    render\n}\n", "top level"),
    ] {
        let text = format!("{SCENE}{more}");
        let report = Scene::parse(Path::new("scene.kdl"), &text, &catalogue(), &[]).unwrap_err();
        let shown = report.render(100);
        assert!(shown.contains(word) && shown.contains("scene.kdl:"), "{more}: {shown}");
    }
}

#[test]
fn bodies_and_colliders_of_a_cache_are_seen_by_their_shapes() {
    let folder = tempfile::tempdir().unwrap();
    let text = "setup \"things\" frames=2\ninput \"row\" {\n    points at=\"0 1 0 m; 1 1 0 m\"\n}\n\
        input \"box\" {\n    box size=\"20 20 20 cm\"\n}\ninput \"floor\" {\n    plane\n}\n\
        input \"ramp\" {\n    box size=\"1 0.2 1 m\"\n}\ngroup \"all\" {\n    \
        rigid-body \"boxes\" input=\"row\" shape=\"box\" density=\"500 kg/m3\"\n}\n\
        particles \"drops\" input=\"row\" radius=\"1 cm\"\n\
        collider \"floor\" input=\"floor\"\ncollider \"ramp\" input=\"ramp\"\n";
    let scene = Scene::parse(&folder.path().join("scene.kdl"), text, &catalogue(), &[]);
    let scene = scene.unwrap_or_else(|report| panic!("{}", report.render(100)));
    run(&scene, &Options::default(), &mut ()).unwrap();
    // The cache, and the scene over it, which anybody may open.
    for what in ["cache", "cache/things.usda"] {
        let source = Source::open(&folder.path().join(what).to_string_lossy()).unwrap();
        let loaded = source.load(2, false).unwrap();
        let contents = loaded.contents(ColourBy::Speed);
        assert_eq!(contents.solids.len(), 3, "{what}: two bodies and a ramp");
        assert_eq!(contents.planes.len(), 1, "{what}: the floor");
        assert_eq!(contents.clouds.len(), 1, "{what}: drops, and no points of bodies");
    }
}

/// Water at rest in a tank, whose walls are on no plane of voxels.
const POOL: &str = r#"
setup "pool" frames=2 substeps=2
input "water" { box size="50 24 40 cm" centre="0 12 0 cm"; }
input "tank" { box size="50 100 40 cm" centre="0 50 0 cm"; invert; }
hybrid "water" input="water" voxel="3 cm"
walls
pressure
collider "tank" input="tank"
gravity
"#;

/// The box around the surface of the liquid in a frame of a cache.
fn surface(source: &Source, frame: i64) -> Bounds {
    let loaded = source.load(frame, true).unwrap();
    let contents = loaded.contents(ColourBy::Speed);
    assert_eq!(contents.clouds.len(), 0, "particles beside the surface");
    let is_surface = |solid: &&Solid<'_>| solid.role == Role::Surface;
    let found: Vec<_> = contents.solids.iter().filter(is_surface).collect();
    assert_eq!(found.len(), 1);
    found[0].bounds().unwrap()
}

#[test]
fn the_surface_of_every_frame_ends_at_walls() {
    let folder = tempfile::tempdir().unwrap();
    let scene = Scene::parse(&folder.path().join("scene.kdl"), POOL, &catalogue(), &[]);
    let scene = scene.unwrap_or_else(|report| panic!("{}", report.render(100)));
    run(&scene, &Options::default(), &mut ()).unwrap();
    let source = Source::open(&folder.path().join("cache").to_string_lossy()).unwrap();
    let wanted = Bounds { min: DVec3::new(-0.25, 0.0, -0.2), max: DVec3::new(0.25, 0.24, 0.2) };
    for frame in [1, 2] {
        let found = surface(&source, frame);
        let off = (found.min - wanted.min).abs().max((found.max - wanted.max).abs());
        assert!(off.max_element() < 0.02, "frame {frame}: {found:?}");
        // By its particles, where it is not asked to look like water.
        let loaded = source.load(frame, false).unwrap();
        let contents = loaded.contents(ColourBy::Speed);
        let surfaces = contents.solids.iter().filter(|solid| solid.role == Role::Surface).count();
        assert_eq!((contents.clouds.len(), surfaces), (1, 0));
    }
}

#[test]
fn water_looks_like_water_while_a_run_goes_on() {
    let drawn = |more: &str| {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("{POOL}render size=\"64x36\" samples=1 every=1 {more}\n");
        let scene = Scene::parse(&folder.path().join("scene.kdl"), &text, &catalogue(), &[]);
        let mut notes = Notes::default();
        run(&scene.unwrap(), &Options::default(), &mut notes).unwrap();
        assert_eq!(notes.notes, [""; 0]);
        pictures(folder.path())
    };
    let (balls, water) = (drawn(""), drawn("finish=\"water\""));
    for frame in ["preview.0001.png", "preview.0002.png"] {
        assert!(balls[frame] != water[frame], "{frame}");
    }
}
