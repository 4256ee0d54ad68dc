//! What there is to see at a moment, borrowed from whoever keeps it: a World, or files that were read.

use std::borrow::Cow;
use std::collections::BTreeSet;
use undine_core::glam::{DMat3, DVec3};
use undine_core::mesh::{Bounds, Strands};
use undine_io::{Names, UpAxis, names};
use undine_render::overlay::BucketBox;
use undine_render::shot::{
    Ground, Numbers, Places, PointChunk, Radii, Turning, Vectors, Volume, most_of,
};

/// How much light a metre of smoke of density 1 takes away [1/m].
pub const EXTINCTION: f32 = 8.0;

/// What there is to see.
#[derive(Debug, Default)]
pub struct Contents<'a> {
    /// Points.
    pub clouds: Vec<Cloud<'a>>,
    /// Colliders, bodies and other surfaces.
    pub solids: Vec<Solid<'a>>,
    /// Curves.
    pub curves: Vec<Strings<'a>>,
    /// Smoke and fire.
    pub volumes: Vec<Volume<'a>>,
    /// Colliders without end.
    pub planes: Vec<Ground>,
    /// Where the Buckets are.
    pub boxes: Vec<BucketBox>,
    /// The channels of all points and curves, as files call them.
    pub channels: BTreeSet<String>,
    /// Which way is up.
    pub up: UpAxis,
}

/// Points of one Object or file.
#[derive(Debug)]
pub struct Cloud<'a> {
    /// The points, chunk after chunk; their values are those of the channel that colours them.
    pub chunks: Vec<PointChunk<'a>>,
    /// Whether they have a channel that says how large they are.
    pub is_sized: bool,
    /// Whether they have the channel that colours them.
    pub is_valued: bool,
}

/// What a surface is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Something to bump into.
    Collider,
    /// One of several bodies.
    Body(usize),
    /// A surface that was read from a file.
    Surface,
}

/// A surface of triangles.
#[derive(Debug)]
pub struct Solid<'a> {
    /// What it is part of.
    pub role: Role,
    /// Where its vertices are.
    pub positions: Places<'a>,
    /// The vertices of each triangle.
    pub triangles: Cow<'a, [[u32; 3]]>,
    /// What its coordinates are turned by, and then moved by [m].
    pub placed: Option<(DMat3, DVec3)>,
    /// How fast its vertices are [m/s].
    pub velocities: Option<Vectors<'a>>,
    /// How it moves as a whole, besides.
    pub turning: Option<Turning>,
    /// The channel that colours it.
    pub values: Option<Numbers<'a>>,
}

/// Curves of one Object or file.
#[derive(Debug)]
pub struct Strings<'a> {
    /// Where their points are.
    pub positions: Places<'a>,
    /// Which points are of which curve.
    pub strands: &'a Strands,
    /// How thick they are; chosen, if `None`.
    pub radii: Option<Radii<'a>>,
    /// How fast their points are [m/s].
    pub velocities: Option<Vectors<'a>>,
    /// The channel that colours them.
    pub values: Option<Numbers<'a>>,
}

impl Contents<'_> {
    /// The box around points, bodies, curves and volumes: what a picture is about. Colliders do not count.
    pub fn subject_bounds(&self) -> Option<Bounds> {
        // A few stray points shall not make all others small.
        let clouds = self.clouds.iter().filter_map(|cloud| {
            let places: Vec<_> = cloud.chunks.iter().map(|chunk| chunk.positions).collect();
            most_of(&places)
        });
        let solids = self.solids.iter().filter(|solid| solid.role != Role::Collider);
        let solids = solids.filter_map(Solid::bounds);
        let curves = self.curves.iter().filter_map(|curves| curves.positions.bounds());
        let volumes = self.volumes.iter().filter_map(Volume::bounds);
        clouds.chain(solids).chain(curves).chain(volumes).reduce(Bounds::union)
    }

    /// The box around colliders that end somewhere.
    pub fn collider_bounds(&self) -> Option<Bounds> {
        let colliders = self.solids.iter().filter(|solid| solid.role == Role::Collider);
        colliders.filter_map(Solid::bounds).reduce(Bounds::union)
    }

    /// How many points there are.
    pub fn count(&self) -> usize {
        self.clouds.iter().flat_map(|cloud| &cloud.chunks).map(|chunk| chunk.positions.len()).sum()
    }

    /// Whether anything has the channel that colours it.
    pub fn has_values(&self) -> bool {
        self.clouds.iter().any(|cloud| cloud.is_valued)
            || self.curves.iter().any(|curves| curves.values.is_some())
            || self.solids.iter().any(|solid| solid.values.is_some())
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.subject_bounds().is_none() && self.solids.is_empty()
    }
}

impl Solid<'_> {
    /// A vertex in the world [m].
    pub fn vertex(&self, n: usize) -> DVec3 {
        let own = self.positions.at(n);
        self.placed.map_or(own, |(turned, moved)| turned * own + moved)
    }

    /// The box around its vertices.
    pub fn bounds(&self) -> Option<Bounds> {
        let places = (0..self.positions.len()).map(|n| self.vertex(n));
        Bounds::around(places.filter(|place| place.is_finite()))
    }
}

/// Which channel colours what is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourBy<'a> {
    /// How fast it is.
    Speed,
    /// Nothing: one colour.
    Nothing,
    /// The channel of this name.
    Channel(&'a str),
}

impl<'a> ColourBy<'a> {
    /// What `color-by` says.
    pub fn of(said: Option<&'a str>) -> Self {
        match said {
            None => Self::Speed,
            Some("none") => Self::Nothing,
            Some(name) => Self::Channel(name),
        }
    }

    /// Whether a channel is the one, by the name of a store or of a file.
    pub fn is(self, channel: &str) -> bool {
        match self {
            Self::Speed => is_velocity(channel),
            Self::Nothing => false,
            Self::Channel(name) => channel == name || called(channel) == name,
        }
    }

    /// What a legend calls it, and its unit.
    pub fn title(self) -> (String, String) {
        match self {
            Self::Speed => ("speed".to_owned(), "m/s".to_owned()),
            Self::Nothing => Default::default(),
            Self::Channel(name) => {
                let is_it = |known: &&names::Known| [known.channel, known.file].contains(&name);
                let known = names::POINTS.iter().find(is_it);
                (name.to_owned(), known.map_or("", |known| known.unit).to_owned())
            }
        }
    }
}

/// What files call a channel of points.
pub fn called(channel: &str) -> String {
    Names::default().of_points(channel).to_owned()
}

/// Whether a channel says how fast points are.
pub fn is_velocity(channel: &str) -> bool {
    called(channel) == "v"
}

/// Whether a channel says how large points are.
pub fn is_size(channel: &str) -> bool {
    called(channel) == "pscale"
}
