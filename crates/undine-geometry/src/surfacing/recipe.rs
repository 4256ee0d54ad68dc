//! All that is to be said of the way from particles to a mesh: what `undine surface` and the Behavior `surface` share.

use super::{Carrying, Method, Surfacing};
use crate::error::Result;
use crate::meshing::{
    Decimation, SmoothMethod, SmoothWeights, Smoothing, decimate, smooth, without_cavities_below,
    without_parts_below,
};
use crate::triangles::Triangles;
use std::f64::consts::PI;

/// How particles become a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// What stands for a particle.
    pub method: Method,
    /// The radius of all particles [m]; else each has its own.
    pub radius: Option<f64>,
    /// What radii are multiplied by; else 1, or [`Recipe::OF_BALLS`] where each has its own.
    pub scale: Option<f64>,
    /// The width of a voxel [m]; else [`Recipe::VOXEL`] of the mean radius.
    pub voxel: Option<f64>,
    /// How often the mesh is smoothed, its volume kept.
    pub smooth: u32,
    /// How far the mesh may move where flat parts get fewer triangles [m]; 0 keeps all.
    pub coarsen: f64,
    /// Parts of less than this volume go [m³].
    pub least: f64,
    /// Cavities of less than this volume are filled [m³]; else those smaller than a ball of [`Recipe::BUBBLE`] mean radii.
    pub bubbles: Option<f64>,
    /// How channels come to vertices.
    pub carrying: Carrying,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            method: Surfacing::default().method,
            radius: None,
            scale: None,
            voxel: None,
            smooth: 0,
            coarsen: 0.0,
            least: 0.0,
            bubbles: None,
            carrying: Carrying::default(),
        }
    }
}

impl Recipe {
    /// The width of a voxel in mean radii.
    pub const VOXEL: f64 = 0.4;
    /// Particles know the radius of a ball of their volume, which is (3/4π)^⅓ = 0.62 of their spacing; surfaces want 1.05 spacings.
    pub const OF_BALLS: f64 = 1.7;

    /// What radii are multiplied by.
    pub fn scale(&self) -> f64 {
        let usual = if self.radius.is_some() { 1.0 } else { Self::OF_BALLS };
        self.scale.unwrap_or(usual)
    }

    /// A bubble smaller than a ball of so many mean radii is a gap that particles have left by chance: solvers resolve none that is
    /// narrower than four of them beside each other.
    pub const BUBBLE: f64 = 2.0;

    /// The mesh without tiny parts and cavities, smoothed, and with fewer triangles where it is flat; of particles with this mean
    /// radius [m].
    pub fn finish(&self, mut mesh: Triangles, radius: f64) -> Result<Triangles> {
        let usual = 4.0 / 3.0 * PI * (Self::BUBBLE * radius).powi(3);
        let bubbles = self.bubbles.unwrap_or(usual);
        if bubbles > 0.0 {
            mesh = without_cavities_below(&mesh, bubbles)?.mesh;
        }
        if self.least > 0.0 {
            mesh = without_parts_below(&mesh, self.least)?.mesh;
        }
        if self.smooth > 0 {
            let method = SmoothMethod::KeepVolume { strength: 0.5 };
            let weights = SmoothWeights::Even;
            mesh = smooth(&mesh, Smoothing { method, weights, passes: self.smooth })?;
        }
        if self.coarsen > 0.0 {
            let decimation = Decimation { triangles: 0, error: self.coarsen, hold_boundary: true };
            mesh = decimate(&mesh, decimation)?.remeshed.mesh;
        }
        Ok(mesh)
    }
}
