//! A basin of liquid made by hand: the channels of a fluid on a box of Buckets, filled by formulas.

use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::volume::{MacHandle, VoxelShape};
use undine_core::{
    Bucket, BucketSet, ChannelSpec, DiscreteVolume, Frame, GridDomain, Handle, Partition,
    Processes, Single,
};
use undine_fluid::field::{Fluid, add_channels};
use undine_fluid::pressure::{Afloat, Fluid as Projectable, Projected, Settings, Tension, project};
use undine_geometry::fractions::open_area;
use undine_sim::Arena;
use undine_sim::offers::FluidField;

/// A fluid on a box of Buckets.
pub struct Basin {
    pub domain: GridDomain,
    pub volumes: Arena<DiscreteVolume>,
    pub field: FluidField,
    pub inflow: Handle<f32>,
    pub tension: Option<Tension>,
    pub voxel: f64,
}

impl Basin {
    /// From `low` to `high` in Buckets, with voxels of a size [m]; all is open, air and at rest.
    pub fn new(voxel: f64, low: [i32; 3], high: [i32; 3]) -> Self {
        Self::shared(Arc::new(Single), voxel, low, high)
    }

    /// The same, cut evenly among processes.
    pub fn shared(
        processes: Arc<dyn Processes>,
        voxel: f64,
        low: [i32; 3],
        high: [i32; 3],
    ) -> Self {
        let frame = Frame::new(DVec3::ZERO, voxel).unwrap();
        let even = Partition::even(frame, processes.count());
        let mut domain = GridDomain::distributed("basin", frame, processes, Arc::new(even));
        let range = |axis: usize| low[axis]..high[axis];
        let all = range(0)
            .flat_map(|x| range(1).flat_map(move |y| range(2).map(move |z| Bucket::new(x, y, z))));
        domain.set_buckets(&BucketSet::from_buckets(all).unwrap()).unwrap();
        domain.repartition(Arc::new(domain.balance(|_| 1.0).unwrap())).unwrap();
        let mut volumes = Arena::default();
        let id = volumes.add(DiscreteVolume::new("basin", &domain));
        let fluid = Fluid { density: 1000.0, has_surface: true, particles: None };
        let volume: &mut DiscreteVolume = &mut volumes[id];
        let field = add_channels(volume, id, voxel, fluid).unwrap();
        let spec = ChannelSpec::new("inflow", 0.0_f32).internal().transient();
        let inflow = volume.add_channel(&spec, VoxelShape::CELLS).unwrap();
        Self { domain, volumes, field, inflow, tension: None, voxel }
    }

    pub fn volume(&self) -> &DiscreteVolume {
        &self.volumes[self.field.volume]
    }

    /// Sets a channel by the place [m] that lies at `offset`, in voxels, from each cell's lower corner.
    pub fn fill(&self, channel: Handle<f32>, offset: DVec3, value: impl Fn(DVec3) -> f64) {
        let topology = self.volume().topology();
        let mut column = self.volume().column_mut(channel).unwrap();
        for slot in topology.level(0) {
            let corner = (topology.bucket(slot).coord * 8).as_dvec3() + offset;
            for (n, to) in column.chunk_mut(slot).iter_mut().enumerate() {
                *to = value(self.voxel * (corner + cell(n))) as f32;
            }
        }
    }

    /// Sets a MAC channel by axis and face centre [m].
    pub fn fill_mac(&self, mac: MacHandle, value: impl Fn(usize, DVec3) -> f64) {
        for axis in 0..3 {
            let offset = DVec3::splat(0.5) - 0.5 * DVec3::AXES[axis];
            self.fill(mac.faces[axis], offset, |at| value(axis, at));
        }
    }

    /// Fills the cells whose centre has a negative distance to the surface [m], and that walls leave something of.
    pub fn pour(&self, distance: impl Fn(DVec3) -> f64) {
        let phi = self.field.distance.unwrap();
        self.fill(phi, DVec3::splat(0.5), distance);
        let volume = self.volume();
        let phi = volume.column(phi).unwrap();
        let open = volume.column(self.field.walls.volume).unwrap();
        let mut words = volume.column_mut(self.field.cells.words).unwrap();
        for slot in volume.topology().level(0) {
            let (phi, open) = (phi.chunk(slot), open.chunk(slot));
            let wet = |n: usize| u64::from(phi[n] < 0.0 && open[n] != 0.0) << (n & 63);
            for (n, word) in words.chunk_mut(slot).iter_mut().enumerate() {
                *word = (64 * n..64 * n + 64).map(wet).sum();
            }
        }
    }

    /// Cuts a solid out of the cells, by its distance [m] (negative inside), and gives its walls a velocity [m/s].
    pub fn wall(&self, solid: impl Fn(DVec3) -> f64, velocity: impl Fn(DVec3) -> DVec3) {
        let h = self.voxel;
        self.fill_mac(self.field.walls.area, |axis, at| {
            let [a, b] = [DVec3::AXES[(axis + 1) % 3], DVec3::AXES[(axis + 2) % 3]];
            let corner = |s: f64, t: f64| solid(at + 0.5 * h * (s * a + t * b));
            let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
            open_area(corners.map(|(s, t)| corner(s, t)))
        });
        self.fill_mac(self.field.walls.velocity, |axis, at| velocity(at)[axis]);
        self.fill(self.field.walls.volume, DVec3::splat(0.5), |at| {
            let corners = (0..8).map(|n| {
                let sign = |bit: i32| if n >> bit & 1 == 0 { -0.5 } else { 0.5 };
                solid(at + h * DVec3::new(sign(0), sign(1), sign(2)))
            });
            f64::from(corners.fold(f64::NEG_INFINITY, f64::max) > 0.0)
        });
        self.fill(self.field.walls.distance, DVec3::splat(0.5), solid);
    }

    /// Projects the velocity over a step [s].
    pub fn project(&self, settings: &Settings, step: f64) -> Projected {
        self.project_with(&mut [], settings, step)
    }

    /// Projects the velocity over a step [s], with bodies.
    pub fn project_with(&self, bodies: &mut [Afloat], settings: &Settings, step: f64) -> Projected {
        let fluid = Projectable {
            domain: &self.domain,
            volume: self.volume(),
            field: &self.field,
            inflow: self.inflow,
            curvature: self.tension.map(|tension| tension.curvature),
        };
        project(&fluid, bodies, settings, step).unwrap()
    }

    /// By axis, the value of a face channel at the lower face of a cell.
    pub fn face(&self, mac: MacHandle, axis: usize, at: [i32; 3]) -> f64 {
        f64::from(self.value(mac.faces[axis], at))
    }

    /// The value of a channel in a cell.
    pub fn value(&self, channel: Handle<f32>, at: [i32; 3]) -> f32 {
        let column = self.volume().column(channel).unwrap();
        let bucket = Bucket::new(at[0] >> 3, at[1] >> 3, at[2] >> 3);
        match self.volume().topology().slot(bucket) {
            None => column.background(),
            Some(slot) => {
                let [x, y, z] = at.map(|c| (c & 7) as usize);
                column.chunk(slot)[x << 6 | y << 3 | z]
            }
        }
    }

    /// Every liquid cell: its coordinates.
    pub fn wet(&self) -> Vec<[i32; 3]> {
        let topology = self.volume().topology();
        let words = self.volume().column(self.field.cells.words).unwrap();
        let mut wet = Vec::new();
        for slot in topology.level(0) {
            let corner = topology.bucket(slot).coord * 8;
            for n in (0..512).filter(|n| words.chunk(slot)[n >> 6] >> (n & 63) & 1 != 0) {
                let [x, y, z] = [n >> 6, n >> 3 & 7, n & 7].map(|c| c as i32);
                wet.push([corner.x + x, corner.y + y, corner.z + z]);
            }
        }
        wet
    }

    /// What flows out of a cell per volume and time [1/s], walls included.
    pub fn divergence(&self, at: [i32; 3]) -> f64 {
        let walls = self.field.walls;
        let mut sum = 0.0;
        for axis in 0..3 {
            for up in [0, 1] {
                let mut face = at;
                face[axis] += up;
                let open = self.face(walls.area, axis, face);
                let flux = open * self.face(self.field.velocity, axis, face)
                    + (1.0 - open) * self.face(walls.velocity, axis, face);
                sum += if up == 1 { flux } else { -flux };
            }
        }
        sum / self.voxel
    }

    /// The largest divergence of a liquid cell that has an open face [1/s].
    pub fn largest_divergence(&self) -> f64 {
        let cells = self.wet();
        let open = |at: &[i32; 3]| {
            (0..6).any(|side| {
                let mut face = *at;
                face[side / 2] += (side % 2) as i32;
                self.face(self.field.walls.area, side / 2, face) > 1e-6
            })
        };
        cells.iter().filter(|at| open(at)).map(|at| self.divergence(*at).abs()).fold(0.0, f64::max)
    }

    /// The open faces of liquid cells, each once or twice: axis, cell above it, open area, and velocity [m/s].
    pub fn faces(&self) -> Vec<(usize, [i32; 3], f64, f64)> {
        let mut faces = Vec::new();
        for at in self.wet() {
            for side in 0..6 {
                let mut face = at;
                face[side / 2] += (side % 2) as i32;
                let area = self.face(self.field.walls.area, side / 2, face);
                if area > 1e-6 {
                    faces.push((
                        side / 2,
                        face,
                        area,
                        self.face(self.field.velocity, side / 2, face),
                    ));
                }
            }
        }
        faces
    }

    /// The largest speed on an open face of a liquid cell [m/s].
    pub fn largest_speed(&self) -> f64 {
        self.faces().into_iter().fold(0.0, |most, (.., u)| most.max(u.abs()))
    }

    /// The root of the mean square speed through the open parts of faces [m/s].
    pub fn mean_speed(&self) -> f64 {
        let faces = self.faces();
        let sum: f64 = faces.iter().map(|(.., area, u)| area * u * u).sum();
        (sum / faces.iter().map(|(.., area, _)| area).sum::<f64>()).sqrt()
    }

    /// The centre of a cell [m].
    pub fn centre(&self, at: [i32; 3]) -> DVec3 {
        self.voxel * (DVec3::from(at.map(f64::from)) + DVec3::splat(0.5))
    }
}

/// A voxel's place in its Bucket.
fn cell(n: usize) -> DVec3 {
    DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64)
}
