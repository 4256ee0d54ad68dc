//! Extending a field off the surface, from the side where it is known to the other.
//!
//! Constant along normals: ∇φ·∇q = 0, by differences upwind in φ, so that a voxel's value is the mean of its neighbours
//! nearer to the surface, each weighed by how much nearer it is (D. Adalsteinsson & J. Sethian, *The Fast Construction of
//! Extension Velocities*, J. Comput. Phys. 148 (1999), eq. 12). Linear: first g = ∇φ·∇q is taken where q is known and
//! extended as a constant, then ∇φ·∇q = g is solved likewise (T. Aslam, *A partial differential equation approach to
//! multidimensional extrapolation*, J. Comput. Phys. 193 (2004)).
//!
//! Passes go as those of redistancing do: each reads one channel and writes another, so that no order shows.

use super::{Beyond, LevelSet};
use crate::error::{GeometryError, Result, positive};
use undine_core::access::{Here, Pad, Tile, VoxelNeighbourhood};
use undine_core::volume::{Blend, MacHandle, Resolution, VoxelShape};
use undine_core::{Accessor, ChannelSpec, CoreError, DiscreteVolume, Element, GridDomain, Handle};

/// How a field is extended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extrapolation {
    /// How far from the surface [m]. No farther than distances are known.
    pub distance: f64,
    /// Constant or linear.
    pub order: Order,
    /// Where the field is known.
    pub known: Known,
}

/// How a field goes on beyond the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As on the surface.
    Constant,
    /// With the slope that it has along the normal.
    Linear,
}

/// A side of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Where distances are negative.
    Inside,
    /// Where they are not.
    Outside,
}

/// A surface on the voxels of a volume: its distances [m], and what lies where there are no Buckets.
#[derive(Debug, Clone, Copy)]
pub struct SurfaceChannel<'a> {
    /// A channel of cells.
    pub distance: Handle<f32>,
    /// How far distances are known [m].
    pub width: f32,
    /// See [`Beyond::find`].
    pub beyond: &'a Beyond,
}

/// Extends a channel of cells, faces or nodes, 8³ to a Bucket, from one side of a surface to the other. What lies farther
/// away than asked for, and where no known value is near, stays. Collective.
///
/// The distance at a face is the mean of those of its cells, so that faces within half a voxel count as known.
pub fn extrapolate<T: Blend<Real = f32>>(
    domain: &GridDomain,
    volume: &mut DiscreteVolume,
    surface: SurfaceChannel<'_>,
    channel: Handle<T>,
    how: &Extrapolation,
) -> Result<()> {
    let distance = positive("the distance of an extrapolation", how.distance)?;
    let width = positive("the width of a band", f64::from(surface.width))?;
    let voxels = distance.min(width) / domain.frame().voxel_size(0);
    if voxels > MOST_VOXELS {
        return Err(GeometryError::BadParameter {
            what: "the distance of an extrapolation in voxels",
            found: voxels,
            wanted: "at most 100000",
        });
    }
    let shape = volume.column(channel)?.shape();
    if shape.resolution != Resolution::R8 {
        return Err(CoreError::BadValue {
            what: format!("the resolution of a channel of {} to be extended", volume.label()),
            found: format!("{}", shape.resolution.edge()),
            wanted: "8 voxels along a Bucket",
        }
        .into());
    }
    let scratch: Vec<&str> = match how.order {
        Order::Constant => SCRATCH[..2].to_vec(),
        Order::Linear => SCRATCH.to_vec(),
    };
    let mut added = Vec::new();
    let unknown = T::from_lanes(|_| f32::NAN);
    for name in &scratch {
        let spec = ChannelSpec::new(*name, unknown);
        match volume.add_channel(&spec, shape) {
            Ok(handle) => added.push(handle),
            Err(error) => {
                remove(volume, &scratch[..added.len()])?;
                return Err(error.into());
            }
        }
    }
    let sweep = Sweep { domain, surface, shape, how };
    let done = sweep.run(volume, channel, &added);
    remove(volume, &scratch)?;
    done
}

/// The same for a velocity on faces, component by component. Collective.
pub fn extrapolate_mac(
    domain: &GridDomain,
    volume: &mut DiscreteVolume,
    surface: SurfaceChannel<'_>,
    velocity: MacHandle,
    how: &Extrapolation,
) -> Result<()> {
    let mut faces = velocity.faces.into_iter();
    faces.try_for_each(|face| extrapolate(domain, volume, surface, face, how))
}

impl LevelSet {
    /// Extends a channel of the level set off its surface. Collective.
    pub fn extrapolate<T: Blend<Real = f32>>(
        &mut self,
        channel: Handle<T>,
        how: &Extrapolation,
    ) -> Result<()> {
        let Self { distance, width, .. } = *self;
        let surface = SurfaceChannel { distance, width, beyond: &self.beyond };
        extrapolate(&self.domain, &mut self.volume, surface, channel, how)
    }

    /// Extends a velocity on the faces of the level set's voxels off its surface. Collective.
    pub fn extrapolate_mac(&mut self, velocity: MacHandle, how: &Extrapolation) -> Result<()> {
        velocity.faces.into_iter().try_for_each(|face| self.extrapolate(face, how))
    }
}

/// Farther would take longer than anyone waits.
const MOST_VOXELS: f64 = 1e5;

/// The names of the channels that passes write, for as long as they run.
const SCRATCH: [&str; 4] =
    ["extrapolated", "extrapolated, next", "slope, extrapolated", "slope, extrapolated, next"];

fn remove(volume: &mut DiscreteVolume, names: &[&str]) -> Result<()> {
    Ok(names.iter().try_for_each(|name| volume.remove_channel(name))?)
}

/// Passes over one channel.
struct Sweep<'a> {
    domain: &'a GridDomain,
    surface: SurfaceChannel<'a>,
    shape: VoxelShape,
    how: &'a Extrapolation,
}

/// Distances at the places of a channel's values, positive where they are unknown, padded by one voxel.
type Places = Tile<f32>;

impl Sweep<'_> {
    fn run<T: Blend<Real = f32>>(
        &self,
        volume: &mut DiscreteVolume,
        channel: Handle<T>,
        scratch: &[Handle<T>],
    ) -> Result<()> {
        // The known values, and where they are not known no number.
        self.each(volume, channel, scratch[0], |place, values, _| {
            let known = values.own(place.voxel);
            if place.distance() < 0.0 { known } else { T::from_lanes(|_| f32::NAN) }
        })?;
        let slope = scratch.get(2).copied();
        if let Some(slope) = slope {
            self.each(volume, scratch[0], slope, |place, values, voxel| {
                place.slope(values, voxel)
            })?;
            self.outwards(volume, [slope, scratch[3]], None)?;
        }
        self.outwards(volume, [scratch[0], scratch[1]], slope)?;

        let accessor = Accessor::new("keep what was extended", self.domain).over(volume.topology());
        let access = (volume.own(scratch[0]), volume.write(channel));
        accessor.run(access, |_, (extended, values)| {
            for (value, extended) in values.iter_mut().zip(extended) {
                if extended.is_finite() {
                    *value = *extended;
                }
            }
        })?;
        Ok(())
    }

    /// Carries values outwards, with a slope along the normal if there is one.
    fn outwards<T: Blend<Real = f32>>(
        &self,
        volume: &mut DiscreteVolume,
        [values, next]: [Handle<T>; 2],
        slope: Option<Handle<T>>,
    ) -> Result<()> {
        let voxel = self.domain.frame().voxel_size(0);
        let limit = self.how.distance.min(f64::from(self.surface.width));
        // A voxel's neighbours upwind are nearer by 1/√3 of a voxel at least, all together.
        let passes = (3.0_f64.sqrt() * limit / voxel).ceil() as usize + 2;
        for _ in 0..passes {
            let accessor = Accessor::new("extrapolate", self.domain).over(volume.topology());
            let access = (
                volume.around(self.surface.distance, 2),
                volume.around(values, 1),
                slope.map(|slope| volume.own(slope)),
                volume.write(next),
            );
            accessor.run_with(
                access,
                || self.places(),
                |[cells, places], here, (distance, values, slope, next)| {
                    self.load(here, &distance, cells, places);
                    for (n, next) in next.iter_mut().enumerate() {
                        let place = Place::new(places, n);
                        let own = values.chunk()[n];
                        let distance = place.distance();
                        *next = own;
                        if distance >= 0.0 && f64::from(distance) < limit {
                            let slope = slope.map_or(T::zeroed(), |slope| slope[n]);
                            if let Some(mean) = place.mean(&values, slope, voxel as f32) {
                                *next = mean;
                            }
                        }
                    }
                },
            )?;
            volume.swap(values, next)?;
        }
        Ok(())
    }

    /// Writes `to` from what lies around it in `from`.
    fn each<T: Blend<Real = f32>>(
        &self,
        volume: &DiscreteVolume,
        from: Handle<T>,
        to: Handle<T>,
        value: impl Fn(&Place<'_>, &Values<'_, T>, f32) -> T + Sync,
    ) -> Result<()> {
        let voxel = self.domain.frame().voxel_size(0) as f32;
        let accessor = Accessor::new("see what is known", self.domain).over(volume.topology());
        let access =
            (volume.around(self.surface.distance, 2), volume.around(from, 1), volume.write(to));
        accessor.run_with(
            access,
            || self.places(),
            |[cells, places], here, (distance, values, to)| {
                self.load(here, &distance, cells, places);
                for (n, to) in to.iter_mut().enumerate() {
                    *to = value(&Place::new(places, n), &Values(values), voxel);
                }
            },
        )?;
        Ok(())
    }

    /// Memory for the distances of cells and of places.
    fn places(&self) -> [Tile<f32>; 2] {
        [2, 1].map(|pad| Tile::new(Resolution::R8, Pad::both(pad), self.surface.width))
    }

    /// Fills `places` with distances where the channel's values lie.
    fn load(
        &self,
        here: Here<'_>,
        distance: &VoxelNeighbourhood<'_, f32>,
        cells: &mut Tile<f32>,
        places: &mut Places,
    ) {
        distance.load(cells);
        self.surface.beyond.fill(here, cells, -self.surface.width);
        let sign = if self.how.known == Known::Inside { 1.0 } else { -1.0 };
        // A value at the lower end of its voxel lies between two cells.
        let offset = self.shape.centring.offset();
        let steps = [cells.slab(), cells.row(), 1];
        let between: Vec<usize> =
            (0..3).filter(|&axis| offset[axis] == 0.0).map(|axis| steps[axis]).collect();
        let share = sign / (1 << between.len()) as f32;
        for x in -1..9 {
            for y in -1..9 {
                for z in -1..9 {
                    let at = cells.index(x, y, z);
                    let sum: f32 = (0..1_usize << between.len())
                        .map(|corner| {
                            let chosen = between.iter().enumerate();
                            let back = chosen.filter(|(n, _)| corner >> n & 1 != 0);
                            cells.values()[at - back.map(|(_, step)| step).sum::<usize>()]
                        })
                        .sum();
                    let to = places.index(x, y, z);
                    places.values_mut()[to] = share * sum;
                }
            }
        }
    }
}

/// A channel around a Bucket.
struct Values<'v, T>(VoxelNeighbourhood<'v, T>);

impl<T: Element> Values<'_, T> {
    fn own(&self, voxel: [i32; 3]) -> T {
        self.0.at(voxel[0], voxel[1], voxel[2])
    }
}

/// A voxel among distances.
struct Place<'a> {
    places: &'a Places,
    at: usize,
    voxel: [i32; 3],
}

impl<'a> Place<'a> {
    fn new(places: &'a Places, n: usize) -> Self {
        let voxel = Resolution::R8.coords(n).map(|n| n as i32);
        Self { places, at: places.index(voxel[0], voxel[1], voxel[2]), voxel }
    }

    fn distance(&self) -> f32 {
        self.places.values()[self.at]
    }

    /// Along each axis the neighbour that lies deeper, and by how much [m], if one does.
    fn upwind(&self) -> impl Iterator<Item = (f32, [i32; 3])> + '_ {
        let steps = [self.places.slab(), self.places.row(), 1];
        let distance = self.distance();
        (0..3).filter_map(move |axis| {
            let values = self.places.values();
            let [low, high] = [values[self.at - steps[axis]], values[self.at + steps[axis]]];
            let (nearer, step) = if low <= high { (low, -1) } else { (high, 1) };
            let mut voxel = self.voxel;
            voxel[axis] += step;
            (nearer < distance).then_some((distance - nearer, voxel))
        })
    }

    /// The q of Σ Δφ (q − q_upwind) = g h² over neighbours that are known; `None` if none is.
    fn mean<T: Blend<Real = f32>>(
        &self,
        values: &VoxelNeighbourhood<'_, T>,
        slope: T,
        voxel: f32,
    ) -> Option<T> {
        let (mut sum, mut weights) = (T::zeroed(), 0.0);
        for (weight, [x, y, z]) in self.upwind() {
            let value = values.at(x, y, z);
            if value.is_finite() {
                sum = sum.plus(value.scaled(weight));
                weights += weight;
            }
        }
        // Without a slope, as where none was known, the value goes on as a constant.
        let slope = if slope.is_finite() { slope } else { T::zeroed() };
        let mean = sum.plus(slope.scaled(voxel * voxel)).scaled(1.0 / weights);
        (weights > 0.0 && mean.is_finite()).then_some(mean)
    }

    /// g = ∇φ·∇q [1/m], by differences towards the depth, where q is known.
    fn slope<T: Blend<Real = f32>>(&self, values: &Values<'_, T>, voxel: f32) -> T {
        let own = values.own(self.voxel);
        let mut slope = T::zeroed();
        for (fall, voxel) in self.upwind() {
            slope = slope.plus(own.plus(values.own(voxel).scaled(-1.0)).scaled(fall));
        }
        slope.scaled(1.0 / (voxel * voxel))
    }
}
