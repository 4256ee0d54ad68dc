//! Moving a sphere through a step among colliders: on along what it touches and with it, and never through.

use super::{ColliderStep, Impact};
use crate::error::Result;
use undine_core::glam::DVec3;

/// Where a sphere is after a step among colliders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Swept {
    /// Where its centre ends [m].
    pub position: DVec3,
    /// How often it touched something.
    pub impacts: usize,
    /// What it touched last, and which collider that was.
    pub last: Option<(usize, Impact)>,
}

impl Swept {
    /// Whether it was caught between surfaces, so that it could slide no more and only went with what it touched.
    pub fn is_pressed(&self) -> bool {
        self.impacts > MOST_SLIDES
    }
}

/// More surfaces than a sphere can slide along in a step; from then on it only goes with what it touches.
const MOST_SLIDES: usize = 8;
/// Between surfaces that close, every two impacts give it half of the room that it had: this is more than it can lose.
const MOST_IMPACTS: usize = 48;

/// Moves a sphere of `radius` [m] through a step that would take it from `from` to `to` [m].
///
/// Where it touches, it is carried along by the surface, gives up what would take it inwards, and slides on as far as
/// Coulomb friction lets it. A point should be given a small radius, larger than what its coordinates are rounded to; with
/// none, it is taken for a sphere of a millionth of its way (of a thousandth, against solids and level sets). A sphere that two colliders close on cannot stay outside of both:
/// it keeps to the side of the one that it touched last.
pub fn sweep(colliders: &[ColliderStep<'_>], from: DVec3, to: DVec3, radius: f64) -> Result<Swept> {
    sweep_with(colliders, from, to, radius, |_, impact, left| slide(impact, left))
}

/// The same, where `respond` says how it goes on from each touch: given the collider, the touch and what is left of the way
/// relative to the surface [m], the way to go instead [m]. It is held to that only as far as nothing is in the way.
pub fn sweep_with(
    colliders: &[ColliderStep<'_>],
    from: DVec3,
    to: DVec3,
    radius: f64,
    mut respond: impl FnMut(usize, &Impact, DVec3) -> DVec3,
) -> Result<Swept> {
    let (mut begin, mut at, mut target) = (0.0, from, to);
    let (mut last, mut pressed) = (None, None::<Impact>);
    for impacts in 0..MOST_IMPACTS {
        let Some((number, impact)) = first_of_all(colliders, begin, at, target, radius)? else {
            return Ok(Swept { position: target, impacts, last });
        };
        last = Some((number, impact));
        (begin, at) = (impact.time, impact.position);
        // What has come too near gets its distance back, unless it is pressed between surfaces that close.
        let way = respond(number, &impact, target - impact.carried);
        target = if impacts < MOST_SLIDES {
            let apart = (impact.radius - impact.distance).max(0.0) * impact.normal;
            impact.carried + apart + way
        } else {
            pressed = pressed.or(Some(impact));
            impact.carried
        };
    }
    // Between surfaces that have closed there is no room, and a turn may be too fast to follow on straight ways: it keeps
    // to the surface that it touched when it could slide no more.
    let Some(impact) = pressed else {
        return Ok(Swept { position: to, impacts: MOST_IMPACTS, last });
    };
    // If there is room, it gets its distance back: else it would be halved from step to step.
    let apart = (impact.radius - impact.distance).max(0.0) * impact.carried_normal;
    let room = first_of_all(colliders, 1.0, impact.carried, impact.carried + apart, radius)?;
    let position = impact.carried + if room.is_none() { apart } else { DVec3::ZERO };
    Ok(Swept { position, impacts: MOST_IMPACTS, last })
}

/// The first impact with any of the colliders; of several at the same time, with the first of them.
fn first_of_all(
    colliders: &[ColliderStep<'_>],
    begin: f64,
    from: DVec3,
    to: DVec3,
    radius: f64,
) -> Result<Option<(usize, Impact)>> {
    let mut first: Option<(usize, Impact)> = None;
    for (number, collider) in colliders.iter().enumerate() {
        if let Some(impact) = collider.first_impact(begin, from, to, radius)?
            && first.is_none_or(|(_, before)| impact.time < before.time)
        {
            first = Some((number, impact));
        }
    }
    Ok(first)
}

/// What is left of a way [m], relative to the surface that it met: along it, as far as friction lets it, or away from it.
fn slide(impact: &Impact, relative: DVec3) -> DVec3 {
    let inwards = -relative.dot(impact.normal).min(0.0);
    let along = relative + inwards * impact.normal;
    let (held, slip) = (impact.friction * inwards, along.length());
    // What leaves the surface is not held by friction.
    if slip > held { (1.0 - held / slip) * along } else { DVec3::ZERO }
}
