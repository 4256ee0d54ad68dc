//! Surfacing: from particles to a level set and a mesh of the liquid that they stand for, with its sheets and droplets.
//!
//! Jones 2020, chapter 5. Particles are put into Buckets of the level set's own lattice (`bins`). Buckets deep inside are found by what
//! covers them (`buried`) and left out, so that time and memory go with the area of the surface. Every other particle becomes
//! an ellipsoid, stretched the way its neighbours lie (`anisotropy`), or stays a sphere; their distances are stamped into
//! the voxels around the surface (`stamp`), and these are made a level set. Or particles are averaged (`averaging`). What they carry
//! comes along (`carry`).
//!
//! Neither the order of particles nor the number of threads shows in a single bit.

mod anisotropy;
mod averaging;
mod bins;
mod buried;
mod carry;
pub(crate) mod eigen;
mod reach;
mod recipe;
mod stamp;

pub use anisotropy::Anisotropy;
pub use averaging::Averaging;
pub use carry::Carrying;
pub use recipe::Recipe;

use crate::error::{GeometryError, Result, positive};
use crate::levelset::{Extent, LevelSet};
use crate::mesh_solid::Inside;
use crate::triangles::Triangles;
use anisotropy::Kernel;
use bins::Bins;
use reach::Reach;
use undine_core::glam::{DMat3, DVec3, Vec3};
use undine_core::process::Processes;
use undine_core::{Accessor, Frame, GridDomain};

/// Particles to be surfaced.
#[derive(Debug, Clone, Copy)]
pub struct Particles<'a> {
    /// Where they are [m].
    pub positions: &'a [DVec3],
    /// How large they are.
    pub radii: Radii<'a>,
    /// How fast they move [m/s], for the trails of droplets; none leaves droplets round.
    pub velocities: Option<&'a [DVec3]>,
}

/// The radii r_p of particles. Particles that fill a volume at a spacing d leave no gaps between their spheres from 0.87 d on.
#[derive(Debug, Clone, Copy)]
pub enum Radii<'a> {
    /// The same for all [m].
    All(f64),
    /// One for each particle [m].
    Each(&'a [f64]),
}

impl Particles<'_> {
    /// The radius of a particle [m].
    fn radius(&self, particle: usize) -> f64 {
        match self.radii {
            Radii::All(radius) => radius,
            Radii::Each(radii) => radii[particle],
        }
    }

    fn check(&self) -> Result<()> {
        let wanted = self.positions.len();
        if wanted == 0 {
            let wanted = "a surface needs a particle";
            return Err(GeometryError::Empty { what: "a set of particles", wanted });
        }
        if wanted >= u32::MAX as usize {
            let (found, most) = (wanted as u64, u64::from(u32::MAX) - 1);
            return Err(GeometryError::TooMany { what: "the particles of a surface", found, most });
        }
        match self.radii {
            Radii::All(radius) => drop(positive("the radius of particles", radius)?),
            Radii::Each(radii) => {
                if radii.len() != wanted {
                    let (what, found) = ("the radii of particles", radii.len());
                    return Err(GeometryError::WrongLength { what, found, wanted });
                }
                if let Some(n) = radii.iter().position(|r| !(*r > 0.0 && r.is_finite())) {
                    return Err(GeometryError::BadRadius { particle: n, radius: radii[n] });
                }
            }
        }
        match self.velocities {
            Some(velocities) if velocities.len() != wanted => {
                let (what, found) = ("the velocities of particles", velocities.len());
                Err(GeometryError::WrongLength { what, found, wanted })
            }
            _ => Ok(()),
        }
    }
}

/// What stands for a particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Its sphere: φ = min |x − x_p| − r_p (eq. 5.1). Fast, bumpy, and a beginning for filters.
    Spheres,
    /// An ellipsoid, stretched the way its neighbours lie (eq. 5.2): smooth, with sheets and droplets.
    Ellipsoids(Anisotropy),
    /// The mean of the particles around a place: smooth, but surfaces appear in hollows, unless they are corrected.
    Average(Averaging),
}

/// How particles become a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Surfacing {
    /// What stands for a particle.
    pub method: Method,
    /// Whether Buckets deep inside are looked at too. It takes longer, and changes nothing but gaps between ellipsoids deep inside that
    /// spheres close.
    pub look_everywhere: bool,
}

impl Default for Surfacing {
    fn default() -> Self {
        Self { method: Method::Ellipsoids(Anisotropy::default()), look_everywhere: false }
    }
}

/// How far around the surface a level set has voxels, in voxels.
const BAND: f64 = 3.0;
/// How far around it voxels are stamped: corners of a cube that the surface passes through are no farther away than √3.
const MARGIN: f32 = 1.75;
/// Larger radii in voxels are refused: each particle would reach thousands of Buckets.
const LARGEST_RADIUS: f64 = 128.0;

impl Surfacing {
    /// The surface of some particles, on the lattice of `domain`. Collective; every process is given all particles.
    ///
    /// Voxels should be no larger than the smallest radius, so that no droplet falls between them.
    pub fn surface(
        &self,
        label: &str,
        domain: &GridDomain,
        particles: &Particles<'_>,
    ) -> Result<Surfaced> {
        self.check(domain, particles)?;
        let bins = Bins::new(domain, particles)?;
        let buried = match self.look_everywhere {
            true => vec![false; bins.topology.local()],
            false => buried::buried(&bins),
        };
        let kernels = self.kernels(domain, particles, &bins, &buried);
        let reach = match (&kernels, &self.method) {
            (None, Method::Average(Averaging { search, .. })) => {
                let search = *search as f32;
                Reach::new(&bins, |n| (bins.place(n), Vec3::splat(search * bins.radius[n])))
            }
            (None, _) => {
                Reach::new(&bins, |n| (bins.place(n), Vec3::splat(bins.radius[n] + MARGIN)))
            }
            (Some(kernels), _) => {
                Reach::new(&bins, |n| (kernels[n].centre, kernels[n].half + MARGIN))
            }
        };

        let voxel = domain.frame().voxel_size(0);
        let mut set = LevelSet::empty(label, domain, BAND * voxel)?;
        set.cover(&reach.buckets(&bins, &buried, domain)?)?;
        let accessor = Accessor::new("stamp particles", set.domain()).over(set.topology());
        let (width, voxel) = (set.width(), voxel as f32);
        let scratch = || (Vec::new(), Vec::new(), averaging::Scratch::default());
        accessor.run_with(set.volume().write(set.distance()), scratch, |near, here, to| {
            let to: &mut stamp::Chunk = to.try_into().expect("a chunk of 8³ voxels");
            match (&kernels, &self.method) {
                (None, Method::Average(settings)) => {
                    let particles = (&bins, settings);
                    averaging::averages(particles, &reach, here.bucket, MARGIN, &mut near.2, to);
                }
                (None, _) => stamp::spheres(&bins, &reach, here.bucket, MARGIN, &mut near.0, to),
                (Some(kernels), _) => {
                    let particles = (&bins, &kernels[..]);
                    stamp::ellipsoids(particles, &reach, here.bucket, MARGIN, &mut near.1, to);
                }
            }
            bins.each_around(here.bucket, 1, |slot, shift| {
                if buried[slot as usize] {
                    buried::close(to, shift);
                }
            });
            for distance in to {
                *distance =
                    if *distance >= MARGIN { width } else { (*distance * voxel).max(-width) };
            }
        })?;
        set.find_beyond()?;
        let frame = *domain.frame();
        Ok(Surfaced { set, sources: Sources { frame, bins, kernels } })
    }

    fn check(&self, domain: &GridDomain, particles: &Particles<'_>) -> Result<()> {
        particles.check()?;
        match &self.method {
            Method::Spheres => {}
            Method::Ellipsoids(settings) => settings.check()?,
            Method::Average(settings) => settings.check()?,
        }
        let largest = match particles.radii {
            Radii::All(radius) => radius,
            Radii::Each(radii) => radii.iter().copied().fold(0.0, f64::max),
        };
        let voxel = domain.frame().voxel_size(0);
        if !(0.5..=LARGEST_RADIUS).contains(&(largest / voxel)) {
            return Err(GeometryError::BadVoxel {
                voxel,
                radius: largest,
                least: largest / LARGEST_RADIUS,
                most: 2.0 * largest,
            });
        }
        Ok(())
    }

    fn kernels(
        &self,
        domain: &GridDomain,
        particles: &Particles<'_>,
        bins: &Bins,
        buried: &[bool],
    ) -> Option<Vec<Kernel>> {
        let Method::Ellipsoids(settings) = &self.method else { return None };
        let per_voxel = 1.0 / domain.frame().voxel_size(0);
        let velocity = particles
            .velocities
            .filter(|_| settings.trail > 0.0)
            .map(|all| move |particle: u32| per_voxel * all[particle as usize]);
        let velocity = velocity.as_ref().map(|v| v as &(dyn Fn(u32) -> DVec3 + Sync));
        Some(anisotropy::kernels(bins, buried, settings, velocity))
    }
}

/// A surface of particles, and what it was made of.
pub struct Surfaced {
    set: LevelSet,
    sources: Sources,
}

/// The particles that a surface was made of: what knows whom a place takes its values from.
pub struct Sources {
    frame: Frame,
    bins: Bins,
    kernels: Option<Vec<Kernel>>,
}

/// The mesh of the first process, on all of them. Collective.
fn told(processes: &dyn Processes, mesh: Triangles) -> Result<Triangles> {
    if processes.count() == 1 {
        return Ok(mesh);
    }
    let mut bytes = (mesh.positions().len() as u64).to_le_bytes().to_vec();
    let places = mesh.positions().iter().flat_map(|at| at.to_array());
    places.for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    let corners = mesh.indices().iter().flatten();
    corners.for_each(|vertex| bytes.extend_from_slice(&vertex.to_le_bytes()));
    let all = processes.all_gather(if processes.rank() == 0 { &bytes } else { &[] })?;
    let (count, rest) = all[0].split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    let (places, corners) = rest.split_at(24 * u64::from_le_bytes(*count) as usize);
    let (numbers, _) = places.as_chunks::<8>();
    let positions =
        numbers.as_chunks::<3>().0.iter().map(|at| DVec3::from_array(at.map(f64::from_le_bytes)));
    let (vertices, _) = corners.as_chunks::<4>();
    let triangles = vertices.as_chunks::<3>().0.iter().map(|at| at.map(u32::from_le_bytes));
    Triangles::new(positions.collect(), triangles.collect())
}

/// The ellipsoid that stands for a particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ellipsoid {
    /// The number of the particle.
    pub particle: u32,
    /// Where its middle is [m].
    pub centre: DVec3,
    /// What a unit sphere is multiplied by [m]; symmetric.
    pub stretch: DMat3,
}

impl Surfaced {
    /// The level set as it was stamped: signs are right everywhere, distances within a voxel or two of the surface. Enough for a mesh.
    pub fn stamped(&self) -> &LevelSet {
        &self.set
    }

    /// The level set with distances to the surface in a band of three voxels on either side, for filters and all else. Collective.
    ///
    /// They are those to its mesh. Between bumps of particles the surface has creases that differences of a few voxels do not see.
    pub fn into_level_set(self) -> Result<LevelSet> {
        Ok(self.into_parts()?.0)
    }

    /// The same level set, and its particles, for what they carry to a surface that was changed. Collective.
    pub fn into_parts(self) -> Result<(LevelSet, Sources)> {
        let Self { set: stamped, sources } = self;
        let domain = stamped.domain();
        let mesh = told(&**domain.processes(), stamped.mesh()?)?;
        if mesh.is_empty() {
            return Ok((stamped, sources));
        }
        let (label, inside) = (stamped.volume().label(), Inside::Normals);
        let mut set = LevelSet::of_mesh(label, domain, &mesh, Extent::Band(BAND), inside)?;
        // Which side a voxel lies on is known, whatever triangles as thin as hairs say.
        let accessor = Accessor::new("take sides", set.domain()).over(set.topology());
        let sides = stamped.volume().own(stamped.distance());
        accessor.run((sides, set.volume().write(set.distance())), |here, (sides, to)| {
            if stamped.topology().slot(here.bucket).is_some() {
                to.iter_mut().zip(sides).for_each(|(to, side)| *to = to.abs().copysign(*side));
            }
        })?;
        set.find_beyond()?;
        Ok((set, sources))
    }

    /// Its particles alone.
    pub fn into_sources(self) -> Sources {
        self.sources
    }

    /// The surface as a closed manifold mesh.
    pub fn mesh(&self) -> Result<Triangles> {
        self.set.mesh()
    }

    /// The ellipsoids that particles were made, in the order of Buckets; none if they stayed spheres. Those deep inside are spheres.
    pub fn ellipsoids(&self) -> impl Iterator<Item = Ellipsoid> + '_ {
        let Sources { frame, bins, kernels } = &self.sources;
        let voxel = frame.voxel_size(0);
        let slots = 0..bins.topology.local() as u32;
        let all = slots.flat_map(|slot| bins.of(slot).map(move |n| (slot, n)));
        kernels.iter().flat_map(move |kernels| {
            all.clone().map(move |(slot, n)| {
                let Kernel { centre, radius, .. } = kernels[n];
                let corner = frame.corner(bins.topology.bucket(slot));
                Ellipsoid {
                    particle: bins.source[n],
                    centre: corner + voxel * centre.as_dvec3(),
                    stretch: kernels[n].matrix().inverse() * (voxel * f64::from(radius)),
                }
            })
        })
    }
}
