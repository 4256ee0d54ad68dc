//! Rigid bodies in the pressure solve: fluid and bodies find the same pressure in one system (Batty, Bertails and Bridson,
//! "A fast variational framework for accurate solid-fluid coupling", 2007).
//!
//! A body closes a part c of the faces that it covers, and flows through them with its own velocity V + ω × r. By the divergence
//! theorem the sum of ±c·Δx² over a cell's faces is the area of the body's surface in it, so that J, with a row
//! ±c·Δx²·(e, r × e) for each of a cell's faces, gives both: J·(V, ω) is what the body pushes out of a cell, and Jᵀ·p the force and
//! torque of the pressure.
//!
//! Jᵀ·p takes the pressure at the centres of cells, where the body's surface is not: a flat bottom would feel nothing of its own
//! motion until it has passed a cell. What is missing of a liquid at rest is Δp = ρ·f·(x_w − x_c), with f the acceleration by forces
//! and x_w the nearest point of the surface; its Jᵀ·Δp is added to the body's forces, and makes them those of Archimedes.

use super::layers::{Bits, bits, is_on};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use undine_core::domain::Slot;
use undine_core::glam::{DVec3, IVec3};
use undine_core::{Bucket, DiscreteVolume, GridDomain, Handle};
use undine_geometry::fractions::Cutter;
use undine_geometry::{Solid, Twist};
use undine_linsolve::pressure::{MOTIONS, Motion, PressureSystem, RigidTerm, place};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// A rigid body in a fluid.
#[derive(Debug, Clone)]
pub struct Afloat {
    /// Its centre of mass [m], where it was cut out of the fluid.
    pub centre: DVec3,
    /// The velocity of its centre and its spin: before the solve, and then what the pressure makes of it.
    pub twist: Twist,
    /// M⁻¹: zero for what nothing can push.
    pub inverse_mass: [Motion; MOTIONS],
    /// What it covers.
    pub coverage: Coverage,
}

/// What a body covers of a fluid's cells.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// The faces of which it covers a part.
    pub faces: Vec<Covered>,
    /// Cells near its surface, and the way from their centre to it [m].
    pub ways: Vec<(IVec3, DVec3)>,
}

/// A face of which a body covers a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Covered {
    /// The cell above it, counted from the origin of the frame.
    pub cell: IVec3,
    /// The axis that it lies across.
    pub axis: u8,
    /// The part that the body covers, were it alone.
    pub closed: f32,
    /// The velocity of other walls there [m/s], once it is known.
    pub other: Option<f32>,
}

/// What a body covers of a fluid where it is cut out. Each process finds what is beside its own cells.
pub fn covered(domain: &GridDomain, volume: &DiscreteVolume, body: &dyn Solid) -> Coverage {
    let frame = *domain.frame();
    let Some(bounds) = body.bounds() else { return Coverage::default() };
    let (voxel, size) = (frame.voxel_size(0), frame.bucket_size(0));
    let meets = |bucket: Bucket| {
        let low = frame.corner(bucket) - voxel;
        let high = low + size + 2.0 * voxel;
        low.cmple(bounds.max).all() && high.cmpge(bounds.min).all()
    };
    // Upper faces of cells are in the next Bucket, which may be nowhere or elsewhere.
    let topology = volume.topology();
    let own = topology.level(0).map(|slot| topology.bucket(slot));
    let with_next = own
        .flat_map(|bucket| [IVec3::ZERO, IVec3::X, IVec3::Y, IVec3::Z].map(|by| bucket.offset(by)));
    let near: BTreeSet<_> = with_next.filter(|&bucket| meets(bucket)).map(Bucket::key).collect();
    let near: Vec<Bucket> = near.into_iter().map(|key| key.bucket()).collect();
    let cut = |cutter: &mut Cutter, bucket: Bucket| {
        let mut area = [[1.0_f32; 512]; 3];
        let [x, y, z] = &mut area;
        cutter.cut(body, bucket, [x, y, z], &mut [1.0_f32; 512]);
        let corner = bucket.coord * 8;
        let cell_at = |n: usize| IVec3::new(n as i32 >> 6, n as i32 >> 3 & 7, n as i32 & 7);
        let mut found = Coverage::default();
        for (axis, area) in (0..).zip(&area) {
            for (n, &open) in area.iter().enumerate().filter(|(_, open)| **open < 1.0) {
                let cell = corner + cell_at(n);
                found.faces.push(Covered { cell, axis, closed: 1.0 - open, other: None });
            }
        }
        // Cells beside the surface: those that it has something of, or whose upper faces may be covered in the next Bucket.
        let beside = |n: usize| {
            let cell = cell_at(n).to_array();
            (0..3).any(|axis| {
                let above = n + [64, 8, 1][axis];
                area[axis][n] < 1.0 || cell[axis] == 7 || area[axis][above] < 1.0
            }) && (0..3).any(|axis| area[axis][n] > 0.0)
        };
        let is_own = topology.slot(bucket).is_some_and(|slot| (slot as usize) < topology.local());
        for n in (0..512).filter(|&n| is_own && beside(n)) {
            let cell = corner + cell_at(n);
            let at = frame.origin() + voxel * (cell.as_dvec3() + 0.5);
            let near = body.nearest(at);
            if near.distance.abs() < voxel {
                found.ways.push((cell, near.point - at));
            }
        }
        found
    };
    let found: Vec<Coverage> = near.into_par_iter().map_init(|| Cutter::new(frame), cut).collect();
    let mut all = Coverage::default();
    for part in found {
        all.faces.extend(part.faces);
        all.ways.extend(part.ways);
    }
    all
}

/// A face by its place in the volume.
type Place = (Slot, u8, usize);

/// A part of a face that a body moves, beside a liquid cell.
#[derive(Debug, Clone, Copy)]
struct Grip {
    body: usize,
    face: usize,
    /// Where it lies in the volume.
    at: Place,
    /// The part of the face that the body has.
    part: f64,
    /// The part that is closed.
    closed: f64,
}

/// How bodies hold on to a fluid in one solve.
#[derive(Debug)]
pub struct Hold {
    grips: Vec<Grip>,
    voxel: f64,
    origin: DVec3,
}

impl Hold {
    /// Finds the faces beside liquid cells that bodies cover. Copies of foreign Buckets have to be fresh.
    pub fn new(
        domain: &GridDomain,
        volume: &DiscreteVolume,
        field: &FluidField,
        bodies: &mut [Afloat],
    ) -> Result<Self> {
        let topology = volume.topology();
        let words = volume.column(field.cells.words)?;
        let faces = |faces: [Handle<f32>; 3]| -> Result<[_; 3]> {
            let [x, y, z] = faces.map(|face| volume.column(face));
            Ok([x?, y?, z?])
        };
        let (area, wall) = (faces(field.walls.area.faces)?, faces(field.walls.velocity.faces)?);
        let wet = |cell: IVec3| {
            let Some(slot) = topology.slot(Bucket::at(0, cell >> 3)) else { return false };
            let cells: Bits = bits(words.chunk(slot));
            is_on(&cells, voxel_of(cell))
        };
        let mut grips = Vec::new();
        let mut taken: BTreeMap<Place, f64> = BTreeMap::new();
        let several = bodies.len() > 1;
        for (body, afloat) in bodies.iter_mut().enumerate() {
            for (face, covered) in afloat.coverage.faces.iter_mut().enumerate() {
                let below = covered.cell - IVec3::AXES[usize::from(covered.axis)];
                let Some(slot) = topology.slot(Bucket::at(0, covered.cell >> 3)) else { continue };
                if !(wet(covered.cell) || wet(below)) {
                    continue;
                }
                let (axis, n) = (usize::from(covered.axis), voxel_of(covered.cell));
                let closed = f64::from(1.0 - area[axis].chunk(slot)[n]).clamp(0.0, 1.0);
                let at = (slot, covered.axis, n);
                let before = if several { taken.get(&at).copied().unwrap_or(0.0) } else { 0.0 };
                let part = f64::from(covered.closed).min(closed - before);
                if part.is_nan() || part <= 0.0 {
                    continue;
                }
                covered.other.get_or_insert(wall[axis].chunk(slot)[n]);
                if several {
                    taken.insert(at, before + part);
                }
                grips.push(Grip { body, face, at, part, closed });
            }
        }
        let frame = domain.frame();
        Ok(Self { grips, voxel: frame.voxel_size(0), origin: frame.origin() })
    }

    /// The way from a body's centre to the middle of a face [m].
    fn arm(&self, body: &Afloat, covered: &Covered) -> DVec3 {
        let middle = DVec3::splat(0.5) - 0.5 * DVec3::AXES[usize::from(covered.axis)];
        self.origin + self.voxel * (covered.cell.as_dvec3() + middle) - body.centre
    }

    /// Gives walls the velocity that bodies have where they cover them.
    pub fn move_walls(
        &self,
        volume: &DiscreteVolume,
        field: &FluidField,
        bodies: &[Afloat],
    ) -> Result<()> {
        let [x, y, z] = field.walls.velocity.faces.map(|face| volume.column_mut(face));
        let mut wall = [x?, y?, z?];
        let own = volume.topology().local() as Slot;
        let mut set = |grip: &Grip, value: &dyn Fn(f64, &Afloat, &Covered) -> f64| {
            let (slot, axis, n) = grip.at;
            if slot < own {
                let body = &bodies[grip.body];
                let face = &mut wall[usize::from(axis)].chunk_mut(slot)[n];
                *face = value(f64::from(*face), body, &body.coverage.faces[grip.face]) as f32;
            }
        };
        let other = |covered: &Covered| f64::from(covered.other.unwrap_or(0.0));
        for grip in &self.grips {
            set(grip, &|_, _, covered| other(covered));
        }
        for grip in &self.grips {
            set(grip, &|before, body, covered| {
                let moves = body.twist.at(self.arm(body, covered))[usize::from(covered.axis)];
                before + grip.part / grip.closed * (moves - other(covered))
            });
        }
        Ok(())
    }

    /// The rows of J for the cells on both sides of a covered face, that above first.
    fn rows(&self, grip: &Grip, body: &Afloat) -> [(IVec3, Motion); 2] {
        let covered = &body.coverage.faces[grip.face];
        let axis = usize::from(covered.axis);
        let force = grip.part * self.voxel * self.voxel * DVec3::AXES[axis];
        let torque = self.arm(body, covered).cross(force);
        let row: Motion = [force.x, force.y, force.z, torque.x, torque.y, torque.z];
        let below = covered.cell - IVec3::AXES[axis];
        [(covered.cell, row.map(|value| -value)), (below, row)]
    }

    /// The terms of the bodies in a pressure system with steps of `step` [s].
    pub fn terms(&self, system: &PressureSystem, bodies: &[Afloat], step: f64) -> Vec<RigidTerm> {
        let mut terms: Vec<RigidTerm> = bodies
            .iter()
            .map(|body| RigidTerm {
                cells: Vec::new(),
                inverse_mass: body.inverse_mass,
                scale: step / self.voxel.powi(3),
            })
            .collect();
        let topology = system.topology();
        let entry = |cell: IVec3| {
            let slot = topology.slot(Bucket::at(0, cell >> 3))?;
            let entry = slot as usize * 512 + place(voxel_of(cell));
            system.has_equation(entry).then_some(entry as u32)
        };
        for grip in &self.grips {
            let rows = self.rows(grip, &bodies[grip.body]);
            let cells = rows.into_iter().filter_map(|(cell, row)| Some((entry(cell)?, row)));
            terms[grip.body].cells.extend(cells);
        }
        terms
    }

    /// Gives bodies what the pressure of a liquid at rest differs by between the centres of cells and their surface, over a step
    /// of `step` [s]: Δt·M⁻¹·Jᵀ·Δp. Collective.
    pub fn weigh_in(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        field: &FluidField,
        bodies: &mut [Afloat],
    ) -> Result<()> {
        let topology = volume.topology();
        let words = volume.column(field.cells.words)?;
        let density = volume.column(field.density)?;
        let faces = |faces: [Handle<f32>; 3]| -> Result<[_; 3]> {
            let [x, y, z] = faces.map(|face| volume.column(face));
            Ok([x?, y?, z?])
        };
        let (now, before) = (faces(field.velocity.faces)?, faces(field.velocity_before.faces)?);
        // What forces have added to the velocity in a cell, at its lower faces.
        let gained = |slot: Slot, n: usize| {
            DVec3::from_array([0, 1, 2].map(|axis: usize| {
                f64::from(now[axis].chunk(slot)[n]) - f64::from(before[axis].chunk(slot)[n])
            }))
        };
        let own = topology.local() as Slot;
        let pressures = |body: &Afloat| {
            let mut pressures: BTreeMap<[i32; 3], f64> = BTreeMap::new();
            for (cell, way) in &body.coverage.ways {
                let Some(slot) = topology.slot(Bucket::at(0, *cell >> 3)) else { continue };
                let n = voxel_of(*cell);
                if slot < own && is_on(&bits(words.chunk(slot)), n) {
                    let density = f64::from(density.chunk(slot)[n]);
                    pressures.insert(cell.to_array(), density * gained(slot, n).dot(*way));
                }
            }
            move |cell: IVec3| pressures.get(&cell.to_array()).copied().unwrap_or(0.0)
        };
        self.push(domain, bodies, pressures)
    }

    /// Gives bodies what the pressure so far does in a time `step` [s]: Δt·M⁻¹·Jᵀ·p. Collective.
    pub fn press(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        field: &FluidField,
        bodies: &mut [Afloat],
        step: f64,
    ) -> Result<()> {
        let topology = volume.topology();
        let words = volume.column(field.cells.words)?;
        let pressure = volume.column(field.pressure)?;
        let own = topology.local() as Slot;
        let (words, pressure) = (&*words, &*pressure);
        self.push(domain, bodies, |_| {
            move |cell: IVec3| {
                let n = voxel_of(cell);
                topology
                    .slot(Bucket::at(0, cell >> 3))
                    .filter(|&slot| slot < own && is_on(&bits(words.chunk(slot)), n))
                    .map_or(0.0, |slot| step * f64::from(pressure.chunk(slot)[n]))
            }
        })
    }

    /// Gives each body M⁻¹·Jᵀ·q, with a q [Pa s] that is told of the body and then of cells; of those of others, zero. Collective.
    fn push<Q: Fn(IVec3) -> f64>(
        &self,
        domain: &GridDomain,
        bodies: &mut [Afloat],
        pressures: impl Fn(&Afloat) -> Q,
    ) -> Result<()> {
        let mut impulses = vec![0.0; MOTIONS * bodies.len()];
        for (number, body) in bodies.iter().enumerate() {
            let pressure = pressures(body);
            let sums = &mut impulses[MOTIONS * number..][..MOTIONS];
            for grip in self.grips.iter().filter(|grip| grip.body == number) {
                for (cell, row) in self.rows(grip, body) {
                    let pressure = pressure(cell);
                    sums.iter_mut().zip(row).for_each(|(sum, row)| *sum += row * pressure);
                }
            }
        }
        domain.processes().all_sum_f64s(&mut impulses)?;
        for (body, impulse) in bodies.iter_mut().zip(impulses.chunks(MOTIONS)) {
            body.push(impulse);
        }
        Ok(())
    }
}

impl Afloat {
    /// Gives it an impulse [N s] and an angular one [N m s].
    fn push(&mut self, impulse: &[f64]) {
        let gained = self.inverse_mass.map(|row| row.iter().zip(impulse).map(|(m, i)| m * i).sum());
        self.speed_up(gained);
    }

    /// Adds to its velocity [m/s] and its spin [rad/s].
    pub(super) fn speed_up(&mut self, [x, y, z, a, b, c]: Motion) {
        self.twist.linear += DVec3::new(x, y, z);
        self.twist.angular += DVec3::new(a, b, c);
    }
}

/// The place of a cell in its Bucket.
fn voxel_of(cell: IVec3) -> usize {
    let [x, y, z] = cell.to_array().map(|c| (c & 7) as usize);
    x << 6 | y << 3 | z
}
