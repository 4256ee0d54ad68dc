//! Balls in oil: one that settles in a cylinder, one that spins in a round tank, and one that spins half under the surface.

use super::scene::{advance, of_points, simulation, with_falling};
use crate::page::Case;
use crate::verdict::Verdict;
use undine_core::glam::DVec3;
use undine_sim::{Result, SimError};

/// A ball in a cylinder.
pub const SETTLING: Case = Case {
    name: "outside-viscous-settling",
    doc: "A ball in a cylinder five times as wide settles at Stokes' speed / 1.68 (Haberman & Sayre 1958), at three resolutions, in steps of \
          νΔt = a²/20.",
    run: || settling().unwrap_or_else(Verdict::broken),
};

/// A ball that spins.
pub const SPINNING: Case = Case {
    name: "outside-viscous-spinning",
    doc: "A spinning ball in a round tank of three times its radius slows as ∂ω/∂t = ν(ω'' + 4ω'/r) and the torque 8/3 πμa⁴ω' say, at three \
          resolutions, in steps of νΔt = a²/400.",
    run: || spinning(false).unwrap_or_else(Verdict::broken),
};

/// A ball that spins and floats.
pub const FLOATING: Case = Case {
    name: "outside-viscous-floating",
    doc: "A ball of half the density that floats in the middle of a bowl of three times its radius, and spins, slows as one under the surface \
          does.",
    run: || spinning(true).unwrap_or_else(Verdict::broken),
};

/// [kg/m³]
const OIL: f64 = 1000.0;
/// The radius of the ball [m].
const RADIUS: f64 = 0.05;
/// Kinematic viscosity [m²/s].
const NU: f64 = 0.005;

const COARSE: &str = "4 voxels do not resolve the layer around a ball that begins to spin";

/// A ball in the middle of a tank, which is not where the lattice has its planes.
struct Tank {
    /// The shape of the tank.
    room: &'static str,
    /// How it is filled.
    filling: &'static str,
    /// Voxels to the radius of the ball.
    cells: f64,
    /// Of the ball [kg/m³].
    density: f64,
    /// About y, to begin with [rad/s].
    spin: f64,
    /// [m/s²]
    gravity: f64,
    /// How long a step is [a²/ν].
    step: f64,
}

impl Tank {
    fn scene(&self) -> String {
        let Self { room, filling, cells, density, spin, gravity, step } = self;
        let (fps, voxel, viscosity) = (NU / (step * RADIUS * RADIUS), RADIUS / cells, NU * OIL);
        format!(
            r#"
setup "oil" fps={fps} frames=999 substeps=1
input "tank" {{
    {room} centre="3.1 1.7 -2.3 mm"
    invert
}}
input "oil" {{
    {room} centre="3.1 1.7 -2.3 mm"
    {filling}
}}
input "ball" {{
    sphere radius="5 cm" centre="3.1 1.7 -2.3 mm"
}}
hybrid "oil" input="oil" voxel="{voxel} m" density="{OIL} kg/m3"
rigid-body "ball" input="ball" density="{density} kg/m3" spin="0 {spin} 0 rad/s"
collider "tank" input="tank"
walls
viscosity viscosity="{viscosity} Pa·s"
pressure
gravity acceleration="0 {} 0 m/s2"
"#,
            -gravity
        )
    }

    /// The speed at which the ball sinks [m/s] and its spin about y [rad/s], after each of some steps.
    fn run(&self, steps: usize) -> Result<Vec<[f64; 2]>> {
        let mut simulation = simulation(&self.scene());
        let mut all = Vec::new();
        for _ in 0..steps {
            advance(&mut simulation, 1)?;
            let of_ball = |channel| Ok::<DVec3, SimError>(of_points(&simulation, channel)?[0]);
            // The moments of a ball are the same about all axes.
            let spin = of_ball("angular-momentum")?.y / of_ball("inertia")?.y;
            all.push([-of_ball("v")?.y, spin]);
        }
        Ok(all)
    }
}

fn settling() -> Result<Verdict> {
    let (density, gravity) = (1.5 * OIL, 0.1);
    let stokes = 2.0 / 9.0 * (density / OIL - 1.0) * gravity * RADIUS * RADIUS / NU;
    let room = r#"cylinder radius="25 cm" height="100 cm""#;
    let mut verdict = Verdict::new();
    let mut errors = Vec::new();
    for cells in [3.0, 4.5, 6.0] {
        let tank = Tank { room, filling: "", cells, density, spin: 0.0, gravity, step: 0.05 };
        let found = tank.run(80)?;
        let mean = found[60..].iter().map(|[speed, _]| speed).sum::<f64>() / 20.0;
        let part = 1.68 * mean / stokes;
        errors.push((part - 1.0).abs());
        let name = format!("speed over that of Haberman & Sayre, {cells} voxels to the radius");
        verdict = verdict.near(&name, part, 1.0, if cells == 6.0 { 0.1 } else { 0.3 });
    }
    Ok(with_falling(verdict, "errors from coarse to fine", &errors))
}

fn spinning(floats: bool) -> Result<Verdict> {
    let (step, steps) = (0.0025, 40);
    let exact = radial(step, steps);
    let room = r#"sphere radius="15 cm""#;
    let (filling, density, gravity) = match floats {
        false => ("", OIL, 0.0),
        true => (r#"subtract { box size="40 40 40 cm" centre="0 201.7 0 mm"; }"#, 0.5 * OIL, 9.81),
    };
    let mut verdict = Verdict::new();
    let mut errors = Vec::new();
    for cells in [4.0, 6.0, 8.0] {
        let tank = Tank { room, filling, cells, density, spin: 2.0, gravity, step };
        let found = tank.run(steps)?;
        let parts = found.iter().map(|[_, spin]| spin / tank.spin);
        let worst = parts.zip(&exact).map(|(part, exact)| (part / exact - 1.0).abs());
        errors.push(worst.fold(0.0, f64::max));
        let name = format!("largest error of the spin, {cells} voxels to the radius");
        let error = errors[errors.len() - 1];
        verdict = match cells < 6.0 {
            true => verdict.at_most_or(&name, error, [0.05, 0.15], COARSE),
            false => verdict.at_most(&name, error, 0.05),
        };
    }
    let left = format!("{:.3}", exact[steps - 1]);
    let verdict = verdict.figure("part of the spin that is left", left, "what is solved for", true);
    Ok(with_falling(verdict, "errors from coarse to fine", &errors))
}

/// The spin of a ball of the liquid's density over that of the start, at multiples of a time in units of a²/ν, with the liquid at
/// rest to begin with: ω = 0 at r = 3a, and 8/15 πρa⁵ dω/dt = 8/3 πμa⁴ω' at r = a, which is conservative in r⁴ω.
fn radial(step: f64, count: usize) -> Vec<f64> {
    const CELLS: usize = 800;
    const SMALLER: usize = 100;
    let (h, dt) = (2.0 / CELLS as f64, step / SMALLER as f64);
    let radius = |n: usize| 1.0 + n as f64 * h;
    let shell = |n: usize| (radius(n + 1).powi(5) - radius(n).powi(5)) / 5.0;
    let inertia: Vec<f64> = [0.2].into_iter().chain((0..CELLS).map(shell)).collect();
    // Between each and the next; the surfaces of ball and tank are half a shell away.
    let ends = |n: usize| if n == 0 || n == CELLS { 2.0 } else { 1.0 };
    let flux: Vec<f64> = (0..=CELLS).map(|n| ends(n) * radius(n).powi(4) / h).collect();
    let mut spin = vec![0.0; CELLS + 1];
    spin[0] = 1.0;
    let mut all = Vec::new();
    for n in 1..=count * SMALLER {
        let mut eliminated: Vec<[f64; 2]> = Vec::with_capacity(CELLS + 1);
        for (n, (inertia, spin)) in inertia.iter().zip(&spin).enumerate() {
            let before = n.checked_sub(1).map(|n| (dt * flux[n], eliminated[n]));
            let (below, [c, d]) = before.unwrap_or_default();
            let pivot = inertia + below * (1.0 - c) + dt * flux[n];
            eliminated.push([dt * flux[n] / pivot, (inertia * spin + below * d) / pivot]);
        }
        let mut next = 0.0;
        for (spin, [c, d]) in spin.iter_mut().zip(eliminated).rev() {
            next = c * next + d;
            *spin = next;
        }
        if n % SMALLER == 0 {
            all.push(spin[0]);
        }
    }
    all
}
