//! A sparse volume of smoke and fire, of fog coloured by a channel, or of distances whose zero is a surface: cubes of voxels, in the
//! order of an OpenVDB leaf.

use super::{Colouring, Numbers, bounds_of};
use crate::error::{RenderError, Result};
use undine_core::glam::{DMat3, DVec3, IVec3, Vec3};
use undine_core::mesh::Bounds;

/// A cube of voxels. A slice has a value for each voxel, x slowest and z fastest, or one for all of them.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    /// Where it is, counted in cubes.
    pub place: IVec3,
    /// How dense each voxel is, or how far from a surface [m].
    pub density: &'a [f32],
    /// How hot each is [K].
    pub temperature: Option<&'a [f32]>,
    /// What colours each.
    pub values: Option<Numbers<'a>>,
}

/// What a volume looks like.
#[derive(Debug, Clone)]
pub enum Appearance {
    /// As smoke: it scatters the light of sun and sky, casts shadows, and glows where it is hot.
    Smoke {
        /// How much of the light that it takes away is scattered, and not swallowed, by colour.
        albedo: Vec3,
        /// Where it scatters to: −1 back, 0 all around, 1 straight on.
        forward: f32,
        /// How much of the light that is scattered more than once is seen, 0 to 1.
        multiple: f32,
        /// How brightly what is hot glows; 0 for not at all. At 1 a metre of 1500 K has a light of 1.
        glow: f32,
    },
    /// As fog that shines in its own colours, as dense as it is times where its value is in the range of the map.
    Fog(Colouring),
    /// As the surface on which `density` has a value; what has less is inside.
    Surface {
        /// The value.
        level: f32,
        /// What colours it.
        colouring: Colouring,
    },
}

/// A sparse volume.
#[derive(Debug, Clone)]
pub struct Volume<'a> {
    /// The corner of the cube at (0, 0, 0), in the world [m].
    pub corner: DVec3,
    /// The three edges of a voxel [m].
    pub edges: DMat3,
    /// How many voxels a cube has along its side: 2, 4, 8 or 16.
    pub side: usize,
    /// The cubes, each place at most once.
    pub chunks: Vec<Chunk<'a>>,
    /// The density where there is no cube.
    pub background: f32,
    /// How much light a metre of density 1 takes away [1/m].
    pub extinction: f32,
    /// What it looks like.
    pub appearance: Appearance,
}

impl Appearance {
    /// Grey smoke that scatters a little forward and does not glow.
    pub const SMOKE: Self =
        Self::Smoke { albedo: Vec3::splat(0.92), forward: 0.35, multiple: 1.0, glow: 0.0 };

    /// Fire in dark smoke.
    pub const FIRE: Self =
        Self::Smoke { albedo: Vec3::new(0.55, 0.5, 0.46), forward: 0.35, multiple: 1.0, glow: 1.0 };
}

impl<'a> Volume<'a> {
    /// Of cubes of 8³ voxels of one size [m], as smoke.
    pub fn smoke(corner: DVec3, voxel: f64, chunks: Vec<Chunk<'a>>) -> Self {
        Self {
            corner,
            edges: DMat3::from_diagonal(DVec3::splat(voxel)),
            side: 8,
            chunks,
            background: 0.0,
            extinction: 1.0,
            appearance: Appearance::SMOKE,
        }
    }

    /// The box around all cubes.
    pub fn bounds(&self) -> Option<Bounds> {
        let edges = self.edges * self.side as f64;
        let corners = self.chunks.iter().flat_map(|chunk| {
            let place = chunk.place.as_dvec3();
            (0..8).map(move |n| {
                let far = DVec3::new(f64::from(n & 1), f64::from(n >> 1 & 1), f64::from(n >> 2));
                self.corner + edges * (place + far)
            })
        });
        bounds_of(corners)
    }

    /// Checks that it can be drawn.
    pub fn check(&self) -> Result<()> {
        let wrong = |what: &str, found: String, wanted: &str| {
            Err(RenderError::Asked { what: what.into(), found, wanted: wanted.into() })
        };
        if ![2, 4, 8, 16].contains(&self.side) {
            let found = self.side.to_string();
            return wrong(
                "the side of a volume's cubes",
                found,
                "it has to be 2, 4, 8 or 16 voxels",
            );
        }
        let inverse = self.edges.inverse();
        if !(self.corner.is_finite() && self.edges.is_finite() && inverse.is_finite()) {
            let wanted = "its corner has to be finite, and its voxels neither flat nor infinite";
            return wrong(
                "the place of a volume",
                format!("{} {}", self.corner, self.edges),
                wanted,
            );
        }
        if !self.extinction.is_finite() || self.extinction < 0.0 {
            let found = self.extinction.to_string();
            return wrong(
                "the extinction of a volume",
                found,
                "it has to be finite and not negative",
            );
        }
        let voxels = self.side.pow(3);
        let fits = |len: usize| len == 1 || len == voxels;
        let misfit = self.chunks.iter().find(|chunk| {
            !(fits(chunk.density.len())
                && chunk.temperature.is_none_or(|hot| fits(hot.len()))
                && chunk.values.is_none_or(|values| fits(values.len())))
        });
        if let Some(chunk) = misfit {
            let wanted = format!("each channel has to have {voxels} or one");
            return wrong("a volume's cube", format!("{} with other values", chunk.place), &wanted);
        }
        Ok(())
    }
}
