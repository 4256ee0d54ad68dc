//! Contacts as the system sees them: where, how far apart, how far slipped, and what they hang on.
//!
//! A contact is between two surfaces, of which at least one hangs on unknowns. It acts at one point, with a force r [N] on the first and
//! −r on the second, so that no contact changes the momentum of the whole. Its law is at the end of the step, where the first surface
//! has gone u relative to the second: u_N is what is left of the gap, u_T is how far it has slipped since the step began; r and u fulfil
//! Signorini's and Coulomb's laws ([`coulomb`](super::coulomb)).
//!
//! A contact may be a spring of stiffness k, across and along its surface, that slides at the limit of friction: an implicit penalty (Cundall &
//! Strack 1979, *A discrete numerical model for granular assemblies*). What gives way is then a part of u, which fulfils the same laws:
//! u + (r − rⁿ_T)/k, of which rⁿ_T is the force along the surface that the step before has left, so that what rests does not creep.
//! All is that of the end of the step, the force across that limits friction too.

use undine_core::glam::{DMat3, DVec3};

/// One contact at the current iterate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// From the second surface to the first, of length 1.
    pub normal: DVec3,
    /// How far the surfaces are apart [m]; negative, if one is inside of the other.
    pub gap: f64,
    /// How far the first has gone relative to the second since the step began [m].
    pub slip: DVec3,
    /// How far the surfaces have to go apart in the step at least [m]; 0 where nothing bounces.
    pub apart: f64,
    /// The coefficient of Coulomb friction.
    pub friction: f64,
    /// How far the surfaces give way to a force [m/N]: 0 where the contact is hard, 1/k where it is a spring.
    pub compliance: f64,
    /// By how much laws may be off on the mean over such contacts [m], where it cannot be seen; 0 where the system says what is enough.
    pub accuracy: f64,
    /// The force on the first surface [N]: a guess, until it is solved for.
    pub force: DVec3,
}

impl Contact {
    /// What u is now [m], along normal and tangents. Surfaces that were inside of each other when the step began have to go no deeper,
    /// but not to part with a jolt, which would make energy of it.
    pub fn displacement(&self, frame: &DMat3) -> DVec3 {
        let u = frame.transpose() * self.slip;
        DVec3::new(self.opening(), u.y, u.z)
    }

    /// The part of it along the normal [m].
    pub fn opening(&self) -> f64 {
        let gone = self.normal.dot(self.slip);
        if self.compliance > 0.0 {
            // It gives way, so that overlaps part by themselves.
            return self.gap;
        }
        if self.apart > 0.0 { gone - self.apart } else { self.gap.max(gone) }
    }

    /// Normal and two tangents, as columns.
    pub fn frame(&self) -> DMat3 {
        let (one, other) = self.normal.any_orthonormal_pair();
        DMat3::from_cols(self.normal, one, other)
    }
}

/// A node that a contact hangs on: it moves the first surface relative to the second by `weight` times its own move, and the node
/// behind it, which turns a body, by `weight` times the turn across the lever.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactEnd {
    /// The node; of a body, that of its centre.
    pub node: u32,
    /// From the centre of the body to where the contact acts [m]; none for a point.
    pub lever: Option<DVec3>,
    /// Positive on the side of the first surface, negative on that of the second.
    pub weight: f64,
}

/// Contacts with what they hang on.
#[derive(Debug, Clone, PartialEq)]
pub struct Contacts {
    list: Vec<Contact>,
    starts: Vec<u32>,
    ends: Vec<ContactEnd>,
}

impl Default for Contacts {
    fn default() -> Self {
        Self { list: Vec::new(), starts: vec![0], ends: Vec::new() }
    }
}

impl Contacts {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them.
    pub fn list(&self) -> &[Contact] {
        &self.list
    }

    /// What a contact hangs on.
    pub fn ends(&self, contact: usize) -> &[ContactEnd] {
        &self.ends[self.starts[contact] as usize..self.starts[contact + 1] as usize]
    }

    /// How far the surfaces of a contact are apart [m], as its law means it, when unknowns have gone `du` since it was found; `row_of` has
    /// where those of a node begin.
    pub(super) fn opening(&self, contact: usize, row_of: &[u32], du: impl Fn(usize) -> f64) -> f64 {
        let mut gone = DVec3::ZERO;
        for end in self.ends(contact) {
            let row = row_of[end.node as usize] as usize;
            let vector = |row: usize| DVec3::new(du(row), du(row + 1), du(row + 2));
            gone += vector(row) * end.weight;
            if let Some(lever) = end.lever {
                gone += vector(row + 3).cross(lever) * end.weight;
            }
        }
        let contact = &self.list[contact];
        contact.opening() + contact.normal.dot(gone)
    }

    /// Adds a contact, whose ends `hang` adds to a list.
    pub fn add(&mut self, contact: Contact, hang: impl FnOnce(&mut Vec<ContactEnd>)) {
        self.list.push(contact);
        hang(&mut self.ends);
        self.starts.push(self.ends.len() as u32);
    }

    /// The force that a solve has found.
    pub(super) fn set_force(&mut self, contact: usize, force: DVec3) {
        self.list[contact].force = force;
    }
}
