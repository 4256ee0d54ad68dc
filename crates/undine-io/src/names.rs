//! What channels are called in files, in which unit, and which axis points up: as Houdini and Blender expect it.
//!
//! One table for all formats. A format that forbids a name has its own way to write it (PLY splits `v` into `vx vy vz`).

use crate::table::{Channels, Points, Values};
use std::borrow::Cow;
use std::collections::BTreeMap;
use undine_core::glam::DVec3;

/// What the values of a volume's channel mean, which decides how a file holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Signed distance to a surface [m], negative inside: kept in a narrow band.
    LevelSet,
    /// An amount, 0 where there is none: kept where it is not 0.
    Fog,
    /// Anything else: kept wherever there are Buckets.
    Plain,
}

/// A channel of a volume or of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// What a store calls it.
    pub channel: &'static str,
    /// What files call it.
    pub file: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What its values mean, in a volume.
    pub meaning: Meaning,
}

impl Known {
    /// Whether it grows with the unit of length: a length, or one per time.
    pub fn is_length(&self) -> bool {
        matches!(self.unit, "m" | "m/s")
    }
}

const fn known(
    channel: &'static str,
    file: &'static str,
    unit: &'static str,
    meaning: Meaning,
) -> Known {
    Known { channel, file, unit, meaning }
}

/// The channels of volumes. Of two that a file calls the same, the first is what a reader calls it.
pub const VOLUMES: &[Known] = &[
    known("density", "density", "kg/m3", Meaning::Fog),
    known("temperature", "temperature", "K", Meaning::Plain),
    known("flame", "flame", "", Meaning::Fog),
    known("fuel", "fuel", "kg/m3", Meaning::Fog),
    known("velocity", "vel", "m/s", Meaning::Plain),
    known("v", "vel", "m/s", Meaning::Plain),
    known("distance", "surface", "m", Meaning::LevelSet),
    known("surface", "surface", "m", Meaning::LevelSet),
    known("collision", "collision", "m", Meaning::LevelSet),
];

/// The channel of places at rest, which are moved and scaled as positions are, whatever type a file gives them.
pub const REST: &str = "rest";

/// The channels of points. Of two that a file calls the same, the first is what a reader calls it.
pub const POINTS: &[Known] = &[
    known("position", "P", "m", Meaning::Plain),
    known("v", "v", "m/s", Meaning::Plain),
    known("velocity", "v", "m/s", Meaning::Plain),
    known("pscale", "pscale", "m", Meaning::Plain),
    known("radius", "pscale", "m", Meaning::Plain),
    known(REST, REST, "m", Meaning::Plain),
    known("id", "id", "", Meaning::Plain),
    known("age", "age", "s", Meaning::Plain),
    known("mass", "mass", "kg", Meaning::Plain),
];

/// The names of a file: the customary ones, but for those that were given others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// By what a store calls the channel: what the file calls it.
    renamed: BTreeMap<String, String>,
}

impl Names {
    /// The same, with another name in the file for a channel.
    pub fn rename(mut self, channel: impl Into<String>, file: impl Into<String>) -> Self {
        self.renamed.insert(channel.into(), file.into());
        self
    }

    /// What a file calls a channel of a volume.
    pub fn of_volume<'a>(&'a self, channel: &'a str) -> &'a str {
        self.file_name(VOLUMES, channel)
    }

    /// What a file calls a channel of points.
    pub fn of_points<'a>(&'a self, channel: &'a str) -> &'a str {
        self.file_name(POINTS, channel)
    }

    /// The channel of a volume that a file calls so.
    pub fn volume_channel<'a>(&'a self, file: &'a str) -> &'a str {
        self.channel_name(VOLUMES, file)
    }

    /// The channel of points that a file calls so.
    pub fn points_channel<'a>(&'a self, file: &'a str) -> &'a str {
        self.channel_name(POINTS, file)
    }

    fn file_name<'a>(&'a self, table: &[Known], channel: &'a str) -> &'a str {
        let customary = || find(table, channel).map_or(channel, |known| known.file);
        self.renamed.get(channel).map_or_else(customary, String::as_str)
    }

    fn channel_name<'a>(&'a self, table: &[Known], file: &'a str) -> &'a str {
        let given = self.renamed.iter().find(|(_, name)| *name == file);
        let customary = || {
            // A name that was given away means nothing customary any more.
            let known = table.iter().find(|known| known.file == file);
            known.filter(|known| !self.renamed.contains_key(known.channel))
        };
        match given {
            Some((channel, _)) => channel,
            None => customary().map_or(file, |known| known.channel),
        }
    }
}

/// What is known of a channel of a volume, by the name that a store gives it.
pub fn volume(channel: &str) -> Option<&'static Known> {
    find(VOLUMES, channel)
}

/// What is known of a channel of points, by the name that a store gives it.
pub fn points(channel: &str) -> Option<&'static Known> {
    find(POINTS, channel)
}

/// Whether a channel of points grows with the unit of length.
pub fn is_length(channel: &str) -> bool {
    points(channel).is_some_and(Known::is_length)
}

fn find<'t>(table: &'t [Known], channel: &str) -> Option<&'t Known> {
    table.iter().find(|known| known.channel == channel)
}

/// Vectors that stay as they are whichever axis points up.
const WITHOUT_DIRECTION: &[&str] = &["Cd", "Cs", "uv", "st", "scale"];

/// Whether the vectors of a channel of this name turn with the world: not if they are colours.
pub fn has_direction(channel: &str) -> bool {
    !WITHOUT_DIRECTION.contains(&channel)
}

/// The axis that points up in a file. In a simulation it is y.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum UpAxis {
    /// As in a simulation, in Houdini and in USD.
    #[default]
    Y,
    /// As in Blender: (x, y, z) of a simulation is (x, −z, y).
    Z,
}

impl UpAxis {
    /// The letter for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Y => "Y",
            Self::Z => "Z",
        }
    }

    /// The axis of this letter.
    pub fn of_word(word: &str) -> Option<Self> {
        match word {
            "Y" | "y" => Some(Self::Y),
            "Z" | "z" => Some(Self::Z),
            _ => None,
        }
    }

    /// A position [m] or vector of a simulation, as the file has it.
    pub fn to_file(self, vector: DVec3) -> DVec3 {
        match self {
            Self::Y => vector,
            Self::Z => DVec3::new(vector.x, -vector.z, vector.y),
        }
    }

    /// A position [m] or vector of the file, as a simulation has it.
    pub fn from_file(self, vector: DVec3) -> DVec3 {
        match self {
            Self::Y => vector,
            Self::Z => DVec3::new(vector.x, vector.z, -vector.y),
        }
    }

    /// Points of a simulation, as the file has them: positions and every vector with a direction.
    pub fn points_to_file(self, points: &Points) -> Cow<'_, Points> {
        match self {
            Self::Y => Cow::Borrowed(points),
            Self::Z => Cow::Owned(turned(points.clone(), |vector| self.to_file(vector))),
        }
    }

    /// Points of a file, as a simulation has them.
    pub fn points_from_file(self, points: Points) -> Points {
        match self {
            Self::Y => points,
            Self::Z => turned(points, |vector| self.from_file(vector)),
        }
    }
}

fn turned(mut points: Points, turn: impl Fn(DVec3) -> DVec3) -> Points {
    points.positions.iter_mut().for_each(|position| *position = turn(*position));
    turn_channels(&mut points.channels, turn);
    points
}

/// Turns every vector that has a direction. Turning loses nothing, in single precision neither.
pub(crate) fn turn_channels(channels: &mut Channels, turn: impl Fn(DVec3) -> DVec3) {
    for (_, values) in channels.iter_mut().filter(|(name, _)| has_direction(name)) {
        match values {
            Values::Vec3(values) => {
                values.iter_mut().for_each(|v| *v = turn(v.as_dvec3()).as_vec3());
            }
            Values::DVec3(values) => values.iter_mut().for_each(|v| *v = turn(*v)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn customary_names_return() {
        let names = Names::default();
        assert_eq!(names.of_volume("velocity"), "vel");
        assert_eq!(names.of_volume("distance"), "surface");
        assert_eq!(names.of_volume("salt"), "salt");
        assert_eq!(names.of_points("radius"), "pscale");
        assert_eq!(names.volume_channel("vel"), "velocity");
        assert_eq!(names.points_channel("P"), "position");
        for known in VOLUMES {
            assert_eq!(names.of_volume(names.volume_channel(known.file)), known.file);
        }
        for known in POINTS {
            assert_eq!(names.of_points(names.points_channel(known.file)), known.file);
        }
    }

    #[test]
    fn a_given_name_goes_before_the_customary_one_both_ways() {
        let names = Names::default().rename("velocity", "v_gas").rename("salt", "salinity");
        assert_eq!(names.of_volume("velocity"), "v_gas");
        assert_eq!(names.volume_channel("v_gas"), "velocity");
        assert_eq!(names.volume_channel("salinity"), "salt");
        assert_eq!(names.volume_channel("vel"), "vel");
    }

    #[test]
    fn up_stays_up() {
        let up = DVec3::Y;
        assert_eq!(UpAxis::Z.to_file(up), DVec3::Z);
        assert_eq!(UpAxis::Y.to_file(up), up);
        let vector = DVec3::new(1.0, 2.0, 3.0);
        assert_eq!(UpAxis::Z.from_file(UpAxis::Z.to_file(vector)), vector);
        // A rotation, no mirror image.
        let [x, y, z] = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| UpAxis::Z.to_file(axis));
        assert_eq!(x.cross(y), z);
    }
}
