//! A MAC velocity as one vector field.

use super::field::Field;
use super::kernel::{Interpolation, Taps, between, cubic, linear, quadratic};
use super::lattice::Lattice;
use super::locate::Locator;
use super::{blend, blend_monotone};
use crate::domain::{Slot, Topology};
use crate::error::{CoreError, Result};
use crate::volume::column::VoxelColumn;
use crate::volume::shape::{Axis, Centring, VoxelShape};
use glam::{DVec3, Mat3, Vec3};

/// Reads a velocity whose components lie on the faces of the cells; see [`Sampler`](super::Sampler) for the rules.
pub struct MacSampler<'a> {
    fields: [Field<'a, f32>; 3],
    locator: Locator<'a>,
    interpolation: Interpolation,
    /// That of the cells' corners.
    lattice: Lattice<f32>,
}

impl<'a> MacSampler<'a> {
    /// A reader of three claimed columns, by axis. `topology` is that of their volume.
    pub fn new(
        faces: [&'a VoxelColumn<f32>; 3],
        topology: &'a Topology,
        interpolation: Interpolation,
    ) -> Result<Self> {
        let resolution = faces[0].shape().resolution;
        for axis in Axis::ALL {
            let found = faces[axis.index()].shape();
            if found != VoxelShape::faces(axis).with_resolution(resolution) {
                return Err(CoreError::BadValue {
                    what: format!("the shape of component {axis:?} of a MAC velocity"),
                    found: format!("{found:?}"),
                    wanted: "on the faces across its axis, with the resolution of the others",
                });
            }
        }
        let corners = VoxelShape { resolution, centring: Centring::Node };
        Ok(Self {
            fields: faces.map(|column| Field::new(column, topology)),
            locator: Locator::new(topology),
            interpolation,
            lattice: Lattice::new(topology, corners),
        })
    }

    /// The same, but reading the Buckets of one level only, as if there were no others.
    pub fn on_level(mut self, level: u8) -> Self {
        self.locator = self.locator.only(level);
        for field in &mut self.fields {
            field.across = false;
        }
        self
    }

    /// The finest Bucket that contains a world position [m], and the offset [m] from its corner.
    pub fn locate(&self, position: DVec3) -> Option<(Slot, Vec3)> {
        self.locator.world(position)
    }

    /// The velocity at an offset [m] from the corner of the Bucket in a slot; the offset may lie outside.
    #[inline]
    pub fn at(&self, slot: Slot, offset: Vec3) -> Vec3 {
        match self.locator.local(slot, offset) {
            Some((slot, offset)) => self.evaluate::<false>(slot, offset).0,
            None => self.background(),
        }
    }

    /// The gradient of the velocity: column j holds its derivative along axis j, so that `gradient · d` is the change
    /// of the velocity over a small `d` [m].
    #[inline]
    pub fn gradient(&self, slot: Slot, offset: Vec3) -> Mat3 {
        self.value_and_gradient(slot, offset).1
    }

    /// [`Self::at`] and [`Self::gradient`] together.
    #[inline]
    pub fn value_and_gradient(&self, slot: Slot, offset: Vec3) -> (Vec3, Mat3) {
        match self.locator.local(slot, offset) {
            Some((slot, offset)) => self.evaluate::<true>(slot, offset),
            None => (self.background(), Mat3::ZERO),
        }
    }

    /// The velocity at a world position [m], from the finest Bucket that contains it.
    pub fn at_world(&self, position: DVec3) -> Vec3 {
        match self.locate(position) {
            Some((slot, offset)) => self.evaluate::<false>(slot, offset).0,
            None => self.background(),
        }
    }

    fn background(&self) -> Vec3 {
        Vec3::from_array(std::array::from_fn(|axis| self.fields[axis].column.background()))
    }

    #[inline]
    fn evaluate<const GRADIENT: bool>(&self, slot: Slot, offset: Vec3) -> (Vec3, Mat3) {
        let level = self.locator.topology.bucket(slot).level;
        let (nodes, per_metre) = self.lattice.nodes(level, offset);
        let (value, gradient) = match self.interpolation {
            Interpolation::Linear => self.components::<2, GRADIENT>(slot, nodes, linear),
            Interpolation::Quadratic => self.components::<3, GRADIENT>(slot, nodes, quadratic),
            Interpolation::Cubic => self.components::<4, GRADIENT>(slot, nodes, cubic),
            Interpolation::MonotoneCubic => {
                let places = staggered(nodes, between);
                by_component(|axis| {
                    let place = component(&places, axis);
                    blend_monotone::<f32, GRADIENT>(&self.fields[axis], slot, place)
                })
            }
        };
        (value, gradient * per_metre)
    }

    #[inline]
    fn components<const W: usize, const GRADIENT: bool>(
        &self,
        slot: Slot,
        nodes: [f32; 3],
        kernel: impl Fn(f32) -> Taps<f32, W>,
    ) -> (Vec3, Mat3) {
        let taps = staggered(nodes, kernel);
        by_component(|axis| {
            blend::<f32, W, GRADIENT>(&self.fields[axis], slot, &component(&taps, axis))
        })
    }
}

/// Along each axis, what a kernel gives among the cells' corners and among their middles: two, not three, because two
/// components share their middles.
#[inline]
fn staggered<K>(nodes: [f32; 3], kernel: impl Fn(f32) -> K) -> [[K; 2]; 3] {
    nodes.map(|node| [kernel(node), kernel(node - 0.5)])
}

/// Of these, the ones that a component uses: the corners along its own axis, the middles along the others.
#[inline]
fn component<K: Copy>(places: &[[K; 2]; 3], axis: usize) -> [K; 3] {
    std::array::from_fn(|along| places[along][usize::from(along != axis)])
}

#[inline]
fn by_component(evaluate: impl Fn(usize) -> (f32, [f32; 3])) -> (Vec3, Mat3) {
    let [(x, dx), (y, dy), (z, dz)] = [evaluate(0), evaluate(1), evaluate(2)];
    let rows = Mat3::from_cols(dx.into(), dy.into(), dz.into());
    (Vec3::new(x, y, z), rows.transpose())
}
