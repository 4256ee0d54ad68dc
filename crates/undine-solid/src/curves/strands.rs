//! From an input to strands: which vertices follow each other, what every vertex and edge weighs and resists, and what cannot be
//! a rod.

use super::frames;
use super::section::Section;
use undine_core::glam::{DMat3, DVec3};
use undine_core::mesh::{Curves, Strands};
use undine_core::{Bucket, GridDomain};
use undine_sim::input::{PointCloud, REST};
use undine_sim::newton::shape::Rods;
use undine_sim::{Id, Ingest, Result, Values};

/// Curves that begin longer or shorter than at rest by more than this factor, all together, are hardly meant to.
const MOST_STRETCH: f64 = 3.0;

/// How the scene holds the roots of strands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roots {
    /// Not at all.
    Free,
    /// The first vertex is where the input has it.
    Pinned,
    /// The first vertex is where the input has it, and so is the direction in which the strand leaves it; nor does it turn there.
    Clamped,
}

/// Rods as they begin. The turn of an edge stands at the vertex where it begins. What it is made of stands with its frame: at the same vertex, where
/// the last one of an open strand repeats the edge before it; but a strand whose root is clamped has a frame of the root first, and each edge at the vertex
/// where it ends. Between the frame of the root and that of the first edge the strand bends and twists over half an edge, so that clamps
/// are of second order, as all else is: a difference over half a cell, next to a boundary.
#[derive(Debug, Default)]
pub struct Start {
    /// Places [m].
    pub positions: Vec<DVec3>,
    /// Velocities [m/s].
    pub velocities: Vec<DVec3>,
    /// Edges by their ends.
    pub edges: Vec<[u32; 2]>,
    /// The length of each of them at rest [m].
    pub lengths: Vec<f64>,
    /// The ends of the edge whose frame each vertex carries; twice its own number, where the frame is the vertex's own.
    pub edge: Vec<[u32; 2]>,
    /// The strand of each vertex.
    pub strand: Vec<u32>,
    /// What is held of each vertex.
    pub held: Vec<u32>,
    /// The frame of each vertex's edge.
    pub frame: Vec<DMat3>,
    /// Mass of each vertex [kg].
    pub mass: Vec<f64>,
    /// Radius of a ball of the volume of each vertex [m].
    pub ball: Vec<f64>,
    /// Radius of the rod at each vertex [m].
    pub thickness: Vec<f64>,
    /// EA at each vertex [N].
    pub stretch: Vec<f64>,
    /// EI of each edge [N m²].
    pub bend: [Vec<f64>; 2],
    /// GJ of each edge [N m²].
    pub twist: Vec<f64>,
    /// Moment of inertia of each edge about itself [kg m²], at the vertex where it begins.
    pub moment: Vec<f64>,
    /// Length of the edge of each frame at rest [m]; 0 where that is the vertex's own.
    pub length: Vec<f64>,
    /// The shape at rest, where it is another one.
    pub at_rest: Option<AtRest>,
}

/// The shape of rods at rest, wherever it is as a whole.
#[derive(Debug, Default)]
pub struct AtRest {
    /// Places of vertices [m].
    pub places: Vec<DVec3>,
    /// The frame of each vertex's edge.
    pub frame: Vec<DMat3>,
}

impl Start {
    /// Of curves, whose channels may say what differs from vertex to vertex, and the places of vertices in another shape, at rest.
    pub fn of(
        ingest: &Ingest<'_>,
        values: Values<'_>,
        curves: &Curves,
        cloud: &PointCloud,
    ) -> Result<Self> {
        let strands = curves.connectivity();
        check(ingest, strands, &cloud.positions, ["", "take one of them out"])?;
        // A shape that hangs as it begins is looked for from where it begins.
        let rest = match values.flag("sag-free")? {
            true => None,
            false => cloud.vectors.get(REST).filter(|rest| **rest != cloud.positions),
        };
        if let Some(rest) = rest {
            let help = "give each its place at rest, or take the channel out";
            check(ingest, strands, rest, [" of the channel `rest`", help])?;
        }
        let sections = sections(values, cloud)?;
        let roots = match &*values.text("roots")? {
            "pinned" => Roots::Pinned,
            "clamped" => Roots::Clamped,
            _ => Roots::Free,
        };
        let count = cloud.positions.len();
        let mut start = Self {
            positions: cloud.positions.clone(),
            velocities: values.each_vector("velocity", cloud)?,
            thickness: sections.iter().map(|section| section.axes[0]).collect(),
            stretch: sections.iter().map(Section::stretch_stiffness).collect(),
            held: vec![0; count],
            mass: vec![0.0; count],
            at_rest: rest.map(|rest| AtRest { places: rest.clone(), frame: Vec::new() }),
            ..Self::default()
        };
        let axes = cloud.vectors.get("N").map(|axes| &axes[..]);
        let mut volume = vec![0.0; count];
        for strand in 0..strands.len() {
            start.add(strands, strand, &sections, axes, roots, &mut volume);
        }
        let ball = |volume: &f64| (0.75 / std::f64::consts::PI * volume).cbrt();
        start.ball = volume.iter().map(ball).collect();
        if let Some(oddity) = start.odd_lengths() {
            tracing::warn!("`{}`: {oddity}", ingest.path);
        }
        Ok(start)
    }

    /// What is odd about lengths at rest beside those of the beginning, in words: whoever gives places at rest in another unit hardly sees
    /// why all hair flies apart.
    fn odd_lengths(&self) -> Option<String> {
        let length = |at: &[DVec3]| -> f64 {
            self.edges.iter().map(|&[a, b]| at[a as usize].distance(at[b as usize])).sum()
        };
        let (begins, rests) = (length(&self.positions), length(&self.at_rest.as_ref()?.places));
        let is_odd = rests > MOST_STRETCH * begins || begins > MOST_STRETCH * rests;
        is_odd.then(|| {
            format!(
                "by their channel `{REST}` its curves are {rests:.3e} m long at rest, all together, but they begin with {begins:.3e} m; \
                 give both in one unit, or take the channel out"
            )
        })
    }

    fn add(
        &mut self,
        strands: &Strands,
        strand: usize,
        sections: &[Section],
        axes: Option<&[DVec3]>,
        roots: Roots,
        volume: &mut [f64],
    ) {
        let vertices = strands.vertices(strand);
        let is_closed = strands.is_closed(strand) && vertices.len() > 2;
        let edges = if is_closed { vertices.len() } else { vertices.len() - 1 };
        let end = |n: usize| vertices.start + if n + 1 == vertices.len() { 0 } else { n + 1 };
        let vectors = |at: &[DVec3]| -> Vec<DVec3> {
            (0..edges).map(|n| at[end(n)] - at[vertices.start + n]).collect()
        };
        let tangents = |vectors: &[DVec3]| -> Vec<DVec3> {
            vectors.iter().map(|edge| edge.normalize()).collect()
        };
        let mut vectors_at_rest = vectors(&self.positions);
        let axes = axes.map(|axes| &axes[vertices.clone()]);
        let frames = frames::along(&tangents(&vectors_at_rest), axes);
        let is_clamped = roots == Roots::Clamped && !is_closed;
        // The edge whose frame a vertex carries; a root that is clamped has a frame like that of the first.
        let carried = |n: usize| match is_clamped {
            true => n.saturating_sub(1),
            false => n.min(edges - 1),
        };
        if let Some(rest) = &mut self.at_rest {
            vectors_at_rest = vectors(&rest.places);
            let frames = frames::elsewhere(&frames, &tangents(&vectors_at_rest));
            rest.frame.extend((0..vertices.len()).map(|n| frames[carried(n)]));
        }
        let section = |edge: usize| mean(&sections[vertices.start + edge], &sections[end(edge)]);
        for n in 0..vertices.len() {
            let is_root = is_clamped && n == 0;
            let vertex = vertices.start + n;
            let own = carried(n);
            let (ends, section, length) = match is_root {
                true => ([vertex; 2], sections[vertex], 0.0),
                false => {
                    ([vertices.start + own, end(own)], section(own), vectors_at_rest[own].length())
                }
            };
            self.edge.push(ends.map(|end| end as u32));
            self.strand.push(strand as u32);
            self.frame.push(frames[own]);
            let [first, second] = section.bend_stiffness();
            self.bend[0].push(first);
            self.bend[1].push(second);
            self.twist.push(section.twist_stiffness());
            self.length.push(length);
        }
        for n in 0..vertices.len() {
            // The last vertex of an open strand has a turn that nothing depends on.
            let own = n.min(edges - 1);
            let (section, length) = (section(own), vectors_at_rest[own].length());
            self.moment.push(section.spin_density() * length);
            if n == own {
                let ends = [vertices.start + own, end(own)];
                self.edges.push(ends.map(|end| end as u32));
                self.lengths.push(length);
                for vertex in ends {
                    self.mass[vertex] += 0.5 * section.line_density() * length;
                    volume[vertex] += 0.5 * section.area() * length;
                }
            }
        }
        if roots != Roots::Free && !is_closed {
            self.held[vertices.start] = Rods::PLACE;
        }
    }
}

/// The cross-section at every vertex.
fn sections(values: Values<'_>, cloud: &PointCloud) -> Result<Vec<Section>> {
    let radius = values.each_number("radius", cloud)?;
    let flatness = values.each_number("flatness", cloud)?;
    let youngs = values.each_number("youngs", cloud)?;
    let density = values.each_number("density", cloud)?;
    let shear = match values.optional_number("shear")? {
        Some(_) => values.each_number("shear", cloud)?,
        None => match values.channel_of("shear").and_then(|name| cloud.numbers.get(name)) {
            Some(_) => values.each_number("shear", cloud)?,
            None => youngs.iter().map(|youngs| youngs / 2.7).collect(),
        },
    };
    let section = |n: usize| Section {
        axes: [radius[n], flatness[n] * radius[n]],
        youngs: youngs[n],
        shear: shear[n],
        density: density[n],
    };
    Ok((0..cloud.positions.len()).map(section).collect())
}

fn mean(a: &Section, b: &Section) -> Section {
    let mean = |a: f64, b: f64| 0.5 * (a + b);
    Section {
        axes: [mean(a.axes[0], b.axes[0]), mean(a.axes[1], b.axes[1])],
        youngs: mean(a.youngs, b.youngs),
        shear: mean(a.shear, b.shear),
        density: mean(a.density, b.density),
    }
}

/// Refuses what cannot be a rod, by the first place where it cannot; said are what the places are of, and what to do about two that are one.
fn check(
    ingest: &Ingest<'_>,
    strands: &Strands,
    positions: &[DVec3],
    [of, help]: [&str; 2],
) -> Result<()> {
    for strand in 0..strands.len() {
        let vertices = strands.vertices(strand);
        if vertices.len() < 2 {
            let what = format!("curve {strand} has {} vertices", vertices.len());
            return Err(ingest.bad("input", what, "give each curve two vertices or more"));
        }
        if let Some(vertex) = vertices.clone().find(|&vertex| !positions[vertex].is_finite()) {
            let what = format!(
                "vertex {} of curve {strand}{of} is at {}",
                vertex - vertices.start,
                positions[vertex]
            );
            return Err(ingest.bad("input", what, "give it a place"));
        }
        let longest = vertices
            .clone()
            .map(|vertex| positions[vertex].distance(positions[vertices.start]))
            .fold(0.0, f64::max);
        let closes = strands.is_closed(strand) && vertices.len() > 2;
        let edges = vertices.len() - usize::from(!closes);
        for n in 0..edges {
            let next = if n + 1 == vertices.len() { 0 } else { n + 1 };
            let [a, b] = [n, next].map(|n| positions[vertices.start + n]);
            // What is so short beside the whole is a vertex that was meant to be one with the next.
            if a.distance(b) <= 1e-9 * longest || a == b {
                let what = format!(
                    "vertices {n} and {next} of curve {strand}{of} are both at {a}, and an edge without length has no direction"
                );
                return Err(ingest.bad("input", what, help));
            }
        }
    }
    Ok(())
}

/// Refuses what is farther away than Buckets reach.
pub fn check_reach(
    ingest: &Ingest<'_>,
    strands: &Strands,
    positions: &[DVec3],
    domain: Id<GridDomain>,
) -> Result<()> {
    let frame = ingest.world.domains[domain].frame();
    let is_beyond = |at: &&DVec3| frame.locate(**at, 0, "a vertex").is_err();
    let Some(at) = positions.iter().find(is_beyond) else { return Ok(()) };
    let vertex = positions.iter().position(|other| other == at).unwrap_or(0);
    let strand = (0..strands.len()).find(|&n| strands.vertices(n).contains(&vertex)).unwrap_or(0);
    let reach = frame.bucket_size(0) * f64::from(Bucket::limit(0));
    let what = format!(
        "vertex {} of curve {strand} is at {at} m, but with this `voxel` there is nothing beyond {reach:.3e} m",
        vertex - strands.vertices(strand).start
    );
    Err(ingest.bad(
        "input",
        what,
        "move it nearer to the origin, look at its unit, or give a larger `voxel`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strand of 4 cm in two edges, and its places at rest so many times as far apart.
    fn strand(factor: f64) -> Start {
        let positions: Vec<DVec3> = (0..3).map(|n| DVec3::X * 0.02 * f64::from(n)).collect();
        let places = positions.iter().map(|at| *at * factor).collect();
        Start {
            positions,
            edges: vec![[0, 1], [1, 2]],
            at_rest: Some(AtRest { places, frame: Vec::new() }),
            ..Start::default()
        }
    }

    #[test]
    fn rest_lengths_in_another_unit_are_told_and_a_spring_that_is_pulled_out_is_not() {
        let told = strand(100.0).odd_lengths().unwrap();
        assert!(told.contains("4.000e0 m long at rest") && told.contains("4.000e-2 m"), "{told}");
        assert!(strand(0.01).odd_lengths().is_some());
        for factor in [0.34, 1.0, 2.9] {
            assert_eq!(strand(factor).odd_lengths(), None, "{factor}");
        }
        assert_eq!(Start { at_rest: None, ..strand(100.0) }.odd_lengths(), None);
    }
}
