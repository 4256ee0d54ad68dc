//! What all files of a scene say of a prim, put together: sublayers, references, payloads, inherits and value clips.
//!
//! A prim is a list of *sites*, the strongest first. A site is a place in a stack of layers, with the *opinions* that its layers
//! hold about it. What a site refers to comes behind it, as in OpenUSD, whose order (local, inherits, references, payloads,
//! specializes) this follows. Variants are not chosen, and list edits are taken as they come together within a stack.

use super::clips::Clips;
use super::layer::{Attribute, ListItem, ListOp, Prim, Specifier, Value};
use super::library::{Library, Source, Stack, Times, checked};
use crate::error::Result;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What one layer says of a prim.
pub(super) struct Opinion {
    source: Rc<Source>,
    at: Vec<u32>,
    /// How its times are those of the scene.
    pub times: Times,
}

impl Opinion {
    pub fn prim(&self) -> &Prim {
        // Made of indices that were found, in a layer that does not change.
        self.source.prim(&self.at).expect("a prim that was there before")
    }
}

/// What one stack of layers says of a prim.
struct Site {
    stack: Rc<Stack>,
    times: Times,
    /// How many references lead here.
    depth: usize,
    opinions: Vec<Opinion>,
    clips: Vec<Clips>,
}

/// A prim of a scene at a time.
pub(super) struct Composed {
    pub path: String,
    sites: Vec<Site>,
}

/// A value at a time: that of a sample, or between two of them.
pub(super) struct Sampled<'a> {
    pub low: &'a Value,
    /// The next sample, and how far the time is on the way to it, from 0 to 1.
    pub high: Option<(&'a Value, f64)>,
}

impl Composed {
    /// The prims at the top, as far as they are wanted by their paths.
    pub fn top(
        library: &Library,
        stack: &Rc<Stack>,
        time: Option<f64>,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Self>> {
        let mut names = BTreeSet::new();
        let mut made = Vec::new();
        for (source, _) in stack.layers.iter().rev() {
            for prim in &source.layer.prims {
                let path = format!("/{}", prim.name);
                if names.insert(&prim.name) && is_wanted(&path) {
                    let mut sites = Vec::new();
                    expand(library, site(stack, &path, Times::SAME, 0), time, &mut sites)?;
                    made.push(Self { path, sites });
                }
            }
        }
        Ok(made)
    }

    /// The prims below this one, those of the weakest opinion first, as far as they are wanted by their paths.
    pub fn children(
        &self,
        library: &Library,
        time: Option<f64>,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Self>> {
        let mut names = BTreeSet::new();
        let mut order = Vec::new();
        for opinion in self.opinions().collect::<Vec<_>>().into_iter().rev() {
            for child in &opinion.prim().children {
                if names.insert(child.name.as_str()) {
                    order.push(child.name.as_str());
                }
            }
        }
        // Where each name is in each opinion, so that many children take no longer than they must.
        let tables: Vec<Vec<_>> = self
            .sites
            .iter()
            .map(|site| site.opinions.iter().map(|opinion| index(opinion.prim())).collect())
            .collect();
        let in_clips: Vec<Vec<_>> =
            self.sites.iter().map(|site| site.clips.iter().map(Clips::below).collect()).collect();
        let mut children = Vec::with_capacity(order.len());
        for name in order {
            let path = format!("{}/{name}", self.path);
            if !is_wanted(&path) {
                continue;
            }
            let mut sites = Vec::new();
            for ((site, tables), in_clips) in self.sites.iter().zip(&tables).zip(&in_clips) {
                let below = |(opinion, table): (&Opinion, &Index<'_>)| {
                    let at = [&opinion.at[..], &[*table.get(name)?]].concat();
                    Some(Opinion { source: Rc::clone(&opinion.source), at, times: opinion.times })
                };
                let opinions: Vec<_> = site.opinions.iter().zip(tables).filter_map(below).collect();
                let clips: Vec<_> = in_clips.iter().filter_map(|below| below.child(name)).collect();
                if opinions.is_empty() && clips.is_empty() {
                    continue;
                }
                let stack = Rc::clone(&site.stack);
                let child = Site { stack, times: site.times, depth: site.depth, opinions, clips };
                expand(library, child, time, &mut sites)?;
            }
            children.push(Self { path, sites });
        }
        Ok(children)
    }

    fn opinions(&self) -> impl Iterator<Item = &Opinion> {
        self.sites.iter().flat_map(|site| &site.opinions)
    }

    /// Whether it is there: made somewhere, no pattern for others, and not switched off.
    pub fn is_there(&self) -> bool {
        let strongest =
            self.opinions().map(|opinion| opinion.prim().specifier).find(|s| *s != Specifier::Over);
        let active = self.field("active");
        strongest == Some(Specifier::Def) && active != Some(&Value::Bool(false))
    }

    /// Its schema; empty if it has none.
    pub fn type_name(&self) -> &str {
        let mut names = self.opinions().map(|opinion| opinion.prim().type_name.as_str());
        names.find(|name| !name.is_empty()).unwrap_or_default()
    }

    /// The strongest value of a field.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.opinions().find_map(|opinion| opinion.prim().fields.get(name))
    }

    /// The names of all attributes, in order.
    pub fn attribute_names(&self) -> BTreeSet<&str> {
        let attributes = self.opinions().flat_map(|opinion| &opinion.prim().attributes);
        attributes.map(|attribute| attribute.name.as_str()).collect()
    }

    /// The strongest declaration of an attribute.
    pub fn declaration(&self, name: &str) -> Option<&Attribute> {
        self.opinions().find_map(|opinion| opinion.prim().attribute(name))
    }

    /// The strongest value of a field of an attribute.
    pub fn attribute_field(&self, name: &str, field: &str) -> Option<&Value> {
        let mut attributes = self.opinions().filter_map(|opinion| opinion.prim().attribute(name));
        attributes.find_map(|attribute| attribute.fields.get(field))
    }

    /// The value of an attribute at a time, as it is or between two samples; at the earliest if no time is given.
    pub fn sampled(&self, name: &str, time: Option<f64>) -> Option<Sampled<'_>> {
        for site in &self.sites {
            for opinion in &site.opinions {
                let Some(attribute) = opinion.prim().attribute(name) else { continue };
                let inner = time.map(|time| opinion.times.inner(time));
                if !attribute.samples.is_empty() {
                    return between(&attribute.samples, inner).filter(is_value);
                }
                if let Some(value) = &attribute.default {
                    return Some(Sampled { low: value, high: None }).filter(is_value);
                }
            }
            for clips in &site.clips {
                if let Some(sampled) = clips.sampled(name) {
                    return Some(sampled).filter(is_value);
                }
            }
        }
        None
    }

    /// The value of an attribute at a time, between samples where numbers can be.
    pub fn value(&self, name: &str, time: Option<f64>) -> Option<Cow<'_, Value>> {
        let sampled = self.sampled(name, time)?;
        let mixed = sampled.high.and_then(|(high, part)| sampled.low.mixed(high, part));
        Some(mixed.map_or(Cow::Borrowed(sampled.low), Cow::Owned))
    }

    /// The times at which something about it is said.
    pub fn times(&self, is_wanted: impl Fn(&str) -> bool, into: &mut Vec<f64>) {
        for opinion in self.opinions() {
            for attribute in &opinion.prim().attributes {
                if is_wanted(&attribute.name) {
                    into.extend(
                        attribute.samples.iter().map(|(time, _)| opinion.times.outer(*time)),
                    );
                }
            }
        }
        let clips = self.sites.iter().flat_map(|site| &site.clips);
        clips.for_each(|clips| into.extend(clips.changes()));
    }
}

fn is_value(sampled: &Sampled<'_>) -> bool {
    *sampled.low != Value::Block
}

/// Where each child of a prim is, by name.
pub(super) type Index<'a> = std::collections::BTreeMap<&'a str, u32>;

pub(super) fn index(prim: &Prim) -> Index<'_> {
    (0..).zip(&prim.children).map(|(index, child)| (child.name.as_str(), index)).collect()
}

/// The samples around a time.
pub(super) fn between(samples: &[(f64, Value)], time: Option<f64>) -> Option<Sampled<'_>> {
    let first = samples.first()?;
    let Some(time) = time else { return Some(Sampled { low: &first.1, high: None }) };
    let after = samples.partition_point(|(at, _)| *at <= time);
    let Some((start, low)) = samples[..after].last() else {
        return Some(Sampled { low: &first.1, high: None });
    };
    let high = samples.get(after).filter(|(_, value)| *value != Value::Block && time > *start);
    let high = high.map(|(end, value)| (value, (time - start) / (end - start)));
    Some(Sampled { low, high })
}

/// What a stack says of the prim of a path.
fn site(stack: &Rc<Stack>, path: &str, times: Times, depth: usize) -> Site {
    let opinions = stack.layers.iter().filter_map(|(source, shift)| {
        let at = source.find(path)?;
        Some(Opinion { source: Rc::clone(source), at, times: times.then(*shift) })
    });
    let opinions = opinions.collect();
    Site { stack: Rc::clone(stack), times, depth, opinions, clips: Vec::new() }
}

/// Adds a site, and behind it those that it refers to.
fn expand(
    library: &Library,
    mut site: Site,
    time: Option<f64>,
    into: &mut Vec<Site>,
) -> Result<()> {
    library.count(&site.stack.root().file, site.depth)?;
    for opinion in &site.opinions {
        if let Some(Value::Dictionary(sets)) = opinion.prim().fields.get("clips") {
            site.clips.extend(Clips::of(library, &opinion.source, sets, opinion.times, time)?);
        }
    }
    let mut behind = Vec::new();
    let deeper = site.depth + 1;
    for path in paths(&site, "inheritPaths") {
        behind.push(self::site(&site.stack, &path, site.times, deeper));
    }
    for field in ["references", "payload"] {
        for (source, times, item) in items(&site, field) {
            let ListItem::Reference { asset, prim, offset, scale } = item else { continue };
            let shift = checked(&source.file, *offset, *scale)?;
            let (stack, times) = if asset.is_empty() {
                (Rc::clone(&site.stack), site.times.then(shift))
            } else {
                let stack = library.stack(&source.resolve(asset))?;
                // A second is a second in both files.
                let rate = source.time_codes_per_second() / stack.root().time_codes_per_second();
                let rate = Times { offset: 0.0, scale: rate };
                (stack, times.then(shift).then(rate))
            };
            let path = if prim.is_empty() { stack.default_prim() } else { Some(prim.clone()) };
            // A file without a default prim gives nothing, as in OpenUSD.
            let Some(path) = path else { continue };
            behind.push(self::site(&stack, &path, times, deeper));
        }
    }
    for path in paths(&site, "specializes") {
        behind.push(self::site(&site.stack, &path, site.times, deeper));
    }
    into.push(site);
    for site in behind {
        expand(library, site, time, into)?;
    }
    Ok(())
}

/// The paths of a list of paths, with all edits of the stack.
fn paths(site: &Site, field: &str) -> Vec<String> {
    let path = |item: &ListItem| match item {
        ListItem::Path(path) => Some(path.clone()),
        _ => None,
    };
    items(site, field).into_iter().filter_map(|(_, _, item)| path(item)).collect()
}

/// The entries of a list with all edits of the stack, and the layer that each is from.
fn items<'a>(site: &'a Site, field: &str) -> Vec<(&'a Source, Times, &'a ListItem)> {
    let mut list: Vec<(&Source, Times, &ListItem)> = Vec::new();
    for opinion in site.opinions.iter().rev() {
        let Some(Value::List(edit)) = opinion.prim().fields.get(field) else { continue };
        let ListOp { explicit, prepended, appended, deleted } = edit;
        let from = |item| (&*opinion.source, opinion.times, item);
        if let Some(items) = explicit {
            list = items.iter().map(from).collect();
        }
        // What is taken out, and what is listed anew.
        let gone: BTreeSet<_> =
            deleted.iter().chain(prepended).chain(appended).map(words).collect();
        list.retain(|(_, _, item)| !gone.contains(&words(item)));
        list.splice(0..0, prepended.iter().map(from));
        list.extend(appended.iter().map(from));
    }
    list
}

/// What an entry of a list is known by.
fn words(item: &ListItem) -> (&str, &str) {
    match item {
        ListItem::Word(word) => (word, ""),
        ListItem::Path(path) => ("", path),
        ListItem::Reference { asset, prim, .. } => (asset, prim),
    }
}
