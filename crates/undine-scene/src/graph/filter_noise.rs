//! Gradient noise into a channel, or into positions (Perlin 2002, "Improving Noise", with hashed gradients instead of a table).

use super::{Call, Fault};
use rayon::prelude::*;
use undine_core::glam::{DVec3, I64Vec3};
use undine_core::mesh::NormalWeight;
use undine_geometry::random;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type, Value};
use undine_sim::SimError;
use undine_sim::input::{Data, Geometry, PointCloud};

pub(super) static NOISE: Declaration = Declaration {
    name: "noise",
    kind: Kind::Filter,
    doc: "Adds smooth noise of space to a channel of points or vertices",
    about: "Octaves double the frequency and halve the amplitude. An amplitude of three numbers gives a channel of vectors, each component with \
            a noise of its own. The channel begins with zero if it is not there yet. Noise of `P` moves points and vertices: by three numbers \
            along the axes, by one along the normal, as a terrain is made of a `sheet`; points have normals if they were scattered on a surface.",
    parameters: &[
        Parameter::new("channel", Type::Text, "the name of the channel"),
        Parameter::new(
            "amplitude",
            Type::Text,
            "how large it is, with its unit: one number or three",
        ),
        Parameter::number("size", Dimension::LENGTH, 1.0, "the size of its largest features")
            .positive(),
        Parameter::integer("octaves", 1, "how many finer noises are added").between(1.0, 16.0),
        Parameter::vector(
            "offset",
            Dimension::LENGTH,
            [0.0; 3],
            "where in the noise it begins; keyed, the noise drifts",
        ),
        Parameter::integer("seed", 0, "other seeds give other noise"),
    ],
    example: "noise channel=\"v\" amplitude=\"0.5 0.5 0.5 m/s\" size=\"20 cm\" octaves=3",
};

pub(super) fn noise(call: &Call<'_>) -> Result<Data, Fault> {
    let given = &call.given;
    let channel = given.text("channel")?;
    let moves = matches!(channel.as_str(), "P" | "position");
    let amplitude = match moves {
        true => given.optional_lengths("amplitude")?,
        false => given.optional_quantity("amplitude", &channel)?,
    };
    let (size, octaves) = (given.number("size")?, given.count("octaves")?);
    let (offset, seed) = (given.vector("offset")?, given.seed()?);
    let rest = call.data_at_rest()?;
    let mut cloud = rest.cloud()?.into_owned();
    let value =
        |at: DVec3, axis: u64| fractal((at + offset) / size, octaves, random::bits(seed, axis));
    let count = cloud.positions.len();
    match amplitude {
        Some(Value::Number(amplitude)) if moves => {
            let normals = normals(&rest, &cloud)?;
            let moved = cloud.positions.par_iter().zip(&normals);
            cloud.positions = moved.map(|(&at, n)| at + amplitude * value(at, 0) * n).collect();
        }
        Some(Value::Vector(amplitude)) if moves => {
            let amplitude = DVec3::from_array(amplitude);
            let moved =
                |&at: &DVec3| at + amplitude * DVec3::new(value(at, 0), value(at, 1), value(at, 2));
            cloud.positions = cloud.positions.par_iter().map(moved).collect();
        }
        Some(Value::Number(amplitude)) => {
            let add: Vec<f64> =
                cloud.positions.par_iter().map(|&at| amplitude * value(at, 0)).collect();
            if cloud.vectors.contains_key(&channel) {
                return Err(Fault::parameter(
                    "amplitude",
                    amplitude,
                    format!("`{channel}` holds vectors: give three numbers"),
                ));
            }
            let values = cloud.numbers.entry(channel).or_insert_with(|| vec![0.0; count]);
            values.iter_mut().zip(add).for_each(|(value, add)| *value += add);
        }
        Some(Value::Vector(amplitude)) => {
            let amplitude = DVec3::from_array(amplitude);
            let vector =
                |&at: &DVec3| amplitude * DVec3::new(value(at, 0), value(at, 1), value(at, 2));
            let add: Vec<DVec3> = cloud.positions.par_iter().map(vector).collect();
            if cloud.numbers.contains_key(&channel) {
                return Err(Fault::parameter(
                    "amplitude",
                    amplitude,
                    format!("`{channel}` holds numbers: give one number"),
                ));
            }
            let values = cloud.vectors.entry(channel).or_insert_with(|| vec![DVec3::ZERO; count]);
            values.iter_mut().zip(add).for_each(|(value, add)| *value += add);
        }
        _ => return Err(Fault::parameter("amplitude", "not given", "it is needed")),
    }
    if moves && matches!(rest.geometry, Geometry::Surface(_)) {
        // Those of the surface that it was.
        cloud.vectors.remove(NORMAL);
    }
    Ok(rest.with_cloud(cloud)?)
}

/// The channel of normals.
const NORMAL: &str = "N";

/// The normals of a surface at its vertices, or those that points have.
fn normals(data: &Data, cloud: &PointCloud) -> Result<Vec<DVec3>, Fault> {
    if let Geometry::Surface(surface) = &data.geometry {
        return Ok(surface.vertex_normals(NormalWeight::Angle).map_err(SimError::from)?);
    }
    cloud.vectors.get(NORMAL).cloned().ok_or_else(|| {
        let wanted = format!("{} without normals: give three numbers", data.noun());
        Fault::parameter("amplitude", "one number", wanted)
    })
}

fn fractal(at: DVec3, octaves: u32, seed: u64) -> f64 {
    let (mut sum, mut scale) = (0.0, 1.0);
    for octave in 0..octaves {
        sum += gradient(at / scale, random::bits(seed, u64::from(octave))) * scale;
        scale *= 0.5;
    }
    sum
}

/// Noise between −1 and 1, zero on the whole numbers.
fn gradient(at: DVec3, seed: u64) -> f64 {
    let low = at.floor();
    let within = at - low;
    let cell = low.as_i64vec3();
    // 6t⁵ − 15t⁴ + 10t³: neither the first nor the second derivative jumps.
    let fade = within * within * within * (within * (within * 6.0 - 15.0) + 10.0);
    let corner = |n: i64| {
        let step = I64Vec3::new(n & 1, n >> 1 & 1, n >> 2);
        slope(cell.wrapping_add(step), seed).dot(within - step.as_dvec3())
    };
    let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
    let row = |n: i64| mix(corner(n), corner(n + 1), fade.x);
    let layer = |n: i64| mix(row(n), row(n + 2), fade.y);
    mix(layer(0), layer(4), fade.z)
}

/// One of the twelve directions to the edges of a cube.
fn slope(cell: I64Vec3, seed: u64) -> DVec3 {
    let bits =
        random::bits(random::bits(random::bits(seed, cell.x as u64), cell.y as u64), cell.z as u64);
    let sign = |bit: u32| if bits >> bit & 1 == 0 { 1.0 } else { -1.0 };
    let (a, b) = (sign(0), sign(1));
    match (bits >> 8) % 3 {
        0 => DVec3::new(0.0, a, b),
        1 => DVec3::new(a, 0.0, b),
        _ => DVec3::new(a, b, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_smooth_bounded_and_zero_on_whole_numbers() {
        let mut sum = 0.0;
        for n in 0..2000_u64 {
            let at = DVec3::from_array([0, 1, 2].map(|axis| 100.0 * random::unit(axis, n) - 50.0));
            let value = gradient(at, 7);
            let near = gradient(at + 1e-6, 7);
            assert!(value.abs() <= 1.1 && (value - near).abs() < 1e-5);
            assert_eq!(gradient(at.floor(), 7), 0.0);
            sum += value;
        }
        assert!((sum / 2000.0).abs() < 0.02, "{sum}");
    }
}
