//! Volume, centre and inertia of a solid, for unit density: what a rigid body is made from.
//!
//! The inertia of a solid Ω about its centre c is ∫ (|x − c|² I − (x − c)(x − c)ᵀ) dx. It moves to other points by the
//! parallel-axis theorem, and enclosed by triangles it is a sum over tetrahedra (Tonon 2004).

use crate::pose::Pose;
use undine_core::glam::{DMat3, DVec3};

/// The mass properties of a solid of density 1 kg/m³.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// Its volume [m³].
    pub volume: f64,
    /// Its centre of mass [m].
    pub centre: DVec3,
    /// Its inertia about that centre, for unit density [m⁵].
    pub inertia: DMat3,
}

/// The axes about which an inertia is diagonal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Principal {
    /// The moments about the three axes, the smallest first, in the unit of the inertia.
    pub moments: DVec3,
    /// The axes as columns, of length 1 and right-handed.
    pub axes: DMat3,
}

impl MassProperties {
    /// Of nothing.
    pub const NONE: Self = Self { volume: 0.0, centre: DVec3::ZERO, inertia: DMat3::ZERO };

    /// From the moments about `origin` [m]: `volume` = ∫ dx [m³], `first` = ∫ (x − origin) dx [m⁴] and
    /// `second` = ∫ (x − origin)(x − origin)ᵀ dx [m⁵]. Without volume, the centre is the origin.
    pub fn of_moments(origin: DVec3, volume: f64, first: DVec3, second: DMat3) -> Self {
        let arm = if volume == 0.0 { DVec3::ZERO } else { first / volume };
        let central = second - outer(arm, arm) * volume;
        let inertia = DMat3::from_diagonal(DVec3::splat(trace(&central))) - central;
        Self { volume, centre: origin + arm, inertia }
    }

    /// Of what is enclosed by triangles that are seen from outside when their corners turn to the left. Where
    /// triangles enclose a place several times, it counts as often. Without triangles: nothing.
    pub fn enclosed(triangles: impl IntoIterator<Item = [DVec3; 3]>) -> Self {
        let mut triangles = triangles.into_iter().peekable();
        // Tetrahedra from a point of the surface, so that a solid far from the world's origin loses no digits.
        let Some(origin) = triangles.peek().map(|corners| corners[0]) else { return Self::NONE };
        let part = |corners: [DVec3; 3]| Moments::of(corners.map(|corner| corner - origin));
        triangles.map(part).fold(Moments::default(), Moments::add).about(origin)
    }

    /// The mass [kg] at a density [kg/m³].
    pub fn mass(&self, density: f64) -> f64 {
        self.volume * density
    }

    /// The inertia about the centre [kg m²] at a density [kg/m³].
    pub fn inertia_at_density(&self, density: f64) -> DMat3 {
        self.inertia * density
    }

    /// The inertia about another point [m], for unit density [m⁵]: the parallel-axis theorem.
    pub fn about(&self, point: DVec3) -> DMat3 {
        self.inertia + point_inertia(self.centre - point) * self.volume
    }

    /// Of the solid turned and moved.
    pub fn moved(&self, pose: &Pose) -> Self {
        let turn = pose.matrix();
        Self {
            volume: self.volume,
            centre: pose.to_world(self.centre),
            inertia: turn * self.inertia * turn.transpose(),
        }
    }

    /// Of the solid made larger by a factor about the world's origin.
    pub fn scaled(&self, factor: f64) -> Self {
        let cubed = factor * factor * factor;
        Self {
            volume: self.volume * cubed,
            centre: self.centre * factor,
            inertia: self.inertia * (cubed * factor * factor),
        }
    }

    /// Of several solids together. If their volumes sum to zero, the centre is that of the first.
    pub fn sum(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut parts = parts.into_iter().peekable();
        let Some(origin) = parts.peek().map(|part| part.centre) else { return Self::NONE };
        // About the first centre rather than the world's origin, which may be kilometres away.
        let (mut volume, mut first, mut inertia) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for part in parts {
            volume += part.volume;
            first += (part.centre - origin) * part.volume;
            inertia += part.about(origin);
        }
        let arm = if volume == 0.0 { DVec3::ZERO } else { first / volume };
        Self { volume, centre: origin + arm, inertia: inertia - point_inertia(arm) * volume }
    }

    /// Of this solid with another one, which lies inside of it, taken out.
    pub fn without(&self, hole: &Self) -> Self {
        let removed = Self { volume: -hole.volume, centre: hole.centre, inertia: -hole.inertia };
        Self::sum([*self, removed])
    }

    /// The principal moments [m⁵] and axes of the inertia about the centre.
    pub fn principal(&self) -> Principal {
        Principal::of(self.inertia)
    }
}

impl Principal {
    /// Of a symmetric matrix, by Jacobi's rotations: each makes one off-diagonal entry zero, and what is left of the
    /// others shrinks quadratically.
    pub fn of(matrix: DMat3) -> Self {
        const SWEEPS: usize = 16;
        let (mut a, mut axes) = (matrix, DMat3::IDENTITY);
        for _ in 0..SWEEPS {
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                let off = a.col(q)[p];
                if off == 0.0 {
                    continue;
                }
                // The smaller of the two angles, with tan θ = t, cos θ = c and sin θ = s.
                let half = 0.5 * (a.col(q)[q] - a.col(p)[p]) / off;
                let t = half.signum() / (half.abs() + half.hypot(1.0));
                let c = t.hypot(1.0).recip();
                let s = t * c;
                let mut turn = DMat3::IDENTITY;
                turn.col_mut(p)[p] = c;
                turn.col_mut(q)[q] = c;
                turn.col_mut(q)[p] = s;
                turn.col_mut(p)[q] = -s;
                a = turn.transpose() * a * turn;
                (a.col_mut(q)[p], a.col_mut(p)[q]) = (0.0, 0.0);
                axes *= turn;
            }
        }
        let mut order = [0, 1, 2];
        order.sort_by(|&i, &j| a.col(i)[i].total_cmp(&a.col(j)[j]));
        let [x, y, _] = order.map(|i| axes.col(i).normalize());
        let moments = DVec3::from_array(order.map(|i| a.col(i)[i]));
        Self { moments, axes: DMat3::from_cols(x, y, x.cross(y)) }
    }
}

/// The inertia [m²] of a unit mass at `arm` [m].
fn point_inertia(arm: DVec3) -> DMat3 {
    DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - outer(arm, arm)
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn trace(matrix: &DMat3) -> f64 {
    matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z
}

/// Integrals over a volume that triangles enclose: the divergence theorem makes them sums over triangles (Mirtich 1996; Eberly,
/// *Polyhedral mass properties*), here as signed tetrahedra between each triangle and an origin (Tonon 2004).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moments {
    /// ∫ dx [m³].
    volume: f64,
    /// ∫ x dx [m⁴].
    first: DVec3,
    /// ∫ (x², y², z²) dx [m⁵].
    squares: DVec3,
    /// ∫ (yz, zx, xy) dx [m⁵].
    products: DVec3,
}

impl Moments {
    /// Of the tetrahedron between a triangle and the origin, negative if that sees the triangle from outside:
    /// with s = a + b + c, ∫ x xᵀ = V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ).
    #[inline]
    pub(crate) fn of([a, b, c]: [DVec3; 3]) -> Self {
        let volume = a.dot(b.cross(c)) / 6.0;
        let sum = a + b + c;
        let product = |v: DVec3| DVec3::new(v.y * v.z, v.z * v.x, v.x * v.y);
        Self {
            volume,
            first: sum * (volume / 4.0),
            squares: (a * a + b * b + c * c + sum * sum) * (volume / 20.0),
            products: (product(a) + product(b) + product(c) + product(sum)) * (volume / 20.0),
        }
    }

    #[inline]
    pub(crate) fn add(self, other: Self) -> Self {
        Self {
            volume: self.volume + other.volume,
            first: self.first + other.first,
            squares: self.squares + other.squares,
            products: self.products + other.products,
        }
    }

    /// What they say of the solid, if their origin is at this place [m].
    pub(crate) fn about(self, origin: DVec3) -> MassProperties {
        let [xx, yy, zz] = self.squares.to_array();
        let [yz, zx, xy] = self.products.to_array();
        let second = DMat3::from_cols_array(&[xx, xy, zx, xy, yy, yz, zx, yz, zz]);
        MassProperties::of_moments(origin, self.volume, self.first, second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery;
    use undine_core::glam::DQuat;

    fn cuboid(half: DVec3) -> MassProperties {
        let mesh = gallery::cuboid(half);
        MassProperties::enclosed(mesh.iter())
    }

    fn near(found: &MassProperties, wanted: &MassProperties, tolerance: f64) {
        assert!((found.volume - wanted.volume).abs() <= tolerance * wanted.volume.abs());
        assert!(found.centre.distance(wanted.centre) <= tolerance * (1.0 + wanted.centre.length()));
        let scale = wanted.inertia.x_axis.length().max(wanted.inertia.z_axis.length());
        assert!(
            found.inertia.abs_diff_eq(wanted.inertia, tolerance * scale),
            "{found:?} {wanted:?}"
        );
    }

    #[test]
    fn a_box_of_triangles_has_the_inertia_of_the_textbook() {
        let found = cuboid(DVec3::new(0.5, 1.0, 1.5));
        let squares = DVec3::new(4.0 + 9.0, 1.0 + 9.0, 1.0 + 4.0);
        let wanted = MassProperties {
            volume: 6.0,
            centre: DVec3::ZERO,
            inertia: DMat3::from_diagonal(squares * 6.0 / 12.0),
        };
        near(&found, &wanted, 1e-13);
        assert_eq!((found.mass(2.0), found.inertia_at_density(2.0)), (12.0, found.inertia * 2.0));
        assert_eq!(MassProperties::enclosed([]), MassProperties::NONE);
    }

    #[test]
    fn triangles_moved_have_the_properties_moved_also_far_away() {
        let pose = Pose {
            rotation: DQuat::from_rotation_x(0.7) * DQuat::from_rotation_z(-2.0),
            translation: DVec3::new(1e4, -2e3, 30.0),
        };
        let mesh = gallery::cuboid(DVec3::new(0.5, 1.0, 1.5));
        let moved = mesh.iter().map(|corners| corners.map(|corner| pose.to_world(corner)));
        near(
            &MassProperties::enclosed(moved),
            &cuboid(DVec3::new(0.5, 1.0, 1.5)).moved(&pose),
            1e-10,
        );
    }

    #[test]
    fn two_halves_make_a_whole_and_a_whole_less_a_half_is_the_other() {
        let half = cuboid(DVec3::new(0.5, 1.0, 1.5));
        let right = half.moved(&Pose::at(DVec3::new(1.5, 0.0, 0.0)));
        let left = half.moved(&Pose::at(DVec3::new(0.5, 0.0, 0.0)));
        let whole = cuboid(DVec3::new(1.0, 1.0, 1.5)).moved(&Pose::at(DVec3::X));
        near(&MassProperties::sum([left, right]), &whole, 1e-13);
        near(&whole.without(&left), &right, 1e-13);
        assert_eq!(MassProperties::sum([]), MassProperties::NONE);
        let nothing = left.without(&left);
        assert!(nothing.centre.is_finite() && nothing.volume == 0.0);
    }

    #[test]
    fn scaling_is_of_the_third_and_fifth_power() {
        near(&cuboid(DVec3::ONE).scaled(3.0), &cuboid(DVec3::splat(3.0)), 1e-13);
    }

    #[test]
    fn principal_axes_make_any_symmetric_matrix_diagonal() {
        let mut matrices = vec![DMat3::ZERO, DMat3::IDENTITY, DMat3::from_cols_array(&[1.0; 9])];
        for n in 0..2000 {
            let mut e = [0.0; 6];
            for (i, e) in e.iter_mut().enumerate() {
                *e = (crate::random::unit(n, i as u64) - 0.5) * 10_f64.powi((n % 7) as i32 - 3);
            }
            let [a, b, c, d, f, g] = e;
            matrices.push(DMat3::from_cols_array(&[a, b, c, b, d, f, c, f, g]));
        }
        for matrix in matrices {
            let Principal { moments, axes } = Principal::of(matrix);
            assert!((axes.determinant() - 1.0).abs() < 1e-12, "right-handed");
            assert!(moments.x <= moments.y && moments.y <= moments.z);
            let again = axes * DMat3::from_diagonal(moments) * axes.transpose();
            let scale = matrix.to_cols_array().iter().fold(0.0_f64, |most, e| most.max(e.abs()));
            assert!(again.abs_diff_eq(matrix, 1e-13 * scale), "{matrix} {again}");
        }
    }
}
