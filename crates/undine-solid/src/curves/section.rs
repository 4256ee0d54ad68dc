//! The elliptic cross-section of a rod, and what it is worth against stretching, bending and twisting.

use std::f64::consts::PI;

/// An ellipse of a material.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Section {
    /// Half axes [m]: along the first axis of the frame, and along the second.
    pub axes: [f64; 2],
    /// Young's modulus E [Pa].
    pub youngs: f64,
    /// Shear modulus G [Pa].
    pub shear: f64,
    /// Density [kg/m³].
    pub density: f64,
}

impl Section {
    /// A = πab [m²].
    pub fn area(&self) -> f64 {
        PI * self.axes[0] * self.axes[1]
    }

    /// Second moments of area [m⁴]: for bending towards the first axis, πa³b/4, and towards the second, πab³/4.
    pub fn moments(&self) -> [f64; 2] {
        let [a, b] = self.axes;
        [0.25 * PI * a.powi(3) * b, 0.25 * PI * a * b.powi(3)]
    }

    /// EA [N].
    pub fn stretch_stiffness(&self) -> f64 {
        self.youngs * self.area()
    }

    /// EI [N m²] of either direction.
    pub fn bend_stiffness(&self) -> [f64; 2] {
        self.moments().map(|moment| self.youngs * moment)
    }

    /// GJ [N m²], with Saint-Venant's J = πa³b³/(a² + b²) of an ellipse, which warps.
    pub fn twist_stiffness(&self) -> f64 {
        let [a, b] = self.axes;
        self.shear * PI * (a * b).powi(3) / (a * a + b * b)
    }

    /// Mass per length [kg/m].
    pub fn line_density(&self) -> f64 {
        self.density * self.area()
    }

    /// Moment of inertia about the rod's axis per length [kg m].
    pub fn spin_density(&self) -> f64 {
        let [first, second] = self.moments();
        self.density * (first + second)
    }
}
