//! What the mesh of a liquid's surface carries is what its particles have: no vertex is older or faster than all of them.

use super::scene::{advance, parsed, prepared};
use crate::page::Case;
use crate::verdict::Verdict;
use undine::cache::FrameId;
use undine::frames::{Content, FrameError, StageFile, each_file};
use undine_core::glam::DVec3;

/// The case.
pub const CARRIED: Case = Case {
    name: "outside-surface-carried",
    doc: "The mesh of a drop and a jet that meet has ages and velocities within those of the particles in the same frame: means of them, as \
          a mesh carries, are no more than what they are of. Twelve frames, at two resolutions.",
    run: || run().unwrap_or_else(Verdict::broken),
};

/// The last frame.
const LAST: i64 = 13;

fn scene(voxel: &str) -> String {
    format!(
        r#"
setup "carried" fps=24 frames={LAST} cfl=2
input "ball" {{
    sphere radius="8 cm" centre="0 40 0 cm"
}}
input "nozzle" {{
    sphere radius="5 cm" centre="-20 60 0 cm"
}}
input "floor" {{
    plane
}}
group "water" {{
    hybrid "water" input="ball" voxel="{voxel}"
    source input="nozzle" velocity="1 0 0 m/s"
    walls
    pressure
    surface
    collider "floor" input="floor"
}}
gravity
output dir="cache" format="ply"
"#
    )
}

/// What the points of a file of a frame carry.
#[derive(Default)]
struct Points {
    /// [s]
    ages: Vec<f64>,
    /// [m/s]
    velocities: Vec<DVec3>,
}

/// What of vertices no particle has.
#[derive(Default)]
struct Beyond {
    vertices: usize,
    ages: usize,
    components: usize,
    /// The speed of the fastest vertex over that of the fastest particle, in any frame.
    fastest: f64,
}

impl Beyond {
    fn frame(&mut self, mesh: &Points, particles: &Points) {
        let beyond = |of_mesh: Vec<f64>, of_particles: Vec<f64>| {
            let least = of_particles.iter().copied().fold(f64::INFINITY, f64::min);
            let most = of_particles.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            of_mesh.iter().filter(|value| !(least..=most).contains(*value)).count()
        };
        self.vertices += mesh.velocities.len();
        self.ages += beyond(mesh.ages.clone(), particles.ages.clone());
        for axis in 0..3 {
            let along = |points: &Points| points.velocities.iter().map(|v| v[axis]).collect();
            self.components += beyond(along(mesh), along(particles));
        }
        let fastest =
            |points: &Points| points.velocities.iter().map(|v| v.length()).fold(0.0, f64::max);
        self.fastest = self.fastest.max(fastest(mesh) / fastest(particles));
    }
}

fn beyond(voxel: &str) -> Result<Beyond, FrameError> {
    let scene = parsed(&scene(voxel));
    let mut simulation = prepared(&scene);
    let mut stage = StageFile::default();
    let mut found = Beyond::default();
    for frame in 2..=LAST {
        advance(&mut simulation, 1)?;
        let (mut mesh, mut particles) = (Points::default(), Points::default());
        each_file::<FrameError>(
            &scene,
            &simulation,
            FrameId::whole(frame),
            &mut stage,
            |name, content| {
                let Content::Ply(geometry, _) = content else { return Ok(()) };
                let of = match name {
                    "water-surface.ply" => &mut mesh,
                    "water-water.ply" => &mut particles,
                    _ => return Ok(()),
                };
                let channel = |name: &str| geometry.points.channels.get(name);
                of.ages =
                    channel("age").and_then(|it| it.numbers()).unwrap_or_default().into_owned();
                of.velocities =
                    channel("v").and_then(|it| it.vectors()).unwrap_or_default().into_owned();
                Ok(())
            },
        )?;
        found.frame(&mesh, &particles);
    }
    Ok(found)
}

fn run() -> Result<Verdict, FrameError> {
    let mut verdict = Verdict::new();
    for (voxel, least) in [("2 cm", 10_000.0), ("1 cm", 40_000.0)] {
        let Beyond { vertices, ages, components, fastest } = beyond(voxel)?;
        let name = |what: &str| format!("{what}, voxels of {voxel}");
        verdict = verdict
            .at_least(&name("vertices of all frames"), vertices as f64, least)
            .same(&name("ages that no particle has"), ages, 0)
            .same(&name("components of velocity that no particle has"), components, 0)
            // The length of a mean in single precision.
            .at_most(&name("fastest vertex over fastest particle"), fastest, 1.0 + 1e-6);
    }
    Ok(verdict)
}
