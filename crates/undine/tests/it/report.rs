//! Reports: of runs that went well, of statistics that somebody tore, and of two runs.

use std::path::Path;
use undine::report::{History, Summary, figures, page, write_into_cache};
use undine::run::FrameReport;
use undine::{Listener, Options, catalogue, run};
use undine_render::plot::{layout, svg};
use undine_scene::Scene;

const SCENE: &str = r#"
setup "tied" frames=12 substeps=2
input "net" {
    points at="0 0 0 m; 10 0 0 cm; 20 0 0 cm; 30 0 0 cm"
}
input "hook" {
    sphere radius="1 cm"
}
particles "net" input="net" radius="1 cm"
rigid-body "hook" input="hook" kinematic=#true spacing="1 cm"
attachment to="hook"
springs "ties" range="12 cm"
gravity
"#;

fn made(folder: &Path, text: &str) {
    let scene = Scene::parse(&folder.join("scene.kdl"), text, &catalogue(), &[])
        .unwrap_or_else(|report| panic!("{}", report.render(100)));
    run(&scene, &Options::default(), &mut ()).unwrap_or_else(|why| panic!("{why}"));
}

fn history(lines: &[u8]) -> History {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("stats.jsonl"), lines).unwrap();
    History::read(folder.path()).unwrap()
}

/// The tags of a text one by one, with what is between them; refuses what is not closed, or closed by another.
fn check_tags(text: &str, void: &[&str]) {
    let mut open: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let before = &rest[..start];
        for entity in before.split('&').skip(1) {
            assert!(entity.contains(';'), "a bare & in {before}");
        }
        let end = start + rest[start..].find('>').expect("a tag that ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if tag.starts_with(['?', '!']) || tag.ends_with('/') {
            continue;
        }
        let name = tag.trim_start_matches('/').split_whitespace().next().unwrap().to_owned();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_ref(), Some(&name), "in {tag}");
        } else if !void.contains(&name.as_str()) {
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            open.push(name.clone());
            // What scripts and styles hold is none of ours; JSON in them has no `<`.
            if name == "script" || name == "style" {
                let end = rest.find(&format!("</{name}>")).expect("its end");
                rest = &rest[end..];
            }
        }
    }
    assert!(open.is_empty(), "{open:?} not closed");
}

fn check_page(text: &str) {
    check_tags(text, &["meta", "img", "br"]);
    // The names of the SVG format are no addresses that anybody asks.
    let elsewhere = text.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "//cdn", "@import", "src=\"/", "url("] {
        assert!(!elsewhere.contains(word), "{word}");
    }
}

#[test]
fn a_run_leaves_a_page_with_every_plot() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path(), SCENE);
    let cache = folder.path().join("cache");
    let text = std::fs::read_to_string(cache.join("report.html")).unwrap();
    check_page(&text);
    let wanted = [
        "time",
        "residuals",
        "counts",
        "buckets",
        "memory",
        "mass",
        "momentum",
        "energy",
        "cfl",
        "substeps",
        "steps",
    ];
    for name in wanted {
        assert!(text.contains(&format!("id=\"{name}\"")), "no plot of {name}");
        let picture = std::fs::read(cache.join(format!("report/{name}.png"))).unwrap();
        assert!(picture.starts_with(b"\x89PNG"), "{name}");
    }
    // There are no voxels to draw, and a direct solve has no iterations.
    assert!(
        !text.contains("id=\"voxels\"")
            && !text.contains("id=\"iterations\"")
            && !cache.join("report/voxels.png").exists()
    );
    for word in ["tied", "Tasks that took longest", "coupled solids", "frames 1 to 12", "cores"] {
        assert!(text.contains(word), "no {word}");
    }
    let history = History::read(&cache).unwrap();
    let summary = Summary::of(&history);
    assert_eq!((summary.frames, summary.failed_solves), (12, 0));
    assert!(summary.mass_drift == 0.0 && summary.seconds > 0.0);
    assert_eq!(history.about.ended.as_deref(), Some("complete"));
    let last = &history.frames[&12];
    assert!(last.cfl > 0.0 && last.process_memory > 1e6 && last.buckets >= 1.0, "{last:?}");
}

#[test]
fn plots_are_whole_svg_and_the_same_every_time() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path(), SCENE);
    let history = History::read(&folder.path().join("cache")).unwrap();
    let draw = || -> Vec<String> {
        let plots = figures(std::slice::from_ref(&history));
        plots.iter().map(|plot| svg(&layout(plot, [640.0, 300.0]))).collect()
    };
    for text in draw() {
        check_tags(&text, &[]);
        assert!(
            text.contains("<title>")
                && text.contains("<desc>")
                && text.contains("prefers-color-scheme")
        );
        assert_eq!(text.matches("http").count(), 1, "only the name of the format");
    }
    assert_eq!(draw(), draw());
}

/// Stops a run after its fifth frame.
struct Impatient(bool);

impl Listener for Impatient {
    fn frame(&mut self, frame: &FrameReport) {
        self.0 |= frame.frame >= 5;
    }

    fn should_stop(&self) -> bool {
        self.0
    }
}

#[test]
fn a_run_that_is_stopped_leaves_a_report_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let scene = Scene::parse(&folder.path().join("scene.kdl"), SCENE, &catalogue(), &[]).unwrap();
    run(&scene, &Options::default(), &mut Impatient(false)).unwrap_err();
    let page = std::fs::read_to_string(folder.path().join("cache/report.html")).unwrap();
    check_page(&page);
    assert!(page.contains("interrupted"), "{page}");
}

#[test]
fn a_report_that_cannot_be_written_fails_no_run() {
    #[derive(Default)]
    struct Notes(Vec<String>);
    impl undine::Listener for Notes {
        fn note(&mut self, note: &str) {
            self.0.push(note.to_owned());
        }
    }
    let folder = tempfile::tempdir().unwrap();
    // A file where the folder of plots should be.
    std::fs::create_dir(folder.path().join("cache")).unwrap();
    std::fs::write(folder.path().join("cache/report"), "in the way").unwrap();
    let scene = Scene::parse(&folder.path().join("scene.kdl"), SCENE, &catalogue(), &[]).unwrap();
    let mut notes = Notes::default();
    assert_eq!(run(&scene, &Options::default(), &mut notes).unwrap(), Some(12));
    assert!(notes.0.iter().any(|note| note.contains("no report")), "{:?}", notes.0);
}

#[test]
fn statistics_of_older_runs_are_read() {
    let line = |frame: i64| {
        format!(
            "{{\"frame\":{frame},\"seconds\":0.5,\"particles\":8,\"mass\":2.0,\"momentum\":[0,1,0],\
             \"kinetic_energy\":3.0,\"stages\":{{\"Advance\":0.2}},\"solves\":[{{\"system\":\"s\",\
             \"iterations\":7,\"residual\":1e-9,\"converged\":true}}]}}\n"
        )
    };
    let history = history((line(1) + &line(2) + &line(4)).as_bytes());
    let summary = Summary::of(&history);
    assert_eq!((summary.frames, summary.seconds, summary.iterations), (3, 1.5, 21.0));
    assert_eq!(summary.energy_change, 0.0);
    let names: Vec<_> =
        figures(std::slice::from_ref(&history)).into_iter().map(|plot| plot.name).collect();
    assert_eq!(names, ["time", "iterations", "residuals", "counts", "mass", "momentum", "energy"]);
    // Frame 3 is missing, and lines are broken there.
    let points = history.points(|frame| frame.mass);
    assert_eq!(points.iter().filter(|point| point[1].is_nan()).count(), 1);
    check_page(&page(std::slice::from_ref(&history), &figures(std::slice::from_ref(&history))));
}

#[test]
fn whatever_statistics_hold_there_is_a_page() {
    let odd = [
        &b""[..],
        b"\n\n\n",
        b"{",
        b"\xff\xfe\x00\n{\"frame\":1}\n{\"frame\":2,\"sec",
        b"null\n[]\n7\n\"x\"\n{\"frame\":1.5}\n{\"frame\":null}\n",
        b"{\"frame\":-9223372036854775808,\"seconds\":1e308}\n{\"frame\":9223372036854775807,\"seconds\":-1}\n",
        b"{\"frame\":1,\"seconds\":null,\"mass\":\"NaN\",\"momentum\":7,\"stages\":[1],\"tasks\":{},\"solves\":[null,{}]}\n",
        b"{\"frame\":1,\"seconds\":1e300,\"mass\":-1e300,\"momentum\":[1e308,1e308],\"memory\":1e99,\"cfl\":1e-300}\n",
        b"{\"frame\":1,\"seconds\":1,\"stages\":{\"</script><b>&\\\"\\u0000\":0.5},\"tasks\":[{\"task\":\"<x>\",\"seconds\":1}],\"solves\":[{\"system\":\"<s>\",\"residual\":0.1,\"converged\":false,\"iterations\":3}]}\n",
    ];
    for lines in odd {
        let history = history(lines);
        let figures = figures(std::slice::from_ref(&history));
        check_page(&page(std::slice::from_ref(&history), &figures));
        check_page(&page(&[history.clone(), history.clone()], &figures));
        for plot in figures {
            check_tags(&svg(&layout(&plot, [640.0, 300.0])), &[]);
        }
        let _ = Summary::of(&history).lines();
    }
    assert!(write_into_cache(Path::new("/nowhere/at/all")).is_err());
}

#[test]
fn a_solve_that_did_not_converge_is_noted_at_its_frame() {
    let line = |frame: i64, residual: f64| {
        format!(
            "{{\"frame\":{frame},\"seconds\":1,\"solves\":[{{\"system\":\"pressure\",\"iterations\":9,\
             \"residual\":{residual},\"tolerance\":1e-6,\"converged\":{}}}]}}\n",
            residual <= 1e-6
        )
    };
    let history = history((line(36, 1e-7) + &line(37, 0.02) + &line(38, 1e-7)).as_bytes());
    let summary = Summary::of(&history);
    assert_eq!(summary.failed_solves, 1);
    assert_eq!(summary.worst_solve.unwrap().0, 37);
    let figures = figures(&[history]);
    let plot = figures.iter().find(|plot| plot.name == "residuals").unwrap();
    assert_eq!(plot.notes.len(), 1);
    assert_eq!(plot.notes[0].text, "frame 37: pressure did not converge");
}

#[test]
fn two_runs_share_their_axes() {
    let run = |seconds: f64, first: i64| {
        let line = |frame| {
            format!(
                "{{\"frame\":{frame},\"seconds\":{seconds},\"mass\":2,\"stages\":{{\"Advance\":{seconds}}}}}\n"
            )
        };
        let mut history = history((first..first + 5).map(line).collect::<String>().as_bytes());
        history.label = format!("run of {seconds}");
        history
    };
    let runs = [run(1.0, 1), run(2.0, 3)];
    let figures = figures(&runs);
    let [a, b] = ["time-a", "time-b"].map(|name| figures.iter().find(|p| p.name == name).unwrap());
    assert_eq!((a.y.reaches, a.unit()), (b.y.reaches, b.unit()));
    let mass = figures.iter().find(|plot| plot.name == "mass").unwrap();
    assert_eq!(mass.series.iter().map(|s| s.dashed).collect::<Vec<_>>(), [false, true]);
    // Frames are matched by their numbers, not by their order.
    assert_eq!(mass.series.iter().map(|s| s.points[0][0]).collect::<Vec<_>>(), [1.0, 3.0]);
    assert_eq!(mass.key, Some(["run of 1".into(), "run of 2".into()]));
    let text = page(&runs, &figures);
    check_page(&text);
    assert!(text.contains("× 2<") && text.contains("second to first"), "{text}");
}
