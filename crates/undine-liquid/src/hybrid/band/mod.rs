//! A liquid with particles only in a narrow band below its surface (F. Ferstl, R. Ando, C. Wojtan, R. Westermann and N. Thuerey,
//! *Narrow Band FLIP for Liquid Simulations*, 2016): deeper inside cells hold the liquid themselves.
//!
//! Where the paper carries a level set along to know where the inside is, here cells hold mass, in whole parts
//! ([`Interior`]). It flows on from cell to cell and to and from particles without loss, and where there is enough of it there is
//! liquid, so that the surface is found from both alike. In a step
//!
//! 1. cells give the velocity that was carried to them to the faces, weighed by their mass, as particles do ([`give_velocity`]);
//! 2. the surface is found; cells near it make particles of what they hold, and those far from it take the mass of theirs
//!    ([`exchange`]). In between both may be in a cell;
//! 3. at the end mass ([`carry`]) and velocity ([`undine_fluid::carry`]) move on with the flow.

mod carry;
mod exchange;

pub use exchange::{BETWEEN, Exchange};

use crate::advance::Flow;
use crate::seed::Initial;
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::{MacHandle, Mask, Resolution, VoxelShape};
use undine_core::{Accessor, BucketSet, ChannelSpec, DiscreteVolume, GridDomain};
use undine_fluid::carry::{self as along, Cargo, Scheme, Traces};
use undine_fluid::field::INTERIOR;
use undine_sim::offers::{FluidField, Interior};
use undine_sim::{Budget, Result};

/// Adds the channel with what cells hold, where a full one has this mass [kg].
pub fn add_channel(volume: &mut DiscreteVolume, full: f64) -> Result<Interior> {
    let spec = ChannelSpec::new(INTERIOR, 0_u32).internal();
    let parts = volume.add_channel(&spec, VoxelShape::CELLS)?;
    Ok(Interior { parts, part: full / f64::from(Interior::FULL) })
}

/// Lets cells hold the liquid that is deep inside to begin with. Collective.
pub fn begin(
    domain: &GridDomain,
    volume: &mut DiscreteVolume,
    velocity: MacHandle,
    interior: Interior,
    initial: &Initial,
) -> Result<()> {
    let mut deep = domain.processes().all_gather_values(&initial.deep)?.concat();
    deep.sort_unstable_by_key(|cells| cells.key);
    let buckets = BucketSet::from_keys(deep.iter().map(|cells| cells.key).collect());
    volume.follow(&domain.subset(&buckets.dilate(1)?)?)?;
    let (frame, voxel) = (*domain.frame(), domain.frame().voxel_size(0));
    Accessor::new("begin with the interior", domain).over(volume.topology()).run(
        (volume.write(interior.parts), velocity.faces.map(|face| volume.write(face))),
        |here, (parts, velocity)| {
            if let Ok(found) = deep.binary_search_by_key(&here.bucket.key(), |cells| cells.key) {
                for n in Mask(deep[found].cells).ones() {
                    parts[n] = Interior::FULL;
                }
            }
            let corner = frame.corner(here.bucket);
            for (axis, velocity) in velocity.into_iter().enumerate() {
                for (n, velocity) in velocity.iter_mut().enumerate() {
                    let [x, y, z] = Resolution::R8.coords(n).map(|c| c as f64 + 0.5);
                    let mut face = DVec3::new(x, y, z);
                    face[axis] -= 0.5;
                    *velocity = initial.moving.at(corner + voxel * face)[axis] as f32;
                }
            }
        },
    )?;
    Ok(())
}

/// The Buckets of this process whose cells hold something.
pub fn buckets(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    interior: Interior,
) -> Result<BucketSet> {
    let found = Accessor::new("find the interior", domain)
        .over(volume.topology())
        .map(volume.own(interior.parts), |here, parts| {
            parts.iter().any(|&parts| parts > 0).then(|| here.bucket.key())
        })?;
    Ok(BucketSet::from_keys(found.into_iter().flatten().collect()))
}

/// Adds the momentum [kg m/s] and the mass [kg] of what cells hold to their faces, half to each. Their velocity is that which was
/// carried there at the end of the last step.
pub fn give_velocity(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    interior: Interior,
    mass: MacHandle,
) -> Result<()> {
    let part = interior.part as f32;
    let access = (
        volume.around(interior.parts, 1),
        field.velocity.faces.map(|face| volume.own(face)),
        field.velocity_before.faces.map(|face| volume.write(face)),
        mass.faces.map(|face| volume.write(face)),
    );
    Accessor::new("give the interior's velocity", domain).over(volume.topology()).run(
        access,
        |_, (parts, velocity, momentum, mass)| {
            let own = parts.chunk();
            for (axis, (momentum, mass)) in momentum.into_iter().zip(mass).enumerate() {
                let [x, y, z] = std::array::from_fn(|other| -i32::from(other == axis));
                let beside = parts.neighbour(x, y, z);
                if own.iter().chain(beside).all(|&parts| parts == 0) {
                    continue;
                }
                let shift = [6, 3, 0][axis];
                for n in 0..own.len() {
                    let below = match n >> shift & 7 {
                        0 => beside[n | 7 << shift],
                        _ => own[n - (1 << shift)],
                    };
                    let held = 0.5 * part * (own[n] as f32 + below as f32);
                    momentum[n] += held * velocity[axis][n];
                    mass[n] += held;
                }
            }
        },
    )?;
    Ok(())
}

/// Moves what cells hold on with the flow by a step [s], and its velocity with it.
pub fn carry(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    interior: Interior,
    flow: Flow,
    step: f64,
) -> Result<()> {
    carry::carry(domain, volume, field, interior, flow, step)?;
    let mut marks = DiscreteVolume::on("interior", domain, volume.topology().clone());
    let held = marks.add_mask("held", Resolution::R8)?.words;
    Accessor::new("mark the interior", domain).over(volume.topology()).run(
        (volume.own(interior.parts), marks.write(held)),
        |_, (parts, held)| {
            for (held, parts) in held.iter_mut().zip(parts.chunks(64)) {
                *held = parts
                    .iter()
                    .enumerate()
                    .fold(0, |word, (n, &parts)| word | u64::from(parts > 0) << n);
            }
        },
    )?;
    let (traces, scheme) = (Traces::Rk2, Scheme::MacCormack);
    let (velocity, only) = (field.velocity, Some((&marks, held)));
    let flow = along::Flow { domain, volume, velocity, step, traces, scheme, only };
    flow.carry(&Cargo { velocity: Some(velocity), cells: &[] })
}

/// The mass, momentum and energy of what cells hold.
pub fn budget(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    interior: Interior,
) -> Result<Budget> {
    let voxel = domain.frame().voxel_size(0);
    let access =
        (volume.own(interior.parts), field.velocity.faces.map(|face| volume.around(face, 1)));
    let sums = Accessor::new("budget", domain).over(volume.topology()).map(
        access,
        |here, (parts, velocity)| {
            let corner = domain.frame().corner(here.bucket);
            let held = parts.iter().enumerate().filter(|(_, parts)| **parts > 0);
            held.fold(Budget::default(), |sum, (n, &parts)| {
                let [x, y, z] = [n >> 6, n >> 3 & 7, n & 7].map(|c| c as i32);
                let above = [[x + 1, y, z], [x, y + 1, z], [x, y, z + 1]];
                let middle = Vec3::from_array(std::array::from_fn(|axis| {
                    let [i, j, k] = above[axis];
                    0.5 * (velocity[axis].chunk()[n] + velocity[axis].at(i, j, k))
                }));
                let centre = DVec3::new(x.into(), y.into(), z.into()) + 0.5;
                let mass = f64::from(parts) * interior.part;
                sum + Budget::of_point(mass, corner + voxel * centre, middle.as_dvec3())
            })
        },
    )?;
    Ok(sums.into_iter().fold(Budget::default(), |sum, bucket| sum + bucket))
}

/// The largest component of a velocity on faces of cells that hold something [m/s]. Collective.
pub fn fastest(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    interior: Interior,
) -> Result<f32> {
    let access = (volume.own(interior.parts), field.velocity.faces.map(|face| volume.own(face)));
    let fastest = Accessor::new("speed", domain).over(volume.topology()).reduce(
        access,
        |_, (parts, velocity)| {
            let held = (0..parts.len()).filter(|&n| parts[n] > 0);
            let most = |n: usize| velocity.iter().fold(0.0_f32, |most, v| most.max(v[n].abs()));
            held.fold(0.0_f32, |fastest, n| fastest.max(most(n)))
        },
        f32::max,
    )?;
    Ok(fastest.unwrap_or(0.0))
}
