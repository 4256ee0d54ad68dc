//! Values that vary from element to element: of channels of its points, of what inputs say of Objects as a whole, or the same for all.

use crate::coupling;
use crate::error::Result;
use crate::offers::{Embedded, ObjectId};
use crate::values::Values;
use crate::world::World;

/// What one Object says of a parameter that may vary.
pub(super) struct Varying {
    /// By its particles' channel.
    pub channel: Option<Vec<f64>>,
    /// By what its input says of it as a whole.
    pub attribute: Option<f64>,
}

impl Varying {
    pub fn all(
        world: &World,
        object: ObjectId,
        boundary: Option<&Embedded>,
        values: Values<'_>,
        parameters: &[&str],
    ) -> Result<Vec<Self>> {
        let attributes = &world.object(object).attributes;
        let mut all = Vec::with_capacity(parameters.len());
        for name in parameters {
            let channel = values.channel_of(name);
            let attribute = match channel.is_some_and(|channel| attributes.contains_key(channel)) {
                true => Some(values.of_object(attributes).number(name)?),
                false => None,
            };
            let channel = match channel.zip(boundary) {
                Some((channel, boundary)) => coupling::numbers(world, boundary, channel)?,
                None => None,
            };
            for (n, value) in channel.iter().flatten().enumerate() {
                values.check(name, n as u64, &[*value])?;
            }
            all.push(Self { channel, attribute });
        }
        Ok(all)
    }

    /// The value for an element: of parameter `k`, on points of Objects, of which places on surfaces have no channels.
    #[inline(always)]
    pub fn of<const N: usize>(
        k: usize,
        points: &[(&Vec<Self>, Option<u32>); N],
        uniform: f64,
    ) -> f64 {
        let (mut channels, mut attributes) = ((0.0, 0.0), (0.0, 0.0));
        let add = |(count, sum): &mut (f64, f64), value: f64| {
            *count += 1.0;
            *sum += value;
        };
        for (varying, particle) in points {
            if let (Some(values), Some(particle)) = (&varying[k].channel, particle) {
                add(&mut channels, values[*particle as usize]);
            }
            if let Some(value) = varying[k].attribute {
                add(&mut attributes, value);
            }
        }
        let mean = |(count, sum): (f64, f64)| (count > 0.0).then(|| sum / count);
        mean(channels).or_else(|| mean(attributes)).unwrap_or(uniform)
    }
}
