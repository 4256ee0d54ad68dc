//! A scene as it is read: from a file with all that it refers to, to tables at a time.

use super::compose::Composed;
use super::geometry::{PrimGeometry, check_depth, is_read, read_each, read_prims};
use super::layer::{Fields, Value};
use super::library::{Library, Stack};
use crate::Geometry;
use crate::error::Result;
use crate::metadata::{Datum, FileMetadata};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Reads the points, meshes and curves of a scene at a time [time codes]; at the earliest if none is given.
///
/// `prim` chooses those below one prim, by its path; else all that would be rendered are joined. Positions are in metres
/// of the world, with Y up.
pub fn read(file: &Path, time: Option<f64>, prim: Option<&str>) -> Result<Geometry> {
    Ok(Scene::open(file)?.read(time, prim)?.0)
}

/// The times at which anything about the geometry of a scene is said, in order [time codes]; none if nothing moves.
pub fn time_samples(file: &Path) -> Result<Vec<f64>> {
    Scene::open(file)?.time_samples()
}

/// What a layer says of itself under our own names.
const OF_FRAMES: &[&str] = &["creator", "frame", "time"];

/// What was read of a scene.
pub(crate) struct Found {
    pub geometry: Geometry,
    /// Of how many prims it is.
    pub prims: usize,
    /// What was left out, in words.
    pub notes: Vec<String>,
}

/// A scene that was opened: its files stay read, but of those of single frames only the last ones.
pub struct Scene {
    file: PathBuf,
    library: Library,
    stack: Rc<Stack>,
}

impl Scene {
    /// Opens a `.usda`, `.usdc` or `.usd` file with its sublayers. What it refers to is read when it is asked for.
    pub fn open(file: &Path) -> Result<Self> {
        let library = Library::default();
        let stack = library.stack(file)?;
        Ok(Self { file: file.to_owned(), library, stack })
    }

    /// The geometry at a time, as [`read`] says, and in words what was left out.
    pub fn read(&self, time: Option<f64>, prim: Option<&str>) -> Result<(Geometry, Vec<String>)> {
        let found = self.read_prims(time, prim)?;
        Ok((found.geometry, found.notes))
    }

    /// The geometry of each prim at a time, by itself; else as [`Self::read`].
    pub fn read_each(
        &self,
        time: Option<f64>,
        prim: Option<&str>,
    ) -> Result<(Vec<PrimGeometry>, Vec<String>)> {
        self.library.begin();
        let mut notes = Vec::new();
        let each = read_each(&self.library, &self.stack, self, time, prim, &mut notes)?;
        notes.extend(self.library.passed_over());
        Ok((each, notes))
    }

    /// As [`Self::read`], and of how many prims.
    pub(crate) fn read_prims(&self, time: Option<f64>, prim: Option<&str>) -> Result<Found> {
        self.library.begin();
        let mut notes = Vec::new();
        let read = read_prims(&self.library, &self.stack, self, time, prim, &mut notes)?;
        notes.extend(self.library.passed_over());
        let (geometry, prims) = read;
        Ok(Found { geometry, prims, notes })
    }

    /// What it says of itself. Its geometry is read in metres with Y up, so that is what it says of that.
    pub fn metadata(&self) -> FileMetadata {
        let mut metadata = FileMetadata::unknown();
        let nothing = Fields::new();
        let said = match self.field("customLayerData") {
            Some(Value::Dictionary(said)) => said,
            _ => &nothing,
        };
        for (name, value) in said.iter().filter(|(name, _)| OF_FRAMES.contains(&name.as_str())) {
            let whole = match value {
                Value::Int(whole) => Some(i64::from(*whole)),
                Value::Int64(whole) => Some(*whole),
                _ => None,
            };
            let number = value.number().map(Datum::Number);
            let text = value.text().map(|text| Datum::Text(text.to_owned()));
            if let Some(datum) = whole.map(Datum::Whole).or(number).or(text) {
                metadata.take(name, &datum);
            }
        }
        metadata.fps = Some(self.time_codes_per_second());
        metadata
    }

    /// The times at which anything about its geometry is said, in order [time codes]; none if nothing moves.
    pub fn time_samples(&self) -> Result<Vec<f64>> {
        self.library.begin();
        let mut times = Vec::new();
        let all = |_: &str| true;
        let mut left = Composed::top(&self.library, &self.stack, None, &all)?;
        while let Some(prim) = left.pop() {
            check_depth(&prim, &self.file)?;
            prim.times(is_read, &mut times);
            left.extend(prim.children(&self.library, None, &all)?);
        }
        times.retain(|time| time.is_finite());
        times.sort_by(f64::total_cmp);
        times.dedup();
        Ok(times)
    }

    /// The first and the last time that it is meant for [time codes], if it says so.
    pub fn range(&self) -> Option<(f64, f64)> {
        let number = |name: &str| self.field(name)?.number().filter(|number| number.is_finite());
        Some((number("startTimeCode")?, number("endTimeCode")?))
    }

    /// Time codes of a second.
    pub fn time_codes_per_second(&self) -> f64 {
        self.stack.root().time_codes_per_second()
    }

    /// The length of a unit [m]. A scene that says nothing is in centimetres.
    pub fn metres_per_unit(&self) -> f64 {
        let said = self.field("metersPerUnit").and_then(Value::number);
        said.filter(|metres| metres.is_finite() && *metres > 0.0).unwrap_or(0.01)
    }

    /// Whether Z points up, not Y.
    pub fn is_z_up(&self) -> bool {
        self.field("upAxis").and_then(Value::text) == Some("Z")
    }

    /// The file that it was opened from.
    pub fn file(&self) -> &Path {
        &self.file
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.stack.root().layer.fields.get(name)
    }
}
