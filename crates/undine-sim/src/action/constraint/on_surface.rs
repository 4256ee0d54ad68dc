//! Places on the surfaces of targets, which elements may hold in place of their last particle: as channels of the elements, and as points that
//! the coupled system sees beside the particles of the target.

use crate::constraint::Placed;
use crate::elements::ElementSet;
use crate::error::Result;
use crate::newton::{Embedded as Hung, Shape};
use crate::offers::{Dofs, ObjectId};
use crate::surface::{self, Place};
use crate::world::World;
use undine_core::ChannelSpec;

/// The channels of places on surfaces: the corners of a triangle and their weights; or a body, without further corners, and the offset on
/// it. Elements between particles have no corner at all.
const CORNERS: [&str; 3] = ["corner-0", "corner-1", "corner-2"];
const WEIGHTS: [&str; 3] = ["weight-0", "weight-1", "weight-2"];
const NO_CORNER: u64 = u64::MAX;

fn to_channels(place: Option<Place>) -> ([u64; 3], [f64; 3]) {
    match place {
        None => ([NO_CORNER; 3], [0.0; 3]),
        Some(Place::Between { corners, weights }) => (corners, weights),
        Some(Place::Fixed { body, offset }) => ([body, NO_CORNER, NO_CORNER], offset.to_array()),
    }
}

fn from_channels(corners: [u64; 3], weights: [f64; 3]) -> Option<Place> {
    match corners {
        [NO_CORNER, ..] => None,
        [body, NO_CORNER, _] => Some(Place::Fixed { body, offset: weights.into() }),
        corners => Some(Place::Between { corners, weights }),
    }
}

/// Adds the channels of places to those of elements.
pub(super) fn add_channels(elements: &mut ElementSet) -> Result<()> {
    for (corner, weight) in CORNERS.into_iter().zip(WEIGHTS) {
        elements.add_channel(&ChannelSpec::new(corner, NO_CORNER))?;
        elements.add_channel(&ChannelSpec::new(weight, 0.0_f64))?;
    }
    Ok(())
}

/// The place of each element that has one goes into channels.
pub(super) fn write(
    elements: &ElementSet,
    places: impl Iterator<Item = Option<Place>>,
) -> Result<()> {
    let places: Vec<_> = places.map(to_channels).collect();
    for k in 0..3 {
        let mut corner = elements.column_mut(elements.handle::<u64>(CORNERS[k])?)?;
        let mut weight = elements.column_mut(elements.handle::<f64>(WEIGHTS[k])?)?;
        for (element, (corners, weights)) in places.iter().enumerate() {
            (corner[element], weight[element]) = (corners[k], weights[k]);
        }
    }
    Ok(())
}

/// The place of each element that has one, from channels.
pub(super) fn read(elements: &ElementSet) -> Result<Vec<Option<Place>>> {
    let (mut corners, mut weights) = (Vec::with_capacity(3), Vec::with_capacity(3));
    for k in 0..3 {
        corners.push(elements.column(elements.handle::<u64>(CORNERS[k])?)?);
        weights.push(elements.column(elements.handle::<f64>(WEIGHTS[k])?)?);
    }
    let place = |element: usize| {
        let corners = std::array::from_fn(|k| corners[k][element]);
        from_channels(corners, std::array::from_fn(|k| weights[k][element]))
    };
    Ok((0..elements.len()).map(place).collect())
}

/// Places on the surface of an Object.
pub(super) struct OnSurface {
    places: Vec<Place>,
    /// How they hang on unknowns, and where they are.
    pub shape: Shape,
    pub placed: Vec<Placed>,
    /// Whether those that the scene moves are where this substep has them.
    is_led: bool,
}

impl OnSurface {
    /// None yet, on the surface of this Object.
    pub fn new(world: &World, object: ObjectId) -> Self {
        let shape = match world.object(object).offers.dofs {
            Some(Dofs::Bodies(_)) => Shape::Rigid { body: Vec::new(), rest: Vec::new() },
            _ => Shape::Fixed,
        };
        Self { places: Vec::new(), shape, placed: Vec::new(), is_led: false }
    }

    /// Adds the places of these elements, and strikes out elements whose place is not there any more.
    pub fn add<const N: usize>(
        &mut self,
        elements: &mut Vec<(usize, [u32; N])>,
        world: &World,
        object: ObjectId,
        place: impl Fn(usize) -> Option<Place>,
        now: f64,
    ) -> Result<()> {
        let places: Vec<Place> = elements.iter().filter_map(|held| place(held.0)).collect();
        let mut found = places.iter().zip(surface::placed(world, object, &places, now)?);
        elements.retain_mut(|(_, stencil)| {
            let Some((place, Some(placed))) = found.next() else { return false };
            stencil[N - 1] = self.places.len() as u32;
            if let (Shape::Rigid { body, rest }, Place::Fixed { body: number, offset }) =
                (&mut self.shape, place)
            {
                body.push(*number as u32);
                rest.push(Placed::at(*offset));
            }
            self.places.push(*place);
            self.placed.push(placed);
            true
        });
        Ok(())
    }

    /// Goes where the World has the surface at a time [s]. What has vanished since the substep began stays where it was.
    pub fn follow(&mut self, world: &World, object: ObjectId, time: f64) -> Result<()> {
        let found = surface::placed(world, object, &self.places, time)?;
        for (placed, found) in self.placed.iter_mut().zip(found) {
            *placed = found.unwrap_or(*placed);
        }
        Ok(())
    }

    /// Goes where the unknowns of a substep that ends at `time` [s] have the surface.
    pub fn iterate<'a>(
        &mut self,
        world: &World,
        object: ObjectId,
        time: f64,
        hung: &dyn Fn(ObjectId) -> Hung<'a>,
    ) -> Result<()> {
        match &self.shape {
            // What the scene moves stays where it is while a substep is solved.
            Shape::Fixed if self.is_led => {}
            Shape::Fixed => {
                self.follow(world, object, time)?;
                self.is_led = true;
            }
            shape => shape.place(&[], hung(object).bodies(), &mut self.placed)?,
        }
        Ok(())
    }
}
