//! Tanks of liquid, to make pressure systems of: on one process, or shared by several.

use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::volume::{MacHandle, MaskHandle, Resolution, VoxelShape};
use undine_core::{
    Bucket, BucketSet, ChannelSpec, DiscreteVolume, Frame, GridDomain, Handle, Partition,
    Processes, Single,
};
use undine_linsolve::pressure::{InverseDensity, Open, PressureInput, Surface};

/// A box of Buckets with everything that a pressure system can be made of.
pub struct Tank {
    pub domain: GridDomain,
    pub volume: DiscreteVolume,
    pub liquid: MaskHandle,
    pub distance: Handle<f32>,
    pub diagonal: Handle<f32>,
    pub open: MacHandle,
    pub inverse_density: MacHandle,
}

impl Tank {
    /// `buckets` along each axis from `low`; liquid where `distance` at a cell's centre, in cells, is negative.
    pub fn new(low: i32, buckets: i32, distance: impl Fn(DVec3) -> f64) -> Self {
        Self::shared(Arc::new(Single), low, buckets, distance)
    }

    /// The same, cut evenly among `processes`.
    pub fn shared(
        processes: Arc<dyn Processes>,
        low: i32,
        buckets: i32,
        distance: impl Fn(DVec3) -> f64,
    ) -> Self {
        let frame = Frame::new(DVec3::ZERO, 8.0).unwrap();
        let even = Partition::even(frame, processes.count());
        let mut domain = GridDomain::distributed("tank", frame, processes, Arc::new(even));
        let all = (0..buckets.pow(3)).map(|n| {
            let (x, y, z) = (n / buckets / buckets, n / buckets % buckets, n % buckets);
            Bucket::new(low + x, low + y, low + z)
        });
        domain.set_buckets(&BucketSet::from_buckets(all).unwrap()).unwrap();
        domain.repartition(Arc::new(domain.balance(|_| 1.0).unwrap())).unwrap();

        let mut volume = DiscreteVolume::new("tank", &domain);
        let liquid = volume.add_mask("liquid", Resolution::R8).unwrap();
        let cells = VoxelShape::CELLS;
        let phi = volume.add_channel(&ChannelSpec::new("distance", 1.0_f32), cells).unwrap();
        let diagonal = volume.add_channel(&ChannelSpec::new("diagonal", 0.0_f32), cells).unwrap();
        let open = volume.add_mac("open", "", Resolution::R8).unwrap();
        let inverse_density = volume.add_mac("inverse-density", "m3/kg", Resolution::R8).unwrap();
        let tank = Self { domain, volume, liquid, distance: phi, diagonal, open, inverse_density };
        tank.fill(phi, DVec3::splat(0.5), &distance);
        let distance = tank.volume.column(phi).unwrap();
        let mut words = tank.volume.column_mut(liquid.words).unwrap();
        for slot in tank.volume.topology().level(0) {
            let wet = |voxel: usize| u64::from(distance.chunk(slot)[voxel] < 0.0) << (voxel & 63);
            for (n, word) in words.chunk_mut(slot).iter_mut().enumerate() {
                *word = (64 * n..64 * n + 64).map(wet).sum();
            }
        }
        drop((words, distance));
        tank
    }

    /// Sets a channel by the place, in cells, that lies at `offset` from each cell's lower corner.
    pub fn fill(&self, channel: Handle<f32>, offset: DVec3, value: impl Fn(DVec3) -> f64) {
        let topology = self.volume.topology();
        let mut column = self.volume.column_mut(channel).unwrap();
        for slot in topology.level(0) {
            let corner = (topology.bucket(slot).coord * 8).as_dvec3() + offset;
            for (n, to) in column.chunk_mut(slot).iter_mut().enumerate() {
                let cell = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
                *to = value(corner + cell) as f32;
            }
        }
    }

    /// Sets a MAC channel by axis and face centre.
    pub fn fill_mac(&self, mac: MacHandle, value: impl Fn(usize, DVec3) -> f64) {
        for axis in 0..3 {
            let offset = DVec3::splat(0.5) - 0.5 * DVec3::AXES[axis];
            self.fill(mac.faces[axis], offset, |at| value(axis, at));
        }
    }

    /// The plain system.
    pub fn plain(&self) -> PressureInput<'_> {
        PressureInput::from_mask(&self.volume, self.liquid)
    }

    /// Fractional faces, ghost fluid, a thousandfold jump of density, and some terms on the diagonal.
    pub fn cut(&self) -> PressureInput<'_> {
        self.fill_mac(self.open, |axis, at| {
            if at[axis] == 0.0 {
                return 0.0;
            }
            (0.5 + 0.3 * (at.x + 0.7 * at.y - 2.0 * at.z + 3.0)).clamp(0.0, 1.0)
        });
        self.fill_mac(self.inverse_density, |_, at| {
            if (at - DVec3::new(9.0, 8.0, 5.0)).length() < 4.0 { 1000.0 } else { 1.0 }
        });
        self.fill(self.diagonal, DVec3::splat(0.5), |at| if at.x > 12.0 { 0.25 } else { 0.0 });
        PressureInput {
            open: Open::Channel(self.open),
            inverse_density: InverseDensity::Channel(self.inverse_density),
            surface: Surface::Distance { distance: self.distance, smallest: 0.01 },
            diagonal: Some(self.diagonal),
            scale: 0.125,
            ..self.plain()
        }
    }

    /// The system of a tank with liquid [`in_rooms`]: faces are open within a room, and above the lake.
    pub fn close_rooms(&self) -> PressureInput<'_> {
        self.fill_mac(self.open, |axis, at| {
            let half = 0.5 * DVec3::AXES[axis];
            let (below, above) = (rooms(at - half), rooms(at + half));
            let same = below.iter().zip(above).any(|(&below, above)| below && above);
            f64::from(same || (axis == 2 && below[2]))
        });
        PressureInput { open: Open::Channel(self.open), ..self.plain() }
    }
}

/// A wavy surface at about half of `size`, and a drop above it.
pub fn waves(size: f64) -> impl Fn(DVec3) -> f64 {
    move |at| {
        let at = at / size;
        let height = 0.5 + 0.1 * (7.0 * at.x).sin() * (5.0 * at.y).cos();
        let drop = (at - DVec3::new(0.3, 0.4, 0.85)).length() - 0.1;
        size * (at.z - height).min(drop)
    }
}

/// In three Buckets along each axis: two chambers that a corridor joins, a third, and a lake under air. Which of the three a
/// place is in.
fn rooms(at: DVec3) -> [bool; 3] {
    let inside = |low: [f64; 3], high: [f64; 3]| {
        at.cmpgt(DVec3::from_array(low)).all() && at.cmplt(DVec3::from_array(high)).all()
    };
    [
        inside([1.0, 1.0, 1.0], [9.0, 7.0, 9.0])
            || inside([9.0, 3.0, 3.0], [14.0, 5.0, 5.0])
            || inside([14.0, 1.0, 1.0], [20.0, 9.0, 8.0]),
        inside([1.0, 12.0, 1.0], [9.0, 18.0, 21.0]),
        inside([12.0, 12.0, 1.0], [22.0, 22.0, 10.0]),
    ]
}

/// Liquid in all rooms.
pub fn in_rooms(at: DVec3) -> f64 {
    if rooms(at).contains(&true) { -1.0 } else { 1.0 }
}
