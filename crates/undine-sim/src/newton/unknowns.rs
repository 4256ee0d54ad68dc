//! Which unknowns a system has: spans of points, bodies and scalars, one or more per Object, as nodes and rows; and the
//! inertia that belongs to them.

use super::error::{NewtonError, Result};
use super::rotation::left_jacobian_inverse;
use undine_core::glam::{DMat3, DVec3};

/// What the nodes of a span are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A node of 3 unknowns per point: its move [m].
    Points,
    /// Two nodes of 3 unknowns per rigid body: the move of its centre of mass [m], and its turn [rad] about it.
    Bodies,
    /// A node of 1 unknown per scalar.
    Scalars,
    /// Two nodes per vertex of a rod: the move of the vertex [m], and the turn [rad] of the edge behind it about itself.
    Rods,
}

impl Kind {
    /// Nodes of one group: of a point, a body, a scalar.
    pub fn nodes(self) -> usize {
        match self {
            Self::Points | Self::Scalars => 1,
            Self::Bodies | Self::Rods => 2,
        }
    }

    /// Unknowns of a node of a group.
    pub fn size(self, node: usize) -> usize {
        match (self, node) {
            (Self::Scalars, _) | (Self::Rods, 1) => 1,
            _ => 3,
        }
    }

    /// Unknowns of one group.
    pub fn unknowns(self) -> usize {
        match self {
            Self::Points => 3,
            Self::Bodies => 6,
            Self::Scalars => 1,
            Self::Rods => 4,
        }
    }
}

/// A run of nodes of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Whose they are, for errors.
    pub name: String,
    /// What they are.
    pub kind: Kind,
    /// How many points, bodies or scalars.
    pub count: usize,
    /// The first node.
    pub node: usize,
    /// The first unknown.
    pub row: usize,
    /// The first group among those of all spans.
    pub group: usize,
    /// Where separate things begin among the groups, such as strands of hair; empty if it is all one.
    pub parts: Vec<u32>,
}

/// The unknowns of all strongly coupled Objects, span after span.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unknowns {
    spans: Vec<Span>,
    nodes: usize,
    rows: usize,
    groups: usize,
}

impl Unknowns {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a span behind the others; returns its number.
    pub fn add(&mut self, name: impl Into<String>, kind: Kind, count: usize) -> usize {
        self.add_parts(name, kind, count, Vec::new())
    }

    /// Adds a span of several things that hardly know of each other, the groups of each beginning where `parts` says.
    pub fn add_parts(
        &mut self,
        name: impl Into<String>,
        kind: Kind,
        count: usize,
        parts: Vec<u32>,
    ) -> usize {
        let (node, row, group) = (self.nodes, self.rows, self.groups);
        self.nodes += count * kind.nodes();
        self.rows += count * kind.unknowns();
        self.groups += count;
        self.spans.push(Span { name: name.into(), kind, count, node, row, group, parts });
        self.spans.len() - 1
    }

    /// All spans.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// How many unknowns there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many points, bodies and scalars there are.
    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    /// The span and the group in it of a node.
    pub(crate) fn group_of(&self, node: usize) -> (&Span, usize) {
        let at = self.spans.partition_point(|span| span.node <= node) - 1;
        // Empty spans begin where the next one does; the last of those holds the node.
        let span = &self.spans[at];
        (span, (node - span.node) / span.kind.nodes())
    }

    /// The group of a node among those of all spans.
    pub(super) fn group(&self, node: u32) -> u32 {
        let (span, group) = self.group_of(node as usize);
        (span.group + group) as u32
    }
}

/// The inertia of a span at the current iterate: masses, and how far each node is from where inertia alone would take it.
#[derive(Debug, Clone, Copy)]
pub enum Inertia<'a> {
    /// Of points.
    Points {
        /// Mass [kg].
        mass: &'a [f64],
        /// x − x̃ [m].
        displacement: &'a [DVec3],
    },
    /// Of rigid bodies.
    Bodies {
        /// Mass [kg].
        mass: &'a [f64],
        /// X − X̃ of the centre of mass [m].
        displacement: &'a [DVec3],
        /// The inertia tensor Ĩ [kg·m²] about the centre of mass, in world axes, at the target orientation R̃ of torque-free
        /// flight.
        tensor: &'a [DMat3],
        /// θ = log(R·R̃ᵀ) [rad].
        turn: &'a [DVec3],
    },
    /// Of scalars.
    Scalars {
        /// Generalised mass, such that ½ mass · rate² is an energy [J].
        mass: &'a [f64],
        /// q − q̃.
        displacement: &'a [f64],
        /// How far a unit moves the material [m], such as a rod's radius for a twist; for the convergence test alone.
        reach: f64,
    },
    /// Of the vertices of rods, and of the edges behind them about themselves.
    Rods {
        /// Mass of each vertex [kg].
        mass: &'a [f64],
        /// x − x̃ [m].
        displacement: &'a [DVec3],
        /// Moment of inertia of each edge about itself [kg m²].
        moment: &'a [f64],
        /// θ − θ̃ [rad].
        twist: &'a [f64],
    },
}

impl Inertia<'_> {
    /// Refuses lists of other lengths than the span's, and masses that are not positive.
    pub(super) fn check(&self, span: &Span) -> Result<()> {
        let of = || span.name.clone();
        let length = |what, found| match found == span.count {
            true => Ok(()),
            false => Err(NewtonError::WrongLength { what, of: of(), found, wanted: span.count }),
        };
        let mass = match (self, span.kind) {
            (Self::Points { mass, displacement }, Kind::Points) => {
                length("the displacements", displacement.len())?;
                mass
            }
            (Self::Bodies { mass, displacement, tensor, turn }, Kind::Bodies) => {
                length("the displacements", displacement.len())?;
                length("the inertia tensors", tensor.len())?;
                length("the turns", turn.len())?;
                mass
            }
            (Self::Scalars { mass, displacement, .. }, Kind::Scalars) => {
                length("the displacements", displacement.len())?;
                mass
            }
            (Self::Rods { mass, displacement, moment, twist }, Kind::Rods) => {
                length("the displacements", displacement.len())?;
                length("the moments of inertia", moment.len())?;
                length("the twists", twist.len())?;
                if let Some(at) = moment.iter().position(|&m| !(m > 0.0 && m.is_finite())) {
                    return Err(NewtonError::BadValue {
                        what: format!("the moment of inertia of edge {at} of {}", span.name),
                        found: moment[at],
                        wanted: "positive and finite",
                    });
                }
                mass
            }
            _ => {
                let found = format!("inertia of another kind for {}", span.name);
                return Err(NewtonError::NotConnected {
                    found,
                    wanted: format!("{:?}", span.kind),
                });
            }
        };
        length("the masses", mass.len())?;
        match mass.iter().position(|&mass| !(mass > 0.0 && mass.is_finite())) {
            None => Ok(()),
            Some(at) => Err(NewtonError::BadValue {
                what: format!("the mass of element {at} of {}", span.name),
                found: mass[at],
                wanted: "positive and finite",
            }),
        }
    }

    /// The energy ½ dᵀ M d / Δt² [J] of one group.
    #[inline]
    pub(super) fn energy(&self, group: usize, per_dt2: f64) -> f64 {
        let twice = match self {
            Self::Points { mass, displacement } => {
                mass[group] * displacement[group].length_squared()
            }
            Self::Bodies { mass, displacement, tensor, turn } => {
                mass[group] * displacement[group].length_squared()
                    + turn[group].dot(tensor[group] * turn[group])
            }
            Self::Scalars { mass, displacement, .. } => {
                mass[group] * displacement[group] * displacement[group]
            }
            Self::Rods { mass, displacement, moment, twist } => {
                mass[group] * displacement[group].length_squared()
                    + moment[group] * twist[group] * twist[group]
            }
        };
        0.5 * per_dt2 * twice
    }

    /// Writes the force −∂/∂u of the energy of one group, and its matrix, row after row.
    ///
    /// A turn δ changes θ by J⁻¹·δ, so that the torque is −J⁻ᵀ Ĩ θ/Δt² and the matrix J⁻ᵀ Ĩ J⁻¹/Δt², positive definite always. The
    /// curvature of θ itself, of order θ²/6 beside that, is left out.
    #[inline]
    pub(super) fn write(&self, group: usize, per_dt2: f64, force: &mut [f64], matrix: &mut [f64]) {
        match self {
            Self::Points { mass, displacement } => {
                let m = mass[group] * per_dt2;
                force.copy_from_slice(&(displacement[group] * -m).to_array());
                matrix.fill(0.0);
                (0..3).for_each(|i| matrix[4 * i] = m);
            }
            Self::Bodies { mass, displacement, tensor, turn } => {
                let m = mass[group] * per_dt2;
                let back = left_jacobian_inverse(turn[group]);
                let (torque, turning) = (
                    back.transpose() * (tensor[group] * turn[group]) * -per_dt2,
                    back.transpose() * tensor[group] * back * per_dt2,
                );
                force[..3].copy_from_slice(&(displacement[group] * -m).to_array());
                force[3..].copy_from_slice(&torque.to_array());
                matrix.fill(0.0);
                for i in 0..3 {
                    matrix[7 * i] = m;
                    for j in 0..3 {
                        let both = turning.col(j)[i] + turning.col(i)[j];
                        matrix[6 * (3 + i) + 3 + j] = 0.5 * both;
                    }
                }
            }
            Self::Scalars { mass, displacement, .. } => {
                matrix[0] = mass[group] * per_dt2;
                force[0] = -matrix[0] * displacement[group];
            }
            Self::Rods { mass, displacement, moment, twist } => {
                let (m, i) = (mass[group] * per_dt2, moment[group] * per_dt2);
                force[..3].copy_from_slice(&(displacement[group] * -m).to_array());
                force[3] = -i * twist[group];
                matrix.fill(0.0);
                (0..3).for_each(|k| matrix[5 * k] = m);
                matrix[15] = i;
            }
        }
    }

    /// How far the material moves [m] with the unknowns of a group: a body's turn counts at its radius of gyration.
    #[inline]
    pub(super) fn moved(&self, group: usize, du: &[f64]) -> f64 {
        let norm = |u: &[f64]| u.iter().map(|u| u * u).sum::<f64>().sqrt();
        match self {
            Self::Points { .. } => norm(du),
            Self::Bodies { mass, tensor, .. } => {
                let tensor = tensor[group];
                let trace = tensor.x_axis.x + tensor.y_axis.y + tensor.z_axis.z;
                norm(&du[..3]) + norm(&du[3..]) * (0.5 * trace / mass[group]).max(0.0).sqrt()
            }
            Self::Scalars { reach, .. } => du[0].abs() * reach,
            // A twist counts at the radius of gyration of the edge.
            Self::Rods { mass, moment, .. } => {
                norm(&du[..3]) + du[3].abs() * (moment[group] / mass[group]).sqrt()
            }
        }
    }
}
