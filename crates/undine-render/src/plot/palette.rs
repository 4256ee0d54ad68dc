//! Colours that eyes of every kind tell apart, in a fixed order (Okabe & Ito 2008, "Color Universal Design").

use super::drawing::Role;
use crate::colour::Ink;

/// The place of grey, for what is gathered from many.
pub const OTHER: usize = usize::MAX;

/// Light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white.
    Light,
    /// Light on nearly black.
    Dark,
}

/// The colours of series: for light mode, and lighter ones for dark.
pub(super) const SERIES: [(&str, [u32; 2]); 7] = [
    ("s0", [0x00_72b2, 0x4b_a7dc]),
    ("s1", [0xe6_9f00, 0xf0_b63c]),
    ("s2", [0x00_9e73, 0x2f_bf95]),
    ("s3", [0xd5_5e00, 0xee_8040]),
    ("s4", [0xcc_79a7, 0xdc_94bb]),
    ("s5", [0x56_b4e9, 0x8a_cff5]),
    ("s6", [0x7a_5aa6, 0xa4_8bd0]),
];

/// The colours of everything else, with the name of their class.
pub(super) const ROLES: [(Role, &str, [u32; 2]); 7] = [
    (Role::Ground, "ground", [0xff_ffff, 0x16_181c]),
    (Role::Ink, "ink", [0x1c_1f24, 0xe8_eaed]),
    (Role::Muted, "muted", [0x6b_7280, 0x9a_a1ad]),
    (Role::Grid, "grid", [0xe8_eaee, 0x2a_2e35]),
    (Role::Axis, "axis", [0x9a_a1ad, 0x5b_626d]),
    (Role::Alarm, "alarm", [0xc6_2828, 0xff_7b72]),
    (Role::Other, "other", [0xb4_b9c2, 0x5f_6672]),
];

impl Theme {
    /// The colour of a role.
    pub fn ink(self, role: Role) -> Ink {
        let [_, r, g, b] = class_and_colours(role).1[self as usize].to_be_bytes();
        [r, g, b, 255]
    }
}

/// The class of a role in SVG, and its colours.
pub(super) fn class_and_colours(role: Role) -> (&'static str, [u32; 2]) {
    match role {
        Role::Series(OTHER) => class_and_colours(Role::Other),
        Role::Series(n) => SERIES[n % SERIES.len()],
        role => {
            let found = ROLES.iter().find(|(known, ..)| *known == role);
            found.map_or(SERIES[0], |(_, class, colours)| (*class, *colours))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast of two colours (WCAG 2.2, relative luminance).
    fn contrast(a: u32, b: u32) -> f32 {
        let luminance = |colour: u32| {
            let [_, bytes @ ..] = colour.to_be_bytes();
            let light = bytes.map(crate::colour::linear_of);
            0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
        };
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        (a / b).max(b / a)
    }

    #[test]
    fn words_can_be_read_in_light_and_dark() {
        let ground = class_and_colours(Role::Ground).1;
        for role in [Role::Ink, Role::Muted, Role::Alarm] {
            for (ink, ground) in class_and_colours(role).1.into_iter().zip(ground) {
                assert!(contrast(ink, ground) > 4.5, "{role:?}: {}", contrast(ink, ground));
            }
        }
    }

    #[test]
    fn lines_stand_out_from_the_ground() {
        let ground = class_and_colours(Role::Ground).1;
        for (n, (_, inks)) in SERIES.iter().enumerate() {
            for (&ink, ground) in inks.iter().zip(ground) {
                assert!(contrast(ink, ground) > 2.0, "{n}: {}", contrast(ink, ground));
            }
        }
    }
}
