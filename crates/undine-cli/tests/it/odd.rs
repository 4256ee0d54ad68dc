//! Odd words, files and moments: what is wrong is said before there is work to lose, and said briefly.

use crate::program::{SCENE, Stage, ended, of, succeeds, undine};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn names_without_end_and_empty_frames_are_refused_before_anything_is_made() {
    let long = "a".repeat(300);
    for (scene, told) in [
        (SCENE.replace("\"thrown\"", &format!("\"{long}\"")), "at most"),
        (SCENE.replace("\"balls\"", &format!("\"{long}\"")), "no good name for a file"),
        // Short enough for itself, too long with frame and extension.
        (SCENE.replace("\"balls\"", &format!("\"{}\"", &long[..196])), "no good name for a file"),
        (SCENE.replace("frames=24", "frames=\"\""), "no range of frames"),
    ] {
        let stage = Stage::new(&scene);
        for command in ["check", "run"] {
            let refused = ended(&[command, &stage.scene()]);
            assert_eq!(refused.code, 2, "{command}: {}{}", refused.out, refused.error);
            assert!(refused.error.contains(told), "no {told} in\n{}", refused.error);
            assert!(refused.error.contains("scene.kdl"), "{}", refused.error);
        }
        assert!(!stage.cache().exists());
    }
}

#[test]
fn frames_that_cannot_go_to_a_folder_are_refused_with_the_line() {
    for dir in ["/dev/null", "/dev/null/cache", "scene.kdl"] {
        let stage = Stage::new(&SCENE.replace("dir=\"cache\"", &format!("dir=\"{dir}\"")));
        for command in ["check", "run"] {
            let refused = ended(&[command, &stage.scene()]);
            assert_eq!(refused.code, 2, "{dir}: {}", refused.error);
            for word in ["is no folder", "scene.kdl:10", "dir="] {
                assert!(refused.error.contains(word), "no {word} in\n{}", refused.error);
            }
        }
    }
}

#[test]
fn lines_without_end_are_cut_in_what_is_said_of_them() {
    let long = "x".repeat(300_000);
    let stage = Stage::new("");
    let path = stage.path().join("long.kdl");
    let name = path.display().to_string();
    for text in [
        format!("setup \"a\" frames=3 nonsense=\"{long}\"\n"),
        format!("setup \"a\" frames=3\n{long} a=1\n"),
        format!("setup \"a\" frames=\"{long}\"\n"),
        format!("setup \"{long}\" frames=3\n"),
        format!("setup \"a\" frames=3\nparticles \"{long}\" input=\"a\"\n"),
    ] {
        std::fs::write(&path, text).unwrap();
        let refused = ended(&["check", &name]);
        assert_eq!(refused.code, 2, "{}", &refused.error[..500.min(refused.error.len())]);
        assert!((50..5000).contains(&refused.error.len()), "{} bytes", refused.error.len());
    }
    let file = stage.path().join("long.ply");
    std::fs::write(&file, format!("ply\nformat {long} 1.0\n")).unwrap();
    let refused = ended(&["info", &file.display().to_string()]);
    assert!(refused.error.len() < 5000, "{} bytes", refused.error.len());
}

#[test]
fn a_trace_that_cannot_be_written_is_told() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let stage = Stage::new(SCENE);
    let refused = ended(&["run", &stage.scene(), "--frames", "2", "--trace", "/dev/full"]);
    assert_eq!(refused.code, 5, "{}", refused.error);
    assert!(refused.error.contains("/dev/full"), "{}", refused.error);
    assert!(!stage.cache().exists());
}

#[test]
fn every_other_file_is_converted_shown_and_meshed() {
    let stage = Stage::new(SCENE);
    succeeds(&["run", &stage.scene(), "--quiet", "--frames", "5"]);
    let at = |name: &str| stage.path().join(name).display().to_string();
    let from = at("cache/balls.####.usdc");
    let there = |name: &str| {
        let is_there = |n: &u32| stage.path().join(format!("{name}.000{n}.ply")).exists();
        (1..=5).filter(is_there).collect::<Vec<_>>()
    };
    succeeds(&["convert", &from, &at("b.####.ply"), "--frames", "1-5:2"]);
    assert_eq!(there("b"), [1, 3, 5]);
    succeeds(&["surface", &from, &at("s.####.ply"), "--frames", "2-5:3", "--radius", "3 cm"]);
    assert_eq!(there("s"), [2, 5]);
    // One of them is one file.
    succeeds(&["convert", &from, &at("one.ply"), "--frames", "4-5:2"]);
    let out = succeeds(&["info", &at("b.####.ply"), "--frames", "1-5:4"]);
    assert!(out.contains("2 frames from 1 to 5"), "{out}");
    let refused = ended(&["convert", &at("b.####.ply"), &at("c.####.ply"), "--frames", "2-5:2"]);
    assert_eq!(refused.code, 2, "{}", refused.error);
}

#[test]
fn files_with_z_up_are_shown_as_they_are() {
    let stage = Stage::new(&SCENE.replace("substeps=4", "substeps=4 up=\"z\""));
    succeeds(&["run", &stage.scene(), "--quiet", "--frames", "1"]);
    let out = succeeds(&["info", &stage.cache().join("balls.0001.usdc").display().to_string()]);
    let boxes: Vec<&str> = out.lines().filter_map(|line| line.trim().strip_prefix("box")).collect();
    assert!(boxes.len() == 2 && boxes[0] == boxes[1], "{out}");
    // As the scene has it, whose velocity is 2 6 0 m/s.
    assert!(out.contains("2 6 0 to 2 6 0"), "{out}");
}

#[test]
fn pages_and_pictures_say_where_they_are() {
    let stage = Stage::new(SCENE);
    succeeds(&["run", &stage.scene(), "--quiet", "--frames", "2"]);
    let here = stage.path().canonicalize().unwrap().display().to_string();
    for (words, file) in [
        (["compare", "cache", "cache"], "compare.0002.png"),
        (["report", "cache", "cache"], "comparison.html"),
    ] {
        let out = of(undine(&words).current_dir(stage.path()).output().unwrap());
        assert_eq!(out.code, 0, "{}", out.error);
        assert!(out.out.contains(&format!("{here}/{file}")), "{}", out.out);
    }
}

#[test]
fn what_farms_send_ends_a_run_as_ctrl_c_does() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=100000"));
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let mut run = undine(&["run", &stage.scene(), "--fresh"]);
        let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let began = Instant::now();
        let is_there = || stage.cache().join("balls.0003.usdc").exists();
        while began.elapsed() < Duration::from_secs(60) && !is_there() {
            std::thread::sleep(Duration::from_millis(5));
        }
        // SAFETY: the process is a child that has not been waited for.
        unsafe { libc::kill(run.id() as i32, signal) };
        let ended = of(run.wait_with_output().unwrap());
        assert_eq!(ended.code, 130, "{}", ended.error);
        assert!(ended.error.contains("interrupted"), "{}", ended.error);
        let _ = std::fs::remove_dir_all(stage.cache());
    }
}

/// Where there is nothing to finish, as while reading what somebody types, both end a program at once, in the same way.
#[cfg(target_os = "linux")]
#[test]
fn what_farms_send_ends_every_command_as_ctrl_c_does() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let mut command = undine(&["fmt", "-"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let status = format!("/proc/{}/status", child.id());
        let is_caught = || {
            let status = std::fs::read_to_string(&status).unwrap_or_default();
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
            mask.is_some_and(|mask| mask >> (libc::SIGTERM - 1) & 1 == 1)
        };
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(60) && !is_caught() {
            std::thread::sleep(Duration::from_millis(5));
        }
        // SAFETY: the process is a child that has not been waited for.
        unsafe { libc::kill(child.id() as i32, signal) };
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }
}

/// `timeout` sends its signal to a program and to the group that it is in.
#[test]
fn two_signals_at_about_one_time_are_one_and_leave_log_and_trace_whole() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=100000"));
    let trace = stage.path().join("trace.json");
    let mut run = undine(&["run", &stage.scene(), "--trace", &trace.display().to_string()]);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    let is_there = || stage.cache().join("balls.0003.usdc").exists();
    while began.elapsed() < Duration::from_secs(60) && !is_there() {
        std::thread::sleep(Duration::from_millis(5));
    }
    for signal in [libc::SIGTERM, libc::SIGTERM, libc::SIGINT] {
        // SAFETY: the process is a child that has not been waited for.
        unsafe { libc::kill(run.id() as i32, signal) };
        std::thread::sleep(Duration::from_millis(10));
    }
    let ended = of(run.wait_with_output().unwrap());
    assert_eq!(ended.code, 130, "{}", ended.error);
    assert!(ended.error.contains("interrupted"), "{}", ended.error);
    let text = |name: &str| std::fs::read_to_string(stage.cache().join(name)).unwrap();
    assert!(text("log.txt").contains("ended: interrupted\n"), "{}", text("log.txt"));
    assert!(text("run.json").contains("\"interrupted\""), "{}", text("run.json"));
    let events = std::fs::read_to_string(trace).unwrap();
    let events: serde_json::Value = serde_json::from_str(&events).expect("a trace that is JSON");
    assert!(events.as_array().is_some_and(|events| events.len() > 10));
}

/// What nobody could read is no success; a reader that has read enough is none of our business.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_told_is_no_success_and_a_reader_that_goes_away_is_no_failure() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=2"));
    let scene = stage.scene();
    let file = stage.cache().join("balls.0002.usdc").display().to_string();
    for words in [
        &["--help"][..],
        &["help"],
        &["schema"],
        &["check", &scene],
        &["run", &scene],
        &["run", &scene, "--fresh", "--json"],
        &["info", &file, "--json"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = of(undine(words).stdout(full).output().unwrap());
        assert_eq!(ended.code, 5, "{words:?}: {}", ended.error);
        let lines = ended.error.lines().filter(|line| line.contains("standard output"));
        assert_eq!(lines.count(), 1, "{words:?}: {}", ended.error);
    }
    // Frames come first.
    assert!(succeeds(&["verify", &scene]).contains("2 frames"));
    let mut child = undine(&["schema"]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = of(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.error.as_str()), (0, ""));
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_named_with_what_is_wrong() {
    for (target, told) in [("gone/far", "not there"), ("cache", "cannot be followed")] {
        let stage = Stage::new(SCENE);
        std::os::unix::fs::symlink(target, stage.cache()).unwrap();
        for command in ["check", "run"] {
            let refused = ended(&[command, &stage.scene()]);
            assert_eq!(refused.code, 2, "{command}: {}", refused.error);
            // Lines are broken where they are full.
            let plain = refused.error.replace(['│', '\n'], " ");
            let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
            for word in [told, "is a link to", "remove the link", "scene.kdl:10"] {
                assert!(plain.contains(word), "no {word} in\n{}", refused.error);
            }
        }
    }
}

#[test]
fn frames_threads_and_pages_that_cannot_be_are_told_with_what_can() {
    let stage = Stage::new(SCENE);
    let scene = stage.scene();
    succeeds(&["run", &scene, "--quiet", "--frames", "1"]);
    succeeds(&["check", &scene, "--threads", "2"]);
    let (page, folder) = (stage.path().join("rep"), stage.path());
    let (page, folder) = (page.display().to_string(), folder.display().to_string());
    for (words, told) in [
        (&["run", &scene, "--frames", "-3"][..], "at least one frame"),
        (&["check", &scene, "--frames", "-3"], "at least one frame"),
        (&["check", &scene, "--threads", "0"], "from 1 to 1024"),
        (&["report", &scene, "--out", &page], "rep.html"),
        (&["report", &scene, "--out", &folder], "report.html"),
    ] {
        let refused = ended(words);
        assert_eq!(refused.code, 2, "{words:?}: {}", refused.error);
        assert!(refused.error.contains(told), "{words:?}: {}", refused.error);
    }
    assert!(!Path::new(&page).exists());
}
/// Points, curves, sheets, tetrahedra and boundary particles, by the hundred megabytes: none of it is made, and the line that asks is told.
#[test]
fn what_does_not_fit_into_memory_is_refused_at_its_line_before_it_is_made() {
    let scene = |nodes: &str, behaviors: &str| {
        format!("setup \"a\" frames=2\ninput \"a\" {{\n{nodes}\n}}\n{behaviors}\ngravity\n")
    };
    let particles = "particles \"p\" input=\"a\"";
    let ball = "sphere radius=\"1 m\"";
    let many = "scatter count=20000000";
    let skin = format!("sphere form=\"surface\"\nscatter on=\"surface\" {}", &many[8..]);
    let sheet = "sheet columns=8000 rows=8000";
    let collider = "collider \"p\" input=\"a\" thickness=\"1 cm\"\nparticles \"q\"";
    let curves = "grid-of-curves columns=3000 rows=1000 segments=30";
    let tets = "tet-box cells=\"400 400 400\"";
    let body = "rigid-body \"p\" input=\"a\" spacing=\"0.2 mm\"";
    for (nodes, behaviors, line) in [
        (&*format!("{ball}\n{many}"), particles, "scene.kdl:4"),
        (&*format!("{ball}\nscatter spacing=\"4 mm\""), particles, "scene.kdl:4"),
        (&*format!("{skin}\nstrands segments=100"), "curves \"p\" input=\"a\"", "scene.kdl:4"),
        (sheet, collider, "scene.kdl:3"),
        (curves, "curves \"p\" input=\"a\"\nstretching", "scene.kdl:3"),
        (tets, particles, "scene.kdl:3"),
        (ball, body, "scene.kdl:5"),
    ] {
        let stage = Stage::new(&scene(nodes, behaviors));
        for command in ["check", "run"] {
            let began = Instant::now();
            let refused = ended(&[command, &stage.scene(), "--memory", "100MB"]);
            assert_eq!(refused.code, 4, "{command} {nodes}: {}{}", refused.out, refused.error);
            // Lines are broken where they are full.
            let plain = refused.error.replace(['│', '\n'], " ");
            let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
            for word in ["of the memory budget of 100.0 MB", line] {
                assert!(plain.contains(word), "no {word} in\n{}", refused.error);
            }
            assert!(began.elapsed() < Duration::from_secs(20), "{nodes}");
        }
        assert!(!stage.cache().exists());
    }
}

/// Half a million springs or more, which are found when the first step begins.
#[test]
fn springs_that_do_not_fit_into_memory_are_refused_at_their_line() {
    let stage = Stage::new(
        "setup \"a\" frames=2\ninput \"a\" {\nsphere radius=\"1 m\"\nscatter spacing=\"8 cm\"\n}\n\
         particles \"p\" input=\"a\"\nsprings range=\"50 cm\"\nrender enabled=#false\n",
    );
    for command in ["check", "run"] {
        let refused = ended(&[command, &stage.scene(), "--memory", "30MB"]);
        assert_eq!(refused.code, 4, "{command}: {}{}", refused.out, refused.error);
        for word in ["springs or more needs", "budget of 30.0 MB", "scene.kdl:7"] {
            assert!(refused.error.contains(word), "{command}: no {word} in\n{}", refused.error);
        }
    }
}

/// What no spring can have is said before anything is made.
#[test]
fn numbers_of_points_that_no_spring_can_have_are_refused_by_check_as_by_a_run() {
    let stage = Stage::new(
        "setup \"a\" frames=2\ninput \"a\" {\npoints at=\"0 0 0 m; 1 0 0 m; 2 0 0 m\"\n\
         set \"stiffness\" value=-5\n}\n\
         particles \"p\" input=\"a\"\nsprings range=\"1.5 m\"\nrender enabled=#false\n",
    );
    for command in ["check", "run"] {
        let refused = ended(&[command, &stage.scene()]);
        assert_ne!(refused.code, 0, "{command}: {}{}", refused.out, refused.error);
        assert!(refused.error.contains("stiffness"), "{command}: {}", refused.error);
    }
}

/// Points that there is room for, but not for the particles that they are to become.
#[test]
fn particles_that_do_not_fit_into_memory_are_refused_at_their_line() {
    let stage = Stage::new(
        "setup \"a\" frames=2\ninput \"a\" {\nsphere radius=\"1 m\"\nscatter count=20000\n}\nparticles \"p\" input=\"a\"\n",
    );
    for command in ["check", "run"] {
        let refused = ended(&[command, &stage.scene(), "--memory", "4MB"]);
        assert_eq!(refused.code, 4, "{}{}", refused.out, refused.error);
        for word in ["20000 particles needs 4.5 MB", "scene.kdl:6"] {
            assert!(refused.error.contains(word), "no {word} in\n{}", refused.error);
        }
    }
}
