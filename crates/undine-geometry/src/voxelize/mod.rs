//! From a mesh to a level set: exact distances in a band around it or everywhere, and the inside by winding number.
//!
//! The triangles are put in patches of eight (`patch`) under a tree (`tree`). Down the levels of Buckets, patches are
//! picked that each has to ask (`reach`); then every Bucket is on its own: its voxels are measured (`measure`) and
//! turned inside or outside (`sign`), the same way whichever thread or process does it.
//!
//! Nothing is asked of the mesh. Where it is closed, inside is where it goes around; parts that overlap are united.
//! Where it is open, inside is where it goes around by more than half. A sheet, which has no inside, is given
//! one by a thickness.

mod between;
mod closest;
mod deforming;
mod measure;
mod patch;
mod reach;
mod sign;
mod tree;
mod winding;

pub use closest::ClosestPoints;
pub use deforming::{Deforming, ShapeVelocity};

use crate::error::{GeometryError, Result, positive};
use crate::levelset::{Extent, LEAST_PADDING, LevelSet, VOXELS};
use crate::mesh_solid::Inside;
use crate::triangles::Triangles;
use crate::winding::Rule;
use measure::{Foot, Measured, Scratch, measure};
use patch::Scaled;
use rayon::prelude::*;
use reach::{Reached, buckets_within};
use sign::Pieces;
use tree::Tree;
use undine_core::mesh::Bounds;
use undine_core::{Accessor, Bucket, BucketSet, GridDomain};

impl LevelSet {
    /// The level set of a mesh on the lattice of `domain`. Collective: every process has the whole mesh.
    ///
    /// In the band, distances are those to the nearest of all triangles, rounded to `f32` once.
    pub fn of_mesh(
        label: &str,
        domain: &GridDomain,
        mesh: &Triangles,
        extent: Extent,
        inside: Inside,
    ) -> Result<Self> {
        Ok(made(label, domain, mesh, extent, inside, false)?.0)
    }

    /// The same, and the nearest points of the mesh, with which its voxels take on what the mesh carries. Collective.
    pub fn of_mesh_with_closest(
        label: &str,
        domain: &GridDomain,
        mesh: &Triangles,
        extent: Extent,
        inside: Inside,
    ) -> Result<(Self, ClosestPoints)> {
        made(label, domain, mesh, extent, inside, true)
    }
}

/// What is found of a Bucket that the band reaches.
struct Voxelized {
    bucket: Bucket,
    distances: Box<[f32; VOXELS]>,
    feet: Option<Box<[Foot; VOXELS]>>,
}

fn made(
    label: &str,
    domain: &GridDomain,
    mesh: &Triangles,
    extent: Extent,
    inside: Inside,
    with_feet: bool,
) -> Result<(LevelSet, ClosestPoints)> {
    let Some(bounds) = mesh.bounds() else {
        return Err(GeometryError::Empty {
            what: "a mesh",
            wanted: "a level set of it needs a triangle",
        });
    };
    let half = match inside {
        Inside::Winding(_) | Inside::Normals => 0.0,
        Inside::Thickness(thickness) => 0.5 * positive("the thickness of a sheet", thickness)?,
    };
    let voxel = domain.frame().voxel_size(0);
    let reach = Reach::new(extent, bounds, half, voxel)?;
    let mut set = LevelSet::empty(label, domain, reach.width)?;
    if reach.full {
        set = set.filling_box();
    }

    let bounds = Bounds { min: bounds.min - reach.padding, max: bounds.max + reach.padding };
    let found = voxelized(domain, mesh, bounds, &reach, inside, with_feet);
    let mut found = domain.processes().all_agree(found)?;
    found.par_sort_unstable_by_key(|found| found.bucket.key());

    set.cover(&BucketSet::from_keys(found.iter().map(|found| found.bucket.key()).collect()))?;
    let accessor = Accessor::new("write distances", set.domain()).over(set.topology());
    accessor.run(set.volume().write(set.distance()), |here, to| {
        // Local slots follow the order of keys, and so does what was found.
        to.copy_from_slice(&found[here.slot as usize].distances[..]);
    })?;
    set.find_beyond()?;
    let closest = ClosestPoints {
        topology: set.topology().clone(),
        feet: found.into_iter().filter_map(|found| found.feet).collect(),
        vertices: mesh.positions().len(),
        triangles: mesh.len(),
    };
    Ok((set, closest))
}

/// How far to look.
struct Reach {
    /// The band's width [m].
    width: f64,
    /// The padding of the mesh's box [m].
    padding: f64,
    /// Half of the thickness of a sheet [m].
    half: f64,
    /// From the triangles to the farthest voxel that matters [voxels].
    voxels: f64,
    /// Whether all of the box is wanted.
    full: bool,
}

impl Reach {
    fn new(extent: Extent, bounds: Bounds, half: f64, voxel: f64) -> Result<Self> {
        match extent {
            Extent::Band(voxels) => {
                let width = positive("the voxels of a band", voxels)? * voxel;
                let padding = width + half;
                Ok(Self { width, padding, half, voxels: padding / voxel, full: false })
            }
            // The nearest point of the surface is never farther away than the box is wide.
            Extent::Full(voxels) => {
                let voxels = positive("the padding of a level set in voxels", voxels)?;
                let padding = voxels.max(LEAST_PADDING) * voxel + half;
                let width = bounds.size().length() + 2.0 * padding + 16.0 * voxel;
                Ok(Self { width, padding, half, voxels: f64::INFINITY, full: true })
            }
        }
    }
}

/// The Buckets of this process that the band reaches, with their distances.
fn voxelized(
    domain: &GridDomain,
    mesh: &Triangles,
    bounds: Bounds,
    reach: &Reach,
    inside: Inside,
    with_feet: bool,
) -> undine_core::error::Result<Vec<Voxelized>> {
    let voxel = domain.frame().voxel_size(0);
    domain.budget().check("the patches of a mesh", Tree::bytes(mesh.len()))?;
    let origin = domain.frame().origin();
    let tree = Tree::new(Scaled { mesh, origin, voxel, per_voxel: 1.0 / voxel });
    let mut reached = buckets_within(domain, &tree, bounds, reach.voxels)?;
    if domain.processes().count() > 1 {
        let rank = domain.processes().rank();
        reached.retain(|reached| domain.owner(reached.bucket) == rank);
    }
    let scratch = || (Scratch::default(), Pieces::new());
    let found =
        reached.par_iter().map_init(scratch, |(scratch, pieces), Reached { bucket, near }| {
            let mut measured = Measured::new();
            measure(&tree, *bucket, near, reach.voxels, scratch, &mut measured);
            let rule = match inside {
                Inside::Winding(rule) => Some(rule),
                // On voxels the winding number costs no more than normals would.
                Inside::Normals => Some(Rule::default()),
                Inside::Thickness(_) => None,
            };
            if let Some(rule) = rule
                && (reach.full || measured.reaches(reach.width))
            {
                pieces.turn(&tree, *bucket, near, reach.voxels, rule, &mut measured);
            }
            let Measured { distances, feet } = measured;
            let clamped = |distance: f64| (distance - reach.half) as f32;
            let width = reach.width as f32;
            let distances = Box::new(distances.map(|found| clamped(found).clamp(-width, width)));
            let kept = reach.full || distances.iter().any(|distance| distance.abs() < width);
            kept.then_some(Voxelized {
                bucket: *bucket,
                distances,
                feet: with_feet.then_some(feet),
            })
        });
    Ok(found.flatten_iter().collect())
}
