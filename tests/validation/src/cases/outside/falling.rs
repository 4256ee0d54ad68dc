//! Balls from dust to shot that fall in air until they fall no faster, against the standard drag curve.

use super::scene::{GRAVITY, advance, of_particles, simulation};
use crate::page::Case;
use crate::verdict::Verdict;
use std::fmt::Write;
use undine_core::glam::Vec3;
use undine_sim::Result;

/// The case.
pub const HAIL: Case = Case {
    name: "outside-hail",
    doc: "The drag coefficients of balls of 10 µm to 20 cm that fall in air as fast as they can, against the standard drag curve of Clift, \
          Grace and Weber 1978, table 5.2, over nine decades of the Reynolds number, in steps of 1/24 s and 1 s. Where ranges of the table \
          meet they are blended, by 0.1 %.",
    run: || run().unwrap_or_else(Verdict::broken),
};

/// Diameters [mm], densities [kg/m³] and how fast they are thrown down [m/s]: dust, drizzle, hail and shot. The ball of ice of 88 mm comes
/// to either side of the drag crisis.
const BALLS: [[f64; 3]; 13] = [
    [0.01, 1000.0, 0.0],
    [0.03, 1000.0, 0.0],
    [0.1, 1000.0, 0.0],
    [0.3, 1000.0, 0.0],
    [0.6, 1000.0, 0.0],
    [1.5, 998.2, 0.0],
    [3.0, 917.0, 0.0],
    [6.2, 998.2, 0.0],
    [25.0, 900.0, 0.0],
    [50.0, 917.0, 0.0],
    [88.0, 917.0, 0.0],
    [88.0, 917.0, 130.0],
    [200.0, 7800.0, 315.0],
];

/// Of the air [kg/m³], [Pa s].
const AIR: [f64; 2] = [1.204, 1.81e-5];

fn scene(fps: u32) -> String {
    let mut text = format!(
        "setup \"hail\" fps={fps} frames=9999 substeps=1\ngravity\ndrag law=\"standard\"\n"
    );
    for (n, [diameter, density, thrown]) in BALLS.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "input \"{n}\" {{\n    points at=\"{n} 0 0 m\"\n}}\nparticles \"ball-{n}\" input=\"{n}\" radius=\"{} mm\" \
             density=\"{density} kg/m3\" velocity=\"0 {} 0 m/s\"",
            0.5 * diameter,
            -thrown
        );
    }
    text
}

/// Clift, Grace and Weber (1978), table 5.2.
fn printed(reynolds: f64) -> f64 {
    let w = reynolds.log10();
    let by_stokes = 24.0 / reynolds;
    match reynolds {
        re if re < 0.01 => 3.0 / 16.0 + by_stokes,
        re if re < 20.0 => by_stokes * (1.0 + 0.1315 * re.powf(0.82 - 0.05 * w)),
        re if re < 260.0 => by_stokes * (1.0 + 0.1935 * re.powf(0.6305)),
        re if re < 1500.0 => 10_f64.powf(1.6435 - 1.1242 * w + 0.1558 * w * w),
        re if re < 1.2e4 => 10_f64.powf(-2.4571 + 2.5558 * w - 0.9295 * w * w + 0.1049 * w.powi(3)),
        re if re < 4.4e4 => 10_f64.powf(-1.9181 + 0.6370 * w - 0.0636 * w * w),
        re if re < 3.38e5 => 10_f64.powf(-4.3390 + 1.5809 * w - 0.1546 * w * w),
        re if re < 4e5 => 29.78 - 5.3 * w,
        re if re < 1e6 => 0.1 * w - 0.49,
        re => 0.19 - 8e4 / re,
    }
}

fn run() -> Result<Verdict> {
    let [air, viscosity] = AIR;
    let mut verdict = Verdict::new();
    for (fps, steps) in [(24, "1/24 s"), (1, "1 s")] {
        let mut simulation = simulation(&scene(fps));
        // The ball of 88 mm needs 4 s for every factor of e; the one of steel, which needs 32 s, begins nearly as fast as it will be.
        advance(&mut simulation, 60 * fps)?;
        let velocities: Vec<Vec3> = of_particles(&simulation, "v")?;
        for ([diameter, density, _], v) in BALLS.into_iter().zip(velocities) {
            let speed = -f64::from(v.y);
            let metres = 1e-3 * diameter;
            let reynolds = air * speed * metres / viscosity;
            // Where its weight is what the air resists with.
            let found = 4.0 * metres * density * GRAVITY / (3.0 * air * speed * speed);
            let name = format!("C_D at Re = {reynolds:.2e}, {diameter} mm, steps of {steps}");
            let wanted = printed(reynolds);
            verdict = verdict.near(&name, found, wanted, 2e-3 * wanted);
        }
    }
    Ok(verdict)
}
