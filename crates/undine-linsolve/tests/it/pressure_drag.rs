//! Objects that are spread through a fluid: the system of eliminated velocities, and the flux that it leaves.

use crate::dense::smallest_scaled_pivot;
use crate::systems::noise;
use crate::tank::Tank;
use undine_core::glam::DVec3;
use undine_linsolve::pressure::{
    FaceCoupling, InverseDensity, PressureInput, PressureSystem, place,
};
use undine_linsolve::{Operator, Stop};

/// A time step in units of cells.
const STEP: f64 = 0.02;

/// A tuft of hair in the middle of the tank, thin at its edge and solid inside, with drag of all strengths.
fn coupling(at: DVec3) -> FaceCoupling {
    let alpha = (0.9 - (at - DVec3::splat(4.0)).length() / 5.0).clamp(0.0, 0.8);
    FaceCoupling {
        alpha,
        fluid_density: 1000.0,
        solid_density: if at.x < 4.0 { 200.0 } else { 8000.0 },
        drag: 10_f64.powf(at.y) * alpha,
        time_step: STEP,
    }
}

#[test]
fn the_system_is_positive_definite_and_leaves_a_flux_without_divergence() {
    let tank = Tank::new(0, 1, |at| at.z - 6.0);
    tank.fill_mac(tank.inverse_density, |_, at| coupling(at).eliminate().unwrap().inverse_density);
    let input = PressureInput {
        inverse_density: InverseDensity::Channel(tank.inverse_density),
        scale: STEP,
        ..tank.plain()
    };
    let system = PressureSystem::new(&tank.domain, &input).unwrap();
    let matrix = system.to_csr().unwrap();
    matrix.matrix.csr().check_symmetric(0.0).unwrap();
    assert!(smallest_scaled_pivot(matrix.matrix.csr()) > 1e-3);

    // Velocities before the pressure, by axis and cell above the face; the air above the liquid has its faces too.
    let [fluid, solid] = [1, 2].map(|seed| noise(3 * 9 * 9 * 9, seed));
    let cell = |n: usize| [n / 81, n / 9 % 9, n % 9];
    let number = |at: [usize; 3]| at[0] * 81 + at[1] * 9 + at[2];
    let wet = |at: [usize; 3]| at[0] < 8 && at[1] < 8 && at[2] < 6;
    let wall = |axis: usize, at: [usize; 3]| at[axis] == 0 || (axis < 2 && at[axis] == 8);
    let centre = |axis: usize, at: [usize; 3]| {
        DVec3::new(at[0] as f64, at[1] as f64, at[2] as f64) + 0.5 - 0.5 * DVec3::AXES[axis]
    };
    // The flux through a face for a jump of pressure across it; walls let nothing through.
    let flux = |axis: usize, at: [usize; 3], jump: f64| {
        if wall(axis, at) {
            return 0.0;
        }
        let face = coupling(centre(axis, at));
        let response = face.eliminate().unwrap();
        let n = axis * 729 + number(at);
        let [u_f, u_s] =
            [response.fluid, response.solid].map(|u| u.after(fluid[n], solid[n], STEP * jump));
        (1.0 - face.alpha) * u_f + face.alpha * u_s
    };
    let divergence = |p: &dyn Fn([usize; 3]) -> f64, at: [usize; 3]| {
        let side = |axis: usize, above: usize| {
            let mut face = at;
            face[axis] += above;
            let mut below = face;
            let jump = match wall(axis, face) {
                true => 0.0,
                false => {
                    below[axis] -= 1;
                    p(face) - p(below)
                }
            };
            flux(axis, face, jump) * if above == 1 { 1.0 } else { -1.0 }
        };
        (0..3).map(|axis| side(axis, 0) + side(axis, 1)).sum::<f64>()
    };

    let entry = |at: [usize; 3]| place(at[0] << 6 | at[1] << 3 | at[2]);
    let cells: Vec<[usize; 3]> = (0..729).map(cell).filter(|&at| wet(at)).collect();
    let mut b = vec![0.0; system.rows().local()];
    for &at in &cells {
        b[entry(at)] = -divergence(&|_| 0.0, at);
    }
    let before = b.iter().fold(0.0_f64, |max, b| max.max(b.abs()));
    let mut x = vec![0.0; b.len()];
    let report = system.solve(&b, &mut x, &Stop::relative(1e-10)).unwrap();
    assert!(report.converged(), "{report}");
    let p = |at: [usize; 3]| if wet(at) { x[entry(at)] } else { 0.0 };
    let after = cells.iter().map(|&at| divergence(&p, at).abs()).fold(0.0, f64::max);
    // The system has its coefficients in single precision, the velocities theirs in double.
    assert!(before > 0.5 && after < 1e-6 * before, "{after} of {before}");
}
