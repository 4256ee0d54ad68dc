//! The strains between faces, and what walls have of them.

use super::{Brought, CLOSED, Face, NEAR, Place, State, each, unit};
use crate::viscosity::grips::{Levers, Motion, Pull, voxel_of};
use crate::viscosity::piece::{STEP, VOXELS, Varied, across, in_tile, tile_place};
use crate::viscosity::touched::NOBODY;
use undine_core::glam::{DVec3, IVec3};
use undine_core::volume::Resolution;

/// The part of a strain that two faces make: e = s (upper − lower) + known.
struct Difference {
    s: f64,
    known: f64,
    /// How much of the way between them is outside of walls.
    open: f64,
    has_unknown: bool,
    /// What bodies add: e has s K·q.
    levers: Levers,
}

impl Place<'_> {
    /// Tells which faces bodies hold. What particles have brought to those that are open is carried along by the body, and weighs
    /// on it.
    pub(super) fn add_held(
        &self,
        faces: &[Vec<Face>; 3],
        brought: Option<&Brought<'_>>,
        pull: &mut Pull,
    ) {
        for (axis, faces) in faces.iter().enumerate() {
            for voxel in 0..VOXELS {
                let at = tile_place(voxel);
                let face = faces[at];
                if face.state == State::Wall && face.body != NOBODY {
                    let lever = self.lever(axis, at, face.body);
                    pull.grips().held.push(((axis * VOXELS + voxel) as u32, face.body, lever));
                    let [x, y, z] = Resolution::R8.coords(voxel).map(|c| c as i32);
                    let area = self.area[axis].values()[self.area[axis].index(x, y, z)];
                    let Some([mass, velocity]) = brought.filter(|_| area > CLOSED) else {
                        continue;
                    };
                    let mass = f64::from(mass[axis][voxel] / self.volume());
                    if mass <= 0.0 {
                        continue;
                    }
                    let mut along = Levers::default();
                    along.add(face.body, 1.0, &lever);
                    pull.block(mass, &along, &along);
                    pull.push(-mass * f64::from(velocity[axis][voxel]), &along);
                }
            }
        }
        if let Some(grips) = &mut pull.grips {
            let is_liquid = |face: u32| {
                let (axis, voxel) = (face as usize / VOXELS, face as usize % VOXELS);
                faces[axis][tile_place(voxel)].state == State::Liquid
            };
            grips.rows.retain(|(face, ..)| is_liquid(*face));
            grips.merge();
        }
    }

    /// J: what the motions of a body add to the velocity of a face at a place of a tile.
    fn lever(&self, axis: usize, at: usize, body: u32) -> Motion {
        let Some((bodies, Some(centre))) =
            self.samples.bodies.map(|all| (all, all.centres[body as usize]))
        else {
            return [0.0; 6];
        };
        let cell = IVec3::from([at / 100, at / 10 % 10, at % 10].map(|c| c as i32 - 1));
        let middle = DVec3::splat(0.5) - 0.5 * DVec3::AXES[axis];
        let place = (8 * self.bucket + cell).as_dvec3() + middle;
        let along = DVec3::AXES[axis];
        let turn = (bodies.origin + self.samples.voxel * place - centre).cross(along);
        [along.x, along.y, along.z, turn.x, turn.y, turn.z]
    }

    /// Between the faces of an axis at two places of a tile, lower and upper.
    fn difference(&self, axis: usize, places: [usize; 2], faces: &[Face]) -> Difference {
        use State::{Liquid, Wall};
        let [lower, upper] = places.map(|at| faces[at]);
        let mut levers = Levers::default();
        let plain = |known, has_unknown, levers| Difference {
            s: 1.0,
            known,
            open: 1.0,
            has_unknown,
            levers,
        };
        let (inside, outside, at, sign) = match (upper.state, lower.state) {
            (Liquid, Wall) => (upper, lower, [places[1], places[0]], 1.0),
            (Wall, Liquid) => (lower, upper, places, -1.0),
            (Wall, Wall) => {
                let mut known = 0.0;
                for (at, face, sign) in [(places[1], upper, 1.0), (places[0], lower, -1.0)] {
                    match face.body {
                        NOBODY => known += sign * f64::from(face.velocity),
                        body => levers.add(body, sign, &self.lever(axis, at, body)),
                    }
                }
                return plain(known, false, levers);
            }
            _ => return plain(0.0, true, levers),
        };
        let way = f64::from(inside.wall) - f64::from(outside.wall.min(0.0));
        let part = f64::from(inside.wall) / way;
        let open = if part.is_finite() { part.clamp(f64::from(NEAR), 1.0) } else { 1.0 };
        // (u − w) / θ, w being the wall's velocity where it is crossed, between those at the two faces.
        let known = match outside.body {
            NOBODY => {
                let far = f64::from(outside.velocity);
                // Nearer to a body than to this wall, the velocity of a wall is not this one's.
                let near = if inside.body == NOBODY { f64::from(inside.velocity) } else { far };
                sign * (near - far - near / open)
            }
            body => {
                levers.add(body, sign * (open - 1.0), &self.lever(axis, at[0], body));
                levers.add(body, -sign * open, &self.lever(axis, at[1], body));
                0.0
            }
        };
        Difference { s: 1.0 / open, known, open, has_unknown: true, levers }
    }

    pub(super) fn add_cells(
        &self,
        axis: usize,
        faces: &[Vec<Face>; 3],
        piece: &mut Varied,
        pull: &mut Pull,
    ) {
        let mut low = [0; 3];
        low[axis] = -1;
        each(low, [7; 3], |cell| {
            let at = in_tile(cell[0], cell[1], cell[2]);
            let (lower, upper) = (faces[axis][at], faces[axis][at + STEP[axis]]);
            if [lower, upper].iter().any(|face| face.state == State::Air) {
                return;
            }
            let places = [at, at + STEP[axis]];
            let difference = self.difference(axis, places, &faces[axis]);
            // Inside of a wall the samples weigh nothing yet, but coarser ones there will: they tie the liquid to the wall.
            let surface = self.surface.values()[self.surface.index(cell[0], cell[1], cell[2])];
            let part = if difference.has_unknown { f64::from(self.liquid(surface)) } else { 1.0 };
            let k = 2.0 * self.stiffness([cell]) * part * difference.open;
            piece.cell[axis][at] = (k * difference.s * difference.s) as f32;
            pull.add(axis, at, at + STEP[axis], k * difference.s * difference.known);
            if !difference.has_unknown || difference.levers.is_empty() {
                return;
            }
            let stored = f64::from(piece.cell[axis][at]);
            pull.grip(axis, places, stored, &difference.levers);
            if is_own(places.map(|at| (at, faces[axis][at].state))) {
                pull.block(stored, &difference.levers, &difference.levers);
                pull.push(k * difference.s * difference.known, &difference.levers);
            }
        });
    }

    pub(super) fn add_edges(
        &self,
        edge: usize,
        faces: &[Vec<Face>; 3],
        piece: &mut Varied,
        pull: &mut Pull,
    ) {
        let (a, b) = across(edge);
        let (ua, ub) = (unit(a), unit(b));
        let mut high = [8; 3];
        high[edge] = 7;
        each([0; 3], high, |cell| {
            let at = in_tile(cell[0], cell[1], cell[2]);
            let four = [faces[a][at], faces[a][at - STEP[b]], faces[b][at], faces[b][at - STEP[a]]];
            if four.iter().any(|face| face.state == State::Air) {
                return;
            }
            let left = std::array::from_fn(|n| cell[n] - ua[n]);
            let below = std::array::from_fn(|n| cell[n] - ub[n]);
            let diagonal = std::array::from_fn(|n| cell[n] - ua[n] - ub[n]);
            let cells: [[i32; 3]; 4] = [cell, left, below, diagonal];
            let value = |[x, y, z]: [i32; 3]| self.surface.values()[self.surface.index(x, y, z)];
            let surface = 0.25 * cells.iter().map(|cell| value(*cell)).sum::<f32>();
            let (stiffness, part) = (self.stiffness(cells), f64::from(self.liquid(surface)));

            // A wall thinner than a voxel lies between two faces: it holds each of them, and neither feels the other.
            let states = four.map(|face| face.state == State::Wall);
            let apart = match states {
                [false, false, true, true] => Some((a, at - STEP[b], [four[1], four[0]])),
                [true, true, false, false] => Some((b, at - STEP[a], [four[3], four[2]])),
                _ => None,
            };
            if let Some((axis, lower, pair)) = apart {
                for (place, face) in [lower, at].into_iter().zip(pair) {
                    let Some(voxel) = voxel_of(place) else { continue };
                    let way = f64::from(face.wall / self.samples.voxel as f32);
                    let tie = stiffness * part / way.clamp(f64::from(NEAR), 0.5);
                    piece.tie[axis][voxel] += tie as f32;
                    // The wall is that of the faces which it holds.
                    let wall = if states[0] { four[0] } else { four[2] };
                    if wall.body == NOBODY {
                        pull.add_to(axis, voxel, tie * f64::from(face.velocity));
                        continue;
                    }
                    let tie = f64::from(tie as f32);
                    let mut lever = Levers::default();
                    lever.add(wall.body, 1.0, &self.lever(axis, place, wall.body));
                    pull.tie(axis, voxel, tie, &lever);
                }
                return;
            }

            let (in_a, in_b) = ([at - STEP[b], at], [at - STEP[a], at]);
            let x = self.difference(a, in_a, &faces[a]);
            let y = self.difference(b, in_b, &faces[b]);
            let part = if x.has_unknown || y.has_unknown { part } else { 1.0 };
            let k = stiffness * part * x.open * y.open;
            let terms = [k * x.s * x.s, k * x.s * y.s, k * y.s * y.s];
            for (tile, term) in piece.edge[edge].terms.iter_mut().zip(terms) {
                tile[at] = term as f32;
            }
            let known = x.known + y.known;
            pull.add(a, at - STEP[b], at, k * x.s * known);
            pull.add(b, at - STEP[a], at, k * y.s * known);
            let is_gripped = !(x.levers.is_empty() && y.levers.is_empty());
            if !is_gripped || !(x.has_unknown || y.has_unknown) {
                return;
            }
            let [xx, xy, yy] = [0, 1, 2].map(|n: usize| f64::from(piece.edge[edge].terms[n][at]));
            pull.grip(a, in_a, xx, &x.levers);
            pull.grip(a, in_a, xy, &y.levers);
            pull.grip(b, in_b, xy, &x.levers);
            pull.grip(b, in_b, yy, &y.levers);
            let places = [in_a[1], in_a[0], in_b[1], in_b[0]];
            if is_own(std::array::from_fn::<_, 4, _>(|n| (places[n], four[n].state))) {
                pull.block(xx, &x.levers, &x.levers);
                pull.block(xy, &x.levers, &y.levers);
                pull.block(xy, &y.levers, &x.levers);
                pull.block(yy, &y.levers, &y.levers);
                pull.push(k * x.s * known, &x.levers);
                pull.push(k * y.s * known, &y.levers);
            }
        });
    }
}

/// Whether a sample is counted by this Bucket among all that know it: that of the first of its faces in the liquid.
fn is_own<const N: usize>(faces: [(usize, State); N]) -> bool {
    let first = faces.iter().find(|(_, state)| *state == State::Liquid);
    first.is_some_and(|(at, _)| voxel_of(*at).is_some())
}
