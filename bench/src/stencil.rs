//! A 7-point Laplacian through an Accessor: how close a kernel over sparse Buckets comes to memory bandwidth.
//!
//! First over a dense cube of Buckets, then over a shell (a sphere two Buckets thick) of about as many Buckets. Useful
//! bytes are one `f32` read and one written per voxel.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::measure::Measured;
use multiversion::multiversion;
use undine_core::access::VoxelNeighbourhood;
use undine_core::glam::{DVec3, IVec3};
use undine_core::volume::VoxelShape;
use undine_core::{
    Accessor, Bucket, BucketSet, ChannelSpec, DiscreteVolume, Frame, GridDomain, Handle,
};

/// The `stencil` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "stencil",
    doc: "7-point Laplacian over SIZE³ voxels in Buckets, and over a sparse shell of as many; one voxel is one unit",
    default_size: 256,
    peers: &[],
    run,
};

struct Field {
    domain: GridDomain,
    volume: DiscreteVolume,
    heat: Handle<f32>,
    laplacian: Handle<f32>,
}

fn run(context: &Context) -> Result<Outcome> {
    if context.size > 2048 {
        return Err(format!(
            "a size of {} is too large: at most 2048 voxels along an edge",
            context.size
        )
        .into());
    }
    let edge = context.size.div_ceil(8) as i32;
    let cells =
        (0..edge * edge * edge).map(|n| IVec3::new(n / (edge * edge), n / edge % edge, n % edge));
    let cube = Field::new(BucketSet::from_buckets(cells.map(|cell| Bucket::at(0, cell)))?)?;
    let memory = cube.volume.memory()?.total() + cube.volume.topology().memory().total();
    let overhead = memory as f64 / (cube.volume.memory()?.raw as f64) - 1.0;
    let dense = cube.measure(context)?;
    let shell = Field::new(shell((edge as f64).powi(3))?)?.measure(context)?;
    Ok(Outcome::new(dense)
        .mem_bytes(memory)
        .also("shell", shell)
        .with("overhead", crate::report::Value::Number(overhead)))
}

/// The Buckets of a sphere two Buckets thick, about `count` of them: 8πr² = count.
fn shell(count: f64) -> Result<BucketSet> {
    let radius = (count / (8.0 * std::f64::consts::PI)).sqrt();
    let reach = radius as i32 + 3;
    let width = 2 * reach + 1;
    let cells = (0..width.pow(3))
        .map(|n| IVec3::new(n / (width * width), n / width % width, n % width) - reach);
    let near = cells.filter(|cell| (cell.as_dvec3().length() - radius).abs() < 1.0);
    Ok(BucketSet::from_buckets(near.map(|cell| Bucket::at(0, cell)))?)
}

impl Field {
    fn new(buckets: BucketSet) -> Result<Self> {
        let mut domain = GridDomain::new("stencil", Frame::new(DVec3::ZERO, 0.01)?);
        domain.set_buckets(&buckets)?;
        let mut volume = DiscreteVolume::new("field", &domain);
        let heat = volume.add_channel(&ChannelSpec::new("heat", 0.0_f32), VoxelShape::CELLS)?;
        let laplacian =
            volume.add_channel(&ChannelSpec::new("laplacian", 0.0_f32), VoxelShape::CELLS)?;
        let field = Self { domain, volume, heat, laplacian };
        Accessor::new("initial heat", &field.domain).run(
            field.volume.write(heat),
            |here, heat| {
                let start = here.bucket.coord * 8;
                for (n, heat) in heat.iter_mut().enumerate() {
                    let cell = start + IVec3::new(n as i32 >> 6, n as i32 >> 3 & 7, n as i32 & 7);
                    *heat = (cell.x * 3 + cell.y * 5 + cell.z * 7).rem_euclid(31) as f32;
                }
            },
        )?;
        Ok(field)
    }

    fn measure(mut self, context: &Context) -> Result<Measured> {
        let voxels = self.volume.topology().local() as u64 * 512;
        context.work("voxels", voxels).bytes(voxels * 8).measure(
            &mut self,
            |field| {
                let access =
                    (field.volume.around(field.heat, 1), field.volume.write(field.laplacian));
                Accessor::new("laplacian", &field.domain)
                    .run(access, |_, (heat, laplacian)| laplace(&heat, laplacian))?;
                Ok(())
            },
            |field, hash| {
                if let Ok(column) = field.volume.column(field.laplacian) {
                    (0..field.volume.topology().local() as u32)
                        .for_each(|slot| hash.write(column.chunk(slot)));
                }
            },
        )
    }
}

/// Slab by slab along x, rows of eight along z. The slabs beside it come from this Bucket or its neighbours along x, the
/// row beside it likewise along y; along z the row itself is shifted by one.
#[multiversion(targets("x86_64+avx2"))]
fn laplace(heat: &VoxelNeighbourhood<'_, f32>, laplacian: &mut [f32]) {
    let slabs = |x, y, z| -> &[[[f32; 8]; 8]; 8] {
        bytemuck::cast_slice(heat.neighbour(x, y, z))[0..8].try_into().expect("8³ voxels")
    };
    let (own, left, right) = (slabs(0, 0, 0), slabs(-1, 0, 0), slabs(1, 0, 0));
    let (front, back, below, above) =
        (slabs(0, -1, 0), slabs(0, 1, 0), slabs(0, 0, -1), slabs(0, 0, 1));
    let laplacian: &mut [[[f32; 8]; 8]; 8] =
        bytemuck::cast_slice_mut(laplacian).try_into().expect("8³ voxels");
    // The faces along z lie one value to a row: gathered first, all their cache lines are under way at once.
    let face = |chunk: &[[[f32; 8]; 8]; 8], z: usize| -> [[f32; 8]; 8] {
        std::array::from_fn(|x| std::array::from_fn(|y| chunk[x][y][z]))
    };
    let (below, above) = (face(below, 7), face(above, 0));
    for (x, out) in laplacian.iter_mut().enumerate() {
        let middle = &own[x];
        let (x_minus, x_plus) =
            (if x > 0 { &own[x - 1] } else { &left[7] }, own.get(x + 1).unwrap_or(&right[0]));
        for y in 0..8 {
            // Rows by value stay in registers.
            let row = middle[y];
            let y_minus = if y > 0 { &middle[y - 1] } else { &front[x][7] };
            let y_plus = if y < 7 { &middle[y + 1] } else { &back[x][0] };
            let sides = [x_minus[y], x_plus[y], *y_minus, *y_plus];
            let (first, last) = (below[x][y], above[x][y]);
            let lower: [f32; 8] = std::array::from_fn(|z| if z > 0 { row[z - 1] } else { first });
            let upper: [f32; 8] = std::array::from_fn(|z| if z < 7 { row[z + 1] } else { last });
            out[y] = std::array::from_fn(|z| {
                let along_xy = (sides[0][z] + sides[1][z]) + (sides[2][z] + sides[3][z]);
                along_xy + (lower[z] + upper[z]) - 6.0 * row[z]
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_laplacian_agrees_with_a_sum_over_neighbours() {
        let field = Field::new(shell(60.0).unwrap()).unwrap();
        let access = (field.volume.around(field.heat, 1), field.volume.write(field.laplacian));
        Accessor::new("laplacian", &field.domain)
            .run(access, |_, (heat, laplacian)| {
                laplace(&heat, laplacian);
                for n in 0..512_i32 {
                    let (x, y, z) = (n >> 6, n >> 3 & 7, n & 7);
                    let sum = heat.at(x - 1, y, z)
                        + heat.at(x + 1, y, z)
                        + heat.at(x, y - 1, z)
                        + heat.at(x, y + 1, z)
                        + heat.at(x, y, z - 1)
                        + heat.at(x, y, z + 1);
                    assert_eq!(laplacian[n as usize], sum - 6.0 * heat.at(x, y, z));
                }
            })
            .unwrap();
    }
}
