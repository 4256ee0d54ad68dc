//! A Constraint that acts: its elements from channels to the coupled system, and what has become of them back into channels.

use super::batch::{Batch, Rows};
use super::ends::{End, Key, Places, Seen};
use super::on_surface;
use super::varying::Varying;
use super::{Bond, Chosen};
use crate::arena::Id;
use crate::coupling::{self, Coupling};
use crate::elements::ElementSet;
use crate::error::Result;
use crate::newton::{Embedded as Hung, Mode, Term};
use crate::offers::ObjectId;
use crate::stage::Stage;
use crate::surface::{Place, Surface};
use crate::task::{Moment, Reach, Tasks};
use crate::values::Values;
use crate::world::{StoreId, World};
use bytemuck::Zeroable;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_schema::setup::Scope;

/// Elements that one task makes.
const ELEMENTS_PER_TASK: usize = 512;

/// A Constraint and the Objects in its scope.
pub(super) struct Bound<B: Bond<M, N>, const M: usize, const N: usize> {
    pub bond: B,
    pub label: &'static str,
    pub scope: Arc<Scope>,
    pub store: Id<ElementSet>,
    pub ends: Vec<(ObjectId, bool)>,
    pub damping: Rows<M>,
    /// The time [s] that its elements have their values of.
    pub time: f64,
    pub batches: Vec<Batch<B::Element, M, N>>,
}

/// What elements remember, by the points they are between: numbers, and the place on a surface.
type Memories<const N: usize> = BTreeMap<Key<N>, (Vec<f64>, Option<Place>)>;

impl<B: Bond<M, N>, const M: usize, const N: usize> Bound<B, M, N> {
    pub fn tasks(&self, on: &mut Tasks<Self>, world: &World) {
        let mut stores: Vec<StoreId> = Vec::new();
        for (object, _) in &self.ends {
            let offers = &world.object(*object).offers;
            stores.extend(offers.boundary.map(|boundary| boundary.store()));
            stores.extend(offers.dofs.map(|dofs| dofs.store()));
            let solids = offers.solids.as_ref().filter(|_| B::ON_SURFACES);
            stores.extend(solids.map(|solids| StoreId::from(solids.bodies.centres.points)));
        }
        stores.sort();
        stores.dedup();
        let read = || stores.iter().map(|store| store.everything());
        let own = StoreId::from(self.store);
        let emit = on.task(Stage::ChoosePoints, "choose points", Self::emit);
        let emit = emit.reads(read()).writes([own.everything()]);
        if self.bond.reach() == Reach::Everywhere {
            emit.reaches_everywhere();
        }
        on.task(Stage::Remember, "remember", Self::remember)
            .reads(read())
            .writes([own.everything()]);
    }

    /// Chooses points if it is time to, and gathers the elements of this substep.
    fn emit(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        if now.count == 0 || self.bond.emits_every_step() {
            self.choose(world, now)?;
        }
        self.gather(world, now.time + now.step, now.time)
    }

    /// Chooses points where everything begins, and forgets them: refuses what the first step would refuse.
    pub fn look_at_start(&self, world: &World, now: &Moment) -> Result<()> {
        self.chosen(world, now)?;
        let values = Values::new(&self.scope, self.time);
        for (object, _) in &self.ends {
            let boundary = world.object(*object).offers.boundary.as_ref();
            Varying::all(world, *object, boundary, values, B::VARIES)?;
        }
        Ok(())
    }

    /// The Objects as they are, and the points that are chosen among theirs.
    fn chosen(&self, world: &World, now: &Moment) -> Result<(Vec<Seen>, Chosen<N>)> {
        let seen = self
            .ends
            .iter()
            .map(|(object, is_target)| Seen::of(world, *object, *is_target))
            .collect::<Result<Vec<_>>>()?;
        let surface = |end: &Seen| match self.bond.looks_at_surfaces() && end.is_target {
            true => Surface::of(world, end.object, now.time),
            false => Ok(None),
        };
        let surfaces = seen.iter().map(surface).collect::<Result<Vec<_>>>()?;
        for (surface, (object, _)) in surfaces.iter().zip(&self.ends).filter(|_| now.count == 0) {
            let flat = surface.as_ref().map_or(0, Surface::flat_triangles);
            if flat > 0 {
                let path = &world.object(*object).path;
                tracing::warn!(
                    "{flat} triangles of `{path}` have no area: nothing is held by them"
                );
            }
        }
        let ends: Vec<End<'_>> =
            seen.iter().zip(&surfaces).map(|(seen, surface)| seen.end(surface.as_ref())).collect();
        let chosen = self.bond.emit(&ends)?;
        drop(ends);
        drop(surfaces);
        Ok((seen, chosen))
    }

    fn choose(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let (seen, chosen) = self.chosen(world, now)?;
        let ends: Vec<End<'_>> = seen.iter().map(|seen| seen.end(None)).collect();
        let shape = |(object, _): &(ObjectId, bool)| {
            let boundary = world.object(*object).offers.boundary.filter(|_| B::OF_SHAPE);
            boundary.map_or(Ok(Vec::new()), |boundary| coupling::at_rest(world, &boundary))
        };
        let shapes = self.ends.iter().map(shape).collect::<Result<Vec<_>>>()?;
        let elements = &mut world.elements[self.store];
        let known = self.known(elements)?;
        let kept = |element: usize| match known.is_empty() {
            true => None,
            false => known.get(&chosen.key(element, &ends)),
        };
        elements.resize(0);
        elements.resize(chosen.len());
        for n in 0..N {
            let mut objects =
                elements.column_mut(elements.handle::<u32>(&format!("object-{n}"))?)?;
            let mut points = elements.column_mut(elements.handle::<u64>(&format!("point-{n}"))?)?;
            for element in 0..chosen.len() {
                (objects[element], points[element]) = chosen.key(element, &ends).1[n];
            }
        }
        if B::ON_SURFACES {
            // Who is held by a surface stays where it is held.
            let place = |element: usize| {
                let new = chosen.on_surface(element).map(|closest| closest.place);
                kept(element).map_or(new, |(_, place)| *place)
            };
            on_surface::write(elements, (0..chosen.len()).map(place))?;
        }
        for (k, name) in B::REST.iter().enumerate() {
            let mut column = elements.column_mut(elements.handle::<f64>(name)?)?;
            for element in 0..chosen.len() {
                let here = chosen.placed(element, &ends);
                let apart = chosen.points[element].map(|(end, n)| shapes[end].get(n as usize));
                let at_rest = std::array::from_fn(|n| *apart[n].unwrap_or(&here[n]));
                let mut rest = self.bond.rest(&at_rest);
                if B::KEEPS {
                    self.bond.keep(&mut rest, &here);
                }
                let numbers: &[f64] = bytemuck::cast_slice(std::slice::from_ref(&rest));
                column[element] = numbers[k];
            }
        }
        // Those that were there before stay what they were: rest state, friction and multipliers.
        for (k, name) in self.memory().iter().enumerate() {
            let mut column = elements.column_mut(elements.handle::<f64>(name)?)?;
            for element in 0..chosen.len() {
                if let Some((numbers, _)) = kept(element) {
                    column[element] = numbers[k];
                }
            }
        }
        Ok(())
    }

    /// The channels of what an element remembers.
    fn memory(&self) -> Vec<String> {
        let rows = (0..M).flat_map(|m| [format!("friction-{m}"), format!("multiplier-{m}")]);
        B::REST.iter().map(|name| (*name).to_owned()).chain(rows).collect()
    }

    /// What the elements there are remember, by the points they are between.
    fn known(&self, elements: &ElementSet) -> Result<Memories<N>> {
        let mut objects = Vec::with_capacity(N);
        let mut points = Vec::with_capacity(N);
        for n in 0..N {
            objects.push(elements.column(elements.handle::<u32>(&format!("object-{n}"))?)?);
            points.push(elements.column(elements.handle::<u64>(&format!("point-{n}"))?)?);
        }
        let memory: Vec<_> = self
            .memory()
            .iter()
            .map(|name| elements.column(elements.handle::<f64>(name)?))
            .collect::<Result<_>>()?;
        let places = self.places(elements)?;
        let between =
            |element: usize| std::array::from_fn(|n| (objects[n][element], points[n][element]));
        let numbers = |element: usize| memory.iter().map(|column| column[element]).collect();
        let known = |element: usize| {
            let place = places.get(element).copied().flatten();
            ((place.is_some(), between(element)), (numbers(element), place))
        };
        Ok((0..elements.len()).map(known).collect())
    }

    /// The place on a surface of each element that has one; empty where none can have one.
    fn places(&self, elements: &ElementSet) -> Result<Vec<Option<Place>>> {
        if B::ON_SURFACES { on_surface::read(elements) } else { Ok(Vec::new()) }
    }

    /// The elements of this substep with values as they are at `time` [s], and their rows where it begins, `now` [s], for damping and
    /// friction, if there are any.
    fn gather(&mut self, world: &World, time: f64, now: f64) -> Result<()> {
        self.time = time;
        self.batches = self.gathered(world, now)?;
        let (bond, damping) = (&self.bond, self.damping);
        let damped = damping.relaxation != 0.0 || damping.dahl.is_some();
        for batch in self.batches.iter_mut().filter(|_| damped) {
            let placed = batch.placed(world, 0.0)?;
            let mut start = std::mem::take(&mut batch.start);
            let rows = Rows { relaxation: 0.0, dahl: None, ..damping };
            batch.still(self.label, bond, rows, &placed).values(&mut start)?;
            batch.start = start;
        }
        Ok(())
    }

    /// ½ Cᵀ S C of all elements where their points are [J], but for hard rows, which hold no energy; added up in order.
    pub fn elastic_energy(&self, world: &World) -> Result<f64> {
        let mut sum = 0.0;
        // Points may have come and gone since the elements were gathered.
        for batch in self.gathered(world, self.time)? {
            let placed = batch.placed(world, 0.0)?;
            let places = batch.points(&placed);
            for (element, stencil) in batch.elements.iter().zip(&batch.stencil) {
                let at = std::array::from_fn(|n| places[n][stencil[n] as usize]);
                let value = self.bond.evaluate(element, &at).value;
                let force = self.bond.scaling(element).times(&value);
                let soft = force.iter().zip(&value).filter(|(force, _)| force.is_finite());
                sum += soft.map(|(force, value)| 0.5 * force * value).sum::<f64>();
            }
        }
        Ok(sum)
    }

    /// From channels to elements of the system, by the Objects they are between. Places on surfaces are where they are `now` [s].
    fn gathered(&self, world: &World, now: f64) -> Result<Vec<Batch<B::Element, M, N>>> {
        let elements = &world.elements[self.store];
        let mut objects = Vec::with_capacity(N);
        let mut points = Vec::with_capacity(N);
        for n in 0..N {
            objects.push(elements.column(elements.handle::<u32>(&format!("object-{n}"))?)?);
            points.push(elements.column(elements.handle::<u64>(&format!("point-{n}"))?)?);
        }
        let rest: Vec<_> = B::REST
            .iter()
            .map(|name| elements.column(elements.handle::<f64>(name)?))
            .collect::<Result<_>>()?;
        let rows = |what: &str| -> Result<Vec<_>> {
            (0..M)
                .map(|m| elements.column(elements.handle::<f64>(&format!("{what}-{m}"))?))
                .collect()
        };
        let (friction, multipliers) = (rows("friction")?, rows("multiplier")?);
        let mut by_id = BTreeMap::new();
        let values = Values::new(&self.scope, self.time);
        let mut uniform: Vec<f64> =
            B::VARIES.iter().map(|name| values.number(name)).collect::<Result<_>>()?;
        uniform.resize(B::VARIES.len() + B::MATERIAL.len(), 0.0);
        for (object, _) in &self.ends {
            let boundary = world.object(*object).offers.boundary.as_ref();
            let ids = boundary.map_or(Ok(Vec::new()), |boundary| coupling::ids(world, boundary))?;
            let mut varying = Varying::all(world, *object, boundary, values, B::VARIES)?;
            for name in B::MATERIAL {
                let channel = boundary.map(|boundary| coupling::numbers(world, boundary, name));
                let channel = channel.transpose()?.flatten();
                varying.push(Varying { channel, attribute: None });
            }
            by_id.insert(*object, (varying, Places::of(&ids)));
        }
        let places = self.places(elements)?;
        let on_surface = |element: usize| places.get(element).copied().flatten();
        let objects: Vec<&[u32]> = objects.iter().map(|column| &column[..]).collect();
        let points: Vec<&[u64]> = points.iter().map(|column| &column[..]).collect();
        let rest: Vec<&[f64]> = rest.iter().map(|column| &column[..]).collect();
        let friction: Vec<&[f64]> = friction.iter().map(|column| &column[..]).collect();
        let multipliers: Vec<&[f64]> = multipliers.iter().map(|column| &column[..]).collect();
        let mut batches: BTreeMap<([ObjectId; N], bool), Batch<B::Element, M, N>> = BTreeMap::new();
        let mut element = 0;
        while element < elements.len() {
            // Elements between the same Objects mostly follow each other.
            let of = |element: usize| -> ([ObjectId; N], bool) {
                let between = std::array::from_fn(|n| ObjectId(objects[n][element] as usize));
                (between, on_surface(element).is_some())
            };
            let (between, is_on_surface) = of(element);
            let rest_of_all = (element..elements.len()).into_par_iter();
            let end = rest_of_all
                .with_min_len(ELEMENTS_PER_TASK)
                .find_first(|&e| of(e) != (between, is_on_surface));
            let run = element..end.unwrap_or(elements.len());
            element = run.end;
            let mut known = Vec::with_capacity(N);
            known.extend(between.iter().filter_map(|object| by_id.get(object)));
            // What is not an end of this Constraint any more is not held.
            if known.len() < N {
                continue;
            }
            let batch = batches
                .entry((between, is_on_surface))
                .or_insert_with(|| Batch::new(between, is_on_surface, world));
            let particles = if is_on_surface { N - 1 } else { N };
            let held = |element: usize| -> Option<(usize, [u32; N])> {
                let mut stencil = [0; N];
                let place = |n: usize| known[n].1.get(points[n][element]);
                // What has left its Object, to another Group or a sink, is not held any more.
                let is_there = |n: usize| place(n).map(|place| stencil[n] = place).is_some();
                (0..particles).all(is_there).then_some((element, stencil))
            };
            let run = run.into_par_iter().with_min_len(ELEMENTS_PER_TASK);
            let mut held: Vec<(usize, [u32; N])> = run.filter_map(held).collect();
            if let Some(surface) = &mut batch.on_surface {
                surface.add(&mut held, world, between[N - 1], on_surface, now)?;
            }
            let made = |&(element, stencil): &(usize, [u32; N])| -> B::Element {
                let mut made = B::Element::zeroed();
                let numbers: &mut [f64] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut made));
                let (own, varying) = numbers.split_at_mut(rest.len());
                own.iter_mut().zip(&rest).for_each(|(own, column)| *own = column[element]);
                let particle = |n: usize| (n < particles).then_some(stencil[n]);
                let at: [_; N] = std::array::from_fn(|n| (&known[n].0, particle(n)));
                for (k, (value, uniform)) in varying.iter_mut().zip(&uniform).enumerate() {
                    *value = Varying::of(k, &at, *uniform);
                }
                made
            };
            let rows = |all: &[&[f64]], element: usize| std::array::from_fn(|m| all[m][element]);
            let held = held.par_iter().with_min_len(ELEMENTS_PER_TASK);
            batch.places.par_extend(held.clone().map(|held| held.0 as u32));
            batch.stencil.par_extend(held.clone().map(|held| held.1));
            batch.elements.par_extend(held.clone().map(made));
            batch.friction.par_extend(held.clone().map(|held| rows(&friction, held.0)));
            batch.multipliers.par_extend(held.map(|held| rows(&multipliers, held.0)));
        }
        Ok(batches.into_values().collect())
    }

    /// What elements know of their rest state goes into channels.
    fn keep_rest(&self, world: &World) -> Result<()> {
        let elements = &world.elements[self.store];
        for (k, name) in B::REST.iter().enumerate() {
            let mut column = elements.column_mut(elements.handle::<f64>(name)?)?;
            for batch in &self.batches {
                write(&mut column, &batch.places, |n| {
                    let element = std::slice::from_ref(&batch.elements[n]);
                    bytemuck::cast_slice::<_, f64>(element)[k]
                });
            }
        }
        Ok(())
    }

    /// What friction and multipliers have become goes into channels.
    fn remember(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let follows = self.damping.dahl.is_some() || B::KEEPS;
        for batch in self.batches.iter_mut().filter(|_| follows) {
            let end = now.time + now.step;
            let object = batch.objects[N - 1];
            if let Some(surface) = &mut batch.on_surface {
                surface.follow(world, object, end)?;
            }
            let placed = batch.placed(world, now.step)?;
            let mut friction = Vec::new();
            batch.still(self.label, &self.bond, self.damping, &placed).friction(&mut friction)?;
            if !friction.is_empty() {
                batch.friction = friction;
            }
            if B::KEEPS {
                let mut elements = std::mem::take(&mut batch.elements);
                let places = batch.points(&placed);
                let each = elements.par_iter_mut().with_min_len(ELEMENTS_PER_TASK);
                each.zip(&batch.stencil).for_each(|(element, stencil)| {
                    let at = std::array::from_fn(|n| places[n][stencil[n] as usize]);
                    self.bond.keep(element, &at);
                });
                batch.elements = elements;
            }
        }
        let elements = &world.elements[self.store];
        if B::KEEPS {
            self.keep_rest(world)?;
        }
        // What nothing changes in a step is in its channel already.
        let changes = [
            ("friction", self.damping.dahl.is_some()),
            ("multiplier", self.damping.mode == Mode::Compliance),
        ];
        for (what, _) in changes.into_iter().filter(|(_, changes)| *changes) {
            for m in 0..M {
                let mut column =
                    elements.column_mut(elements.handle::<f64>(&format!("{what}-{m}"))?)?;
                for batch in &self.batches {
                    let rows =
                        if what == "friction" { &batch.friction } else { &batch.multipliers };
                    write(&mut column, &batch.places, |n| rows[n][m]);
                }
            }
        }
        Ok(())
    }
}

/// Writes the value of each element of a batch to its place in a channel; places rise, so that those of all elements are `0..`.
fn write(column: &mut [f64], places: &[u32], value: impl Fn(usize) -> f64 + Sync) {
    if places.len() == column.len() {
        let all = column.par_iter_mut().with_min_len(ELEMENTS_PER_TASK).enumerate();
        return all.for_each(|(n, to)| *to = value(n));
    }
    places.iter().enumerate().for_each(|(n, &place)| column[place as usize] = value(n));
}

impl<B: Bond<M, N>, const M: usize, const N: usize> Coupling for Bound<B, M, N> {
    fn objects(&self) -> Vec<ObjectId> {
        self.ends.iter().map(|(object, _)| *object).collect()
    }

    fn take_elements(&mut self, world: &World, time: f64) -> Result<()> {
        self.gather(world, time, time)
    }

    fn follow<'a>(&mut self, world: &World, hung: &dyn Fn(ObjectId) -> Hung<'a>) -> Result<()> {
        let time = self.time;
        for batch in &mut self.batches {
            let object = batch.objects[N - 1];
            if let Some(surface) = &mut batch.on_surface {
                surface.iterate(world, object, time, hung)?;
            }
        }
        Ok(())
    }

    fn terms<'a>(&'a self, hung: &dyn Fn(ObjectId) -> Hung<'a>) -> Vec<Box<dyn Term + 'a>> {
        let term = |batch: &'a Batch<B::Element, M, N>| {
            let term = batch.hanging(self.label, &self.bond, self.damping, hung);
            Box::new(term) as Box<dyn Term + 'a>
        };
        self.batches.iter().map(term).collect()
    }

    fn parameters(&self) -> Vec<(f64, [f64; 2])> {
        let elements = self.batches.iter().flat_map(|batch| &batch.elements);
        let of = |element: &B::Element| {
            let mut element = *element;
            let bounds: Vec<[f64; 2]> =
                (0..B::REST_PARAMETERS).map(|p| self.bond.bounds(&element, p)).collect();
            let value = |p: usize| self.bond.parameter(&mut element, p).map_or(0.0, |value| *value);
            (0..B::REST_PARAMETERS).map(value).zip(bounds).collect::<Vec<_>>()
        };
        elements.flat_map(of).collect()
    }

    fn set_parameters<'v>(&mut self, values: &'v [f64]) -> &'v [f64] {
        let mut rest = values.iter();
        for element in self.batches.iter_mut().flat_map(|batch| &mut batch.elements) {
            for p in 0..B::REST_PARAMETERS {
                if let (Some(own), Some(value)) = (self.bond.parameter(element, p), rest.next()) {
                    *own = *value;
                }
            }
        }
        rest.as_slice()
    }

    fn keep_parameters(&mut self, world: &World, time: f64) -> Result<()> {
        self.keep_rest(world)?;
        // What holds in balance is where multipliers begin.
        if self.damping.mode == Mode::Compliance {
            let elements = &world.elements[self.store];
            for batch in &self.batches {
                let placed = batch.placed(world, 0.0)?;
                let places = batch.points(&placed);
                for (n, &place) in batch.places.iter().enumerate() {
                    let at = std::array::from_fn(|k| places[k][batch.stencil[n][k] as usize]);
                    let value = self.bond.evaluate(&batch.elements[n], &at).value;
                    let force = self.bond.scaling(&batch.elements[n]).times(&value);
                    for (m, force) in force.into_iter().enumerate().filter(|(_, f)| f.is_finite()) {
                        let handle = elements.handle::<f64>(&format!("multiplier-{m}"))?;
                        elements.column_mut(handle)?[place as usize] = -force;
                    }
                }
            }
        }
        self.gather(world, time, time)
    }

    fn take_multipliers(&mut self, found: &mut dyn Iterator<Item = Vec<f64>>) {
        for (batch, found) in self.batches.iter_mut().zip(found) {
            for (multipliers, found) in batch.multipliers.iter_mut().zip(found.chunks_exact(M)) {
                multipliers.copy_from_slice(found);
            }
        }
    }
}
