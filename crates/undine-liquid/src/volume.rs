//! The volume of what becomes liquid, by which its particles get their mass: chance, which fills a solid as well as it can, is far off
//! where the solid is thin or small.
//!
//! By its formula where a shape has one. Otherwise a box around the solid is halved until it has many blocks at the surface, and places
//! at random in equal parts of those are asked whether they lie inside.

use undine_core::glam::{DVec3, IVec3};
use undine_geometry::{Solid, random};
use undine_sim::Result;
use undine_sim::input::{Data, Geometry};

/// Blocks at the surface are halved until there are as many.
const BLOCKS: usize = 4096;

/// They are not halved more often: what is thinner than this power of a half of its length is a matter of rounding.
const HALVINGS: u32 = 24;

/// Places along the edge of a block.
const PLACES: u64 = 4;

/// The volume of some data at a time [m³]; none if it has no inside, or no end. What has no formula is `measured` if that is wanted.
pub fn volume(data: &Data, time: f64, measured: bool) -> Result<Option<f64>> {
    if let Geometry::Shape(shape) = &data.geometry
        && let Some(mass) = shape.mass_properties()
    {
        return Ok(Some(mass.volume));
    }
    match measured {
        true => Ok(measure(&*data.solid(time)?)),
        false => Ok(None),
    }
}

/// A cube of space, by its place in a lattice of cubes of its size.
#[derive(Debug, Clone, Copy)]
struct Block {
    at: IVec3,
}

/// The volume of a solid [m³], to half a percent or so; none if it has no end.
fn measure(solid: &dyn Solid) -> Option<f64> {
    let bounds = solid.bounds().filter(|bounds| bounds.size().is_finite())?;
    let mut side = bounds.size().max_element();
    if side.is_nan() || side <= 0.0 {
        return Some(0.0);
    }
    // A cube around it, whose middle is the box's, is the first block.
    let corner = bounds.centre() - 0.5 * side;
    let (mut cut, mut whole) = (vec![Block { at: IVec3::ZERO }], 0.0);
    for _ in 0..HALVINGS {
        side *= 0.5;
        let mut next = Vec::with_capacity(4 * cut.len());
        for block in &cut {
            for n in 0..8 {
                let at = 2 * block.at + IVec3::new(n >> 2 & 1, n >> 1 & 1, n & 1);
                let distance = solid.distance(corner + (at.as_dvec3() + 0.5) * side);
                let reach = 0.5 * 3.0_f64.sqrt() * side;
                if distance < -reach {
                    whole += side.powi(3);
                } else if distance <= reach {
                    next.push(Block { at });
                }
            }
        }
        cut = next;
        if cut.len() >= BLOCKS {
            break;
        }
    }
    let inside = |block: &Block| {
        let key = block.at.to_array().iter().fold(0, |key, &c| random::bits(key, c as u64));
        let is_inside = |n: &u64| {
            let part = DVec3::from(
                [n / PLACES / PLACES, n / PLACES % PLACES, n % PLACES].map(|c| c as f64),
            );
            let within = DVec3::from([0, 1, 2].map(|axis| random::unit(key, 3 * n + axis)));
            let within = (part + within) / PLACES as f64;
            solid.distance(corner + (block.at.as_dvec3() + within) * side) < 0.0
        };
        (0..PLACES.pow(3)).filter(is_inside).count()
    };
    let hits: usize = cut.iter().map(inside).sum();
    Some(whole + side.powi(3) * hits as f64 / PLACES.pow(3) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_geometry::{Pose, Shape};

    #[test]
    fn measured_volumes_are_those_of_formulas() {
        let turned = Pose {
            rotation: undine_core::glam::DQuat::from_scaled_axis(DVec3::new(0.3, -0.7, 0.2)),
            translation: DVec3::new(10.0, -3.0, 0.1),
        };
        let shapes = [
            Shape::sphere(0.3).unwrap(),
            Shape::cuboid(DVec3::new(0.5, 0.3, 0.2)).unwrap(),
            Shape::cuboid(DVec3::new(0.5, 0.001, 0.3)).unwrap(),
            Shape::cylinder(0.002, 1.0).unwrap(),
        ];
        for shape in shapes {
            for shape in [shape.clone(), shape.moved(&turned).unwrap()] {
                let wanted = shape.mass_properties().unwrap().volume;
                let found = measure(&shape).unwrap();
                assert!((found / wanted - 1.0).abs() < 0.01, "{found} of {wanted} m³");
            }
        }
    }
}
