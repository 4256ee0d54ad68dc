//! Which quantities of a frame are drawn, and where.

use super::stats::Frame;
use undine_render::plot::{Axis, Unit};

/// A plot of lines over frames.
pub(super) struct Chart {
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    pub y: Axis,
    pub quantities: Vec<(&'static str, Quantity)>,
}

/// What a line shows of a frame.
pub(super) type Quantity = fn(&Frame) -> f64;

/// Every plot of lines whose quantities are the same for all runs, in the order of the page.
pub(super) fn charts() -> Vec<Chart> {
    vec![
        Chart {
            name: "counts",
            title: "Particles and points",
            about: "How many particles and points of bodies there are in each frame.",
            y: Axis::new("", Unit::Count),
            quantities: vec![("particles", |f| f.particles), ("points of bodies", |f| f.points)],
        },
        Chart {
            name: "voxels",
            title: "Voxels",
            about: "How many voxels there are in each frame.",
            y: Axis::new("", Unit::Count),
            quantities: vec![("voxels", |f| f.voxels)],
        },
        Chart {
            name: "buckets",
            title: "Buckets",
            about: "How many Buckets hold something in each frame.",
            y: Axis::new("", Unit::Count),
            quantities: vec![("Buckets", |f| f.buckets)],
        },
        Chart {
            name: "memory",
            title: "Memory",
            about: "What channels take in each frame, and the most that the process has had by then.",
            y: Axis::new("", Unit::Prefixed("B")),
            quantities: vec![("channels", |f| f.memory), ("process, peak", |f| f.process_memory)],
        },
        Chart {
            name: "mass",
            title: "Mass",
            about: "The mass of everything in each frame.",
            y: Axis::new("", Unit::Plain("kg")).free(),
            quantities: vec![("mass", |f| f.mass)],
        },
        Chart {
            name: "momentum",
            title: "Momentum",
            about: "The momentum of everything in each frame, along each axis.",
            y: Axis::new("", Unit::Plain("kg m/s")),
            quantities: vec![
                ("x", |f| f.momentum[0]),
                ("y", |f| f.momentum[1]),
                ("z", |f| f.momentum[2]),
            ],
        },
        Chart {
            name: "cfl",
            title: "Courant number",
            about: "How many voxels the fastest thing crosses in a substep, at most, in each frame.",
            y: Axis::new("voxels crossed in a substep", Unit::Plain("")),
            quantities: vec![("CFL", |f| f.where_stepped(f.cfl))],
        },
        Chart {
            name: "substeps",
            title: "Substeps",
            about: "How many substeps and Newton iterations each frame takes.",
            y: Axis::new("per frame", Unit::Count),
            quantities: vec![
                ("substeps", |f| f.where_stepped(f.substeps)),
                ("Newton iterations", |f| f.where_stepped(f.newton)),
            ],
        },
        Chart {
            name: "steps",
            title: "Length of substeps",
            about: "The shortest and the longest substep of each frame, in simulated time.",
            y: Axis::new("simulated time", Unit::Prefixed("s")),
            quantities: vec![("shortest", |f| f.shortest_step), ("longest", |f| f.longest_step)],
        },
    ]
}
