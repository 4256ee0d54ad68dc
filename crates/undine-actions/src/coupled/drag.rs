//! Coupled drag: what moves through a simulated fluid is dragged along by it, and drags it along (Loki, §6.4; Stomakhin et al. 2020).
//!
//! A point i with the resistance K (a law by Reynolds number for balls, by the way it lies in the flow for pieces of rods) gets the
//! impulse Δt K (u_f − u_s), and the fluid around it the opposite. Solids are solved while the fluid is held, so the solid's
//! velocity is taken at the end of the step and the fluid's where it is known. That alone would drive a light fluid ever faster past
//! a dense solid. So what the fluid would do meanwhile is put in before: with Σ K of all points spread on faces, a face of mass m answers an
//! impulse J on solids by −J/m, and eliminating its velocity from J = Δt K (u_f − J/m − u_s) leaves
//!
//! ```text
//! J = Δt K̂ (u_f − u_s),   K̂ = K / (1 + Δt ΣK/m)
//! ```
//!
//! which never passes the common velocity, however long the step. K̂ goes into the solid's system, and after the solve exactly −J goes
//! to the faces: momentum is exchanged to rounding, in every iteration.
//!
//! K depends on the slip: it is that of the slip at the end, when the fluid has answered and a part x of u_f − u_s is left. Were it that of all of it, the drag
//! of dense hair would depend on the length of the step. Each point takes it that the others around it feel as much less as it does itself, so that with
//! R = Δt ΣK(s)/m of the whole slip s
//!
//! ```text
//! x (1 + R K(x s)/K(s)) = 1,   K̂ = x K(x s)
//! ```
//!
//! Where all are alike that is exact, and otherwise the sum of Δt K̂/m is never more than 1: for each it is at most Δt K(s)/(m R).
//!
//! In the first iteration s is of the velocity which is known, with u_s at the end of the step: for drag that goes with the square of speed this is the
//! exact way of something free, where Newton's method would end near half of the slip if the step is long. Repeated it would only converge linearly, or not
//! at all: an error of velocity is ψK/(m/Δt + K) of what it was, ψ = d ln K / d ln |u|. So later iterations, which begin at u₀, have the derivative of K
//! as well:
//!
//! ```text
//! J = Δt (K̂ (u_f − u_s) − Ŝ (u_s − u₀)),   Ŝ = x (∂(K u)/∂u − K) / (1 + (1/x − 1)(1 + ψ))
//! ```
//!
//! which is Newton's method for something free among its like. K̂ + Ŝ is positive, because drag rises with speed. Fluids again take exactly −J.
//!
//! u_f is thus the fluid at the end of the step but for drag: u_f = uⁿ + Δt a, where a is what forces, viscosity and pressure were found to do
//! to it in the last iteration, and in the first one in the step before. Without a, pressure would take back what a fluid that cannot
//! give way did for J, and all that is steady would have K̂ in the place of K: dense hair in a wind a fourth less drag than it should, dust
//! ever faster the more of it there is. With it J = Δt K (u_f − u_s) holds of both velocities at the end of the step, as soon as a is steady.
//!
//! **Why drag is not in the matrix of pressure.** Pressure could solve for drag D per volume at its faces as well (`pressure/drag.rs` of
//! `undine-linsolve`). But solids were solved before, with the impulse J, and by then pressure would find another one: with m_f and m_s per
//! volume, μ = m_f m_s/(m_f + m_s) and w = μ/(μ + Δt D), the difference is (1−w) μ Δt |1/ρ_s − 1/ρ_f| |∇p|, which in dense hair is all that
//! pressure does to air. What the one gained the other one would not have lost. Here the same difference is only late by a step: slip is off
//! by at most (1−w) Δt |1/ρ_s − 1/ρ_f| |δ∇p|, where δ∇p is how pressure changes from one step to the next, and by a part 1−w of that
//! in each iteration more.

use super::faces::{Faces, Given, Met};
use super::places::Places;
use super::points::{Points, Source};
use super::slip::left_of_slip;
use crate::drag::{self, Law, Medium, settled};
use rayon::prelude::*;
use undine_core::glam::{DMat3, DVec3};
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::offers::ObjectId;
use undine_sim::{Ingest, Moment, Operator, Result, Stage, Tasks, World};

/// "Drag, both ways."
pub const DECLARATION: Declaration = Declaration {
    name: "coupled-drag",
    kind: Kind::Operator,
    doc: "Fluids drag along what is in them, and are dragged along by it",
    about: "Between every fluid in its scope and everything in it that has mass: particles, bodies that no fluid flows around, strands. Balls of the radius of \
            each point (`pscale`) are resisted by Reynolds number, pieces of strands by the way they lie in the flow. What one side \
            gains in momentum the other one loses.",
    parameters: &[
        drag::LAW,
        Parameter::choice(
            "direction",
            &[
                ("both", "each drags the other"),
                ("to-solids", "fluids drag what is in them, and do not notice"),
                ("to-fluids", "what is in fluids drags them, and does not notice"),
            ],
            "who drags whom",
        ),
        Parameter::number(
            "fluid-viscosity",
            Dimension::DYNAMIC_VISCOSITY,
            1.81e-5,
            "dynamic viscosity of the fluid; by default that of air for what is light, and of water for what is denser than 100 kg/m3",
        )
        .positive()
        .usually(1e-6, 10.0)
        .optional(),
        Parameter::number(
            "strength",
            Dimension::NONE,
            1.0,
            "how many times the physical drag; 1 is nature",
        )
        .not_negative()
        .usually(0.0, 10.0)
        .advanced(),
        drag::COEFFICIENT,
        drag::SURFACE_TENSION,
        drag::STYLE_STRENGTH,
        drag::STYLE_EXPONENT,
    ],
    example: "coupled-drag",
};

/// Drags fluids and what is in them along with each other.
pub struct CoupledDrag {
    on: Vec<Source>,
    fluids: Vec<Faces>,
    law: Law,
    direction: Direction,
    viscosity: Option<f64>,
    strength: f64,
    /// What happens between each fluid and each of the others, in this iteration.
    exchanges: Vec<Exchange>,
    /// Whether it has said already that strands are beyond the air.
    has_warned: bool,
}

/// Who drags whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Both,
    ToSolids,
    ToFluids,
}

/// What happens between a fluid and the points of an Object.
#[derive(Debug, Default)]
struct Exchange {
    places: Places,
    met: Met,
    resistances: Vec<Resisted>,
}

/// How a point is dragged, whatever its velocity will be.
#[derive(Debug, Clone, Copy)]
struct Resisted {
    /// K̂ [N s/m].
    k: DMat3,
    /// Ŝ [N s/m].
    steeper: DMat3,
    /// The velocity u₀ that both are of [m/s].
    known: DVec3,
    /// The velocity relative to the fluid, before it answers [m/s].
    slip: DVec3,
}

impl Resisted {
    /// Drag [N] in a flow [m/s] at a velocity [m/s].
    fn force(&self, flow: DVec3, velocity: DVec3) -> DVec3 {
        self.k * (flow - velocity) - self.steeper * (velocity - self.known)
    }
}

/// From this density on a fluid is taken for a liquid [kg/m³].
const LIQUID: f64 = 100.0;
/// Dynamic viscosity of water at 20 °C [Pa s].
const WATER_VISCOSITY: f64 = 1.002e-3;

impl Operator for CoupledDrag {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let on: Vec<Source> =
            scope.iter().filter_map(|&object| Source::of(ingest.world, object)).collect();
        let mut fluids = Vec::new();
        for &object in scope {
            fluids.extend(Faces::add_with_drift(ingest.world, object)?);
        }
        if on.is_empty() || fluids.is_empty() {
            return Ok(None);
        }
        let mut drag = Self {
            on,
            fluids,
            law: Law::SchillerNaumann,
            direction: Direction::Both,
            viscosity: None,
            strength: 1.0,
            exchanges: Vec::new(),
            has_warned: false,
        };
        drag.update(ingest)?;
        Ok(Some(drag))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.law = drag::law(ingest)?;
        let values = ingest.values();
        self.direction = match values.text("direction")?.as_str() {
            "to-solids" => Direction::ToSolids,
            "to-fluids" => Direction::ToFluids,
            _ => Direction::Both,
        };
        self.viscosity = values.optional_number("fluid-viscosity")?;
        self.strength = values.number("strength")?;
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let stores = || self.on.iter().map(|source| source.material.store());
        let fluids = || self.fluids.iter().map(Faces::store);
        let position = || stores().map(|store| store.channel("position"));
        on.task(Stage::Embed, "look at fluids", Self::look)
            .reads(position())
            .reads(fluids().flat_map(|store| store.channels(["cells", "open", "v-before"])))
            .reads(fluids().map(|store| store.channel(Faces::DRIVEN)))
            .reads(self.fluids.iter().flat_map(Faces::weighs))
            .writes(fluids().flat_map(|store| store.channels(Faces::LOOKED_AT)))
            .reaches_everywhere();
        let pushed = self.direction != Direction::ToFluids;
        let sums = stores().flat_map(|store| store.channels(["force", "force-slope"]));
        let sums: Vec<_> = sums.filter(|_| pushed).collect();
        on.task(Stage::AddDrag, "coupled drag", Self::drag)
            .reads(stores().flat_map(|store| store.channels(["v", "mass", "pscale"])))
            .reads(fluids().map(|store| store.channel("mass-density")))
            .reads(self.fluids.iter().filter_map(Faces::taken))
            .writes(fluids().map(|store| store.channel(Faces::GIVEN)))
            .accumulates(sums)
            .reaches_everywhere();
        if self.direction != Direction::ToSolids {
            on.task(Stage::CoupleFluids, "give momentum to fluids", Self::answer)
                .reads(stores().map(|store| store.channel("v")))
                .reads(fluids().flat_map(|store| store.channels(["mass-density", "couple-share"])))
                .reads(self.fluids.iter().filter_map(Faces::taken))
                .writes(fluids().map(|store| store.channel(Faces::GIVEN)))
                .accumulates(fluids().map(|store| store.channel("v")))
                .reaches_everywhere();
        }
        on.task(Stage::MeasureFluids, "measure what drives fluids", Self::measure)
            .reads(fluids().flat_map(|store| store.channels(["v", "v-before", "mass-density"])))
            .reads(fluids().flat_map(|store| store.channels(["couple-share", Faces::GIVEN])))
            .writes(fluids().map(|store| store.channel(Faces::DRIVEN)));
    }
}

impl CoupledDrag {
    /// The fluid as it is known, without what drag does to it.
    fn look(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        if !self.has_warned && now.substep == 0 && now.iteration == 0 {
            self.has_warned = self.warn_of_strands_beyond(world)?;
        }
        self.exchanges.clear();
        for faces in &self.fluids {
            faces.look(world, now.step)?;
            for source in &self.on {
                let places = faces.find(world, &source.positions(world)?)?;
                let met = faces.meet(world, &places)?;
                self.exchanges.push(Exchange { places, met, resistances: Vec::new() });
            }
        }
        Ok(())
    }

    /// Says which strands are where there is no air, though nothing but its Buckets bounds it; whether there are some. (Balls may well
    /// fly out of it, and water has a surface.)
    fn warn_of_strands_beyond(&self, world: &World) -> Result<bool> {
        let airs: Vec<&Faces> = self.fluids.iter().filter(|air| air.has_no_surface()).collect();
        let mut any = false;
        for source in self.on.iter().filter(|source| source.along.is_some() && !airs.is_empty()) {
            let places = source.positions(world)?;
            let is_beyond = |place: &DVec3| !airs.iter().any(|air| air.reaches(world, *place));
            let beyond: Vec<DVec3> = places.par_iter().copied().filter(is_beyond).collect();
            let Some(first) = beyond.first() else { continue };
            any = true;
            tracing::warn!(
                "{}: {} of {} vertices are beyond the air of `{}`, the first of them at ({:.3}, {:.3}, {:.3}) m, and feel no drag there. \
                 Name the strands in its `around`, or make larger what its `input` or `within` names",
                world.object(source.object).path,
                beyond.len(),
                places.len(),
                airs[0].path(world),
                first.x,
                first.y,
                first.z,
            );
        }
        Ok(any)
    }

    /// Finds K̂ of every point, and adds what it does to solids.
    fn drag(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let mut all = std::mem::take(&mut self.exchanges);
        for (faces, exchanges) in self.fluids.iter().zip(all.chunks_mut(self.on.len())) {
            let density = faces.density(world)?;
            let viscosity = self.viscosity.unwrap_or(match density >= LIQUID {
                true => WATER_VISCOSITY,
                false => Medium::AIR.viscosity(),
            });
            let medium = Medium::new(density, viscosity)
                .map_err(|why| undine_sim::SimError::setup("coupled-drag", why.to_string(), ""))?;
            let mut all_points = Vec::new();
            for (source, exchange) in self.on.iter().zip(exchanges.iter_mut()) {
                // What Constraints will do is not known here, so that what they hold cannot be said to settle anywhere.
                let settles = !world.object(source.object).coupled && now.iteration == 0;
                let points = source.points(world, settles)?;
                let flow = exchange.met.velocities.par_iter().zip(&exchange.met.shares);
                exchange.resistances = flow
                    .enumerate()
                    .map(|(n, (&flow, &share))| {
                        let slip = self.slip(&medium, &points, n, flow, now.step);
                        let [k, steeper] = self.resistance(&medium, &points, n, slip, share, now);
                        Resisted { k, steeper, known: points.velocities[n], slip }
                    })
                    .collect();
                all_points.push(points);
            }
            if self.direction != Direction::ToSolids {
                self.share_out(world, faces, (exchanges, &all_points), &medium, now)?;
            }
            if self.direction == Direction::ToFluids {
                continue;
            }
            for (source, exchange) in self.on.iter().zip(exchanges) {
                let push = |(resisted, &flow): (&Resisted, &DVec3)| {
                    let slope = (resisted.k + resisted.steeper) * (1.0 / now.step);
                    (resisted.force(flow, resisted.known), slope)
                };
                let resistances = exchange.resistances.par_iter().zip(&exchange.met.velocities);
                let more: Vec<(DVec3, DMat3)> = resistances.map(push).collect();
                source.push(world, &more)?;
            }
        }
        self.exchanges = all;
        Ok(())
    }

    /// How fast a point is in a flow [m/s]: where the step would end, or else as far as is known [m/s].
    fn slip(&self, medium: &Medium, points: &Points, n: usize, flow: DVec3, step: f64) -> DVec3 {
        let relative = points.velocities[n] - flow;
        let Some((forces, stiffnesses)) = &points.pushes else { return relative };
        if points.piece(n).is_some() {
            return relative;
        }
        let body = points.ball(n);
        let free = body.mass / step;
        let pull = free * relative + forces[n] + step * stiffnesses[n] * relative;
        settled(&self.law, medium, &body, free, pull, relative.length())
    }

    /// K of a point at a slip [m/s] that is wet by a share; and in later iterations ∂(K u)/∂u − K [N s/m].
    fn resistance(
        &self,
        medium: &Medium,
        points: &Points,
        n: usize,
        slip: DVec3,
        share: DVec3,
        now: &Moment,
    ) -> [DMat3; 2] {
        let is_first = now.iteration == 0;
        let both = match points.piece(n) {
            Some(piece) if is_first => [piece.resistance(medium, slip), DMat3::ZERO],
            Some(piece) => [piece.resistance(medium, slip), piece.steeper(medium, slip)],
            None => {
                let body = points.ball(n);
                let k = self.law.resistance(medium, &body, slip.length()).coefficient;
                let k = DMat3::from_diagonal(DVec3::splat(k));
                let steeper = match is_first {
                    true => DMat3::ZERO,
                    false => -self.law.drag(medium, &body, slip).jacobian - k,
                };
                [k, steeper]
            }
        };
        both.map(|k| wetted(k * self.strength, share))
    }

    /// K̂ and Ŝ, with the sum over all that share the faces.
    fn share_out(
        &self,
        world: &World,
        faces: &Faces,
        (exchanges, all_points): (&mut [Exchange], &[Points]),
        medium: &Medium,
        now: &Moment,
    ) -> Result<()> {
        let amounts: Vec<Vec<DVec3>> = exchanges
            .iter()
            .map(|exchange| {
                let amount = |resisted: &Resisted| now.step * bound(&resisted.k);
                exchange.resistances.par_iter().map(amount).collect()
            })
            .collect();
        self.give(world, faces, exchanges, &amounts)?;
        for (exchange, points) in exchanges.iter_mut().zip(all_points) {
            let ratios = faces.ratios(world, &exchange.places)?;
            let all = exchange.resistances.par_iter_mut().zip(&exchange.met.shares).zip(ratios);
            all.enumerate().for_each(|(n, ((resisted, &share), ratio))| {
                let Resisted { k: whole, slip, .. } = *resisted;
                if whole == DMat3::ZERO {
                    return;
                }
                let at = |part: f64| self.resistance(medium, points, n, part * slip, share, now);
                let ratio = ratio.max_element().max(0.0);
                let part = left_of_slip(ratio, |part| largest_ratio(&at(part)[0], &whole));
                let [k, steeper] = at(part);
                let along = |of: &DMat3| slip.dot(*of * slip);
                let rise = if along(&k) > 0.0 { along(&steeper) / along(&k) } else { 0.0 };
                resisted.k = k * part;
                resisted.steeper = steeper * (part / (1.0 + (1.0 / part - 1.0) * (1.0 + rise)));
            });
        }
        Ok(())
    }

    /// Fluids take the opposite of what solids took.
    fn answer(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        for (faces, exchanges) in self.fluids.iter().zip(self.exchanges.chunks(self.on.len())) {
            let mut amounts = Vec::new();
            for (source, exchange) in self.on.iter().zip(exchanges) {
                let velocities = source.velocities(world)?;
                let given = exchange.resistances.par_iter().zip(&exchange.met.velocities);
                let impulse = |((resisted, &flow), velocity): ((&Resisted, &DVec3), DVec3)| {
                    -now.step * resisted.force(flow, velocity)
                };
                amounts.push(given.zip(velocities).map(impulse).collect::<Vec<DVec3>>());
            }
            self.give(world, faces, exchanges, &amounts)?;
            faces.take(world)?;
        }
        Ok(())
    }

    /// What forces, viscosity and pressure did to fluids, for the next iteration or step.
    fn measure(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let gave = self.direction != Direction::ToSolids;
        self.fluids.iter().try_for_each(|faces| faces.measure_drift(world, now.step, gave))
    }

    /// Spreads amounts of all points on the faces of a fluid, those of this process once.
    fn give(
        &self,
        world: &World,
        faces: &Faces,
        exchanges: &[Exchange],
        amounts: &[Vec<DVec3>],
    ) -> Result<()> {
        let own: Vec<Vec<DVec3>> = self
            .on
            .iter()
            .zip(amounts)
            .map(|(source, amounts)| {
                let own = |n: usize| if source.is_own(world, n) { amounts[n] } else { DVec3::ZERO };
                (0..amounts.len()).into_par_iter().map(own).collect()
            })
            .collect();
        let given: Vec<Given<'_>> = exchanges
            .iter()
            .zip(&own)
            .map(|(exchange, values)| Given {
                places: &exchange.places,
                shares: &exchange.met.shares,
                values,
            })
            .collect();
        faces.give(world, &given)
    }
}

/// K of a point that is wet in parts: S½ K S½ stays symmetric and positive.
fn wetted(k: DMat3, share: DVec3) -> DMat3 {
    // Where particles crowd a little, a point is not more than wet.
    let share = share.min(DVec3::ONE);
    let root = DMat3::from_diagonal(DVec3::new(share.x.sqrt(), share.y.sqrt(), share.z.sqrt()));
    root * k * root
}

/// A bound of the eigenvalues of a matrix, row by row.
fn bound(k: &DMat3) -> DVec3 {
    DVec3::from([k.row(0), k.row(1), k.row(2)].map(|row| row.abs().element_sum()))
}

/// The largest of the ratios of two matrices' bounds.
fn largest_ratio(k: &DMat3, whole: &DMat3) -> f64 {
    let (k, whole) = (bound(k), bound(whole));
    DVec3::select(whole.cmpgt(DVec3::ZERO), k / whole, DVec3::ZERO).max_element()
}
