//! The mass, centre and principal moments of a rigid body, from a shape or a mesh of one density, or from points with masses.
//!
//! Moments are those of mass, [kg m²], about the centre. Bodies without extent along some axis are allowed: a rod does not
//! resist being turned about itself, a point not being turned at all.

use crate::error::{Result, SolidError};
use undine_core::glam::{DMat3, DQuat, DVec3};
use undine_geometry::{MassProperties, Principal};

/// How a rigid body resists being pushed and turned. All places and directions are those of the body's own frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertia {
    mass: f64,
    centre: DVec3,
    moments: DVec3,
    axes: DQuat,
}

/// A moment so much smaller than the largest is zero: the axis of a rod. Rounding leaves as much of a moment that cancels.
const NEGLIGIBLE: f64 = 1e-13;
/// How far, relative to the largest moment, rounding may violate the triangle inequality.
const TOLERANCE: f64 = 1e-9;

impl Inertia {
    /// Of a mass [kg], a centre [m] and principal moments [kg m²] about axes that are the body's own, turned by `axes`.
    pub fn new(mass: f64, centre: DVec3, moments: DVec3, axes: DQuat) -> Result<Self> {
        if !(mass > 0.0 && mass.is_finite()) {
            let (what, wanted) = ("the mass of a rigid body [kg]", "positive and finite");
            return Err(SolidError::BadNumber { what, found: mass, wanted });
        }
        if !centre.is_finite() {
            return Err(SolidError::NotFinite {
                what: "the centre of a rigid body [m]",
                found: centre,
            });
        }
        let largest = moments.max_element();
        let slack = TOLERANCE * largest;
        // Twice the largest is at most the sum of all three.
        let possible = moments.is_finite()
            && moments.min_element() >= -slack
            && 2.0 * largest <= moments.element_sum() + slack;
        if !possible {
            return Err(SolidError::ImpossibleInertia { moments });
        }
        let length = axes.length();
        if !length.is_finite() || (length - 1.0).abs() > 1e-6 {
            let (what, wanted) = ("the length of the principal axes' quaternion", "1");
            return Err(SolidError::BadNumber { what, found: length, wanted });
        }
        let moments =
            DVec3::select(moments.cmpgt(DVec3::splat(NEGLIGIBLE * largest)), moments, DVec3::ZERO);
        Ok(Self { mass, centre, moments, axes: axes.normalize() })
    }

    /// Of a mass [kg], a centre [m] and a symmetric inertia tensor [kg m²] about it.
    pub fn of_tensor(mass: f64, centre: DVec3, tensor: DMat3) -> Result<Self> {
        if !tensor.is_finite() {
            return Err(SolidError::ImpossibleInertia { moments: tensor.diagonal() });
        }
        let Principal { moments, axes } = Principal::of(tensor);
        Self::new(mass, centre, moments, DQuat::from_mat3(&axes))
    }

    /// Of a solid of one density [kg/m³].
    pub fn of_solid(solid: &MassProperties, density: f64) -> Result<Self> {
        if solid.volume.is_nan() || solid.volume <= 0.0 {
            return Err(SolidError::NoVolume { volume: solid.volume });
        }
        if !(density > 0.0 && density.is_finite()) {
            let (what, wanted) = ("the density of a rigid body [kg/m³]", "positive and finite");
            return Err(SolidError::BadNumber { what, found: density, wanted });
        }
        Self::of_tensor(solid.mass(density), solid.centre, solid.inertia_at_density(density))
    }

    /// Of points [m] with masses [kg], none of them negative.
    pub fn of_points(points: impl IntoIterator<Item = (DVec3, f64)> + Clone) -> Result<Self> {
        let (mut mass, mut origin) = (0.0, None);
        for (at, m) in points.clone() {
            if !(m >= 0.0 && m.is_finite()) {
                let (what, wanted) = ("the mass of a point [kg]", "finite and not negative");
                return Err(SolidError::BadNumber { what, found: m, wanted });
            }
            if !at.is_finite() {
                return Err(SolidError::NotFinite { what: "the place of a mass [m]", found: at });
            }
            mass += m;
            origin = origin.or((m > 0.0).then_some(at));
        }
        // About one of the points, so that a body 10 km from the world's origin loses no digits.
        let origin = origin.ok_or(SolidError::NoPoints)?;
        let moment: DVec3 = points.clone().into_iter().map(|(at, m)| (at - origin) * m).sum();
        let centre = origin + moment / mass;
        let mut tensor = DMat3::ZERO;
        for (at, m) in points {
            let arm = at - centre;
            let outer = DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
            tensor += (DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - outer) * m;
        }
        Self::of_tensor(mass, centre, tensor)
    }

    /// The mass [kg].
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// The centre of mass [m].
    pub fn centre(&self) -> DVec3 {
        self.centre
    }

    /// The moments about the principal axes [kg m²]; zero where the body has no extent across an axis.
    pub fn moments(&self) -> DVec3 {
        self.moments
    }

    /// The turn that takes x, y and z to the principal axes.
    pub fn axes(&self) -> DQuat {
        self.axes
    }

    /// The inverses of the moments [1/(kg m²)], zero for those that are zero: about such an axis nothing can be made to spin.
    pub fn inverse_moments(&self) -> DVec3 {
        DVec3::select(self.moments.cmpgt(DVec3::ZERO), self.moments.recip(), DVec3::ZERO)
    }

    /// The tensor [kg m²] in the world's directions, for a body that is turned so.
    pub fn tensor(&self, orientation: DQuat) -> DMat3 {
        in_world(orientation * self.axes, self.moments)
    }

    /// Its inverse [1/(kg m²)], with zeros where the body cannot resist.
    pub fn inverse_tensor(&self, orientation: DQuat) -> DMat3 {
        in_world(orientation * self.axes, self.inverse_moments())
    }

    /// The angular velocity ω [rad/s] of an angular momentum L [kg m²/s], both in the world's directions.
    pub fn angular_velocity(&self, orientation: DQuat, momentum: DVec3) -> DVec3 {
        let frame = orientation * self.axes;
        frame * ((frame.inverse() * momentum) * self.inverse_moments())
    }

    /// The angular momentum L [kg m²/s] of an angular velocity ω [rad/s], both in the world's directions.
    pub fn angular_momentum(&self, orientation: DQuat, velocity: DVec3) -> DVec3 {
        let frame = orientation * self.axes;
        frame * ((frame.inverse() * velocity) * self.moments)
    }

    /// The energy of rotation [J], ½ L·ω.
    pub fn spin_energy(&self, orientation: DQuat, momentum: DVec3) -> f64 {
        let own = (orientation * self.axes).inverse() * momentum;
        0.5 * (own * own).dot(self.inverse_moments())
    }
}

fn in_world(frame: DQuat, diagonal: DVec3) -> DMat3 {
    let axes = DMat3::from_quat(frame);
    axes * DMat3::from_diagonal(diagonal) * axes.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_geometry::{Pose, Shape, gallery, meshing};

    #[test]
    fn a_box_has_the_moments_of_the_book() {
        // m/12 (b² + c²) about each axis.
        let half = DVec3::new(0.1, 0.2, 0.4);
        let turn = DQuat::from_scaled_axis(DVec3::new(0.3, -0.7, 1.1));
        let place = DVec3::new(1e4, -3.0, 7.0);
        let shape = Shape::cuboid(half).unwrap();
        let shape = shape.moved(&Pose { rotation: turn, translation: place }).unwrap();
        let body = Inertia::of_solid(&shape.mass_properties().unwrap(), 500.0).unwrap();
        let mass = 500.0 * 8.0 * 0.1 * 0.2 * 0.4;
        assert!((body.mass() - mass).abs() < 1e-9 * mass);
        assert!(body.centre().abs_diff_eq(place, 1e-9));
        let squares = half * half * 4.0;
        let wanted = (DVec3::splat(squares.element_sum()) - squares) * (mass / 12.0);
        let rotation = DMat3::from_quat(turn);
        let tensor = rotation * DMat3::from_diagonal(wanted) * rotation.transpose();
        assert!(body.tensor(DQuat::IDENTITY).abs_diff_eq(tensor, 1e-9 * mass), "{body:?}");

        let mesh = meshing::mass_properties(&gallery::cuboid(half)).unwrap();
        let mesh = Inertia::of_solid(&mesh, 500.0).unwrap();
        assert!(mesh.tensor(turn).abs_diff_eq(tensor, 1e-9 * mass), "{mesh:?}");
    }

    #[test]
    fn velocity_and_momentum_are_inverse_to_each_other() {
        let axes = DQuat::from_scaled_axis(DVec3::new(1.0, 0.4, -0.3));
        let body = Inertia::new(2.0, DVec3::ZERO, DVec3::new(1.0, 2.0, 2.5), axes).unwrap();
        let turn = DQuat::from_scaled_axis(DVec3::new(-0.2, 2.0, 0.5));
        let omega = DVec3::new(0.1, -3.0, 0.7);
        let momentum = body.angular_momentum(turn, omega);
        assert!(momentum.abs_diff_eq(body.tensor(turn) * omega, 1e-14));
        assert!(body.angular_velocity(turn, momentum).abs_diff_eq(omega, 1e-14));
        assert!((body.inverse_tensor(turn) * momentum).abs_diff_eq(omega, 1e-14));
        assert!((body.spin_energy(turn, momentum) - 0.5 * momentum.dot(omega)).abs() < 1e-13);
    }

    #[test]
    fn points_make_rods_discs_and_points() {
        let far = DVec3::new(1e5, 2.0, -7.0);
        let rod = [(far - DVec3::ONE, 1.0), (far + DVec3::ONE, 1.0)];
        let rod = Inertia::of_points(rod).unwrap();
        assert_eq!(rod.moments().x, 0.0, "{rod:?}");
        assert!((rod.moments().z - 6.0).abs() < 1e-9);
        // Turned about itself, nothing resists, and nothing is divided by zero.
        let velocity = rod.angular_velocity(DQuat::IDENTITY, DVec3::ONE);
        assert!(velocity.length() < 1e-9, "{velocity}");

        let disc = [DVec3::X, DVec3::Y, DVec3::NEG_X, DVec3::NEG_Y].map(|at| (at, 0.25));
        let disc = Inertia::of_points(disc).unwrap();
        assert!(disc.moments().abs_diff_eq(DVec3::new(0.5, 0.5, 1.0), 1e-15));

        let point = Inertia::of_points([(far, 3.0)]).unwrap();
        assert_eq!((point.mass(), point.centre(), point.moments()), (3.0, far, DVec3::ZERO));
    }

    #[test]
    fn impossible_bodies_are_refused() {
        let new = |mass, moments| Inertia::new(mass, DVec3::ZERO, moments, DQuat::IDENTITY);
        let bad = new(1.0, DVec3::new(1.0, 1.0, 2.1)).unwrap_err();
        assert!(matches!(bad, SolidError::ImpossibleInertia { .. }), "{bad}");
        for moments in [DVec3::new(-1.0, 1.0, 1.0), DVec3::NAN, DVec3::INFINITY, DVec3::X] {
            assert!(new(1.0, moments).is_err(), "{moments}");
        }
        for mass in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(new(mass, DVec3::ONE).is_err(), "{mass}");
        }
        let inside_out = MassProperties { volume: -1.0, ..MassProperties::NONE };
        let bad = Inertia::of_solid(&inside_out, 1000.0).unwrap_err();
        assert!(bad.to_string().contains("inside out"), "{bad}");
        assert_eq!(Inertia::of_points([]).unwrap_err(), SolidError::NoPoints);
        assert_eq!(Inertia::of_points([(DVec3::X, 0.0)]).unwrap_err(), SolidError::NoPoints);
        assert!(Inertia::of_points([(DVec3::NAN, 1.0)]).is_err());
        assert!(Inertia::of_points([(DVec3::X, -1.0)]).is_err());
        assert!(Inertia::of_tensor(1.0, DVec3::ZERO, DMat3::NAN).is_err());
        let turn = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        assert!(Inertia::new(1.0, DVec3::ZERO, DVec3::ONE, turn).is_err());
    }
}
