//! Killed at any moment, a run goes on and makes the same bytes.

use crate::program::{SCENE, Stage, assert_same, files, succeeds, undine};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How often the run is killed: a few times, or many in the full tier.
fn kills() -> u32 {
    if std::env::var_os("UNDINE_FULL").is_some() { 20 } else { 5 }
}

#[test]
fn a_run_killed_at_random_moments_ends_with_the_same_bytes() {
    let wanted = ends_with_the_same_bytes(SCENE, ".usdc", kills());
    assert!(wanted.len() > 24, "{:?}", wanted.keys());
}

/// Kills a run of a scene so often, and lets it end: what it leaves behind is that of a run that nobody killed, which is returned. Frames,
/// whose names end so, are right as soon as they are there.
pub fn ends_with_the_same_bytes(
    scene: &str,
    ending: &str,
    kills: u32,
) -> BTreeMap<String, Vec<u8>> {
    let whole = Stage::new(scene);
    let began = Instant::now();
    succeeds(&["run", &whole.scene(), "--quiet"]);
    let takes = began.elapsed();
    let wanted = files(&whole.cache());

    let torn = Stage::new(scene);
    let mut seed = 0x9e37_79b9_u64;
    for kill in 0..kills {
        // Moments spread over the run by a fixed sequence, among them checkpoints and renames.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let part = (seed >> 40) as f64 / (1_u64 << 24) as f64;
        let mut child = undine(&["run", &torn.scene(), "--quiet"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        std::thread::sleep(Duration::from_secs_f64(takes.as_secs_f64() * part * 0.6));
        child.kill().expect("SIGKILL");
        child.wait().expect("an end");
        let left = files(&torn.cache());
        for (name, bytes) in
            left.iter().filter(|(name, _)| name.ends_with(ending) && !name.starts_with('.'))
        {
            assert_eq!(Some(bytes), wanted.get(name), "{name} after kill {kill}");
        }
    }
    succeeds(&["run", &torn.scene(), "--quiet"]);
    assert_same(&files(&torn.cache()), &wanted, "after all kills");
    wanted
}

#[test]
fn a_run_killed_after_its_last_frame_still_sums_itself_up() {
    let stage = Stage::new(SCENE);
    succeeds(&["run", &stage.scene(), "--quiet"]);
    let wanted = files(&stage.cache());
    let about = stage.cache().join("run.json");
    let told = std::fs::read_to_string(&about).expect("run.json");
    let cut_off = told.replace("\"complete\"", "null");
    assert_ne!(cut_off, told);
    std::fs::write(&about, cut_off).expect("run.json");
    for late in ["pictures/sheet.png", "pictures/preview.webp", "report.html"] {
        std::fs::remove_file(stage.cache().join(late)).expect(late);
    }
    let begun = stage.cache().join("pictures/.preview.webp.30471.partial");
    std::fs::write(begun, "RIFF").expect("what was being written");
    succeeds(&["run", &stage.scene(), "--quiet"]);
    assert_same(&files(&stage.cache()), &wanted, "after a kill at the very end");
    assert_eq!(std::fs::read_to_string(&about).expect("run.json"), told);
    assert!(stage.cache().join("report.html").is_file());
}

#[test]
fn ctrl_c_kills_no_frame_and_says_how_to_go_on() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=2000"));
    let child = undine(&["run", &stage.scene()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // Only names are looked at: what a run writes may have another name by the time it is opened.
    let frames = || {
        let entries = std::fs::read_dir(stage.cache());
        let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().ends_with(".usdc")).count()
    };
    while frames() < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    // SAFETY: sends a signal to a child of this process, which has not been waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let ended = crate::program::of(child.wait_with_output().expect("an end"));
    assert_eq!(ended.code, 130, "{}", ended.error);
    assert!(ended.error.contains("again") && ended.error.contains("undine run"), "{}", ended.error);
    assert!(!files(&stage.cache()).keys().any(|name| name.starts_with(".undine-tmp")));
    let whole = files(&stage.cache()).keys().filter(|name| name.ends_with(".usdc")).count();

    // What is there is whole, and goes on to the bytes of a run that nobody interrupted.
    let frames = format!("1-{}", whole + 3);
    succeeds(&["run", &stage.scene(), "--quiet", "--frames", &frames]);
    let other = Stage::new(&SCENE.replace("frames=24", "frames=2000"));
    succeeds(&["run", &other.scene(), "--quiet", "--frames", &frames]);
    let written = |files: std::collections::BTreeMap<String, Vec<u8>>| {
        files.into_iter().filter(|(name, _)| name.contains(".usd")).collect()
    };
    assert_same(&written(files(&stage.cache())), &written(files(&other.cache())), "after Ctrl-C");
}
