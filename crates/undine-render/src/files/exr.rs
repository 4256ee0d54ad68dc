//! EXR: all that was computed, in linear light, for compositing: `R G B A`, depth as `Z`, and `velocity.X` to `velocity.Z`.

use super::{SOFTWARE, backed, wrong};
use crate::error::Result;
use crate::image::{Image, Size};
use exr::image::write::WritableImage;
use exr::meta::MetaData;
use exr::prelude::{
    AnyChannel, AnyChannels, AttributeValue, Encoding, FlatSamples, Layer, LayerAttributes,
    ReadChannels, ReadLayers, SmallVec, Text, f16,
};
use std::io::Cursor;
use std::path::Path;
use undine_core::glam::{Vec3, Vec4};

/// How light and velocity are kept; depth always has all its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// 16 bits: three digits, up to 65 504.
    #[default]
    Half,
    /// 32 bits.
    Float,
}

/// An EXR of a picture, with notes by name, such as `("scene", "dam-break")`.
pub fn encoded(image: &Image, precision: Precision, notes: &[(&str, &str)]) -> Result<Vec<u8>> {
    let failed = |why: exr::error::Error| wrong("an EXR", why);
    let pixels = image.size.pixels();
    if [image.light.len(), image.depth.len(), image.velocity.len()] != [pixels; 3] {
        return Err(wrong("an EXR", format!("the picture does not have {pixels} pixels")));
    }
    let float = |values: &mut dyn Iterator<Item = f32>| match precision {
        Precision::Half => FlatSamples::F16(values.map(f16::from_f32).collect()),
        Precision::Float => FlatSamples::F32(values.collect()),
    };
    let mut channels = SmallVec::new();
    for (part, name) in ["R", "G", "B", "A"].into_iter().enumerate() {
        let mut values = image.light.iter().map(|light| light[part]);
        channels.push(AnyChannel::new(name, float(&mut values)));
    }
    for (axis, name) in ["velocity.X", "velocity.Y", "velocity.Z"].into_iter().enumerate() {
        let mut values = image.velocity.iter().map(|velocity| velocity[axis]);
        channels.push(AnyChannel::new(name, float(&mut values)));
    }
    channels.push(AnyChannel::new("Z", FlatSamples::F32(image.depth.clone())));
    let mut attributes =
        LayerAttributes { software_name: Some(SOFTWARE.into()), ..Default::default() };
    for (name, note) in notes {
        let [name, note] = [name, note].map(|&text| Text::new_or_none(text));
        let (Some(name), Some(note)) = (name, note) else { continue };
        attributes.other.insert(name, AttributeValue::Text(note));
    }
    let size = (image.size.width, image.size.height);
    // Rows in blocks of 16, each deflated by itself: small, and every program reads it.
    let layer = Layer::new(size, attributes, Encoding::SMALL_LOSSLESS, AnyChannels::sort(channels));
    let mut bytes = Cursor::new(Vec::new());
    exr::image::Image::from_layer(layer)
        .write()
        .non_parallel()
        .to_buffered(&mut bytes)
        .map_err(failed)?;
    Ok(bytes.into_inner())
}

/// The picture of an EXR that has at least `R`, `G` and `B`: without `A` it is covered, without `Z` infinitely far, without
/// `velocity` at rest. The name of the file is for what is wrong with it.
pub fn decoded(bytes: &[u8], file: &Path) -> Result<Image> {
    let failed = |why: exr::error::Error| wrong(file, why);
    let meta = MetaData::read_from_buffered(Cursor::new(bytes), true).map_err(failed)?;
    let mut promised = Some(0_usize);
    for header in &meta.headers {
        let size = Size::new(header.layer_size.width(), header.layer_size.height())?;
        let bytes = size.pixels().checked_mul(header.channels.bytes_per_pixel);
        promised = promised.zip(bytes).and_then(|(sum, bytes)| sum.checked_add(bytes));
    }
    backed(file, promised, bytes.len())?;
    let read = exr::prelude::read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .non_parallel()
        .from_buffered(Cursor::new(bytes))
        .map_err(failed)?;
    let layer = read.layer_data;
    let size = Size::new(layer.size.width(), layer.size.height())?;
    let channel = |name: &str| -> Option<Vec<f32>> {
        let mut channels = layer.channel_data.list.iter();
        let found = channels.find(|channel| channel.name == *name)?;
        let values: Vec<f32> = found.sample_data.values_as_f32().collect();
        (values.len() == size.pixels()).then_some(values)
    };
    let wanted = |name: &str| {
        channel(name).ok_or_else(|| wrong(file, format!("it has no whole channel `{name}`")))
    };
    let (r, g, b) = (wanted("R")?, wanted("G")?, wanted("B")?);
    let mut image = Image::empty(size);
    let cover = channel("A").unwrap_or_else(|| vec![1.0; size.pixels()]);
    for (n, light) in image.light.iter_mut().enumerate() {
        *light = Vec4::new(r[n], g[n], b[n], cover[n]);
    }
    if let Some(depth) = channel("Z") {
        image.depth = depth;
    }
    let velocity = ["velocity.X", "velocity.Y", "velocity.Z"].map(channel);
    if let [Some(x), Some(y), Some(z)] = velocity {
        let joined = |n: usize| Vec3::new(x[n], y[n], z[n]);
        image.velocity = (0..size.pixels()).map(joined).collect();
    }
    Ok(image)
}
