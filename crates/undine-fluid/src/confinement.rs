//! Vorticity confinement: what small vortices lose on a grid is given back to them (J. Steinhoff and D. Underhill, *Modification of the
//! Euler equations for "vorticity confinement"*, 1994; R. Fedkiw, J. Stam and H. W. Jensen, *Visual Simulation of Smoke*, 2001).
//!
//! With the vorticity ω = ∇×u and N = ∇|ω| / |∇|ω||, which points to where it is strongest, the acceleration is ε Δx |ω| N×ω: it
//! turns around the vortex as the vortex does. The factor |ω| makes the strength ε a number without a unit, which means the
//! same for fast and slow flows, and its effect goes with Δx.

use undine_core::access::{Pad, Tile};
use undine_core::glam::Vec3;
use undine_core::volume::{Resolution, VoxelShape};
use undine_core::{Accessor, ChannelSpec, DiscreteVolume, GridDomain, Handle};
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::offers::FluidField;
use undine_sim::{Ingest, Moment, ObjectId, Operator, Result, Stage, StoreId, Tasks, World};

/// "Vortices stay."
pub const DECLARATION: Declaration = Declaration {
    name: "confinement",
    kind: Kind::Operator,
    doc: "Gives small vortices back what they lose on a grid",
    about: "A force that turns fluids in its scope around their vortices, and so keeps smoke lively. It is no physics, but makes up for \
            what the grid takes: `volume` has less to make up for with `advection=bfecc` or with `reflection`.",
    parameters: &[Parameter::number("strength", Dimension::NONE, 0.2, "how much is given back")
        .not_negative()
        .usually(0.0, 1.0)],
    example: "confinement strength=0.3",
};

/// Gives small vortices back what they lose.
pub struct Confinement {
    on: Vec<(ObjectId, FluidField)>,
    strength: f64,
}

impl Operator for Confinement {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let fluid = |id: &ObjectId| Some((*id, ingest.world.object(*id).offers.fluid?));
        let on: Vec<_> = scope.iter().filter_map(fluid).collect();
        if on.is_empty() {
            return Ok(None);
        }
        let mut confinement = Self { on, strength: 0.0 };
        confinement.update(ingest)?;
        Ok(Some(confinement))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.strength = ingest.values().number("strength")?;
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let stores = || self.on.iter().map(|(_, field)| StoreId::from(field.volume));
        on.task(Stage::AddForces, "confine vortices", Self::push)
            .reads(stores().flat_map(|store| store.channels(["v-before", "cells"])))
            .accumulates(stores().map(|store| store.channel("v")));
    }
}

impl Confinement {
    fn push(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        if self.strength == 0.0 {
            return Ok(());
        }
        for (object, field) in &self.on {
            let domain = &world.domains[world.object(*object).domain];
            let kick = (self.strength * now.step) as f32;
            confine(domain, &world.volumes[field.volume], field, kick)?;
        }
        Ok(())
    }
}

/// How far around a Bucket its velocities count [voxels].
const REACH: usize = 3;
/// Cells along the vorticities of a Bucket, with one around it.
const WIDTH: usize = 10;

/// Adds to the velocity of a fluid what confinement does to the one that the step began with; `kick` is ε·Δt [s]. Collective.
pub fn confine(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    kick: f32,
) -> Result<()> {
    let mut scratch = DiscreteVolume::on("confinement", domain, volume.topology().clone());
    let mut add =
        |name: &str| scratch.add_channel(&ChannelSpec::new(name, 0.0_f32), VoxelShape::CELLS);
    let kicks: [Handle<f32>; 3] = [add("kick.x")?, add("kick.y")?, add("kick.z")?];
    let voxel = domain.frame().voxel_size(0) as f32;
    let accessor = Accessor::new("confine vortices", domain).over(volume.topology());
    let access = (
        volume.own(field.cells.words),
        field.velocity_before.faces.map(|face| volume.around(face, REACH as u8)),
        kicks.map(|channel| scratch.write(channel)),
    );
    let tile = || Tile::new(Resolution::R8, Pad::both(REACH as u8), 0.0_f32);
    accessor.run_with(
        access,
        || ([tile(), tile(), tile()], vec![Vec3::ZERO; WIDTH.pow(3)], vec![0.0; WIDTH.pow(3)]),
        |(tiles, curls, sizes), _, (cells, velocity, kicks)| {
            if cells.iter().all(|word| *word == 0) {
                return;
            }
            for (tile, faces) in tiles.iter_mut().zip(velocity) {
                faces.load(tile);
            }
            find_curls(tiles, 1.0 / voxel, curls, sizes);
            let [kick_x, kick_y, kick_z] = kicks;
            for n in 0..512 {
                if cells[n >> 6] >> (n & 63) & 1 == 0 {
                    continue;
                }
                let at = ((n >> 6) + 1) * WIDTH * WIDTH + ((n >> 3 & 7) + 1) * WIDTH + (n & 7) + 1;
                let slope = Vec3::new(
                    sizes[at + WIDTH * WIDTH] - sizes[at - WIDTH * WIDTH],
                    sizes[at + WIDTH] - sizes[at - WIDTH],
                    sizes[at + 1] - sizes[at - 1],
                );
                let towards = slope.normalize_or_zero();
                let push = kick * voxel * sizes[at] * towards.cross(curls[at]);
                (kick_x[n], kick_y[n], kick_z[n]) = (push.x, push.y, push.z);
            }
        },
    )?;
    let access = (
        kicks.map(|channel| scratch.around(channel, 1)),
        field.velocity.faces.map(|face| volume.write(face)),
    );
    accessor.run(access, |_, (kicks, velocity)| {
        for (axis, (kick, velocity)) in kicks.into_iter().zip(velocity).enumerate() {
            let (x, y, z) = crate::pressure::layers::step(axis, -1);
            let below = crate::pressure::layers::lower(axis, kick.chunk(), kick.neighbour(x, y, z));
            for ((velocity, own), below) in velocity.iter_mut().zip(kick.chunk()).zip(&below) {
                *velocity += 0.5 * (own + below);
            }
        }
    })?;
    Ok(())
}

/// The vorticity [1/s] of the cells of a Bucket and of those around it, and its size.
fn find_curls(tiles: &[Tile<f32>; 3], per_voxel: f32, curls: &mut [Vec3], sizes: &mut [f32]) {
    let (row, slab) = (tiles[0].row(), tiles[0].slab());
    let steps = [slab, row, 1];
    let [u, v, w] = tiles.each_ref().map(Tile::values);
    // The velocity across an axis in the middle of a cell, twice.
    let middle = |of: &[f32], axis: usize, at: usize| of[at] + of[at + steps[axis]];
    // Its derivative along another axis, from the cells before and after.
    let slope = |of: &[f32], axis: usize, along: usize, at: usize| {
        let step = steps[along];
        0.25 * per_voxel * (middle(of, axis, at + step) - middle(of, axis, at - step))
    };
    for x in 0..WIDTH {
        for y in 0..WIDTH {
            for z in 0..WIDTH {
                let at = (x + REACH - 1) * slab + (y + REACH - 1) * row + z + REACH - 1;
                let curl = Vec3::new(
                    slope(w, 2, 1, at) - slope(v, 1, 2, at),
                    slope(u, 0, 2, at) - slope(w, 2, 0, at),
                    slope(v, 1, 0, at) - slope(u, 0, 1, at),
                );
                let n = (x * WIDTH + y) * WIDTH + z;
                (curls[n], sizes[n]) = (curl, curl.length());
            }
        }
    }
}
