//! Three threads of ink wound up by a whirl: particles on sparse Buckets that follow them, a MAC velocity
//! on the same Buckets, and a picture at the end.
//!
//! `cargo run --release -p undine-core --example vortex [-- PICTURE.png]`

use std::error::Error;
use std::f32::consts::TAU;
use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use undine_core::glam::{DVec3, Mat3, Vec3};
use undine_core::volume::{Axis, Interpolation, MacHandle, MacSampler, Resolution};
use undine_core::{
    Accessor, ChannelSpec, DiscreteVolume, Frame, GridDomain, Handle, ParticleSystem,
};

/// The width of a voxel [m].
const VOXEL: f64 = 0.03;
/// Particles in each thread of ink.
const THREAD: u64 = 150_000;
/// The time step [s], and how many there are.
const STEP: f32 = 0.05;
const STEPS: u32 = 140;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "vortex.png".into());
    // Before the work is done, not after it: whether the picture can be written at all.
    let file = PictureFile::create(Path::new(&path))
        .map_err(|why| format!("cannot write {path}: {why}"))?;
    let mut tank = Tank::new()?;
    let start = Instant::now();
    for step in 1..=STEPS {
        tank.follow_the_ink()?;
        tank.stir(step as f32 * STEP)?;
        tank.advect()?;
        tell(step, start.elapsed().as_secs_f64(), &tank.ink)?;
    }
    let memory = tank.ink.memory()?;
    println!(
        "{:.1} million particle-steps per second; {:.0} MB of particles, {:.1} % of that beyond their channels",
        tank.ink.len() as f64 * f64::from(STEPS) / start.elapsed().as_secs_f64() / 1e6,
        memory.total() as f64 / 1e6,
        100.0 * memory.overhead_ratio(),
    );
    let picture = tank.picture(1280, 720)?;
    picture.write(file).map_err(|why| format!("cannot write {path}: {why}"))?;
    println!("wrote {path}");
    Ok(())
}

/// Progress and time left: a line that changes on a terminal, a line now and then elsewhere.
fn tell(step: u32, spent: f64, ink: &ParticleSystem) -> std::io::Result<()> {
    let mut out = std::io::stderr();
    let live = out.is_terminal();
    if !live && !step.is_multiple_of(STEPS / 6) {
        return Ok(());
    }
    let left = spent / f64::from(step) * f64::from(STEPS - step);
    let (particles, buckets) = (ink.len(), ink.topology().local());
    let (start, end) =
        (if live { "\r" } else { "" }, if live && step < STEPS { "   " } else { "\n" });
    write!(
        out,
        "{start}  step {step}/{STEPS}: {particles} particles in {buckets} Buckets, {left:.0} s left{end}"
    )?;
    out.flush()
}

struct Tank {
    domain: GridDomain,
    water: DiscreteVolume,
    velocity: MacHandle,
    ink: ParticleSystem,
    /// Which thread a particle belongs to.
    thread: Handle<u32>,
}

impl Tank {
    fn new() -> Result<Self, Box<dyn Error>> {
        let domain = GridDomain::new("tank", Frame::new(DVec3::ZERO, VOXEL)?);
        let mut water = DiscreteVolume::new("water", &domain);
        let velocity = water.add_mac("velocity", "m/s", Resolution::R8)?;
        let mut ink = ParticleSystem::new("ink", &domain)?;
        let thread = ink.add_channel(&ChannelSpec::new("thread", 0_u32))?;

        // Three threads like the spokes of a wheel.
        for spoke in 0..3_u32 {
            let direction = f64::from(spoke) * f64::from(TAU) / 3.0;
            let along = DVec3::new(direction.cos(), 0.0, direction.sin());
            let point = |n: u64| {
                let [u, v, w] = random(n);
                let (angle, radius) = (f64::from(TAU) * v, 0.09 * w.sqrt());
                let beside = along.cross(DVec3::Y) * angle.cos() + DVec3::Y * angle.sin();
                along * (0.12 + 1.5 * u) + beside * radius
            };
            let points: Vec<DVec3> = (0..THREAD).map(point).collect();
            let mut batch = ink.batch(&points)?;
            batch.set("thread", &vec![spoke; points.len()])?;
            ink.append(&domain, batch)?;
        }
        Ok(Self { domain, water, velocity, ink, thread })
    }

    /// Buckets exist where ink is, and one further, so that its surroundings can be sampled.
    fn follow_the_ink(&mut self) -> undine_core::Result<()> {
        self.domain.set_buckets(&self.ink.topology().all().dilate(1)?)?;
        self.water.follow(self.domain.topology())
    }

    /// Sets the velocity on every face of the Buckets.
    fn stir(&mut self, time: f32) -> undine_core::Result<()> {
        for axis in Axis::ALL {
            let faces = self.velocity.faces[axis.index()];
            let centring = self.water.column(faces)?.shape().centring.offset();
            Accessor::new("stir", &self.domain).run(
                self.water.write(faces),
                |here, velocity| {
                    let corner = here.topology.frame().corner(here.bucket).as_vec3();
                    for (n, velocity) in velocity.iter_mut().enumerate() {
                        let voxel = Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32);
                        *velocity =
                            flow(corner + (voxel + centring) * VOXEL as f32, time)[axis.index()];
                    }
                },
            )?;
        }
        Ok(())
    }

    /// Moves every particle through the velocity by Ralston's third-order method.
    fn advect(&mut self) -> undine_core::Result<()> {
        let faces = [
            self.water.column(self.velocity.faces[0])?,
            self.water.column(self.velocity.faces[1])?,
            self.water.column(self.velocity.faces[2])?,
        ];
        let water = self.water.topology();
        let sampler =
            MacSampler::new([&faces[0], &faces[1], &faces[2]], water, Interpolation::Linear)?;
        Accessor::new("advect", &self.domain).over(self.ink.topology()).run(
            self.ink.write(self.ink.position()),
            |here, positions| {
                let Some(slot) = water.slot(here.bucket) else { return };
                for x in positions {
                    let k1 = sampler.at(slot, *x);
                    let k2 = sampler.at(slot, *x + 0.5 * STEP * k1);
                    let k3 = sampler.at(slot, *x + 0.75 * STEP * k2);
                    *x += STEP / 9.0 * (2.0 * k1 + 3.0 * k2 + 4.0 * k3);
                }
            },
        )?;
        self.ink.rebucketize(&self.domain)
    }

    /// The ink as seen from above and aside, each particle a little light.
    fn picture(&self, width: usize, height: usize) -> undine_core::Result<Picture> {
        const COLOURS: [Vec3; 3] =
            [Vec3::new(1.0, 0.36, 0.08), Vec3::new(0.05, 0.48, 1.0), Vec3::new(0.85, 0.08, 0.55)];
        let camera = Mat3::from_rotation_x(-0.62);
        let mut picture = Picture { width, height, pixels: vec![Vec3::ZERO; width * height] };
        let threads = self.ink.column(self.thread)?;
        let threads = (0..self.ink.topology().local() as u32).flat_map(|slot| threads.chunk(slot));
        for (position, &thread) in self.ink.world_positions()?.iter().zip(threads) {
            let seen = camera * (position.as_vec3() - Vec3::new(0.0, 0.35, 0.0));
            let depth = 4.6 - seen.z;
            let scale = 1.7 * height as f32 / depth;
            let (x, y) =
                (0.53 * width as f32 + seen.x * scale, 0.5 * height as f32 - seen.y * scale);
            let light = (4.6 / depth).powi(3) * 0.19;
            picture.splat(x, y, light * COLOURS[thread as usize]);
        }
        Ok(picture)
    }
}

/// A whirl that turns faster inside and rises along its axis, with waves that fold what passes [m/s].
fn flow(x: Vec3, time: f32) -> Vec3 {
    let square = x.x * x.x + x.z * x.z;
    let around = Vec3::new(-x.z, 0.0, x.x) * 1.2 / (0.25 + square);
    let rise = Vec3::Y * 0.22 * (-square / 0.3).exp();
    let wave = |k: f32, phase: f32| {
        let (a, b, c) = (k * x.x + phase, k * x.y + 1.3 * phase, k * x.z - phase);
        Vec3::new(c.sin() + b.cos(), a.sin() + c.cos(), b.sin() + a.cos())
    };
    around + rise + 0.05 * wave(2.9, 0.5 * time) + 0.035 * wave(7.1, 1.0 - time)
}

/// Three numbers from 0 to 1 that belong to `n` (the mixing function of SplitMix64, Steele et al. 2014).
fn random(n: u64) -> [f64; 3] {
    [1, 2, 3].map(|salt| {
        let mut x = (3 * n + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    })
}

/// Light that has been added up.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<Vec3>,
}

impl Picture {
    /// Adds light at a point, shared by the four pixels around it.
    fn splat(&mut self, x: f32, y: f32, light: Vec3) {
        let (left, top) = ((x - 0.5).floor(), (y - 0.5).floor());
        let (fx, fy) = (x - 0.5 - left, y - 0.5 - top);
        for (dx, dy, share) in [
            (0, 0, (1.0 - fx) * (1.0 - fy)),
            (1, 0, fx * (1.0 - fy)),
            (0, 1, (1.0 - fx) * fy),
            (1, 1, fx * fy),
        ] {
            let (column, row) = (left as i64 + dx, top as i64 + dy);
            if (0..self.width as i64).contains(&column) && (0..self.height as i64).contains(&row) {
                self.pixels[row as usize * self.width + column as usize] += share * light;
            }
        }
    }

    /// Writes a PNG: light saturates softly, on a dark blue ground that fades towards the corners.
    fn write(&self, file: PictureFile) -> Result<(), Box<dyn Error>> {
        let mut bytes = Vec::with_capacity(3 * self.pixels.len());
        for (n, &light) in self.pixels.iter().enumerate() {
            let (x, y) = (
                (n % self.width) as f32 / self.width as f32,
                (n / self.width) as f32 / self.height as f32,
            );
            let fade = (1.0 - 1.6 * ((x - 0.5).powi(2) + (y - 0.5).powi(2))).max(0.0);
            let ground = Vec3::new(0.012, 0.020, 0.040) * fade;
            let seen = Vec3::ONE - (-(light + ground)).exp();
            // Where it is bright, all colours tend to white.
            let white = seen.max_element().powi(4) * 0.35;
            let shown = seen.lerp(Vec3::ONE, white).powf(1.0 / 2.2);
            bytes.extend(shown.to_array().map(|c| (c * 255.0 + 0.5) as u8));
        }
        let mut encoder = png::Encoder::new(
            BufWriter::new(&file.unfinished),
            self.width as u32,
            self.height as u32,
        );
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&bytes)?;
        file.finish()?;
        Ok(())
    }
}

/// A picture under another name until it is finished, so that it is there whole or not at all.
struct PictureFile {
    path: PathBuf,
    unfinished_path: PathBuf,
    unfinished: File,
}

impl PictureFile {
    fn create(path: &Path) -> std::io::Result<Self> {
        let unfinished_path = path.with_extension("png.part");
        let unfinished = File::create(&unfinished_path)?;
        Ok(Self { path: path.to_owned(), unfinished_path, unfinished })
    }

    fn finish(self) -> std::io::Result<()> {
        std::fs::rename(self.unfinished_path, self.path)
    }
}
