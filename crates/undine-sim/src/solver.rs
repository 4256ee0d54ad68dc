//! The coupled system of a Newton iteration, on the World: gathers unknowns, inertia, Forces and Constraints of all strongly
//! coupled Objects, solves, and gives the Objects their new velocities.

use crate::constraint::Placed;
use crate::coupling::{self, Coupling};
use crate::error::{Result, SimError};
use crate::newton::inverse::{self, Balancing};
use crate::newton::iterate::{self, Linearised, Merit, NewtonSettings, Problem};
use crate::newton::rod::transported;
use crate::newton::rotation;
use crate::newton::shape;
use crate::newton::system::Iterate;
use crate::newton::unknowns::Kind;
use crate::newton::{
    Contacts, Embedded as Hung, Equilibrium, ForceTerm, Inertia, NewtonError, Pose, Shape, System,
    SystemSettings, Term, TouchReport, Unknowns,
};
use crate::offers::{Bodies, Dofs, Embedded, ObjectId, Rods, Spatial};
use crate::report::{SolveRecord, Unsettled};
use crate::roots;
use crate::task::Moment;
use crate::world::World;
use rayon::prelude::*;
use undine_core::glam::{DMat3, DQuat, DVec3, Mat3, Vec3};

/// How often an iteration is made at most because of contacts, and of rods that turn far.
const MOST_ROUNDS: usize = 16;

/// One in so many rounds linearises anew; the others solve contacts alone.
const LINEAR_ROUNDS: usize = 4;

/// An edge of a rod that turns by φ in an iteration is longer by 1/cos φ than the iteration meant. What is left of that is velocity along the
/// edge when the next step takes it back: so an edge that turns by more than this, 1 − cos φ, asks for another one.
const FAR_TURN: f64 = 0.01;

/// Solves all strongly coupled Objects as one system.
#[derive(Default)]
pub(crate) struct Solver {
    system: Option<System>,
    /// The penalty on hard rows, in this substep.
    penalty: f64,
    /// Where particles were when Forces on them were found, part by part [m].
    forced: Vec<Vec<DVec3>>,
    /// The last iteration, if all of its step was taken.
    last: Option<Last>,
}

/// An iteration whose step was taken.
struct Last {
    /// The Objects where it began.
    parts: Vec<Part>,
    unknowns: Unknowns,
    /// The step.
    du: Vec<f64>,
}

/// How far an iteration went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    /// No step improves the state.
    Not,
    Little,
    /// Edges of rods have turned too far for what is linear.
    Far,
}

/// Vertices of rods that one task works on.
const VERTICES_PER_TASK: usize = 4096;

/// The unknowns of an Object at the current iterate.
struct Part {
    object: ObjectId,
    dofs: Option<Dofs>,
    /// Its span of the unknowns.
    span: usize,
    /// How many of its unknowns come before the first of this process's particles.
    first: usize,
    mass: Vec<f64>,
    displacement: Vec<DVec3>,
    velocity: Vec<DVec3>,
    /// Of bodies: inertia tensors at the target, turns from it, and poses.
    tensor: Vec<DMat3>,
    turn: Vec<DVec3>,
    poses: Vec<Pose>,
    turns: Vec<DQuat>,
    /// Of rods: moments of inertia of edges, turns from the target, turns since the step began, and where strands begin.
    moment: Vec<f64>,
    lag: Vec<f64>,
    twist: Vec<f64>,
    strands: Vec<u32>,
    /// The particles that Forces act on, and those that Constraints do, if they are others.
    material: (Shape, Vec<Placed>),
    boundary: Option<(Shape, Vec<Placed>)>,
    force: Vec<DVec3>,
    stiffness: Vec<DMat3>,
}

impl Solver {
    /// Forgets what is not a channel. What is left are patterns, which are those that would be found again.
    pub fn forget(&mut self) {
        self.last = None;
        self.forced.clear();
        if let Some(system) = &mut self.system {
            system.forget();
        }
    }

    /// One Newton iteration of at most `iterations`. With more than one, the step is searched along its line. Where the step leads to
    /// contacts whose laws it breaks, because they were not near before or surfaces are curved, they are found there and solved for as well;
    /// where that is not enough, or edges of rods turn too far for what is linear, the iteration is made again from there.
    pub fn solve(
        &mut self,
        world: &mut World,
        couplings: &mut [&mut dyn Coupling],
        newton: &NewtonSettings,
        now: &Moment,
    ) -> Result<()> {
        // What is made again has left what is linear behind, and is held to go down.
        let again = NewtonSettings { iterations: newton.iterations.max(2), ..*newton };
        self.forced.clear();
        find_contacts(world, couplings, now)?;
        let mut moved = self.iterate(world, couplings, newton, now)?;
        for round in 1..=MOST_ROUNDS {
            let mut broken = false;
            for coupling in couplings.iter_mut() {
                broken |= coupling.breaks_laws(world, now)?;
            }
            if !broken && (moved != Moved::Far || round == MOST_ROUNDS) {
                return Ok(());
            }
            find_contacts(world, couplings, now)?;
            if round == MOST_ROUNDS {
                break;
            }
            let touched = match self.last.take() {
                Some(last) if moved != Moved::Far && round % LINEAR_ROUNDS != 0 => {
                    self.touch_again(last, world, couplings, now)?
                }
                _ => None,
            };
            moved = match touched {
                Some(moved) => moved,
                None => self.iterate(world, couplings, &again, now)?,
            };
            if moved == Moved::Not && !broken {
                return Ok(());
            }
        }
        couplings.iter_mut().try_for_each(|coupling| coupling.give_up(world, now))
    }

    /// Solves for contacts that the last iteration did not know, and goes from where it began to where they let it. Not where contacts are
    /// springs, which are part of what is linearised.
    fn touch_again(
        &mut self,
        last: Last,
        world: &mut World,
        couplings: &mut [&mut dyn Coupling],
        now: &Moment,
    ) -> Result<Option<Moved>> {
        let Last { parts, unknowns, du: from } = last;
        let kept = self.system.take();
        let mut system = kept.map_or_else(|| System::new(unknowns.clone()), Ok)?;
        let mut contacts = Contacts::new();
        let here = hangs(&parts, &unknowns);
        for coupling in couplings.iter() {
            coupling.contacts(&|object| hung(&here, object), &mut contacts);
        }
        let mut du = Vec::new();
        let solved = Coupled::at(
            (world, &mut system),
            couplings,
            &parts,
            &unknowns,
            now.step,
            |system, at| {
                if contacts.is_empty() || !system.is_connected(at) {
                    return Ok(None);
                }
                let settings = SystemSettings::default();
                Ok(Some(system.touch_again(at, &mut contacts, &from, &settings, &mut du)?))
            },
        )?;
        self.system = Some(system);
        let Some(solved) = solved else { return Ok(None) };
        take_found(couplings, solved.multipliers, &contacts);
        for part in parts.iter().filter(|part| part.dofs.is_some()) {
            part.take_step(world, &unknowns, &du, now.step)?;
        }
        record_contacts(world, solved.linearised.touch.as_ref(), &unknowns, now);
        let moved = farthest(&parts, world)?;
        self.last = Some(Last { parts, unknowns, du });
        Ok(Some(moved))
    }

    /// Linearises and solves once.
    fn iterate(
        &mut self,
        world: &mut World,
        couplings: &mut [&mut dyn Coupling],
        newton: &NewtonSettings,
        now: &Moment,
    ) -> Result<Moved> {
        if !world.objects.iter().any(|object| object.coupled) {
            return Ok(Moved::Not);
        }
        let (mut parts, unknowns) = gather(world, now.step)?;
        let places = |part: &Part| part.material.1.iter().map(|placed| placed.x).collect();
        match self.forced.is_empty() {
            true => self.forced = parts.iter().map(places).collect(),
            // Forces are those of where the first round began; here they are what their derivatives make of them.
            false => parts.iter_mut().zip(&self.forced).for_each(|(part, from)| part.follow(from)),
        }
        // What does not fit is found here, once, and not nailed down in silence.
        for part in parts.iter().filter(|part| part.dofs.is_some()) {
            let (shape, placed) = part.boundary.as_ref().unwrap_or(&part.material);
            Hung::new(&unknowns, part.span, shape, &part.poses, placed)?;
        }
        let kept = self.system.take().filter(|system| *system.unknowns() == unknowns);
        let mut system = kept.map_or_else(|| System::new(unknowns.clone()), Ok)?;
        share_out(&mut system, world, &parts)?;
        if now.iteration == 0 {
            self.penalty = 0.0;
        }
        self.last = None;
        let mut coupled = Coupled {
            world,
            couplings,
            system,
            unknowns,
            saved: parts,
            step: now.step,
            whole: Vec::new(),
        };
        let number = now.iteration as usize;
        let iteration =
            iterate::advance(&mut coupled, newton, number, &mut self.penalty, now.step)?;
        let Coupled { world, system, unknowns, saved, whole, .. } = coupled;
        self.system = Some(system);
        let moved = farthest(&saved, world)?;
        if let Some(report) = &iteration.report {
            world.solves.push(SolveRecord {
                system: "coupled solids",
                unknowns: unknowns.rows(),
                iterations: report.iterations,
                residual: report.residual,
                tolerance: SystemSettings::default().stop.relative,
                converged: report.converged(),
            });
        }
        record_contacts(world, iteration.touch.as_ref(), &unknowns, now);
        // A step of which nothing improves the state is as good as it gets.
        let change = if iteration.alpha == 0.0 { 0.0 } else { iteration.speed };
        world.largest_change = world.largest_change.max(change);
        // Levers of bodies turn with them, and are those of where the iteration began.
        let turns = |part: &Part| matches!(part.dofs, Some(Dofs::Bodies(_)));
        if iteration.alpha == 1.0 && !saved.iter().any(turns) {
            self.last = Some(Last { parts: saved, unknowns, du: whole });
        }
        Ok(if iteration.alpha == 0.0 { Moved::Not } else { moved })
    }
}

/// Shares a system out among the processes of the World, if there are several: by where everything is when it is first solved in a frame, so
/// that a run which goes on shares it out as one that was never ended.
fn share_out(system: &mut System, world: &World, parts: &[Part]) -> Result<()> {
    let mut with_unknowns = parts.iter().filter(|part| part.dofs.is_some()).peekable();
    let Some(first) = with_unknowns.peek() else { return Ok(()) };
    if world.processes().count() == 1 || !system.is_stale() {
        return Ok(());
    }
    let frame = world.domains[world.object(first.object).domain].frame();
    let spans = system.unknowns().spans();
    let spans = with_unknowns.map(|part| (&spans[part.span], &part.material.1[..]));
    let places = roots::places(frame, spans)?;
    system.share(world.processes(), places);
    Ok(())
}

/// Looks for contacts where everything is now.
fn find_contacts(world: &World, couplings: &mut [&mut dyn Coupling], now: &Moment) -> Result<()> {
    couplings.iter_mut().try_for_each(|coupling| coupling.find_contacts(world, now))
}

/// Hands out what a solve has found.
fn take_found(
    couplings: &mut [&mut dyn Coupling],
    multipliers: Vec<Vec<f64>>,
    contacts: &Contacts,
) {
    let mut multipliers = multipliers.into_iter();
    let mut forces = contacts.list().iter().map(|contact| contact.force);
    for coupling in couplings.iter_mut() {
        coupling.take_multipliers(&mut multipliers);
        coupling.take_contact_forces(&mut forces);
    }
}

/// How far edges of rods have turned since Objects were gathered.
fn farthest(parts: &[Part], world: &World) -> Result<Moved> {
    for part in parts {
        if part.farthest_turn(world)? > FAR_TURN {
            return Ok(Moved::Far);
        }
    }
    Ok(Moved::Little)
}

/// Tells of a solve of contacts.
fn record_contacts(
    world: &mut World,
    touch: Option<&TouchReport>,
    unknowns: &Unknowns,
    now: &Moment,
) {
    if let Some(touch) = touch {
        // The last solve of a step is what counts: those before it led to others.
        let object = || touch.worst.map(|node| unknowns.group_of(node as usize).0.name.clone());
        world.unsettled = (!touch.converged).then(|| Unsettled {
            object: object().unwrap_or_default(),
            speed: touch.residual / now.step,
            way: touch.residual,
            enough: touch.tolerance / now.step,
        });
        world.solves.push(SolveRecord {
            system: if touch.in_common == 0 { "contacts" } else { "contacts in common" },
            unknowns: touch.contacts,
            iterations: touch.sweeps,
            residual: touch.residual / now.step,
            tolerance: touch.tolerance / now.step,
            converged: touch.converged,
        });
    }
}

/// What is out of balance by less than this share of its weight is as good as at rest.
const NEARLY_BALANCED: f64 = 1e-3;

impl Solver {
    /// Chooses rest parameters such that Objects which [begin at rest](crate::world::ObjectEntry) are in balance with the Forces on
    /// them. Constraints that hold them to what the scene moves take part; those between them and others are left as they are.
    pub fn begin_at_rest(
        &mut self,
        world: &mut World,
        couplings: &mut [&mut dyn Coupling],
        now: &Moment,
    ) -> Result<()> {
        let at_rest = |object: ObjectId| world.object(object).begins_at_rest;
        let mut chosen: Vec<&mut dyn Coupling> = Vec::new();
        for coupling in couplings.iter_mut() {
            let objects = coupling.objects();
            let is_led = |object: ObjectId| world.object(object).offers.dofs.is_none();
            if objects.iter().any(|object| at_rest(*object))
                && objects.iter().all(|object| at_rest(*object) || is_led(*object))
            {
                chosen.push(&mut **coupling);
            }
        }
        if chosen.is_empty() {
            return Ok(());
        }
        let (parts, unknowns) = gather(world, now.step)?;
        let system = System::new(unknowns.clone())?;
        let (mut force, mut weight) = (vec![0.0; unknowns.rows()], vec![0.0; unknowns.rows()]);
        for part in parts.iter().filter(|part| part.dofs.is_some() && at_rest(part.object)) {
            part.balanced_rows(&unknowns, &mut force, &mut weight);
        }
        follow(world, &mut chosen, &hangs(&parts, &unknowns))?;
        let mut resting = Resting {
            couplings: chosen,
            parts: &parts,
            unknowns: &unknowns,
            row_of: system.row_of(),
        };
        let found = inverse::balance(&mut resting, &force, &weight)?;
        let is_balanced = found.residual <= NEARLY_BALANCED;
        if !is_balanced {
            tracing::warn!(
                "what is to begin at rest will move: no shape at rest within bounds balances more than all but {:.1e} of its weight; \
                 make it stiffer, shorter or lighter, hold how its roots are turned, or begin with what hangs",
                found.residual
            );
        }
        for coupling in &mut resting.couplings {
            coupling.keep_parameters(world, now.time + now.step)?;
        }
        world.solves.push(SolveRecord {
            system: "balance to begin with",
            unknowns: found.parameters,
            iterations: found.steps,
            residual: found.residual,
            tolerance: inverse::BALANCED,
            converged: is_balanced,
        });
        Ok(())
    }
}

/// How far Objects are out of balance, and how the balance follows rest parameters. Elements and Forces are those of now.
pub(crate) fn equilibrium(
    world: &World,
    mut couplings: Vec<&mut dyn Coupling>,
    step: f64,
) -> Result<(Equilibrium, f64)> {
    let (parts, unknowns) = gather(world, step)?;
    let system = System::new(unknowns.clone())?;
    let (mut force, mut weight) = (vec![0.0; unknowns.rows()], vec![0.0; unknowns.rows()]);
    for part in parts.iter().filter(|part| part.dofs.is_some()) {
        part.balanced_rows(&unknowns, &mut force, &mut weight);
    }
    follow(world, &mut couplings, &hangs(&parts, &unknowns))?;
    let resting =
        Resting { couplings, parts: &parts, unknowns: &unknowns, row_of: system.row_of() };
    let left = inverse::imbalance(&resting, &force, &weight)?;
    let found = resting.with_terms(|terms, row_of| Equilibrium::new(&unknowns, row_of, terms))?;
    Ok((found, left))
}

/// Constraints whose rest parameters are chosen.
struct Resting<'a, 'c> {
    couplings: Vec<&'a mut (dyn Coupling + 'c)>,
    parts: &'a [Part],
    unknowns: &'a Unknowns,
    row_of: &'a [u32],
}

impl Balancing for Resting<'_, '_> {
    type Error = SimError;

    fn with_terms<R>(
        &self,
        work: impl FnOnce(&[&dyn Term], &[u32]) -> Result<R, NewtonError>,
    ) -> Result<R> {
        let hangs = hangs(self.parts, self.unknowns);
        let hung = |object: ObjectId| hung(&hangs, object);
        let terms: Vec<Box<dyn Term + '_>> =
            self.couplings.iter().flat_map(|coupling| coupling.terms(&hung)).collect();
        let terms: Vec<&dyn Term> = terms.iter().map(|term| &**term).collect();
        Ok(work(&terms, self.row_of)?)
    }

    fn parameters(&self) -> Vec<(f64, [f64; 2])> {
        self.couplings.iter().flat_map(|coupling| coupling.parameters()).collect()
    }

    fn set_parameters(&mut self, values: &[f64]) {
        let mut rest = values;
        for coupling in &mut self.couplings {
            rest = coupling.set_parameters(rest);
        }
    }
}

/// All coupled Objects at the current iterate, and their unknowns.
fn gather(world: &World, step: f64) -> Result<(Vec<Part>, Unknowns)> {
    let mut unknowns = Unknowns::new();
    let coupled = (0..world.objects.len()).map(ObjectId).filter(|id| world.object(*id).coupled);
    let parts = coupled
        .map(|object| Part::gather(world, object, step, &mut unknowns))
        .collect::<Result<Vec<_>>>()?;
    Ok((parts, unknowns))
}

/// The coupled system as Newton's method sees it. Forces are those of the iteration's start.
struct Coupled<'a, 'c> {
    world: &'a mut World,
    couplings: &'a mut [&'c mut dyn Coupling],
    system: System,
    unknowns: Unknowns,
    /// The Objects where the iteration began.
    saved: Vec<Part>,
    step: f64,
    /// The whole step, if it was taken.
    whole: Vec<f64>,
}

impl Coupled<'_, '_> {
    /// Hands all terms of the system to `work`, with the Objects where `parts` says.
    fn at<R>(
        (world, system): (&World, &mut System),
        couplings: &mut [&mut dyn Coupling],
        parts: &[Part],
        unknowns: &Unknowns,
        step: f64,
        work: impl FnOnce(&mut System, &Iterate<'_>) -> Result<R>,
    ) -> Result<R> {
        let hangs = hangs(parts, unknowns);
        let hung = |object: ObjectId| hung(&hangs, object);
        follow(world, couplings, &hangs)?;
        let terms: Vec<Box<dyn Term + '_>> =
            couplings.iter().flat_map(|coupling| coupling.terms(&hung)).collect();
        let terms: Vec<&dyn Term> = terms.iter().map(|term| &**term).collect();
        let with_unknowns = || parts.iter().filter(|part| part.dofs.is_some());
        let inertia: Vec<Inertia<'_>> = with_unknowns().map(Part::inertia).collect();
        let forces: Vec<ForceTerm<'_>> =
            with_unknowns().map(|part| part.forces(unknowns)).collect::<Result<_>>()?;
        work(system, &Iterate { dt: step, inertia: &inertia, terms: &terms, forces: &forces })
    }
}

/// How the boundary particles of all Objects hang on unknowns: looked at once, since that looks at all of them.
fn hangs<'a>(parts: &'a [Part], unknowns: &Unknowns) -> Vec<(ObjectId, Hung<'a>)> {
    parts.iter().map(|part| (part.object, part.boundary(unknowns))).collect()
}

/// Puts what Constraints have of their own points where Objects are.
fn follow(
    world: &World,
    couplings: &mut [&mut dyn Coupling],
    hangs: &[(ObjectId, Hung<'_>)],
) -> Result<()> {
    for coupling in couplings {
        coupling.follow(world, &|object| hung(hangs, object))?;
    }
    Ok(())
}

/// How those of one Object do.
fn hung<'a>(hangs: &[(ObjectId, Hung<'a>)], object: ObjectId) -> Hung<'a> {
    let found = hangs.iter().find(|(known, _)| *known == object);
    found.map_or(Hung::fixed(&[]), |(_, hung)| *hung)
}

impl Problem for Coupled<'_, '_> {
    type Error = SimError;

    fn linearise(&mut self, du: &mut Vec<f64>) -> Result<Linearised> {
        let Self { world, system, couplings, saved, unknowns, step, .. } = self;
        let mut contacts = Contacts::new();
        let here = hangs(saved, unknowns);
        for coupling in couplings.iter() {
            coupling.contacts(&|object| hung(&here, object), &mut contacts);
        }
        let solved = Self::at((world, system), couplings, saved, unknowns, *step, |system, at| {
            system.connect(at.terms, at.forces)?;
            Ok(system.solve_touching(at, &mut contacts, &SystemSettings::default(), du)?)
        })?;
        take_found(self.couplings, solved.multipliers, &contacts);
        Ok(solved.linearised)
    }

    fn merit(&mut self) -> Result<Option<Merit>> {
        let (parts, _) = gather(self.world, self.step)?;
        let Self { world, system, couplings, saved, unknowns, step, .. } = self;
        Self::at((world, system), couplings, &parts, unknowns, *step, |system, at| {
            let started = saved.iter().filter(|part| part.dofs.is_some());
            let mut merit = system.merit(at)?;
            for (force, start) in at.forces.iter().zip(started) {
                merit = merit.plus(force.potential(&start.material.1)?);
            }
            Ok(Some(merit))
        })
    }

    /// What was gathered when the iteration began is the state to come back to.
    fn save(&mut self) {}

    fn step(&mut self, du: &[f64], alpha: f64) -> Result<()> {
        let scaled: Vec<f64> = du.iter().map(|du| alpha * du).collect();
        for part in self.saved.iter().filter(|part| part.dofs.is_some()) {
            part.take_step(self.world, &self.unknowns, &scaled, self.step)?;
        }
        self.whole = scaled;
        Ok(())
    }
}

/// A copy of a channel, made by all threads: a groom's are megabytes.
fn copied<T: Copy + Send + Sync>(column: &[T]) -> Vec<T> {
    column.par_iter().with_min_len(VERTICES_PER_TASK).copied().collect()
}

impl Part {
    fn gather(world: &World, object: ObjectId, step: f64, unknowns: &mut Unknowns) -> Result<Self> {
        let entry = world.object(object);
        let mut part = Self {
            object,
            dofs: entry.offers.dofs,
            span: 0,
            first: 0,
            mass: Vec::new(),
            displacement: Vec::new(),
            velocity: Vec::new(),
            tensor: Vec::new(),
            turn: Vec::new(),
            poses: Vec::new(),
            turns: Vec::new(),
            moment: Vec::new(),
            lag: Vec::new(),
            twist: Vec::new(),
            strands: Vec::new(),
            material: (Shape::Fixed, Vec::new()),
            boundary: Some((Shape::Fixed, Vec::new())),
            force: Vec::new(),
            stiffness: Vec::new(),
        };
        match (&entry.offers.boundary, &entry.offers.dofs) {
            (Some(Embedded::OnRods(on)), Some(Dofs::Rods(own)))
                if on.vertices.points == own.vertices.points =>
            {
                part.boundary = None;
            }
            (Some(boundary), _) => {
                let shape = coupling::shape(world, boundary)?;
                part.boundary = Some((shape, coupling::placed(world, boundary, step)?));
            }
            (None, _) => {}
        }
        match entry.offers.dofs {
            Some(Dofs::Particles(on)) => part.gather_particles(world, &on, step)?,
            Some(Dofs::Bodies(on)) => part.gather_bodies(world, &on)?,
            Some(Dofs::Rods(on)) => part.gather_rods(world, &on)?,
            None => return Ok(part),
        }
        let kind = match entry.offers.dofs {
            Some(Dofs::Bodies(_)) => Kind::Bodies,
            Some(Dofs::Rods(_)) => Kind::Rods,
            _ => Kind::Points,
        };
        let strands = std::mem::take(&mut part.strands);
        part.span = unknowns.add_parts(entry.path.clone(), kind, part.mass.len(), strands);
        Ok(part)
    }

    fn gather_particles(&mut self, world: &World, on: &Spatial, step: f64) -> Result<()> {
        let particles = &world.particles[on.particles];
        let vector = |value: &Vec3| value.as_dvec3();
        self.first = coupling::first(world, particles)?;
        let velocity = coupling::flat(world, particles, on.velocity, vector)?;
        let before = coupling::flat(world, particles, on.velocity_before, vector)?;
        // x − x̃ = Δt (v − vⁿ).
        let gained = velocity.iter().zip(&before);
        self.displacement = gained.map(|(after, before)| step * (*after - *before)).collect();
        self.velocity = velocity;
        self.mass = coupling::flat(world, particles, on.mass, |m: &f32| f64::from(*m))?;
        self.force = coupling::flat(world, particles, on.force, vector)?;
        self.stiffness = coupling::flat(world, particles, on.stiffness, |k: &Mat3| k.as_dmat3())?;
        let placed = coupling::positions(world, on, step)?;
        self.material = (Shape::Identity, placed.into_iter().map(Placed::at).collect());
        Ok(())
    }

    fn gather_bodies(&mut self, world: &World, on: &Bodies) -> Result<()> {
        let points = &world.points[on.centres.points];
        let (position, flight) = (points.column(points.position())?, points.column(on.flight)?);
        let (turn, free) = (points.column(on.orientation)?, points.column(on.free_turn)?);
        let inertia = points.column(on.inertia)?;
        for body in 0..points.len() {
            self.displacement.push(position[body] - flight[body]);
            let target = DMat3::from_quat(free[body]);
            self.tensor.push(target * DMat3::from_diagonal(inertia[body]) * target.transpose());
            let rotation = DMat3::from_quat(turn[body]);
            self.turn.push(rotation::turn_between(free[body], turn[body]));
            self.poses.push(Pose { centre: position[body], rotation });
            self.turns.push(turn[body]);
        }
        self.velocity = points.column(on.centres.velocity)?.to_vec();
        self.mass = points.column(on.centres.mass)?.to_vec();
        self.force = points.column(on.centres.force)?.to_vec();
        self.stiffness = points.column(on.centres.stiffness)?.to_vec();
        let centre = Placed::at(DVec3::ZERO);
        let placed: Vec<Placed> =
            self.poses.iter().map(|pose| Placed { x: pose.centre, frame: pose.rotation }).collect();
        let body = (0..placed.len() as u32).collect();
        self.material = (Shape::Rigid { body, rest: vec![centre; placed.len()] }, placed);
        Ok(())
    }

    fn gather_rods(&mut self, world: &World, on: &Rods) -> Result<()> {
        let points = &world.points[on.vertices.points];
        let (position, flight) = (points.column(points.position())?, points.column(on.flight)?);
        let held = points.column(on.held)?;
        let (twist, free) = (points.column(on.twist)?, points.column(on.free_twist)?);
        let strand = points.column(on.strand)?;
        // What is held is where it must be, and nothing pulls at it.
        let off = |vertex: usize| match held[vertex] & shape::Rods::PLACE {
            0 => position[vertex] - flight[vertex],
            _ => DVec3::ZERO,
        };
        let lag = |vertex: usize| twist[vertex] - free[vertex];
        let count = points.len();
        let all = || (0..count).into_par_iter().with_min_len(VERTICES_PER_TASK);
        self.displacement = all().map(off).collect();
        self.lag = all().map(lag).collect();
        self.twist = copied(&twist);
        self.moment = copied(&points.column(on.moment)?);
        self.velocity = copied(&points.column(on.vertices.velocity)?);
        self.mass = copied(&points.column(on.vertices.mass)?);
        self.force = copied(&points.column(on.vertices.force)?);
        self.stiffness = copied(&points.column(on.vertices.stiffness)?);
        let begins = |&vertex: &usize| vertex == 0 || strand[vertex] != strand[vertex - 1];
        self.strands = (0..count).filter(begins).map(|vertex| vertex as u32).collect();
        let placed = coupling::placed(world, &Embedded::OnRods(*on), 0.0)?;
        self.material = (coupling::rod_shape(world, on)?, placed);
        Ok(())
    }

    /// Forces on its rows, and by what they weigh in a balance; what is held weighs nothing.
    fn balanced_rows(&self, unknowns: &Unknowns, force: &mut [f64], weight: &mut [f64]) {
        let span = &unknowns.spans()[self.span];
        let width = span.kind.unknowns();
        for group in 0..span.count {
            let row = span.row + width * group;
            let held = match &self.material.0 {
                Shape::Rods(rods) => rods.held[group],
                _ => 0,
            };
            if held & shape::Rods::PLACE == 0 {
                force[row..row + 3].copy_from_slice(&self.force[group].to_array());
                weight[row..row + 3].fill(self.mass[group].sqrt().recip());
            }
            if let Some(moment) = self.moment.get(group) {
                weight[row + 3] = moment.sqrt().recip();
            }
            if let Some(tensor) = self.tensor.get(group) {
                let moments = [tensor.x_axis.x, tensor.y_axis.y, tensor.z_axis.z];
                (0..3).for_each(|k| weight[row + 3 + k] = moments[k].sqrt().recip());
            }
        }
    }

    fn inertia(&self) -> Inertia<'_> {
        let (mass, displacement) = (&self.mass[..], &self.displacement[..]);
        match self.dofs {
            Some(Dofs::Bodies(_)) => {
                Inertia::Bodies { mass, displacement, tensor: &self.tensor, turn: &self.turn }
            }
            Some(Dofs::Rods(_)) => {
                Inertia::Rods { mass, displacement, moment: &self.moment, twist: &self.lag }
            }
            _ => Inertia::Points { mass, displacement },
        }
    }

    fn boundary(&self, unknowns: &Unknowns) -> Hung<'_> {
        let (shape, placed) = self.boundary.as_ref().unwrap_or(&self.material);
        match self.dofs {
            // Checked when the iteration began.
            Some(_) => Hung::new(unknowns, self.span, shape, &self.poses, placed)
                .unwrap_or(Hung::fixed(placed)),
            None => Hung::fixed(placed),
        }
    }

    fn forces(&self, unknowns: &Unknowns) -> Result<ForceTerm<'_>> {
        let (shape, placed) = &self.material;
        Ok(ForceTerm {
            name: "forces",
            embedded: Hung::new(unknowns, self.span, shape, &self.poses, placed)?,
            force: &self.force,
            stiffness: Some(&self.stiffness),
        })
    }

    /// Brings forces from where they were found to where particles are.
    fn follow(&mut self, from: &[DVec3]) {
        let particles = self.material.1.iter().zip(from).zip(&self.stiffness);
        for (force, ((placed, from), stiffness)) in self.force.iter_mut().zip(particles) {
            let symmetric = (*stiffness + stiffness.transpose()) * 0.5;
            *force -= symmetric * (placed.x - *from);
        }
    }

    /// 1 − cos φ of the edge that has turned the farthest since this was gathered.
    fn farthest_turn(&self, world: &World) -> Result<f64> {
        let Some(Dofs::Rods(on)) = self.dofs else { return Ok(0.0) };
        let frame = world.points[on.vertices.points].column(on.frame)?;
        let turns = frame.iter().zip(&self.material.1);
        let turns = turns.map(|(now, then)| 1.0 - now.x_axis.dot(then.frame.x_axis));
        Ok(turns.fold(0.0, f64::max))
    }

    /// Gives the Object the velocities after a step from here; bodies also their places within the iteration.
    fn take_step(
        &self,
        world: &mut World,
        unknowns: &Unknowns,
        du: &[f64],
        step: f64,
    ) -> Result<()> {
        let span = &unknowns.spans()[self.span];
        let moves = |row: usize| DVec3::new(du[row], du[row + 1], du[row + 2]);
        match self.dofs {
            Some(Dofs::Particles(on)) => {
                let particles = &world.particles[on.particles];
                let mut velocity = particles.column_mut(on.velocity)?;
                let mut before = self.velocity.iter().enumerate().skip(self.first);
                for slot in 0..particles.topology().local() {
                    for (velocity, (n, before)) in
                        velocity.chunk_mut(slot as u32).iter_mut().zip(&mut before)
                    {
                        *velocity = (*before + moves(span.row + 3 * n) / step).as_vec3();
                    }
                }
            }
            Some(Dofs::Bodies(on)) => {
                let points = &world.points[on.centres.points];
                let mut position = points.column_mut(points.position())?;
                let mut velocity = points.column_mut(on.centres.velocity)?;
                let mut orientation = points.column_mut(on.orientation)?;
                for body in 0..span.count {
                    let row = span.row + 6 * body;
                    position[body] = self.poses[body].centre + moves(row);
                    velocity[body] = self.velocity[body] + moves(row) / step;
                    let turn = DQuat::from_scaled_axis(moves(row + 3));
                    orientation[body] = (turn * self.turns[body]).normalize();
                }
            }
            Some(Dofs::Rods(on)) => {
                let points = &world.points[on.vertices.points];
                let (start, placed) = (points.column(on.edge[0])?, &self.material.1);
                let end = points.column(on.edge[1])?;
                let mut position = points.column_mut(points.position())?;
                let mut velocity = points.column_mut(on.vertices.velocity)?;
                let mut twist = points.column_mut(on.twist)?;
                let moved = position.par_iter_mut().zip(velocity.par_iter_mut());
                moved.zip(twist.par_iter_mut()).enumerate().for_each(|(n, ((x, v), twist))| {
                    let row = span.row + 4 * n;
                    *x = placed[n].x + moves(row);
                    *v = self.velocity[n] + moves(row) / step;
                    *twist = self.twist[n] + du[row + 3];
                });
                let mut frame = points.column_mut(on.frame)?;
                frame.par_iter_mut().enumerate().for_each(|(n, frame)| {
                    let (a, b) = (start[n] as usize, end[n] as usize);
                    // The scene has this one, wherever edges go.
                    if a == b {
                        return;
                    }
                    let tangent = (position[b] - position[a]).normalize_or(placed[n].frame.x_axis);
                    *frame = transported(placed[n].frame, tangent, du[span.row + 4 * a + 3]);
                });
            }
            None => {}
        }
        Ok(())
    }
}
