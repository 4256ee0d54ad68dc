//! Contacts by implicit penalties: a spring where surfaces overlap, and one along them that slides at the limit of friction (Loki §6.3;
//! Cundall & Strack 1979, *A discrete numerical model for granular assemblies*).
//!
//! With the gap g and the stretch t of the spring along the surface, E = ½ k min(g, 0)² + E_T(t): ½ k t² up to the limit k |t| = μ N, and beyond
//! it μ N |t| − ½ (μ N)²/k, N being the force across. The stretch begins with what the last step has left, so that what rests does not creep; it
//! gives way by N/k instead of not at all. N is that of the last step (Li et al. 2020, *Incremental potential contact*, §5.3): there is no energy otherwise,
//! and at an iterate that is still deep inside of something k |g| is thousands of times what is left of it where the step ends. Where it slides, the
//! slope is μ N/|t| along the way too, that of a parabola above the energy which touches it here: so friction stops what slides, and never turns it back.

use super::contact::{Contact, Contacts};
use super::error::{NewtonError, Result};
use super::iterate::Merit;
use super::saddle::HardRows;
use super::term::{Term, TermNodes};
use std::ops::Range;
use undine_core::glam::{DMat3, DVec3};
use undine_linsolve::matrix::{Element, Elements};

/// Contacts that push back with a stiffness.
#[derive(Debug)]
pub struct PenaltyTerm<'a> {
    /// What errors call it.
    pub name: &'a str,
    /// The contacts at the current iterate. Their forces are those where the step begins.
    pub contacts: Contacts,
    /// k [N/m].
    pub stiffness: f64,
}

/// What a contact does at an iterate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Push {
    /// The force on the first surface [N].
    pub force: DVec3,
    /// −∂force/∂u [N/m] where it sticks, and no less than that where it slides; positive semi-definite.
    pub slope: DMat3,
    /// The energy [J].
    pub energy: f64,
}

/// How a contact pushes back with a stiffness k [N/m].
pub fn push(contact: &Contact, stiffness: f64) -> Push {
    let n = contact.normal;
    let along = |v: DVec3| v - v.dot(n) * n;
    let depth = (-contact.gap).max(0.0);
    if depth == 0.0 {
        return Push { force: DVec3::ZERO, slope: DMat3::ZERO, energy: 0.0 };
    }
    let pressing = stiffness * depth;
    let limit = contact.friction * contact.force.dot(n).max(0.0);
    let stretch = along(contact.slip) - along(contact.force) / stiffness;
    let length = stretch.length();
    let across = super::rotation::outer(n, n);
    let (drag, slope, energy) = if limit == 0.0 {
        (DVec3::ZERO, DMat3::ZERO, 0.0)
    } else if stiffness * length <= limit {
        let held = (DMat3::IDENTITY - across) * stiffness;
        (stretch * stiffness, held, 0.5 * stiffness * length * length)
    } else {
        let energy = limit * length - 0.5 * limit * limit / stiffness;
        (stretch * (limit / length), (DMat3::IDENTITY - across) * (limit / length), energy)
    };
    Push {
        force: n * pressing - drag,
        slope: across * stiffness + slope,
        energy: 0.5 * stiffness * depth * depth + energy,
    }
}

impl PenaltyTerm<'_> {
    /// The nodes of a contact, each with how the first surface moves with it relative to the second.
    fn levers(&self, contact: usize) -> impl Iterator<Item = (u32, DMat3)> + '_ {
        self.contacts.ends(contact).iter().flat_map(|end| {
            let moves = (end.node, DMat3::IDENTITY * end.weight);
            let turns =
                end.lever.map(|lever| (end.node + 1, super::rotation::cross(lever) * -end.weight));
            [Some(moves), turns].into_iter().flatten()
        })
    }
}

impl Term for PenaltyTerm<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn lengths(&self) -> Vec<usize> {
        vec![self.contacts.len()]
    }

    fn nodes(&self) -> Result<TermNodes> {
        let mut nodes = TermNodes::default();
        for contact in 0..self.contacts.len() {
            nodes.push_nodes(self.levers(contact).map(|(node, _)| node));
        }
        Ok(nodes)
    }

    fn fill(&self, _dt: f64, touching: &[u32], out: &mut Elements) -> Result<()> {
        if let Some(index) = self.contacts.list().iter().position(|contact| {
            !(contact.gap.is_finite() && contact.slip.is_finite() && contact.force.is_finite())
        }) {
            let (what, of) = ("contact", self.name.to_owned());
            return Err(NewtonError::NotFinite { what, index, of, found: f64::NAN });
        }
        out.fill(|n, values| {
            let Element::Dense { force, matrix } = values else { return };
            let contact = touching[n] as usize;
            let push = push(&self.contacts.list()[contact], self.stiffness);
            let width = force.len();
            for (i, (_, one)) in self.levers(contact).enumerate() {
                let f = one.transpose() * push.force;
                force[3 * i..3 * i + 3].copy_from_slice(&f.to_array());
                for (j, (_, other)) in self.levers(contact).enumerate().skip(i) {
                    let block = one.transpose() * push.slope * other;
                    let block = if i == j { (block + block.transpose()) * 0.5 } else { block };
                    for row in 0..3 {
                        for column in 0..3 {
                            let entry = block.col(column)[row];
                            matrix[(3 * i + row) * width + 3 * j + column] = entry;
                            matrix[(3 * j + column) * width + 3 * i + row] = entry;
                        }
                    }
                }
            }
        });
        Ok(())
    }

    fn hard(&self, _out: &mut HardRows) -> Result<()> {
        Ok(())
    }

    fn has_multipliers(&self) -> bool {
        false
    }

    fn sums(&self) -> usize {
        1
    }

    fn merits(&self, sums: Range<usize>, _dt: f64) -> Vec<Merit> {
        let sum = |_| {
            let mut merit = Merit::default();
            for contact in self.contacts.list() {
                merit.add(push(contact, self.stiffness).energy);
            }
            merit
        };
        sums.map(sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contact(gap: f64, slip: DVec3) -> Contact {
        let normal = DVec3::new(0.36, 0.48, 0.8);
        // 100 N across in the last step.
        let force = DVec3::new(1.0, -2.0, 0.5) + 100.2 * normal;
        Contact { normal, gap, slip, apart: 0.0, friction: 0.4, force }
    }

    /// Sticking, the force is the derivative of the energy, and its slope is that of the force.
    #[test]
    fn force_and_slope_are_derivatives_where_it_sticks() {
        let (k, h) = (1e4, 1e-8);
        let at = |move_by: DVec3| {
            let base = contact(-0.02, DVec3::new(1e-3, 2e-3, -1e-3));
            let gap = base.gap + move_by.dot(base.normal);
            push(&Contact { gap, slip: base.slip + move_by, ..base }, k)
        };
        let here = at(DVec3::ZERO);
        for axis in DVec3::AXES {
            let (more, less) = (at(axis * h), at(axis * -h));
            let force = -(more.energy - less.energy) / (2.0 * h);
            assert!((force - here.force.dot(axis)).abs() < 1e-4 * here.force.length());
            let slope = -(more.force - less.force) / (2.0 * h);
            assert!((slope - here.slope * axis).length() < 1e-5 * k, "{slope}");
        }
    }

    #[test]
    fn friction_is_at_its_limit_where_it_slides() {
        let slides = contact(-0.01, DVec3::new(0.5, 0.1, -0.3));
        let push = push(&slides, 1e4);
        let across = push.force.dot(slides.normal);
        assert!((across - 100.0).abs() < 1e-9);
        let along = push.force - across * slides.normal;
        assert!((along.length() - 0.4 * across).abs() < 1e-9);
        assert!(along.dot(slides.slip) < 0.0);
        // The slope takes all of friction away where nothing is left of the way.
        let stretch = slides.slip - slides.force / 1e4;
        let stretch = stretch - stretch.dot(slides.normal) * slides.normal;
        assert!((push.slope * stretch + along).length() < 1e-9 * along.length());
        assert_eq!(super::push(&contact(1e-9, DVec3::X), 1e4).force, DVec3::ZERO);
    }
}
