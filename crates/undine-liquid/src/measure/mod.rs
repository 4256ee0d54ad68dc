//! What is measured at the particles of a liquid, where that is asked for: the gradient of pressure, the distance to the surface,
//! how many neighbours there are, and vorticity. Users look at them, and criteria choose particles by them.
//!
//! All of it is measured before particles move, from the grid of the same moment, and goes along with them: a liquid that flies as
//! a whole measures the same as one at rest, which the grid of the last step would not tell at the new places.

mod slope;

use undine_core::glam::{Mat3, Vec3};
use undine_core::neighbours::Neighbours;
use undine_core::volume::{Interpolation, MacSampler, Sampler};
use undine_core::{
    Accessor, ChannelSpec, Combine, DiscreteVolume, GridDomain, Handle, ParticleSystem,
};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// What can be asked for, by the names of the channels, with what they are.
pub const WORDS: &[(&str, &str)] = &[
    ("pressure-gradient", "gradient of the pressure [Pa/m]"),
    ("distance", "distance to the surface, negative inside, up to 3 voxels [m]"),
    ("neighbours", "how many other particles are within a voxel"),
    ("vorticity", "curl of the velocity [1/s]"),
    ("affine", "gradient of the velocity that `transfer=apic` carries [1/s]"),
];

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asked {
    /// Vectors [Pa/m].
    pub pressure_gradient: bool,
    /// Numbers [m].
    pub distance: bool,
    /// Numbers.
    pub neighbours: bool,
    /// Vectors [1/s].
    pub vorticity: bool,
    /// Matrices [1/s], which are there anyway with APIC, and are then shown.
    pub affine: bool,
}

impl Asked {
    /// What a text of [words](WORDS) asks for, with spaces or commas between them; of a word that is none of them, the word.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut asked = Self::default();
        let words = text.split(|c: char| c.is_whitespace() || c == ',');
        for word in words.filter(|word| !word.is_empty()) {
            match word {
                "pressure-gradient" => asked.pressure_gradient = true,
                "distance" => asked.distance = true,
                "neighbours" => asked.neighbours = true,
                "vorticity" => asked.vorticity = true,
                "affine" => asked.affine = true,
                other => return Err(other.to_owned()),
            }
        }
        Ok(asked)
    }
}

/// The channels of particles that are measured.
#[derive(Debug, Clone, Copy, Default)]
pub struct Measured {
    /// [Pa/m]
    pub pressure_gradient: Option<Handle<Vec3>>,
    /// [m]
    pub distance: Option<Handle<f32>>,
    /// As numbers, so that criteria can be about them.
    pub neighbours: Option<Handle<f32>>,
    /// [1/s]
    pub vorticity: Option<Handle<Vec3>>,
}

impl Measured {
    /// Adds the channels that are asked for to particles.
    pub fn add(particles: &mut ParticleSystem, asked: &Asked) -> Result<Self> {
        let mut vector = |wanted: bool, name: &'static str, unit: &'static str| {
            let spec = ChannelSpec::new(name, Vec3::ZERO).unit(unit).combine(Combine::Mean);
            wanted.then(|| particles.add_channel(&spec)).transpose()
        };
        let pressure_gradient = vector(asked.pressure_gradient, "pressure-gradient", "Pa/m")?;
        let vorticity = vector(asked.vorticity, "vorticity", "1/s")?;
        let mut number = |wanted: bool, name: &'static str, unit: &'static str| {
            let spec = ChannelSpec::new(name, 0.0_f32).unit(unit).combine(Combine::Mean);
            wanted.then(|| particles.add_channel(&spec)).transpose()
        };
        let distance = number(asked.distance, "distance", "m")?;
        let neighbours = number(asked.neighbours, "neighbours", "")?;
        Ok(Self { pressure_gradient, distance, neighbours, vorticity })
    }

    /// The names of the channels there are.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let there = [
            self.pressure_gradient.map(|_| "pressure-gradient"),
            self.distance.map(|_| "distance"),
            self.neighbours.map(|_| "neighbours"),
            self.vorticity.map(|_| "vorticity"),
        ];
        there.into_iter().flatten()
    }

    /// Measures at all particles, which are in their Buckets. Collective.
    pub fn measure(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        field: &FluidField,
        particles: &ParticleSystem,
    ) -> Result<()> {
        if let Some(to) = self.pressure_gradient {
            slope::pressure_gradient(domain, volume, field, particles, to)?;
        }
        if let (Some(to), Some(surface)) = (self.distance, field.distance) {
            distance(domain, volume, surface, particles, to)?;
        }
        if let Some(to) = self.vorticity {
            vorticity(domain, volume, field, particles, to)?;
        }
        if let Some(to) = self.neighbours {
            let radius = domain.frame().voxel_size(0);
            let search = Neighbours::new("count neighbours", domain, particles, radius)?;
            search
                .for_each(particles.write(to), |_, count, n, near| count[n] = near.len() as f32)?;
        }
        Ok(())
    }
}

/// The distance at cell centres, between them.
fn distance(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    surface: Handle<f32>,
    particles: &ParticleSystem,
    to: Handle<f32>,
) -> Result<()> {
    volume.refresh(domain, surface)?;
    let column = volume.column(surface)?;
    let topology = volume.topology();
    let sampler = Sampler::new(&column, topology, Interpolation::Linear);
    let kernel = (particles.own(particles.position()), particles.write(to));
    Accessor::new("measure the distance", domain).over(particles.topology()).run(
        kernel,
        |here, (offset, distance)| {
            let slot = topology.slot(here.bucket);
            for (distance, offset) in distance.iter_mut().zip(offset) {
                *distance = slot.map_or(column.background(), |slot| sampler.at(slot, *offset));
            }
        },
    )?;
    Ok(())
}

/// The curl of the velocity on faces, by quadratic B-splines, which have no jumps in their derivatives.
fn vorticity(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    particles: &ParticleSystem,
    to: Handle<Vec3>,
) -> Result<()> {
    for face in field.velocity.faces {
        volume.refresh(domain, face)?;
    }
    let [x, y, z] = field.velocity.faces.map(|face| volume.column(face));
    let faces = [x?, y?, z?];
    let topology = volume.topology();
    let sampler = MacSampler::new(
        faces.each_ref().map(|column| &**column),
        topology,
        Interpolation::Quadratic,
    )?;
    let kernel = (particles.own(particles.position()), particles.write(to));
    Accessor::new("measure vorticity", domain).over(particles.topology()).run(
        kernel,
        |here, (offset, vorticity)| {
            let slot = topology.slot(here.bucket);
            for (vorticity, offset) in vorticity.iter_mut().zip(offset) {
                let gradient = slot.map_or(Mat3::ZERO, |slot| sampler.gradient(slot, *offset));
                *vorticity = curl(gradient);
            }
        },
    )?;
    Ok(())
}

/// ∇×u, where column j of the gradient is ∂u/∂x_j.
fn curl(gradient: Mat3) -> Vec3 {
    let Mat3 { x_axis: dx, y_axis: dy, z_axis: dz } = gradient;
    Vec3::new(dy.z - dz.y, dz.x - dx.z, dx.y - dy.x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_understood_and_no_other() {
        for (word, _) in WORDS {
            assert_ne!(Asked::parse(word).unwrap(), Asked::default(), "{word}");
        }
        let all = WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        let all = Asked::parse(&all).unwrap();
        assert!(all.pressure_gradient && all.distance && all.neighbours && all.vorticity);
        assert!(all.affine);
        assert_eq!(Asked::parse("  ").unwrap(), Asked::default());
        assert_eq!(Asked::parse("distance height").unwrap_err(), "height");
    }
}
