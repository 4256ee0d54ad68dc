//! A mesh becomes a level set: a torus of a million triangles, most of them smaller than a voxel, to signed distances in a
//! narrow band. Everything from triangles to voxels is timed.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::peers::OPENVDB_MESH;
use crate::report::Value;
use undine_core::glam::DVec3;
use undine_core::{Frame, GridDomain};
use undine_geometry::Inside;
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::{Triangles, gallery};

/// The `mesh-sdf` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "mesh-sdf",
    doc: "a torus of 1 million triangles, SIZE voxels across, to a band of 3 voxels on either side; one triangle is one unit",
    default_size: 256,
    peers: &[OPENVDB_MESH],
    run,
};

/// Quads along the ring and around the tube; `peers/openvdb_mesh.py` has the same.
const QUADS: [u32; 2] = [1000, 500];

fn run(context: &Context) -> Result<Outcome> {
    let frame = Frame::new(DVec3::ZERO, 1.0 / context.size as f64)?;
    // One metre across.
    let mesh = gallery::torus(0.35, 0.15, QUADS[0], QUADS[1]);
    let triangles = mesh.len() as u64;
    let mut state = State { domain: GridDomain::new("torus", frame), mesh, set: None };
    let made = context.work("triangles", triangles).measure(
        &mut state,
        State::voxelize,
        |state, hash| {
            let Some(set) = &state.set else { return };
            let Ok(column) = set.column() else { return };
            (0..set.topology().local() as u32).for_each(|slot| hash.write(column.chunk(slot)));
        },
    )?;
    let set = state.set.take().ok_or("no level set was made")?;
    let column = set.column()?;
    let voxels: usize = (0..set.topology().local() as u32)
        .map(|slot| column.chunk(slot).iter().filter(|d| d.abs() < set.width()).count())
        .sum();
    Ok(Outcome::new(made)
        .mem_bytes(set.volume().memory()?.total())
        .with("buckets", Value::Count(set.topology().local() as u64))
        .with("band_voxels", Value::Count(voxels as u64)))
}

struct State {
    domain: GridDomain,
    mesh: Triangles,
    set: Option<LevelSet>,
}

impl State {
    fn voxelize(&mut self) -> Result<()> {
        let (domain, mesh) = (&self.domain, &self.mesh);
        let set = LevelSet::of_mesh("torus", domain, mesh, Extent::NARROW, Inside::default())?;
        self.set = Some(set);
        Ok(())
    }
}
