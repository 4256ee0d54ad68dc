//! The same frame of two sources, beside each other, with what differs.

use super::error::ViewError;
use super::loaded::Loaded;
use super::pieces::pieces;
use super::{Source, by, joined, look};
use crate::preview::contents::{Cloud, Contents};
use crate::preview::{Moment, Picture, PictureError, Steady, album, colours, compose, draw};
use undine_core::glam::DVec3;
use undine_render::difference::{Difference, side_by_side};
use undine_render::shot::{Numbers, Places, PointChunk, Radii};
use undine_render::{Display, Legend, Quality, Size};
use undine_scene::Render;

/// How far points of the same id are from each other.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Distances {
    /// How many points both have.
    pub both: usize,
    /// How many only one of them has.
    pub alone: usize,
    /// How many are not in the same place.
    pub differ: usize,
    /// Of those that both have, the mean [m].
    pub mean: f64,
    /// One in twenty is further [m].
    pub most: f64,
    /// The greatest [m].
    pub greatest: f64,
}

/// Two frames, compared.
#[derive(Debug)]
pub struct Comparison {
    /// Both, and where their pictures differ.
    pub picture: Display,
    /// How much their pictures differ.
    pub difference: Difference,
    /// How much their points differ, if both have points with ids.
    pub distances: Option<Distances>,
    /// The points of the first by how far they are in the second, if any is elsewhere.
    pub apart: Option<Display>,
}

/// Compares a frame of two sources, from the same camera and with the same range of colours.
pub fn compare([a, b]: [&Source; 2], frame: i64, render: &Render) -> Result<Comparison, ViewError> {
    let loaded = [a.load(frame, render.water)?, b.load(frame, render.water)?];
    let [one, other] = [&loaded[0], &loaded[1]].map(|loaded| loaded.contents(by(render)));
    let mut steady = joined(look(&one, render), look(&other, render));
    let moment = a.moment(frame);
    steady.opened =
        compose::opened(&one, render, steady.bounds, moment.time).map_err(PictureError::from)?;
    let shown = |contents: &Contents<'_>, source: &Source| -> Result<Display, ViewError> {
        Ok(draw(contents, render, &steady, &moment, &source.title)?.display(render)?)
    };
    let (left, right) = (shown(&one, a)?, shown(&other, b)?);
    let (distances, apart) = match apart(&loaded) {
        None => (None, None),
        Some(apart) if apart.figures().differ == 0 => (Some(apart.figures()), None),
        Some(apart) => {
            (Some(apart.figures()), Some(apart.shown(one.up, &steady, &moment, render)?))
        }
    };
    Ok(Comparison {
        difference: Difference::of(&left, &right)?,
        picture: side_by_side((&a.what, &left), (&b.what, &right), 0.0)?,
        distances,
        apart,
    })
}

/// Points that both have, where the first has them, and how far away the second has them [m].
struct Apart {
    places: Vec<DVec3>,
    distances: Vec<f32>,
    alone: usize,
}

/// Points of the same ids; nothing, unless both have ids.
fn apart([a, b]: &[Loaded; 2]) -> Option<Apart> {
    let (one, other) = (a.points_by_id(), b.points_by_id());
    if one.is_empty() || other.is_empty() {
        return None;
    }
    let mut apart = Apart { places: Vec::new(), distances: Vec::new(), alone: 0 };
    for (id, place) in &one {
        if let Some(there) = other.get(id) {
            apart.places.push(*place);
            apart.distances.push(place.distance(*there) as f32);
        }
    }
    apart.alone = one.len() + other.len() - 2 * apart.places.len();
    Some(apart)
}

impl Apart {
    fn figures(&self) -> Distances {
        let mut sorted = self.distances.clone();
        sorted.sort_by(f32::total_cmp);
        let both = sorted.len();
        let at = |n: usize| sorted.get(n).copied().map_or(0.0, f64::from);
        let sum: f64 = self.distances.iter().map(|distance| f64::from(*distance)).sum();
        Distances {
            both,
            alone: self.alone,
            differ: sorted.iter().filter(|distance| **distance != 0.0).count(),
            mean: sum / both.max(1) as f64,
            most: at(both * 19 / 20),
            greatest: at(both.saturating_sub(1)),
        }
    }

    /// The points, coloured by how far away the others are.
    fn shown(
        &self,
        up: undine_io::UpAxis,
        steady: &Steady,
        moment: &Moment,
        render: &Render,
    ) -> Result<Display, ViewError> {
        let chunk = PointChunk {
            positions: Places::World(&self.places),
            radii: Radii::Same(0.0),
            velocities: None,
            values: Some(Numbers::F32(&self.distances)),
        };
        let cloud = Cloud { chunks: pieces(chunk), is_sized: false, is_valued: true };
        let contents = Contents { clouds: vec![cloud], up, ..Contents::default() };
        let Distances { both, differ, greatest, .. } = self.figures();
        let render = Render { map: "inferno".to_owned(), legend: true, ..render.clone() };
        let range = colours::rounded([0.0, greatest as f32]);
        let steady = Steady { range: Some(range), ..steady.clone() };
        let shot = compose::shot(&contents, &render, &steady, moment)?;
        let [width, height] = render.size;
        let quality = Quality { passes: render.samples };
        let image = undine_render::render(&shot, Size::new(width, height)?, quality)?;
        let name = ("distance".to_owned(), "m".to_owned());
        let legend = Legend {
            title: Some("how far apart points are".to_owned()),
            moment: Some(format!("{differ} of {both} differ")),
            colours: Some(album::colour_bar(&render, name, range)?),
            metres_per_pixel: None,
        };
        Ok(Picture { image, legend }.display(&render)?)
    }
}
