//! The dimension of a physical quantity: its powers of the base quantities of SI that simulations meet.

use std::fmt::{self, Display};
use std::ops::{Div, Mul};

/// Powers of length, mass, time and temperature; angles have their own, so that a radian is not taken for a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Dimension {
    /// Of the metre.
    pub length: i8,
    /// Of the kilogram.
    pub mass: i8,
    /// Of the second.
    pub time: i8,
    /// Of the kelvin.
    pub temperature: i8,
    /// Of the radian.
    pub angle: i8,
}

impl Dimension {
    /// A bare number.
    pub const NONE: Self = Self::of(0, 0, 0);
    /// A length [m].
    pub const LENGTH: Self = Self::of(1, 0, 0);
    /// An area [m²].
    pub const AREA: Self = Self::of(2, 0, 0);
    /// A volume [m³].
    pub const VOLUME: Self = Self::of(3, 0, 0);
    /// A mass [kg].
    pub const MASS: Self = Self::of(0, 1, 0);
    /// A time [s].
    pub const TIME: Self = Self::of(0, 0, 1);
    /// A frequency, or a rate [1/s].
    pub const FREQUENCY: Self = Self::of(0, 0, -1);
    /// A velocity [m/s].
    pub const VELOCITY: Self = Self::of(1, 0, -1);
    /// An acceleration [m/s²].
    pub const ACCELERATION: Self = Self::of(1, 0, -2);
    /// A density [kg/m³].
    pub const DENSITY: Self = Self::of(-3, 1, 0);
    /// A force [N].
    pub const FORCE: Self = Self::of(1, 1, -2);
    /// A pressure, a stress or an elastic modulus [Pa].
    pub const PRESSURE: Self = Self::of(-1, 1, -2);
    /// An energy, or a torque [J].
    pub const ENERGY: Self = Self::of(2, 1, -2);
    /// A power [W].
    pub const POWER: Self = Self::of(2, 1, -3);
    /// A dynamic viscosity [Pa·s].
    pub const DYNAMIC_VISCOSITY: Self = Self::of(-1, 1, -1);
    /// A kinematic viscosity, or a diffusivity [m²/s].
    pub const KINEMATIC_VISCOSITY: Self = Self::of(2, 0, -1);
    /// A surface tension, or the stiffness of a spring [N/m].
    pub const SURFACE_TENSION: Self = Self::of(0, 1, -2);
    /// A temperature [K].
    pub const TEMPERATURE: Self = Self { temperature: 1, ..Self::NONE };
    /// An angle [rad].
    pub const ANGLE: Self = Self { angle: 1, ..Self::NONE };
    /// An angular velocity [rad/s].
    pub const ANGULAR_VELOCITY: Self = Self { angle: 1, ..Self::FREQUENCY };
    /// An angular acceleration [rad/s²].
    pub const ANGULAR_ACCELERATION: Self = Self { angle: 1, ..Self::of(0, 0, -2) };
    /// The stiffness of a torsion spring [N·m/rad].
    pub const TORSIONAL_STIFFNESS: Self = Self { angle: -1, ..Self::ENERGY };
    /// A moment of inertia [kg·m²].
    pub const INERTIA: Self = Self::of(2, 1, 0);
    /// A force per volume [N/m³].
    pub const FORCE_DENSITY: Self = Self::of(-2, 1, -2);
    /// A mass per area, of cloth [kg/m²].
    pub const AREA_DENSITY: Self = Self::of(-2, 1, 0);
    /// The inverse of a spring's stiffness [m/N].
    pub const COMPLIANCE: Self = Self::of(0, -1, 2);
    /// A mass per time [kg/s]; also the damping of a dashpot [N·s/m].
    pub const MASS_FLOW: Self = Self::of(0, 1, -1);
    /// A volume per time [m³/s].
    pub const VOLUME_FLOW: Self = Self::of(3, 0, -1);
    /// A specific heat capacity [J/(kg·K)].
    pub const SPECIFIC_HEAT: Self = Self { temperature: -1, ..Self::of(2, 0, -2) };
    /// A thermal conductivity [W/(m·K)].
    pub const THERMAL_CONDUCTIVITY: Self = Self { temperature: -1, ..Self::of(1, 1, -3) };

    /// Powers of length, mass and time.
    pub const fn of(length: i8, mass: i8, time: i8) -> Self {
        Self { length, mass, time, temperature: 0, angle: 0 }
    }

    /// A power of it; `None` if an exponent passes what eight bits hold.
    pub fn power(self, exponent: i8) -> Option<Self> {
        self.map(|power| power.checked_mul(exponent))
    }

    /// What people call it, where it has one name.
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|(dimension, _)| *dimension == self).map(|(_, name)| *name)
    }

    fn map(self, each: impl Fn(i8) -> Option<i8>) -> Option<Self> {
        Some(Self {
            length: each(self.length)?,
            mass: each(self.mass)?,
            time: each(self.time)?,
            temperature: each(self.temperature)?,
            angle: each(self.angle)?,
        })
    }

    fn zip(self, other: Self, each: impl Fn(i8, i8) -> i8) -> Self {
        Self {
            length: each(self.length, other.length),
            mass: each(self.mass, other.mass),
            time: each(self.time, other.time),
            temperature: each(self.temperature, other.temperature),
            angle: each(self.angle, other.angle),
        }
    }
}

/// Saturating, so that no text of a scene can overflow it: such a dimension is none that anybody asks for.
impl Mul for Dimension {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        self.zip(other, i8::saturating_add)
    }
}

impl Div for Dimension {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        self.zip(other, i8::saturating_sub)
    }
}

const NAMES: &[(Dimension, &str)] = &[
    (Dimension::NONE, "a bare number"),
    (Dimension::LENGTH, "a length"),
    (Dimension::AREA, "an area"),
    (Dimension::VOLUME, "a volume"),
    (Dimension::MASS, "a mass"),
    (Dimension::TIME, "a time"),
    (Dimension::FREQUENCY, "a frequency"),
    (Dimension::VELOCITY, "a velocity"),
    (Dimension::ACCELERATION, "an acceleration"),
    (Dimension::DENSITY, "a density"),
    (Dimension::FORCE, "a force"),
    (Dimension::PRESSURE, "a pressure"),
    (Dimension::ENERGY, "an energy"),
    (Dimension::POWER, "a power"),
    (Dimension::DYNAMIC_VISCOSITY, "a dynamic viscosity"),
    (Dimension::KINEMATIC_VISCOSITY, "a kinematic viscosity"),
    (Dimension::SURFACE_TENSION, "a stiffness or surface tension"),
    (Dimension::TEMPERATURE, "a temperature"),
    (Dimension::ANGLE, "an angle"),
    (Dimension::ANGULAR_VELOCITY, "an angular velocity"),
    (Dimension::ANGULAR_ACCELERATION, "an angular acceleration"),
    (Dimension::TORSIONAL_STIFFNESS, "a torsional stiffness"),
    (Dimension::INERTIA, "a moment of inertia"),
    (Dimension::FORCE_DENSITY, "a force density"),
    (Dimension::AREA_DENSITY, "a mass per area"),
    (Dimension::COMPLIANCE, "a compliance"),
    (Dimension::MASS_FLOW, "a mass flow"),
    (Dimension::VOLUME_FLOW, "a volume flow"),
    (Dimension::SPECIFIC_HEAT, "a specific heat capacity"),
    (Dimension::THERMAL_CONDUCTIVITY, "a thermal conductivity"),
];

/// In base units, as one would write it in a scene: `kg/m3`, `m2/s`, `1/s`; a bare number is `1`.
impl Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let powers = [
            ("kg", self.mass),
            ("m", self.length),
            ("s", self.time),
            ("K", self.temperature),
            ("rad", self.angle),
        ];
        let write = |f: &mut fmt::Formatter<'_>, symbol: &str, power: u8, first: bool| {
            let gap = if first { "" } else { " " };
            match power {
                1 => write!(f, "{gap}{symbol}"),
                _ => write!(f, "{gap}{symbol}{power}"),
            }
        };
        let mut first = true;
        for (symbol, power) in powers.iter().filter(|(_, power)| *power > 0) {
            write(f, symbol, power.unsigned_abs(), first)?;
            first = false;
        }
        if first {
            f.write_str("1")?;
        }
        for (symbol, power) in powers.iter().filter(|(_, power)| *power < 0) {
            f.write_str("/")?;
            write(f, symbol, power.unsigned_abs(), true)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_read_as_people_write_them() {
        for (dimension, wanted) in [
            (Dimension::DENSITY, "kg/m3"),
            (Dimension::KINEMATIC_VISCOSITY, "m2/s"),
            (Dimension::FREQUENCY, "1/s"),
            (Dimension::NONE, "1"),
            (Dimension::DYNAMIC_VISCOSITY, "kg/m/s"),
            (Dimension::ANGULAR_VELOCITY, "rad/s"),
        ] {
            assert_eq!(dimension.to_string(), wanted);
        }
        assert_eq!(Dimension::DENSITY.name(), Some("a density"));
        assert_eq!((Dimension::DENSITY * Dimension::TIME).name(), None);
    }

    #[test]
    fn products_and_quotients_add_and_take_powers() {
        assert_eq!(Dimension::PRESSURE * Dimension::TIME, Dimension::DYNAMIC_VISCOSITY);
        assert_eq!(
            Dimension::DYNAMIC_VISCOSITY / Dimension::DENSITY,
            Dimension::KINEMATIC_VISCOSITY
        );
        assert_eq!(Dimension::LENGTH.power(3), Some(Dimension::VOLUME));
        assert_eq!(Dimension::VOLUME.power(100), None);
    }

    #[test]
    fn names_are_of_different_dimensions() {
        for (n, (dimension, _)) in NAMES.iter().enumerate() {
            assert!(NAMES[..n].iter().all(|(other, _)| other != dimension), "{dimension}");
        }
    }
}
