//! Systems that are made, not read: what tests, benchmarks and validation solve. Each says by which formula, after whom.
//!
//! All are built row by row, on all threads, so that a million unknowns take a fraction of a second, and are the same on
//! every machine: what looks random is a function of a seed and a number.

mod classical;
mod dam_break;
mod elasticity;
mod poisson;
mod rods;
mod viscosity;

pub use classical::{convection_diffusion, hilbert, saddle, tridiagonal};
pub use dam_break::{BoundedSystem, dam_break};
pub use elasticity::{Elastic, Held, elasticity};
pub use poisson::{
    HalfFull, anisotropic, half_full, jumps, laplacian, laplacian_2d, laplacian_27, liquid_mask,
    neumann,
};
pub use rods::{Rods, RodsSetup, rods};
pub use viscosity::{Viscosity, Walls, viscosity};

/// A number in −1 … 1 that looks random: the `n`-th of a seed (SplitMix64, Steele et al. 2014).
pub fn noise(seed: u64, n: u64) -> f64 {
    (mix(seed, n) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// The bits behind [`noise`].
fn mix(seed: u64, n: u64) -> u64 {
    let mut z = seed
        .wrapping_mul(0xd134_2543_de82_ef95)
        .wrapping_add(n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The six rigid motions of unknowns that are vector components at places: three translations, then the rotations ω × x
/// about the axes through the middle of all places. Each has an entry per unknown.
///
/// These are the near-null space of elasticity and of viscosity.
pub fn rigid_motions(unknowns: impl ExactSizeIterator<Item = ([f64; 3], usize)>) -> Vec<Vec<f64>> {
    let unknowns: Vec<([f64; 3], usize)> = unknowns.collect();
    let mut middle = [0.0; 3];
    for (place, _) in &unknowns {
        (0..3).for_each(|d| middle[d] += place[d] / unknowns.len() as f64);
    }
    (0..6)
        .map(|mode| {
            let value = |&(place, component): &([f64; 3], usize)| {
                if mode < 3 {
                    return f64::from(u8::from(component == mode));
                }
                let axis = mode - 3;
                let x: [f64; 3] = std::array::from_fn(|d| place[d] - middle[d]);
                // e_axis × x
                match (component + 3 - axis) % 3 {
                    1 => -x[(axis + 2) % 3],
                    2 => x[(axis + 1) % 3],
                    _ => 0.0,
                }
            };
            unknowns.iter().map(value).collect()
        })
        .collect()
}
