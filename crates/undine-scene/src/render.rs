//! What pictures of a run show, and from where: the node `render`, declared like everything else.
//!
//! Pictures say nothing about what is simulated: whatever a `render` says, the frames of a cache stay what they are.

use crate::catalogue::Catalogue;
use crate::diagnostic::{Diagnostic, Place, Report, Source};
use crate::document::{Atom, Element, Property, Scalar};
use crate::settings::Settings;
use crate::tree::Tree;
use std::collections::BTreeMap;
use undine_schema::setup;
use undine_schema::{Declaration, Dimension, Fallback, Kind, Parameter, Setting, Type, Value};

/// The node `render`.
pub const RENDER: Declaration = Declaration {
    name: "render",
    kind: Kind::Settings,
    doc: "Says what pictures of the run show, and from where",
    about: "May stand several times with names, for several views: `render \"side\"` draws `side.####.png` into the folder `pictures` of the \
        cache. Without any, a small picture of everything is made of every 8th frame and of the last. Changing it never \
        changes what is simulated; `undine render` takes the same words as options.",
    parameters: &[
        Parameter {
            fallback: Fallback::Text("640x360"),
            ..Parameter::new("size", Type::Text, "width and height of the pictures in pixels")
        },
        Parameter::integer("every", 8, "draws every so many frames, and the last").between(1.0, 1e6),
        Parameter::choice(
            "camera",
            &[
                ("auto", "shows everything; from `eye`, if that is given"),
                ("orbit", "goes around what there is, once in `turn`"),
            ],
            "how the camera moves",
        ),
        Parameter::new("eye", Type::Vector(Dimension::LENGTH), "where the camera is; may have keys")
            .optional(),
        Parameter::new(
            "target",
            Type::Vector(Dimension::LENGTH),
            "what is in the middle of the picture; may have keys",
        )
        .optional(),
        Parameter::number(
            "fov",
            Dimension::ANGLE,
            0.6,
            "the angle from the lower to the upper edge of the picture; may have keys",
        )
        .between(0.002, 2.9),
        Parameter::number("turn", Dimension::TIME, 10.0, "how long an orbit takes, in the time of the scene")
            .positive(),
        Parameter::new("of", Type::Target, "the Object or Group to show; everything, if not given")
            .optional(),
        Parameter::new(
            "color-by",
            Type::Text,
            "the channel that colours points, such as \"v\" or \"age\"; by speed, if not given, and \"none\" for one colour",
        )
        .optional(),
        Parameter::choice(
            "map",
            &[
                ("water", "from deep blue over turquoise to foam"),
                ("viridis", "from violet over green to yellow"),
                ("inferno", "from black over red to yellow"),
                ("turbo", "all colours of the rainbow"),
                ("grey", "from black to white"),
                ("coolwarm", "from blue over white to red, for numbers of either sign"),
            ],
            "the colours that numbers are shown by",
        ),
        Parameter::new(
            "range",
            Type::Text,
            "the numbers at both ends of the map, in SI, such as \"0 4\"; from what there is, if not given",
        )
        .optional(),
        Parameter::flag("legend", true, "draws the map with its numbers"),
        Parameter::choice(
            "points",
            &[("spheres", "as shaded spheres"), ("splats", "as flat discs")],
            "how points are drawn",
        ),
        Parameter::new(
            "radius",
            Type::Number(Dimension::LENGTH),
            "how large points are; as their channel pscale says, if not given, or else by how close they are",
        )
        .positive()
        .optional(),
        Parameter::choice(
            "finish",
            &[
                ("solid", "of a colour; a liquid is shown by its particles"),
                ("water", "as water: it mirrors, bends and tints light; a liquid is shown by its surface"),
            ],
            "what surfaces of liquids look like",
        ),
        Parameter::choice(
            "ground",
            &[
                ("auto", "a ground below everything, unless a collider is one"),
                ("none", "no ground"),
                ("plane", "a ground below everything"),
            ],
            "what everything stands on",
        ),
        Parameter::number("shutter", Dimension::NONE, 0.0, "how many frames long motion is blurred, 0.5 as in film")
            .between(0.0, 10.0),
        Parameter::choice(
            "overlay",
            &[
                ("none", "nothing"),
                ("buckets", "the boxes of Buckets"),
                ("levels", "the boxes of Buckets, coloured by level"),
                ("processes", "the boxes of Buckets, coloured by the process that owns them"),
            ],
            "what is drawn over the picture",
        ),
        Parameter::integer("samples", 6, "how many passes are averaged: more is smoother")
            .between(1.0, 4096.0),
        Parameter::choice(
            "format",
            &[("png", "PNG, to look at"), ("exr", "OpenEXR: linear light, depth and velocity")],
            "the format of pictures",
        ),
        Parameter::flag("movie", false, "makes an MP4 at the end, too, where `ffmpeg` is installed"),
        Parameter::flag("enabled", true, "draws pictures at all"),
    ],
    example: "render size=\"1280x720\" every=1 camera=\"orbit\" color-by=\"v\"",
};

/// The parameters that may have keys.
pub const CHANGES: &[&str] = &["eye", "target", "fov"];

/// Most letters of a view's name.
const LONGEST_NAME: usize = 60;

/// What a `render` says.
#[derive(Debug, Clone, PartialEq)]
pub struct Render {
    /// What its pictures are called before their number.
    pub name: String,
    /// What was set, for whoever keeps it.
    pub set: setup::Settings,
    /// Whether anything is drawn.
    pub enabled: bool,
    /// Pixels across and down.
    pub size: [usize; 2],
    /// Draws every so many frames.
    pub every: usize,
    /// Whether the camera goes around.
    pub orbits: bool,
    /// Where the camera is [m]; chosen, if `None`.
    pub eye: Option<Setting>,
    /// What is in the middle of the picture [m]; chosen, if `None`.
    pub target: Option<Setting>,
    /// The angle from the lower to the upper edge of the picture [rad].
    pub fov: Setting,
    /// How long an orbit takes [s].
    pub turn: f64,
    /// The path of the Object or Group to show; everything, if `None`.
    pub of: Option<String>,
    /// The channel that colours points; chosen, if `None`.
    pub color_by: Option<String>,
    /// The name of the colour map.
    pub map: String,
    /// The numbers at both ends of the map; from what there is, if `None`.
    pub range: Option<[f32; 2]>,
    /// Whether the map is drawn with its numbers.
    pub legend: bool,
    /// Whether points are flat discs, and not spheres.
    pub splats: bool,
    /// How large points are [m]; as they are, if `None`.
    pub radius: Option<f64>,
    /// Whether surfaces look like water.
    pub water: bool,
    /// What everything stands on.
    pub ground: GroundChoice,
    /// How many frames long motion is blurred.
    pub shutter: f64,
    /// What is drawn over the picture.
    pub overlay: Overlay,
    /// How many passes are averaged.
    pub samples: usize,
    /// Whether pictures are OpenEXR, and not PNG.
    pub exr: bool,
    /// Whether an MP4 is made at the end.
    pub movie: bool,
}

/// What everything stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroundChoice {
    /// A ground below everything, unless a collider is one.
    Auto,
    /// Nothing.
    None,
    /// A ground below everything.
    Plane,
}

/// What is drawn over a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlay {
    /// Nothing.
    None,
    /// The boxes of Buckets.
    Buckets,
    /// The boxes of Buckets, coloured by level.
    Levels,
    /// The boxes of Buckets, coloured by the process that owns them.
    Processes,
}

/// What is wrong with a value of a `render`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The parameter.
    pub parameter: &'static str,
    /// What is wrong with it.
    pub what: String,
    /// What would be right.
    pub help: String,
}

impl Default for Render {
    fn default() -> Self {
        Self::new("preview", setup::Settings::new()).expect("defaults are a render")
    }
}

impl Render {
    /// From what a `render` sets; or what is wrong with it.
    pub fn new(name: &str, set: setup::Settings) -> Result<Self, Fault> {
        let value = |name: &str| {
            let declared = || RENDER.parameter(name).and_then(|p| p.fallback.value());
            set.get(name).map(|setting| setting.at(0.0)).or_else(declared)
        };
        let text = |name: &str| match value(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        };
        let number = |name: &str| match value(name) {
            Some(Value::Number(number)) => Some(number),
            Some(Value::Integer(whole)) => Some(whole as f64),
            _ => None,
        };
        let flag = |name: &str| value(name) == Some(Value::Flag(true));
        let says = |name: &str, word: &str| text(name).as_deref() == Some(word);
        let count = |name: &str| number(name).map_or(1, |number| number.max(1.0) as usize);
        let is_plain = |c: char| c.is_alphanumeric() || "-_".contains(c);
        if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
            return Err(Fault {
                parameter: "name",
                what: format!("`{name}` is no good name for pictures"),
                help: "use letters, digits, hyphens and underscores, not too many".to_owned(),
            });
        }
        Ok(Self {
            name: name.to_owned(),
            enabled: flag("enabled"),
            size: size(&text("size").unwrap_or_default())?,
            every: count("every"),
            orbits: says("camera", "orbit"),
            eye: set.get("eye").cloned(),
            target: set.get("target").cloned(),
            fov: set.get("fov").cloned().unwrap_or(Setting::Constant(Value::Number(0.6))),
            turn: number("turn").unwrap_or(10.0),
            of: text("of"),
            color_by: text("color-by"),
            map: text("map").unwrap_or_default(),
            range: text("range").map(|text| range(&text)).transpose()?,
            legend: flag("legend"),
            splats: says("points", "splats"),
            radius: number("radius"),
            water: says("finish", "water"),
            ground: match text("ground").as_deref() {
                Some("none") => GroundChoice::None,
                Some("plane") => GroundChoice::Plane,
                _ => GroundChoice::Auto,
            },
            shutter: number("shutter").unwrap_or(0.0),
            overlay: match text("overlay").as_deref() {
                Some("buckets") => Overlay::Buckets,
                Some("levels") => Overlay::Levels,
                Some("processes") => Overlay::Processes,
                _ => Overlay::None,
            },
            samples: count("samples"),
            exr: says("format", "exr"),
            movie: flag("movie"),
            set,
        })
    }

    /// The same with options as they are typed on a command line, `size` and `1920x1080`: read as in a scene.
    pub fn with_options(&self, options: &[(String, String)]) -> Result<Self, Report> {
        let mut report = Report::default();
        let mut element = None;
        for (name, typed) in options {
            let source = Source::new(format!("--{name}"), typed.clone());
            let place = Place { span: 0..typed.len(), source };
            let scalar = typed_scalar(name, typed);
            let value = Atom { scalar, place: place.clone() };
            element
                .get_or_insert_with(|| Element::new("render", &place))
                .properties
                .push(Property { name: name.clone(), place, value });
        }
        let Some(element) = element else { return Ok(self.clone()) };
        let (catalogue, settings) = (Catalogue::new([]), Settings::plain("picture"));
        let mut places = BTreeMap::new();
        let mut tree = Tree {
            catalogue: &catalogue,
            settings: &settings,
            places: &mut places,
            inputs: Vec::new(),
            report: &mut report,
        };
        let typed = tree.settings_of(&element, &RENDER, "render", |_| false).0;
        if report.has_errors() {
            return Err(report);
        }
        let mut set = self.set.clone();
        set.extend(typed);
        Self::new(&self.name, set).map_err(|fault| {
            let place = places.get(&format!("render.{}", fault.parameter));
            let place = place.unwrap_or(&element.place);
            report.add(Diagnostic::error(place, fault.what).help(fault.help));
            report
        })
    }
}

/// A value that somebody typed, where quotes are the shell's. Of what may be a text, it is one.
fn typed_scalar(name: &str, typed: &str) -> Scalar {
    let takes = RENDER.parameter(name).map(|parameter| parameter.takes);
    match (takes, typed) {
        (Some(Type::Flag), "true" | "#true" | "yes") => Scalar::Flag(true),
        (Some(Type::Flag), "false" | "#false" | "no") => Scalar::Flag(false),
        (Some(Type::Integer | Type::Number(_)), _) => {
            match (typed.parse::<i64>(), typed.parse::<f64>()) {
                (Ok(whole), _) => Scalar::Integer(whole.into()),
                (_, Ok(number)) if number.is_finite() => Scalar::Float(number),
                _ => Scalar::Text(typed.to_owned()),
            }
        }
        _ => Scalar::Text(typed.to_owned()),
    }
}

/// The `render` that a node is.
pub(crate) fn render(tree: &mut Tree<'_>, element: &Element, n: usize) -> Render {
    let path = format!("render{n}");
    tree.places.insert(path.clone(), element.header());
    let name = match element.arguments.as_slice() {
        [] => "preview",
        [name] if name.text().is_some() => name.text().unwrap_or("preview"),
        [.., stray] => {
            tree.report.add(
                Diagnostic::error(&stray.place, "`render` takes one name, and values with names")
                    .help("write render \"side\" size=\"1280x720\""),
            );
            "preview"
        }
    };
    let errors = tree.report.errors();
    let set = tree.settings_of(element, &RENDER, &path, |_| false).0;
    Render::new(name, set).unwrap_or_else(|fault| {
        let place = tree.places.get(&format!("{path}.{}", fault.parameter)).cloned();
        let place = place.unwrap_or_else(|| element.header());
        // What could not be read is reported already.
        if tree.report.errors() == errors {
            tree.report.add(Diagnostic::error(&place, fault.what).help(fault.help));
        }
        Render::default()
    })
}

/// Says which views have one name: their pictures would be the same files.
pub(crate) fn each_has_its_name(
    renders: &[Render],
    places: &BTreeMap<String, Place>,
    report: &mut Report,
) {
    for (n, render) in renders.iter().enumerate() {
        // Some disks know no capitals.
        let same = |other: &Render| other.name.to_lowercase() == render.name.to_lowercase();
        let Some(first) = renders[..n].iter().position(same) else { continue };
        let place = |n: usize| places.get(&format!("render{n}"));
        if let (Some(again), Some(first)) = (place(n), place(first)) {
            report.add(
                Diagnostic::error(again, format!("two views are called `{}`", render.name))
                    .label("again here")
                    .also(first, "first here")
                    .help("give each a name: render \"side\" …"),
            );
        }
    }
}

/// `1280x720`.
fn size(text: &str) -> Result<[usize; 2], Fault> {
    let fault = |what: String| Fault {
        parameter: "size",
        what,
        help: "write width and height in pixels: 1280x720".to_owned(),
    };
    let [width, height] = text
        .split_once(['x', '×'])
        .and_then(|(width, height)| Some([width.trim().parse().ok()?, height.trim().parse().ok()?]))
        .ok_or_else(|| fault(format!("`{text}` is no size of a picture")))?;
    let pixels = usize::checked_mul(width, height).unwrap_or(usize::MAX);
    match pixels {
        0 => Err(fault("a picture needs at least one pixel each way".to_owned())),
        1..=67_108_864 => Ok([width, height]),
        _ => Err(fault("a picture may have at most 67 million pixels".to_owned())),
    }
}

/// `0 4`.
fn range(text: &str) -> Result<[f32; 2], Fault> {
    let numbers: Option<Vec<f32>> = text
        .split([' ', ',', ';'])
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().ok().filter(|number: &f32| number.is_finite()))
        .collect();
    match numbers.as_deref() {
        Some(&[low, high]) if low < high => Ok([low, high]),
        _ => Err(Fault {
            parameter: "range",
            what: format!("`{text}` is no range"),
            help: "write two numbers, the smaller first: \"0 4\"".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_schema::declaration::faults;

    fn option(name: &str, value: &str) -> [(String, String); 1] {
        [(name.to_owned(), value.to_owned())]
    }

    #[test]
    fn the_declaration_has_no_faults() {
        assert_eq!(faults(&RENDER), [""; 0]);
        assert!(CHANGES.iter().all(|name| RENDER.parameter(name).is_some()));
    }

    #[test]
    fn options_mean_what_they_mean_in_a_scene() {
        let plain = Render::default();
        assert_eq!((plain.size, plain.every, plain.samples), ([640, 360], 8, 6));
        let changed = plain.with_options(&option("size", "1920x1080")).unwrap();
        let changed = changed.with_options(&option("eye", "0 1 4 m")).unwrap();
        let changed = changed.with_options(&option("fov", "35 deg")).unwrap();
        let changed = changed.with_options(&option("legend", "false")).unwrap();
        let changed = changed.with_options(&option("samples", "3")).unwrap();
        assert_eq!((changed.size, changed.samples, changed.legend), ([1920, 1080], 3, false));
        assert_eq!(changed.eye, Some(Setting::Constant(Value::Vector([0.0, 1.0, 4.0]))));
        assert_eq!(changed.fov.at(0.0), Value::Number(35f64.to_radians()));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would() {
        for (name, value, word) in [
            ("size", "huge", "no size"),
            ("size", "0x720", "one pixel"),
            ("size", "99999x99999", "67 million"),
            ("range", "4 0", "no range"),
            ("range", "nan 1", "no range"),
            ("range", "1 2 3", "no range"),
            ("map", "rainbow", "rainbow"),
            ("samples", "0", "samples"),
            ("eye", "0 1 m", "eye"),
            ("color", "v", "color"),
        ] {
            let report = Render::default().with_options(&option(name, value)).unwrap_err();
            let text = report.render(100);
            assert!(text.contains(word), "{name}={value}: {text}");
        }
        for name in ["", "a/b", "../a", "a.b", &"a".repeat(100)] {
            assert!(Render::new(name, setup::Settings::new()).is_err(), "{name}");
        }
    }
}
