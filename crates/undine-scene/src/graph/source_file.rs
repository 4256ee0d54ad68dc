//! Sources from outside: a file, a sequence of files, the state that another run left, another input.

use super::files::{Found, Reading, times};
use super::{Call, Context, Fault};
use crate::catalogue::LOAD;
use crate::scene::GraphNode;
use std::f64::consts::FRAC_PI_2;
use std::path::PathBuf;
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::{Motion, Pose};
use undine_io::Pattern;
use undine_io::UpAxis;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type, Value};
use undine_sim::input::{Data, Geometry, PointCloud, VELOCITY};

const FILE: Parameter = Parameter::new(
    "file",
    Type::File,
    "the file, relative to the scene, with #### or $F4 for the frame's number",
);
const PART: Parameter = Parameter::new(
    "part",
    Type::Text,
    "the prim of a USD file, by its path, or the grid of a VDB file, by its name; all there is, if not given",
)
.optional();
const UNIT: Parameter = {
    let mut unit =
        Parameter::new("unit", Type::Text, "the unit of lengths in the file: m, cm, mm, in, ft");
    unit.fallback = undine_schema::Fallback::Text("m");
    unit
};
const UP: Parameter = Parameter::choice(
    "up",
    &[("scene", "as in the scene"), ("y", "the y axis"), ("z", "the z axis")],
    "which way is up in the file",
);

pub(super) static FROM: Declaration = Declaration {
    name: "from",
    kind: Kind::Source,
    doc: "Another input",
    about: "With filters behind it, one input is made from another, which stays as it is.",
    parameters: &[Parameter::new("input", Type::Input, "the input")],
    example: "input \"dust\" { from input=\"crate\"; scatter on=\"surface\" count=1000 }",
};

pub(super) static LOADED: Declaration = Declaration {
    name: LOAD,
    kind: Kind::Source,
    doc: "Points, a mesh, curves or a level set from a PLY, OBJ, STL, USD or VDB file",
    about: "Lengths, velocities `v`, radii `pscale` and places `rest` are converted to metres, and everything is turned to the scene's up axis; USD and VDB \
            files, and those of a cache, say their own. Of numbered files, that of the frame is read, and of a USD file that moves, the frame as its time code; use \
            `animate` for what lies between frames. Of a VDB file, the first level set or points are read, and beside a level \
            set the velocities `vel` or `v`, as its channel `v`.",
    parameters: &[
        FILE,
        PART,
        UNIT,
        UP,
        Parameter::integer(
            "frame",
            0,
            "the number of the frame to read; by default the current one",
        )
        .optional(),
    ],
    example: "input \"statue\" file=\"statue.obj\" unit=\"cm\" up=\"z\"",
};

pub(super) static ANIMATE: Declaration = Declaration {
    name: "animate",
    kind: Kind::Source,
    doc: "A sequence of files, or a USD file that moves, at any time, with velocities",
    about: "Between two frames of the same topology (the same faces, or points with the same ids) places and channels are interpolated, and \
            velocities `v` are differences over the frames on both sides, or on the one side there is. Where the topology changes, the nearest \
            frame is taken. Before the first and after the last frame it rests. Time codes of a USD file are numbers of frames.",
    parameters: &[
        FILE,
        PART,
        UNIT,
        UP,
        Parameter::choice(
            "interpolation",
            &[
                ("linear", "in straight lines"),
                ("cubic", "on smooth curves through the frames"),
                ("hold", "the nearest frame"),
            ],
            "how places between frames are found",
        ),
        Parameter::number(
            "speed",
            Dimension::NONE,
            1.0,
            "frames of the sequence for each frame of the scene",
        )
        .positive(),
        Parameter::number("offset", Dimension::NONE, 0.0, "what is added to the frame's number"),
    ],
    example: "input \"dancer\" { animate file=\"dancer.####.ply\" unit=\"cm\" }",
};

pub(super) static INITIAL_STATE: Declaration = Declaration {
    name: "initial-state",
    kind: Kind::Source,
    doc: "Points as another run left them at a frame",
    about: "Caches are in metres, and say which axis is up in them. All channels are kept; a Behavior that \
            takes the points gives them ids of its own.",
    parameters: &[
        Parameter::new(
            "file",
            Type::File,
            "the files of the points in the cache, with #### for the frame's number",
        ),
        Parameter::new("frame", Type::Integer, "the frame to begin with"),
    ],
    example: "input \"settled\" { initial-state file=\"settle/cache/water.####.ply\" frame=48 }",
};

pub(super) fn from(call: &Call<'_>) -> Result<Data, Fault> {
    Ok(Data::clone(&*call.input("input")?))
}

pub(super) fn load(call: &Call<'_>) -> Result<Data, Fault> {
    let pattern = Pattern::new(&call.given.text("file")?, &call.context().folder)?;
    let number = match call.given.optional_integer("frame")? {
        Some(frame) => frame as f64,
        None => frame_number(call),
    };
    let file = pattern.find(number.round() as i64)?;
    let time = (!pattern.is_numbered() && !times(&file).is_empty()).then_some(number);
    read(call, file, time)
}

/// What is read of a file at a time [time codes], in metres and turned to the scene's up axis.
fn read(call: &Call<'_>, file: PathBuf, time: Option<f64>) -> Result<Data, Fault> {
    let reading = Reading { part: call.given.optional_text("part")?, file, time };
    converted(call, &*call.graph.files.read(&reading, &call.context().budget)?)
}

/// Whether a file is read for the current frame.
pub(super) fn follows_frames(node: &GraphNode, context: &Context) -> bool {
    let file = node.settings.get("file").map(|setting| setting.at(0.0));
    let is_numbered =
        |text: &str| Pattern::new(text, &context.folder).is_ok_and(|pattern| pattern.is_numbered());
    let moves = |text: &str| is_numbered(text) || !times(&context.folder.join(text)).is_empty();
    !node.settings.contains_key("frame") && matches!(file, Some(Value::Text(text)) if moves(&text))
}

pub(super) fn initial_state(call: &Call<'_>) -> Result<Data, Fault> {
    let pattern = Pattern::new(&call.given.text("file")?, &call.context().folder)?;
    let frame = call.given.optional_integer("frame")?.unwrap_or_default();
    let reading = Reading { file: pattern.find(frame)?, part: None, time: None };
    let found = call.graph.files.read(&reading, &call.context().budget)?;
    match &found.data.geometry {
        // Files of a cache say which axis is up in them.
        Geometry::Points(_) if found.says_axes && call.context().up == UpAxis::Z => {
            let mut cloud = found.data.cloud()?.into_owned();
            cloud.turn(&Pose { rotation: DQuat::from_rotation_x(FRAC_PI_2), ..Pose::IDENTITY });
            Ok(found.data.with_cloud(cloud)?)
        }
        Geometry::Points(_) => Ok(found.data.clone()),
        _ => Err(Fault::WrongData { found: found.data.noun(), wanted: "points of a cache" }),
    }
}

pub(super) fn animate(call: &Call<'_>) -> Result<Data, Fault> {
    let pattern = Pattern::new(&call.given.text("file")?, &call.context().folder)?;
    let speed = call.given.number("speed")?;
    let first = call.context().first_frame as f64;
    let at = first + speed * (frame_number(call) - first) + call.given.number("offset")?;
    let frames: Vec<f64> = match pattern.is_numbered() {
        true => pattern.frames()?.iter().map(|&frame| frame as f64).collect(),
        false => times(&pattern.find(0)?),
    };
    // Whether there are no frames, or no numbers: the pattern knows how to say so.
    let (Some(&start), Some(&end)) = (frames.first(), frames.last()) else {
        return read(call, pattern.find(at.round() as i64)?, None);
    };
    let sequence = Sequence {
        call,
        pattern: &pattern,
        frames: &frames,
        frame_seconds: call.context().frame_seconds / speed,
    };
    let place = at.clamp(start, end);
    let before = frames.partition_point(|&frame| frame <= place) - 1;
    let way = call.given.text("interpolation")?;
    let data = match frames.get(before + 1) {
        _ if way == "hold" => None,
        Some(&next) if place > frames[before] => {
            let width = next - frames[before];
            sequence.between(before, (place - frames[before]) / width, way == "cubic")?
        }
        _ => Some(sequence.on(before)?),
    };
    let mut data = match data {
        Some(data) => data,
        None => {
            let nearest = match frames.get(before + 1) {
                Some(&next) if next - place < place - frames[before] => before + 1,
                _ => before,
            };
            sequence.frame(nearest)?
        }
    };
    // Before the first frame and after the last it rests.
    if place != at && way != "hold" {
        let mut cloud = data.cloud()?.into_owned();
        let rest = vec![DVec3::ZERO; cloud.positions.len()];
        cloud.vectors.insert(VELOCITY.to_owned(), rest);
        data = data.with_cloud(cloud)?;
    }
    Ok(data)
}

/// Frames on disk.
struct Sequence<'a> {
    call: &'a Call<'a>,
    pattern: &'a Pattern,
    /// The numbers of frames, or the time codes of a scene.
    frames: &'a [f64],
    /// Simulated time from a frame's number to the next [s].
    frame_seconds: f64,
}

impl Sequence<'_> {
    /// The n-th frame there is.
    fn frame(&self, n: usize) -> Result<Data, Fault> {
        let number = self.frames[n];
        let time = (!self.pattern.is_numbered()).then_some(number);
        read(self.call, self.pattern.file(number as i64), time)
    }

    /// The points of the n-th frame, in the order of `like`, if that can be.
    fn alike(&self, n: Option<usize>, like: &Data) -> Result<Option<PointCloud>, Fault> {
        match n.filter(|&n| n < self.frames.len()) {
            Some(n) => in_order(&self.frame(n)?, like),
            None => Ok(None),
        }
    }

    /// On a frame: its own places, and velocities by differences.
    fn on(&self, n: usize) -> Result<Data, Fault> {
        let here = self.frame(n)?;
        let mut cloud = here.cloud()?.into_owned();
        let neighbours = [n.checked_sub(1), Some(n + 1)];
        let [before, after] =
            [self.alike(neighbours[0], &here)?, self.alike(neighbours[1], &here)?];
        let velocities = self.slopes(n, before.as_ref(), &cloud, after.as_ref());
        cloud.vectors.insert(VELOCITY.to_owned(), velocities);
        Ok(here.with_cloud(cloud)?)
    }

    /// Between the n-th frame and the next, the part `s` of the way; `None` if they are not alike.
    fn between(&self, n: usize, s: f64, is_cubic: bool) -> Result<Option<Data>, Fault> {
        let here = self.frame(n)?;
        let a = here.cloud()?.into_owned();
        let Some(b) = self.alike(Some(n + 1), &here)? else { return Ok(None) };
        let before = self.alike(n.checked_sub(1), &here)?;
        let after = self.alike(Some(n + 2), &here)?;
        let va = self.slopes(n, before.as_ref(), &a, Some(&b));
        let vb = self.slopes(n + 1, Some(&a), &b, after.as_ref());

        let mut cloud = a.clone();
        for (name, values) in &mut cloud.numbers {
            if let Some(others) = b.numbers.get(name).filter(|_| name != "id") {
                values.iter_mut().zip(others).for_each(|(a, b)| *a += (b - *a) * s);
            }
        }
        for (name, values) in &mut cloud.vectors {
            if let Some(others) = b.vectors.get(name) {
                values.iter_mut().zip(others).for_each(|(a, b)| *a = a.lerp(*b, s));
            }
        }
        let seconds = self.seconds(n, n + 1);
        let count = cloud.positions.len();
        let mut velocities = vec![DVec3::ZERO; count];
        for i in 0..count {
            let (x, y) = (a.positions[i], b.positions[i]);
            (cloud.positions[i], velocities[i]) = if is_cubic {
                hermite([x, y], [va[i], vb[i]], seconds, s)
            } else {
                // Velocities that jump at no frame serve a solver better than those of the straight ways.
                (x.lerp(y, s), va[i].lerp(vb[i], s))
            };
        }
        cloud.vectors.insert(VELOCITY.to_owned(), velocities);
        Ok(Some(here.with_cloud(cloud)?))
    }

    /// The velocities on the n-th frame [m/s]: of the parabola through it and both neighbours, or of the line to the one there is.
    fn slopes(
        &self,
        n: usize,
        before: Option<&PointCloud>,
        here: &PointCloud,
        after: Option<&PointCloud>,
    ) -> Vec<DVec3> {
        let mean = |a: &PointCloud, b: &PointCloud, i: usize, seconds: f64| {
            (b.positions[i] - a.positions[i]) / seconds
        };
        let slope = |i: usize| match (before, after) {
            (None, None) => DVec3::ZERO,
            (Some(before), None) => mean(before, here, i, self.seconds(n - 1, n)),
            (None, Some(after)) => mean(here, after, i, self.seconds(n, n + 1)),
            (Some(before), Some(after)) => {
                let (early, late) = (self.seconds(n - 1, n), self.seconds(n, n + 1));
                let part = late / (early + late);
                mean(before, here, i, early) * part + mean(here, after, i, late) * (1.0 - part)
            }
        };
        (0..here.positions.len()).map(slope).collect()
    }

    fn seconds(&self, from: usize, to: usize) -> f64 {
        (self.frames[to] - self.frames[from]) * self.frame_seconds
    }
}

/// Hermite's cubic and its derivative, the part `s` of the way.
fn hermite([x, y]: [DVec3; 2], [v, w]: [DVec3; 2], seconds: f64, s: f64) -> (DVec3, DVec3) {
    let (s2, s3) = (s * s, s * s * s);
    let way = (y - x) * (3.0 * s2 - 2.0 * s3) + (v * (s - 2.0 * s2 + s3) + w * (s3 - s2)) * seconds;
    let rate = (y - x) / seconds * (6.0 * s - 6.0 * s2)
        + v * (1.0 - 4.0 * s + 3.0 * s2)
        + w * (3.0 * s2 - 2.0 * s);
    (x + way, rate)
}

/// The points of `data` in the order of those of `like`; `None` if their topology differs.
fn in_order(data: &Data, like: &Data) -> Result<Option<PointCloud>, Fault> {
    let (cloud, wanted) = (data.cloud()?.into_owned(), like.cloud()?);
    if cloud.positions.len() != wanted.positions.len() {
        return Ok(None);
    }
    let is_alike = match (&data.geometry, &like.geometry) {
        (Geometry::Points(_), Geometry::Points(_)) => true,
        (Geometry::Surface(a), Geometry::Surface(b)) => {
            a.connectivity().faces().eq(b.connectivity().faces())
        }
        _ => false,
    };
    let (ids, wanted_ids) = (cloud.ids(), wanted.ids());
    if !is_alike || ids == wanted_ids {
        return Ok(is_alike.then_some(cloud));
    }
    let mut places: Vec<(u64, usize)> = ids.iter().copied().zip(0..).collect();
    places.sort_unstable();
    let place = |id: &u64| {
        let found = places.binary_search_by_key(id, |(id, _)| *id).ok()?;
        Some(places[found].1)
    };
    let Some(order) = wanted_ids.iter().map(place).collect::<Option<Vec<usize>>>() else {
        return Ok(None);
    };
    let picked = |values: &Vec<f64>| order.iter().map(|&n| values[n]).collect();
    let picked_vectors = |values: &Vec<DVec3>| order.iter().map(|&n| values[n]).collect();
    Ok(Some(PointCloud {
        positions: picked_vectors(&cloud.positions),
        numbers: cloud
            .numbers
            .iter()
            .map(|(name, values)| (name.clone(), picked(values)))
            .collect(),
        vectors: cloud
            .vectors
            .iter()
            .map(|(name, values)| (name.clone(), picked_vectors(values)))
            .collect(),
        edges: Vec::new(),
    }))
}

/// The number of the current frame, with its part between frames.
fn frame_number(call: &Call<'_>) -> f64 {
    call.context().first_frame as f64 + call.time / call.context().frame_seconds
}

/// In metres, and turned to the scene's up axis.
fn converted(call: &Call<'_>, found: &Found) -> Result<Data, Fault> {
    let data = &found.data;
    let metres = call.given.unit_of_length("unit")?;
    if found.says_axes && metres != 1.0 {
        return Err(Fault::Parameter {
            parameter: "unit".to_owned(),
            found: call.given.text("unit")?,
            wanted: "the file says its own; leave it away".to_owned(),
        });
    }
    let up = if found.says_axes { "y".to_owned() } else { call.given.text("up")? };
    let turn = match (up.as_str(), call.context().up) {
        ("z", UpAxis::Y) => -FRAC_PI_2,
        ("y", UpAxis::Z) => FRAC_PI_2,
        _ => 0.0,
    };
    if metres == 1.0 && turn == 0.0 {
        return Ok(data.clone());
    }
    let pose = Pose { rotation: DQuat::from_rotation_x(turn), ..Pose::IDENTITY };
    if let Geometry::LevelSet(_) = data.geometry {
        // Its voxels stay as they are, and it stands turned among the others.
        return match metres == 1.0 {
            true => Ok(Data { motion: Some(Motion::still(pose)?), ..data.clone() }),
            false => Err(Fault::Parameter {
                parameter: "unit".to_owned(),
                found: "not m".to_owned(),
                wanted: "a level set is read in metres".to_owned(),
            }),
        };
    }
    let mut cloud = data.cloud()?.into_owned();
    cloud.place(|at| at * metres);
    for name in [VELOCITY, "velocity"] {
        cloud.vectors.get_mut(name).into_iter().flatten().for_each(|velocity| *velocity *= metres);
    }
    for name in ["pscale", "radius"] {
        cloud.numbers.get_mut(name).into_iter().flatten().for_each(|radius| *radius *= metres);
    }
    if turn != 0.0 {
        cloud.turn(&pose);
    }
    Ok(data.with_cloud(cloud)?)
}
