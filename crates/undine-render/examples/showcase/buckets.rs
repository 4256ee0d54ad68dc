//! Points with the Buckets of space that hold them, each in the colour of the process that would own it if there were four.

use crate::studio::{Outcome, Studio, camera, outdoors};
use std::f64::consts::TAU;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Bounds;
use undine_core::{Frame, GridDomain, ParticleSystem};
use undine_geometry::random::unit;
use undine_render::Display;
use undine_render::overlay::{self, BucketBox, BucketColour};
use undine_render::shot::{Colouring, Places, PointChunk, Points, Radii, Subject};

/// The side of a voxel [m].
const VOXEL: f64 = 0.02;

pub fn picture(studio: &Studio) -> Outcome<Display> {
    let domain = GridDomain::new("space", Frame::new(DVec3::ZERO, VOXEL)?);
    let mut system = ParticleSystem::new("ring", &domain)?;
    let places: Vec<DVec3> = (0..90_000).map(place).collect();
    system.append(&domain, system.batch(&places)?)?;
    // The points are drawn from where the Particle System keeps them.
    let positions = system.column(system.position())?;
    let topology = system.topology();
    let frame = topology.frame();
    let buckets = &topology.buckets()[..topology.local()];
    let chunks = buckets.iter().zip(0..).map(|(&bucket, slot)| PointChunk {
        positions: Places::Offsets { corner: frame.corner(bucket), offsets: positions.chunk(slot) },
        radii: Radii::Same(0.008),
        velocities: None,
        values: None,
    });
    let boxes: Vec<BucketBox> = buckets
        .iter()
        .enumerate()
        .map(|(n, &bucket)| {
            let min = frame.corner(bucket);
            let max = min + frame.bucket_size(bucket.level);
            BucketBox { bounds: Bounds { min, max }, level: 0, process: 4 * n / buckets.len() }
        })
        .collect();
    let subjects = vec![
        Subject::Points(Points {
            chunks: chunks.collect(),
            colouring: Colouring::Plain(Vec3::new(0.1, 0.3, 0.6)),
        }),
        Subject::Lines(overlay::buckets(&boxes, BucketColour::Process, 1.5)),
    ];
    let camera = camera([1.35, 1.3, 2.25], [0.0, 0.12, 0.02], 31.0)?;
    studio.taken(&outdoors(subjects, camera))
}

/// Where a point is: on a disc that is heaped up to a ring.
fn place(id: u64) -> DVec3 {
    let (away, turn) = (0.8 * unit(2, id).sqrt(), TAU * unit(1, id));
    let top = 0.06 + 0.35 * (-(away - 0.4).powi(2) / 0.02).exp();
    DVec3::new(away * turn.cos(), 0.008 + top * unit(3, id), away * turn.sin())
}
