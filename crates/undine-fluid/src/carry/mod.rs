//! Whatever a flow has on cells and faces is carried along by it, everywhere at once: ∂φ/∂t + (u·∇)φ = 0 for a step.
//!
//! First the ways are found that lead to the middle of each cell, and from it (`ways`); a face's way is the mean of those of
//! the cells beside it, off by no more than the interpolation of velocities is. Then each quantity is gathered along them (`gather`),
//! by one of three schemes (A is the plain look-up upstream, Aᴿ the same the other way):
//!
//! | scheme | order | |
//! |---|---|---|
//! | semi-Lagrangian | 1 | Aφ (J. Stam, *Stable Fluids*, 1999) |
//! | MacCormack | 2 | φ̂ = Aφ, then φ̂ + ½(φ − Aᴿφ̂) (A. Selle et al., *An Unconditionally Stable MacCormack Method*, 2008) |
//! | BFECC | 2 | A(φ + ½(φ − AᴿAφ)) (B. Kim et al., *FlowFixer*, 2005) |
//!
//! MacCormack's correction is found where a thing was and added where it comes to, BFECC's is carried there. So in a step that goes
//! far across a form of wave number k, a part |1 − e^(ikuΔt)| of the first-order error stays with MacCormack's: it is the cheaper of the two at
//! short steps (one look-up less) and BFECC the better at long ones.
//!
//! What the last two find is kept within the bounds of the eight values that the plain look-up reads, so that nothing
//! overshoots. Where only a part of the cells is wanted ([`Flow::only`]), what was carried is not a number in the others, and nothing is put
//! right beside them. Ways that lead farther than a Bucket's surroundings are looked up at whoever owns the place (`far`).

mod far;
mod gather;
mod ways;
mod window;

use far::Far;
use gather::{Gather, Quantity};
use undine_core::volume::{DiscreteVolume, MacHandle, VoxelShape};
use undine_core::{Accessor, ChannelSpec, GridDomain, Handle};
use undine_sim::Result;
use ways::Speeds;

/// How a quantity is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// First order, never out of bounds.
    SemiLagrangian,
    /// Second order, in two look-ups.
    MacCormack,
    /// Second order, in three look-ups: the better one where a step goes far.
    Bfecc,
}

/// How ways through a flow are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traces {
    /// The midpoint rule.
    Rk2,
    /// Ralston's third-order method.
    Rk3,
}

/// A flow that carries things.
#[derive(Debug, Clone, Copy)]
pub struct Flow<'a> {
    /// Where its Buckets are.
    pub domain: &'a GridDomain,
    /// The store.
    pub volume: &'a DiscreteVolume,
    /// The velocity [m/s].
    pub velocity: MacHandle,
    /// The length of the step [s].
    pub step: f64,
    /// How ways are found.
    pub traces: Traces,
    /// How quantities are carried.
    pub scheme: Scheme,
    /// The cells that quantities are carried to, and to the faces beside them: a mask on a volume with the same Buckets. Others keep
    /// what they have. Without it they are carried everywhere.
    pub only: Option<Marked<'a>>,
}

/// A mask of cells, and the volume that has it.
pub type Marked<'a> = (&'a DiscreteVolume, Handle<u64>);

/// What a flow carries: channels of its store.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cargo<'a> {
    /// A velocity on faces: often the flow's own.
    pub velocity: Option<MacHandle>,
    /// Numbers of cells.
    pub cells: &'a [Handle<f32>],
}

/// The ways of a step [voxels], by cell: where what comes to it was before, and where it goes.
#[derive(Debug, Clone, Copy)]
struct Ways {
    back: [Handle<f32>; 3],
    forth: [Handle<f32>; 3],
}

/// Channels that a quantity is carried through.
#[derive(Debug, Clone, Copy)]
struct Scratch {
    carried: Handle<f32>,
    /// What was put right, where that is carried.
    corrected: Option<Handle<f32>>,
    least: Handle<f32>,
    most: Handle<f32>,
}

impl Flow<'_> {
    /// Carries quantities by the step. Collective.
    pub fn carry(&self, cargo: &Cargo<'_>) -> Result<()> {
        self.carry_changed(cargo, || Ok(()))
    }

    /// The same with something that is done to them when it is known where they go. Collective.
    pub fn carry_changed(
        &self,
        cargo: &Cargo<'_>,
        change: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let (domain, volume) = (self.domain, self.volume);
        let mut scratch = DiscreteVolume::on("what is carried", domain, volume.topology().clone());
        let faces = cargo.velocity.into_iter().flat_map(|mac| mac.faces.into_iter().zip(0..3));
        let quantities: Vec<Quantity> = (cargo.cells.iter().map(|&cell| (cell, None)))
            .chain(faces.map(|(face, axis)| (face, Some(axis))))
            .collect();
        let mut add = |name: &str, outside: f32| {
            let spec = ChannelSpec::new(name, outside).internal();
            scratch.add_channel(&spec, VoxelShape::CELLS)
        };
        let mut ways = |name: &str| {
            let [x, y, z] = ["x", "y", "z"].map(|axis| add(&format!("{name}.{axis}"), 0.0));
            Ok::<_, undine_core::CoreError>([x?, y?, z?])
        };
        let ways = Ways { back: ways("back")?, forth: ways("forth")? };
        let (least, most) = (add("least", 0.0)?, add("most", 0.0)?);
        // What is carried goes on beyond all Buckets as the quantity itself does. Few differ there.
        let mut through: Vec<(f32, Scratch)> = Vec::new();
        for (quantity, _) in &quantities {
            let outside = volume.column(*quantity)?.background();
            if through.iter().all(|(known, _)| *known != outside) {
                let mut add = |name: &str| add(&format!("{name} {outside}"), outside);
                let carried = add("carried")?;
                let corrected = match self.scheme {
                    Scheme::Bfecc => Some(add("corrected")?),
                    Scheme::SemiLagrangian | Scheme::MacCormack => None,
                };
                through.push((outside, Scratch { carried, corrected, least, most }));
            }
        }
        let speeds = Speeds::of(self)?;
        ways::find(self, &scratch, ways, &speeds)?;
        change()?;
        let is_near = speeds.most < ways::FARTHEST;
        let gather = Gather { flow: self, scratch: &scratch, ways, is_near };
        // The ways are known by now, so that the velocity itself may change.
        for quantity in quantities {
            let outside = volume.column(quantity.0)?.background();
            for (_, through) in through.iter().filter(|(known, _)| *known == outside) {
                gather.carry(quantity, *through)?;
            }
        }
        Ok(())
    }

    /// Voxels for each m/s in the step.
    fn per_voxel(&self) -> f32 {
        (self.step / self.domain.frame().voxel_size(0)) as f32
    }

    fn accessor(&self, task: &'static str) -> Accessor {
        Accessor::new(task, self.domain).over(self.volume.topology())
    }
}

/// The largest component of a velocity on faces [m/s]. Collective.
pub fn fastest(domain: &GridDomain, volume: &DiscreteVolume, velocity: MacHandle) -> Result<f32> {
    let fastest = Accessor::new("speed", domain).over(volume.topology()).reduce(
        velocity.faces.map(|face| volume.own(face)),
        |_, faces| {
            let most = |faces: &[f32]| faces.iter().fold(0.0_f32, |most, u| most.max(u.abs()));
            faces.into_iter().map(most).fold(0.0, f32::max)
        },
        f32::max,
    )?;
    Ok(fastest.unwrap_or(0.0))
}

/// Cells of a Bucket.
const VOXELS: usize = 512;
