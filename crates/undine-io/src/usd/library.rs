//! Layers of files, each read once, and the stacks of them that sublayers make.

use super::layer::{Array, Layer, Prim, Value};
use super::{binary, text};
use crate::error::{IoError, Result};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Files may refer to files that refer to files, so deep.
pub(super) const MOST_ARCS: usize = 32;

/// Prims and references that a scene may come to when everything that it refers to is put together. A few lines can refer to
/// each other so that they come to more than any memory holds.
const MOST_SITES: usize = 1 << 18;

/// How times of one layer are those of another: `outer = inner · scale + offset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Times {
    pub offset: f64,
    pub scale: f64,
}

impl Times {
    pub const SAME: Self = Self { offset: 0.0, scale: 1.0 };

    /// The times of something whose times are shifted so within one that is itself shifted.
    pub fn then(self, inner: Self) -> Self {
        Self { offset: inner.offset * self.scale + self.offset, scale: self.scale * inner.scale }
    }

    pub fn inner(self, outer: f64) -> f64 {
        (outer - self.offset) / self.scale
    }

    pub fn outer(self, inner: f64) -> f64 {
        inner * self.scale + self.offset
    }
}

/// A layer and its file.
pub(super) struct Source {
    pub file: PathBuf,
    pub layer: Layer,
    /// Where the prim of each path is, once one was asked for.
    places: OnceCell<BTreeMap<String, Vec<u32>>>,
}

impl Source {
    fn load(file: &Path) -> Result<Rc<Self>> {
        let layer = load(file)?;
        Ok(Rc::new(Self { file: file.to_owned(), layer, places: OnceCell::new() }))
    }

    /// The prim at these indices from the top down.
    pub fn prim(&self, at: &[u32]) -> Option<&Prim> {
        let (&last, above) = at.split_last()?;
        let mut prims = &self.layer.prims;
        for &index in above {
            prims = &prims.get(index as usize)?.children;
        }
        prims.get(last as usize)
    }

    /// The indices of the prim of a path such as `/World/Splash`.
    pub fn find(&self, path: &str) -> Option<Vec<u32>> {
        self.places.get_or_init(|| places(&self.layer)).get(path).cloned()
    }

    /// A file that this one names: relative to its own folder.
    pub fn resolve(&self, asset: &str) -> PathBuf {
        self.file.parent().unwrap_or(Path::new("")).join(asset)
    }

    /// Time codes of a second; those of frames, or 24, if nothing is said.
    pub fn time_codes_per_second(&self) -> f64 {
        let number = |name: &str| self.layer.fields.get(name).and_then(Value::number);
        let is_right = |rate: &f64| rate.is_finite() && *rate > 0.0;
        let said = number("timeCodesPerSecond").or_else(|| number("framesPerSecond"));
        said.filter(is_right).unwrap_or(24.0)
    }
}

/// The indices of all prims of a layer, by path.
fn places(layer: &Layer) -> BTreeMap<String, Vec<u32>> {
    let mut places = BTreeMap::new();
    let mut left = vec![(String::new(), Vec::new(), &layer.prims)];
    while let Some((above, at, prims)) = left.pop() {
        for (index, prim) in (0..).zip(prims) {
            let path = format!("{above}/{}", prim.name);
            let at = [&at[..], &[index]].concat();
            left.push((path.clone(), at.clone(), &prim.children));
            places.insert(path, at);
        }
    }
    places
}

/// A layer with its sublayers, the strongest first, and the times of each in those of the first.
pub(super) struct Stack {
    pub layers: Vec<(Rc<Source>, Times)>,
}

impl Stack {
    pub fn root(&self) -> &Source {
        &self.layers[0].0
    }

    /// The path of the default prim.
    pub fn default_prim(&self) -> Option<String> {
        let name = self.root().layer.fields.get("defaultPrim")?.text()?;
        Some(if name.starts_with('/') { name.to_owned() } else { format!("/{name}") })
    }
}

/// All files that a scene is made of.
#[derive(Default)]
pub(super) struct Library {
    sources: RefCell<BTreeMap<PathBuf, Rc<Source>>>,
    /// Files of single frames, and the reading that asked for each last.
    clips: RefCell<BTreeMap<PathBuf, (Rc<Source>, u64)>>,
    reading: Cell<u64>,
    sites: Cell<usize>,
}

impl Library {
    /// The layer of a file, read if it was not yet.
    pub fn source(&self, file: &Path) -> Result<Rc<Source>> {
        if let Some(known) = self.sources.borrow().get(file) {
            return Ok(Rc::clone(known));
        }
        let source = Source::load(file)?;
        self.sources.borrow_mut().insert(file.to_owned(), Rc::clone(&source));
        Ok(source)
    }

    /// The layer of a file that holds a frame. It stays until a reading has no use for it.
    pub fn clip(&self, file: &Path) -> Result<Rc<Source>> {
        if let Some((known, reading)) = self.clips.borrow_mut().get_mut(file) {
            *reading = self.reading.get();
            return Ok(Rc::clone(known));
        }
        let source = Source::load(file)?;
        let kept = (Rc::clone(&source), self.reading.get());
        self.clips.borrow_mut().insert(file.to_owned(), kept);
        Ok(source)
    }

    /// What was left out of the files, in words.
    pub fn passed_over(&self) -> Vec<String> {
        let sources = self.sources.borrow();
        let all = sources.values().flat_map(|source| {
            let file = source.file.display().to_string();
            source.layer.passed_over.iter().map(move |note| format!("{file}, {note}"))
        });
        all.collect()
    }

    /// The stack of a file.
    pub fn stack(&self, file: &Path) -> Result<Rc<Stack>> {
        let mut layers = Vec::new();
        self.gather(file, Times::SAME, 0, &mut layers)?;
        Ok(Rc::new(Stack { layers }))
    }

    fn gather(
        &self,
        file: &Path,
        times: Times,
        depth: usize,
        layers: &mut Vec<(Rc<Source>, Times)>,
    ) -> Result<()> {
        let source = self.source(file)?;
        self.count(&source.file, depth)?;
        layers.push((Rc::clone(&source), times));
        let Some(Value::Array(Array::Asset(files))) = source.layer.fields.get("subLayers") else {
            return Ok(());
        };
        let offsets: &[f64] = match source.layer.fields.get("subLayerOffsets") {
            Some(Value::Array(Array::Double(offsets, 2))) => offsets,
            _ => &[],
        };
        for (n, asset) in files.iter().enumerate() {
            let shift = match offsets.get(2 * n..2 * n + 2) {
                Some(&[offset, scale]) => checked(&source.file, offset, scale)?,
                _ => Times::SAME,
            };
            self.gather(&source.resolve(asset), times.then(shift), depth + 1, layers)?;
        }
        Ok(())
    }

    /// Counts a site, so that no scene becomes larger than a machine, or deeper than a stack.
    pub fn count(&self, file: &Path, depth: usize) -> Result<()> {
        let sites = self.sites.get() + 1;
        self.sites.set(sites);
        let found = if depth > MOST_ARCS {
            format!("files and references refer to each other {MOST_ARCS} times over")
        } else if sites > MOST_SITES {
            format!("with all that it refers to it comes to more than {MOST_SITES} prims")
        } else {
            return Ok(());
        };
        Err(IoError::Scene {
            file: file.to_owned(),
            prim: "/".to_owned(),
            found,
            wanted: "a scene that does not refer to itself".to_owned(),
        })
    }

    /// Begins to count again, and forgets the frames that the last reading had no use for.
    pub fn begin(&self) {
        self.sites.set(0);
        let last = self.reading.get();
        self.clips.borrow_mut().retain(|_, (_, reading)| *reading == last);
        self.reading.set(last + 1);
    }
}

/// A shift of times that can be undone.
pub(super) fn checked(file: &Path, offset: f64, scale: f64) -> Result<Times> {
    if offset.is_finite() && scale.is_finite() && scale > 0.0 {
        return Ok(Times { offset, scale });
    }
    Err(IoError::Scene {
        file: file.to_owned(),
        prim: "/".to_owned(),
        found: format!("times are scaled by {scale} and shifted by {offset}"),
        wanted: "a scale above 0, and finite numbers".to_owned(),
    })
}

/// Reads a layer of either format, whatever its name ends with.
pub fn load(file: &Path) -> Result<Layer> {
    let bytes =
        std::fs::read(file).map_err(|source| IoError::Read { file: file.into(), source })?;
    parse(&bytes, file)
}

/// A layer from the bytes of a file of either format. `file` is what errors call it.
pub fn parse(bytes: &[u8], file: &Path) -> Result<Layer> {
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(IoError::Malformed {
            file: file.into(),
            place: crate::Place::Byte(0),
            found: "it is a package (.usdz)".to_owned(),
            wanted: "unpack it, and name the layer in it".to_owned(),
        });
    }
    if bytes.starts_with(b"PXR-USDC") {
        return binary::parse(bytes, file);
    }
    text::parse(bytes, file)
}
