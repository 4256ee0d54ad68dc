//! Value clips: which file has the values of a prim at a time, and at which time in that file.
//!
//! As "Sequenceable, Re-timeable Animated Value Clips" of OpenUSD's manual: `active` says which file from when on, `times` how the
//! scene's times are those in the files, and a manifest, if there is one, which attributes have values there. Where a file has
//! no sample behind a time, values go on towards the first of the next file, as OpenUSD has it.

use super::compose::{Index, Sampled, between, index};
use super::layer::{Array, Fields, Value};
use super::library::{Library, Source, Times};
use crate::error::{IoError, Result};
use std::rc::Rc;

/// More files than these are a slip of the pen in a template's stride.
const MOST_FILES: f64 = 1e6;

/// A set of clips at one time: the file that is active, and that which comes next.
#[derive(Clone)]
pub(super) struct Clips {
    manifest: Option<Place>,
    active: Option<Instant>,
    next: Option<Instant>,
    /// When which file begins, in times of the scene.
    changes: Rc<Vec<f64>>,
}

/// A prim of a file.
#[derive(Clone)]
struct Place {
    source: Rc<Source>,
    at: Vec<u32>,
}

/// A prim of a file at a time.
#[derive(Clone)]
struct Instant {
    place: Place,
    /// In the file.
    time: f64,
    /// In the scene.
    outer: f64,
}

impl Place {
    fn child(&self, names: &Index<'_>, name: &str) -> Option<Self> {
        let at = [&self.at[..], &[*names.get(name)?]].concat();
        Some(Self { source: Rc::clone(&self.source), at })
    }

    fn names(&self) -> Index<'_> {
        self.source.prim(&self.at).map(index).unwrap_or_default()
    }

    fn samples(&self, name: &str) -> &[(f64, Value)] {
        let attribute = self.source.prim(&self.at).and_then(|prim| prim.attribute(name));
        attribute.map_or(&[], |attribute| &attribute.samples)
    }
}

impl Clips {
    /// The sets of clips of a prim at a time; the earliest if none is given.
    pub fn of(
        library: &Library,
        source: &Source,
        sets: &Fields,
        times: Times,
        time: Option<f64>,
    ) -> Result<Vec<Self>> {
        let sets = sets.values().filter_map(|set| match set {
            Value::Dictionary(set) => Some(set),
            _ => None,
        });
        sets.map(|set| Self::of_set(library, source, set, times, time)).collect()
    }

    fn of_set(
        library: &Library,
        source: &Source,
        set: &Fields,
        shift: Times,
        time: Option<f64>,
    ) -> Result<Self> {
        let text = |name: &str| set.get(name).and_then(Value::text).unwrap_or_default();
        let pairs = |name: &str| match set.get(name) {
            Some(Value::Array(Array::Double(pairs, 2))) => {
                pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>()
            }
            _ => Vec::new(),
        };
        let (files, mut active, times) = match set.get("assetPaths") {
            Some(Value::Array(Array::Asset(files))) => {
                (files.clone(), pairs("active"), pairs("times"))
            }
            _ => template(source, set)?,
        };
        active.sort_by(|a, b| a.0.total_cmp(&b.0));
        let changes = Rc::new(active.iter().map(|(time, _)| shift.outer(*time)).collect());

        let inner = time.map_or(f64::NEG_INFINITY, |time| shift.inner(time));
        let now = active.partition_point(|(from, _)| *from <= inner).saturating_sub(1);
        let path = text("primPath");
        let at = |n: usize, stage: f64| -> Result<Option<Instant>> {
            let Some(&(from, index)) = active.get(n) else { return Ok(None) };
            let Some(file) = files.get(index as usize).filter(|_| index >= 0.0) else {
                return Ok(None);
            };
            let stage = stage.max(from);
            let found = place(library.clip(&source.resolve(file))?, path);
            let time = mapped(&times, stage);
            Ok(found.map(|place| Instant { place, time, outer: stage }))
        };
        let stage = if now + 1 == active.len() || inner.is_finite() { inner } else { f64::MIN };
        let next = match active.get(now + 1) {
            Some(&(from, _)) if inner.is_finite() && inner > active[now].0 => at(now + 1, from)?,
            _ => None,
        };
        let manifest = match text("manifestAssetPath") {
            "" => None,
            file => place(library.source(&source.resolve(file))?, path),
        };
        Ok(Self { manifest, active: at(now, stage)?, next, changes })
    }

    /// What the clips say of the children, by name.
    pub fn below(&self) -> Below<'_> {
        Below {
            clips: self,
            active: self.active.as_ref().map(|instant| instant.place.names()).unwrap_or_default(),
            next: self.next.as_ref().map(|instant| instant.place.names()).unwrap_or_default(),
            manifest: self.manifest.as_ref().map(Place::names).unwrap_or_default(),
        }
    }

    /// The value of an attribute; `None` if the clips have nothing to say about it.
    pub fn sampled(&self, name: &str) -> Option<Sampled<'_>> {
        if let Some(manifest) = &self.manifest {
            manifest.source.prim(&manifest.at)?.attribute(name)?;
        }
        let active = self.active.as_ref()?;
        let samples = active.place.samples(name);
        let mut sampled = between(samples, Some(active.time))?;
        if sampled.high.is_none()
            && let Some(next) = &self.next
            && let Some((last, _)) = samples.last()
            && let Some(value) = between(next.place.samples(name), Some(next.time))
        {
            // From the file's last sample, where that lies in the scene, to the beginning of the next file.
            let start = active.outer - (active.time - last).max(0.0);
            let part = (active.outer - start) / (next.outer - start);
            let goes_on = (0.0..1.0).contains(&part) && part > 0.0 && *value.low != Value::Block;
            sampled.high = goes_on.then_some((value.low, part));
        }
        Some(sampled)
    }

    /// When which file begins, in times of the scene.
    pub fn changes(&self) -> impl Iterator<Item = f64> {
        self.changes.iter().copied()
    }
}

/// The children of a prim in the files of its clips.
pub(super) struct Below<'a> {
    clips: &'a Clips,
    active: Index<'a>,
    next: Index<'a>,
    manifest: Index<'a>,
}

impl Below<'_> {
    /// What the clips say of a child; `None` if they say nothing.
    pub fn child(&self, name: &str) -> Option<Clips> {
        let below = |instant: &Option<Instant>, names: &Index<'_>| {
            let instant = instant.as_ref()?;
            let place = instant.place.child(names, name)?;
            Some(Instant { place, ..*instant })
        };
        let manifest = match &self.clips.manifest {
            // What the manifest does not know, the clips do not say.
            Some(manifest) => Some(manifest.child(&self.manifest, name)?),
            None => None,
        };
        let active = Some(below(&self.clips.active, &self.active)?);
        let next = below(&self.clips.next, &self.next);
        Some(Clips { manifest, active, next, changes: Rc::clone(&self.clips.changes) })
    }
}

fn place(source: Rc<Source>, path: &str) -> Option<Place> {
    let at = source.find(path)?;
    Some(Place { source, at })
}

/// The time in the files at a time of the scene: between the knots of `times`, or the same if there are none.
fn mapped(times: &[(f64, f64)], stage: f64) -> f64 {
    let after = times.partition_point(|(at, _)| *at <= stage);
    match (after.checked_sub(1).map(|before| times[before]), times.get(after)) {
        (None, None) => stage,
        (Some(knot), None) => knot.1,
        (None, Some(knot)) => knot.1,
        (Some((a, x)), Some((b, y))) => x + (y - x) * (stage - a) / (b - a),
    }
}

type Sequence = (Vec<String>, Vec<(f64, f64)>, Vec<(f64, f64)>);

/// Files by a pattern: `./splash.###.usd`, or `./splash.##.##.usd` with a fraction.
fn template(source: &Source, set: &Fields) -> Result<Sequence> {
    let number = |name: &str| set.get(name).and_then(Value::number);
    let pattern = set.get("templateAssetPath").and_then(Value::text).unwrap_or_default();
    let (Some(start), Some(end), Some(stride)) =
        (number("templateStartTime"), number("templateEndTime"), number("templateStride"))
    else {
        return Ok(Sequence::default());
    };
    let refused = |found: String, wanted: &str| IoError::Scene {
        file: source.file.clone(),
        prim: "/".to_owned(),
        found,
        wanted: wanted.to_owned(),
    };
    let is_right = stride > 0.0 && start.is_finite() && (end - start) / stride <= MOST_FILES;
    if !is_right {
        let found = format!("clips from {start} to {end} by {stride}");
        return Err(refused(found, "a stride above 0, and a million files at most"));
    }
    let hashes = pattern.find('#').map(|first| {
        let rest = pattern[first..].trim_start_matches('#');
        (first, pattern.len() - first - rest.len(), rest)
    });
    let Some((first, whole, rest)) = hashes else {
        return Err(refused(format!("`{pattern}` has no `#`"), "one such as `splash.####.usd`"));
    };
    let fraction = rest.strip_prefix('.').filter(|rest| rest.starts_with('#')).map(|hashes| {
        let tail = hashes.trim_start_matches('#');
        (hashes.len() - tail.len(), tail)
    });
    let (mut files, mut active, mut times) = (Vec::new(), Vec::new(), Vec::new());
    let count = ((end - start) / stride + 1e-9).floor() as usize + 1;
    for n in 0..if end >= start { count } else { 0 } {
        let time = start + n as f64 * stride;
        let name = match fraction {
            None => format!("{}{:0whole$}{rest}", &pattern[..first], time.round() as i64),
            Some((digits, tail)) => {
                let number = format!("{:0width$.digits$}", time, width = whole + 1 + digits);
                format!("{}{number}{tail}", &pattern[..first])
            }
        };
        // Only files that are there take part.
        if source.resolve(&name).is_file() {
            active.push((time, files.len() as f64));
            times.push((time, time));
            files.push(name);
        }
    }
    Ok((files, active, times))
}
