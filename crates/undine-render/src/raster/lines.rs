//! Thin lines of one width in pixels, however far away, not lit.

use super::primitives::{Hit, Primitives};
use super::segments::{self, End};
use super::target::Target;
use super::view::{Ray, View};
use crate::shot::Lines;
use rayon::prelude::*;
use undine_core::glam::Vec3;

/// Lines are this part of their depth nearer than they are, so that what they run along does not hide half of them.
const NEARER: f32 = 1e-3;

impl Primitives for &Lines {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn draw<T: Target>(&self, view: &View, _moment: f32, first: u32, target: &T) {
        let asked = if self.width.is_finite() { 0.5 * self.width } else { 0.5 };
        let size = target.size();
        // Thinner ones would fall between the pixels; wider ones than the picture are all of it.
        let radius = asked.clamp(0.5, (size.width + size.height) as f32);
        self.ends.par_iter().enumerate().with_min_len(64).for_each(|(n, ends)| {
            let ends = ends.map(|end| {
                let turned = view.turned((end - view.eye).as_vec3());
                End { turned, radius }
            });
            let depth = 0.5 * (ends[0].turned.z + ends[1].turned.z);
            segments::draw(view, ends, first + n as u32, target, |_, _| NEARER * depth.max(0.0));
        });
    }

    fn hit(&self, primitive: usize, view: &View, _moment: f32, ray: &Ray) -> Hit {
        let [from, to] = self.ends[primitive].map(|end| (end - view.eye).as_vec3());
        let (depth, _) = segments::closest(ray, from, to);
        Hit {
            depth: depth.max(view.near),
            normal: -view.forward,
            colour: self.colours.get(primitive).copied().unwrap_or(Vec3::ZERO),
            velocity: Vec3::ZERO,
            tangent: None,
            is_lit: false,
        }
    }
}
