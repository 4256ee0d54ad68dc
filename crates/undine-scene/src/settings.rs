//! How the whole run goes: the node `setup`, declared like everything else.

use crate::diagnostic::{Diagnostic, Place, Source};
use undine_io::UpAxis;
use undine_schema::setup;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type, Value};

/// The node `setup`.
pub const SETUP: Declaration = Declaration {
    name: "setup",
    kind: Kind::Settings,
    doc: "Says how the whole run goes: frames, substeps, checkpoints",
    about: "Stands once, at the top level. Its argument is the name of the scene. Simulated time is 0 s at the start of \
        frame `first`; a frame lasts `time-scale` / `fps` seconds of simulated time. A frame takes as many steps as `substeps` or `cfl` say. \
        Where neither does, no liquid or gas, and no collider or body in one, crosses more than 2 voxels in a step.",
    parameters: &[
        Parameter::number("fps", Dimension::NONE, 24.0, "frames per second of the picture")
            .between(0.01, 10_000.0)
            .usually(10.0, 240.0),
        Parameter::new(
            "frames",
            Type::Text,
            "how many frames, such as 96, or which, such as \"1001-1096\"",
        )
        .required(),
        Parameter::integer("first", 1, "the number of the first frame, where `frames` is a count")
            .between(-1e6, 1e6),
        Parameter::integer(
            "preroll",
            0,
            "frames that are simulated before the first and not written",
        )
        .between(0.0, 1e5),
        Parameter::number(
            "time-scale",
            Dimension::NONE,
            1.0,
            "simulated seconds per second of the picture; 0.5 is slow motion",
        )
        .positive()
        .usually(0.001, 100.0),
        Parameter::new(
            "substeps",
            Type::Integer,
            "steps per frame; the fewest, where `cfl` is given. Without both there are as many as liquids and gases need, and one where there are none",
        )
        .optional()
        .between(1.0, 1e4)
        .usually(1.0, 200.0),
        Parameter::number(
            "cfl",
            Dimension::NONE,
            5.0,
            "voxels that anything may cross in a step: steps are added until it holds",
        )
        .optional()
        .positive()
        .usually(0.1, 10.0)
        .advanced(),
        Parameter::integer(
            "max-substeps",
            256,
            "most steps per frame: where `cfl` asks for more, the run stops; without it, steps get longer instead",
        )
        .between(1.0, 1e5)
        .advanced(),
        Parameter::integer(
            "newton-iterations",
            1,
            "most Newton iterations of a step; one is a linearly implicit step",
        )
        .between(1.0, 1000.0)
        .advanced(),
        Parameter::integer("seed", 0, "another number gives other random choices")
            .between(0.0, 4_294_967_295.0),
        Parameter::new(
            "bounds",
            Type::Input,
            "a box or another shape in which the scene takes place: particles that leave it, also those of liquids, end there and are counted",
        )
        .optional(),
        Parameter::choice(
            "up",
            &[("y", "the y axis"), ("z", "the z axis")],
            "the axis that points up",
        ),
        Parameter::integer(
            "checkpoint-every",
            1,
            "frames from one checkpoint to the next; 0 for a single one, at the last frame",
        )
        .between(0.0, 1e6)
        .advanced(),
        Parameter::integer("checkpoint-keep", 2, "how many checkpoints stay; 0 keeps all")
            .between(0.0, 1e6)
            .advanced(),
    ],
    example: "setup \"dam-break\" fps=24 frames=96",
};

/// How many voxels a liquid or a gas, or what moves in one, may cross in a step where a scene says nothing about steps.
pub const USUAL_CFL: f64 = 2.0;

/// What `setup` says.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The name of the scene.
    pub name: String,
    /// Frames per second of the picture.
    pub fps: f64,
    /// The first frame that is written.
    pub first: i64,
    /// The last frame that is written.
    pub last: i64,
    /// Frames that are simulated before the first.
    pub preroll: i64,
    /// Simulated seconds per second of the picture.
    pub time_scale: f64,
    /// Steps per frame; the fewest, where `cfl` is given; `None` for as many as fluids need.
    pub substeps: Option<usize>,
    /// Voxels that anything may cross in a step; `None` for a fixed number of steps.
    pub cfl: Option<f64>,
    /// Most steps per frame.
    pub max_substeps: usize,
    /// Most Newton iterations of a step.
    pub newton_iterations: usize,
    /// Of random choices.
    pub seed: u64,
    /// The input in which the scene takes place.
    pub bounds: Option<String>,
    /// Which way is up.
    pub up: UpAxis,
    /// Frames between checkpoints; `None` for a single one, at the last frame.
    pub checkpoint_every: Option<usize>,
    /// How many checkpoints stay; `None` keeps all.
    pub checkpoint_keep: Option<usize>,
}

impl Settings {
    /// How long a frame lasts in simulated time [s].
    pub fn frame_seconds(&self) -> f64 {
        self.time_scale / self.fps
    }

    /// When a frame begins in simulated time [s]; the first at 0.
    pub fn time(&self, frame: f64) -> f64 {
        (frame - self.first as f64) * self.frame_seconds()
    }

    /// Ends the run where `96` or `1001-1096` says; or what is wrong with it.
    ///
    /// A run begins at the scene's first frame: a count is counted from there, and what lies before a later frame is made on
    /// the way to it.
    pub fn end_at(&mut self, frames: &str) -> Result<(), String> {
        let first = self.first;
        let (from, to) = frame_range(frames, first).map_err(|right| {
            right.replace("frames=96", "96").replace("frames=\"1001-1096\"", "1001-1096")
        })?;
        if from < first {
            return Err(format!(
                "the scene begins at frame {first}, which is simulated first; write a count, or {first}-{}",
                to.max(first)
            ));
        }
        self.last = to;
        Ok(())
    }

    /// What holds where a scene says nothing: one frame.
    pub(crate) fn plain(name: &str) -> Self {
        let none = Place { source: Source::new("setup", ""), span: 0..0 };
        Self::new(name, &setup::Settings::new(), &none).expect("defaults are settings")
    }

    /// From what `setup` sets; a frame range that is none is an error at its place.
    pub(crate) fn new(
        name: &str,
        set: &setup::Settings,
        frames: &Place,
    ) -> Result<Self, Diagnostic> {
        let value = |name: &str| {
            let set = set.get(name).map(|setting| setting.at(0.0));
            set.or_else(|| SETUP.parameter(name).and_then(|parameter| parameter.fallback.value()))
        };
        let number = |name| match value(name) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        };
        let whole = |name| match value(name) {
            Some(Value::Integer(whole)) => whole,
            _ => 0,
        };
        let count = |name| usize::try_from(whole(name)).unwrap_or(0);
        let text = |name| match value(name) {
            Some(Value::Text(text)) => text,
            _ => String::new(),
        };
        let (first, last) = match text("frames").as_str() {
            // Not given, which is an error of its own.
            "" if !set.contains_key("frames") => (whole("first"), whole("first")),
            frames_text => frame_range(frames_text, whole("first")).map_err(|help| {
                Diagnostic::error(frames, format!("`{frames_text}` is no range of frames"))
                    .help(help)
            })?,
        };
        let cfl = set.contains_key("cfl").then(|| number("cfl")).flatten();
        Ok(Self {
            name: name.to_owned(),
            fps: number("fps").unwrap_or(24.0),
            first,
            last,
            preroll: whole("preroll"),
            time_scale: number("time-scale").unwrap_or(1.0),
            substeps: set.contains_key("substeps").then(|| count("substeps")),
            cfl,
            max_substeps: count("max-substeps").max(count("substeps")),
            newton_iterations: count("newton-iterations"),
            seed: whole("seed") as u64,
            bounds: Some(text("bounds")).filter(|name| !name.is_empty()),
            up: if text("up") == "z" { UpAxis::Z } else { UpAxis::Y },
            checkpoint_every: Some(count("checkpoint-every")).filter(|&every| every > 0),
            checkpoint_keep: Some(count("checkpoint-keep")).filter(|&keep| keep > 0),
        })
    }
}

/// The most frames of a run, and the largest number of one.
const MOST_FRAMES: i64 = 10_000_000;

/// The first and last frame of `96` or `1001-1096`; or what would be right.
fn frame_range(text: &str, first: i64) -> Result<(i64, i64), String> {
    let right = "write frames=96 for a count, or frames=\"1001-1096\" for the first and the last";
    let whole = |text: &str| text.trim().parse::<i64>().ok().filter(|n| n.abs() <= MOST_FRAMES);
    if let Some(count) = whole(text) {
        return if count > 0 {
            Ok((first, first + count - 1))
        } else {
            Err(format!("a run has at least one frame; {right}"))
        };
    }
    // The hyphen between, not the sign of the first.
    let hyphen = text.char_indices().skip(1).find(|&(_, c)| c == '-').map(|(at, _)| at);
    let range = hyphen.and_then(|at| Some((whole(&text[..at])?, whole(&text[at + 1..])?)));
    match range {
        Some((from, to)) if from <= to => Ok((from, to)),
        Some((from, to)) => {
            Err(format!("the last frame ({to}) comes before the first ({from}); {right}"))
        }
        None => Err(right.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_schema::declaration::faults;

    #[test]
    fn declarations_have_no_faults() {
        assert_eq!(faults(&SETUP), [""; 0]);
    }

    #[test]
    fn a_run_may_end_elsewhere_but_begins_where_the_scene_does() {
        let end = |first, frames: &str| {
            let mut settings = Settings { first, last: first + 95, ..Settings::plain("a") };
            settings.end_at(frames).map(|()| (settings.first, settings.last))
        };
        assert_eq!(end(1001, "10"), Ok((1001, 1010)));
        assert_eq!(end(1001, "1001-1120"), Ok((1001, 1120)));
        assert_eq!(end(1001, "1005-1010"), Ok((1001, 1010)));
        for bad in ["1-10", "990-1010", "990-1000", "0", "1010-1005", "ten"] {
            assert!(end(1001, bad).is_err(), "{bad}");
        }
        assert!(end(1001, "1-10").unwrap_err().contains("begins at frame 1001"));
        assert!(!end(1001, "0").unwrap_err().contains("frames="));
    }

    #[test]
    fn frames_are_a_count_or_a_range() {
        assert_eq!(frame_range("96", 1), Ok((1, 96)));
        assert_eq!(frame_range("96", 1001), Ok((1001, 1096)));
        assert_eq!(frame_range("1001-1096", 1), Ok((1001, 1096)));
        assert_eq!(frame_range("-5-5", 1), Ok((-5, 5)));
        assert_eq!(frame_range("-5--2", 1), Ok((-5, -2)));
        for bad in ["0", "-3", "5-1", "a", "1-", "-", "1-2-3", "99999999999", "é-1"] {
            assert!(frame_range(bad, 1).is_err(), "{bad}");
        }
    }
}
