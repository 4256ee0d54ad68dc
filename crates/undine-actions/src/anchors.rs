//! The anchors Object: points that the scene moves, for attachments to hold things by. The vertices of a skin that deforms, of a
//! surface or curve that moves as a whole, or points. A surface is offered as triangles, too, so that it holds things anywhere.
//!
//! Each has a frame. Where the input moves as a whole, frames turn with it. On a surface that deforms, a vertex's frame is made of
//! its normal and of the direction to the first vertex that an edge leads to from there, and so turns as the skin does.

use undine_core::ChannelSpec;
use undine_core::glam::{DMat3, DVec3};
use undine_core::particles::TopologicalParticles;
use undine_geometry::Triangles;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::input::{Data, Geometry};
use undine_sim::offers::{Embedded, Kinematic};
use undine_sim::{
    Budget, Ingest, Moment, Object, ObjectId, Offers, Result, Stage, StoreId, Tasks, World,
};

/// "There is something to hold on to."
pub const DECLARATION: Declaration = Declaration {
    name: "anchors",
    kind: Kind::Object,
    doc: "Points that the scene moves, to attach things to",
    about: "The points of the input, or the vertices of its surface or curves, where the scene has them at each moment. On a surface \
            that deforms they turn as the surface does. `attachment` holds things by them, whatever pulls; by a surface anywhere on its \
            triangles.",
    parameters: &[
        Parameter::new("input", Type::Input, "points, a surface or curves"),
        Parameter::number(
            "voxel",
            Dimension::LENGTH,
            0.1,
            "size of voxels: points are found by cubes of eight",
        )
        .positive()
        .usually(1e-4, 100.0)
        .resolution()
        .advanced(),
    ],
    example: "anchors \"scalp\" input=\"skin\"",
};

/// Points that the scene moves.
pub struct Anchors {
    id: ObjectId,
    on: Kinematic,
    /// Where the scene has them at the end of the step; empty if they stay.
    led: Vec<(DVec3, DMat3)>,
}

impl Object for Anchors {
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>> {
        let data = ingest.data("input")?;
        if data.is_empty() {
            return Ok(Vec::new());
        }
        let placed = placed(&data, ingest.time)?;
        if placed.is_empty() {
            let what = format!("this input is {}, which has no points", data.noun());
            return Err(ingest.bad("input", what, "give points, a surface or curves"));
        }
        let domain = ingest.values().number("voxel")?;
        let domain = ingest.world.domain(domain)?;
        let mut points = TopologicalParticles::new(ingest.path, &ingest.world.domains[domain])?;
        let frame = points.add_channel(&ChannelSpec::new("frame", DMat3::IDENTITY).internal())?;
        let places: Vec<DVec3> = placed.iter().map(|(x, _)| *x).collect();
        // Every process has all of them.
        points.append(&ingest.world.domains[domain].alone(), &places)?;
        let frames: Vec<DMat3> = placed.iter().map(|(_, frame)| *frame).collect();
        points.column_mut(frame)?.copy_from_slice(&frames);
        let ids = points.column(points.id())?.to_vec();
        let by_ids = |triangle: [u32; 3]| triangle.map(|vertex| ids[vertex as usize]);
        let triangles: Vec<[u64; 3]> = triangles(&data)?.into_iter().map(by_ids).collect();
        let on = Kinematic { points: ingest.world.points.add(points), frame };
        let offers = Offers {
            boundary: Some(Embedded::Kinematic(on)),
            triangles: (!triangles.is_empty()).then(|| triangles.into()),
            ..Offers::default()
        };
        let id = ingest.offer(domain, data.attributes.clone(), offers);
        let anchors = Self { id, on, led: Vec::new() };
        anchors.locate(ingest.world)?;
        Ok(vec![anchors])
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.led.clear();
        let (name, data) = (ingest.values().text("input")?, ingest.data("input")?);
        if data.motion.is_none() && !ingest.inputs.changes(&name) {
            return Ok(());
        }
        self.led = placed(&data, ingest.time)?;
        let count = ingest.world.points[self.on.points].len();
        if self.led.len() != count {
            let what = format!("it has {} points now, and had {count}", self.led.len());
            return Err(ingest.bad("input", what, "give an input whose points stay the same"));
        }
        let offered = ingest.world.object(self.id).offers.triangles.as_deref();
        let found = triangles(&data)?.len();
        if found != offered.map_or(0, <[_]>::len) {
            let what = format!("it has {found} triangles now, which is not what it had");
            return Err(ingest.bad("input", what, "give an input whose triangles stay the same"));
        }
        Ok(())
    }

    fn id(&self) -> ObjectId {
        self.id
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let points = StoreId::from(self.on.points);
        on.task(Stage::Predict, "follow the input", Self::follow)
            .writes(points.channels(["position", "frame"]));
        on.task(Stage::Rebucket, "find Buckets", |anchors, world, _| anchors.locate(world))
            .reads([points.channel("position")]);
    }

    /// Nothing: what the scene moves has as much as it takes.
    fn budget(&self, _: &World) -> Result<Budget> {
        Ok(Budget::default())
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        Vec::new()
    }
}

impl Anchors {
    fn follow(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let points = &world.points[self.on.points];
        let mut position = points.column_mut(points.position())?;
        let mut frame = points.column_mut(self.on.frame)?;
        for (n, (x, turned)) in self.led.iter().enumerate() {
            (position[n], frame[n]) = (*x, *turned);
        }
        Ok(())
    }

    fn locate(&self, world: &mut World) -> Result<()> {
        let domain = &world.domains[world.object(self.id).domain].alone();
        Ok(world.points[self.on.points].locate(domain)?)
    }
}

/// The triangles of an input, if it is a surface.
fn triangles(data: &Data) -> Result<Vec<[u32; 3]>> {
    Ok(match &data.geometry {
        Geometry::Surface(surface) => Triangles::of_surface(surface)?.into_parts().1,
        _ => Vec::new(),
    })
}

/// Where the points of an input are at a time [s], and how they are turned.
fn placed(data: &Data, time: f64) -> Result<Vec<(DVec3, DMat3)>> {
    let cloud = data.cloud()?;
    let pose = data.pose(time);
    let turn = DMat3::from_quat(pose.rotation);
    let frames = match (&data.geometry, &data.motion) {
        (Geometry::Surface(surface), None) => {
            frames_on(&Triangles::of_surface(surface)?, &cloud.edges)
        }
        _ => vec![turn; cloud.positions.len()],
    };
    let place = |(x, frame): (&DVec3, DMat3)| (pose.to_world(*x), frame);
    Ok(cloud.positions.iter().zip(frames).map(place).collect())
}

/// A frame at each vertex: its normal, the direction of its first edge across that, and what is at right angles to both.
fn frames_on(mesh: &Triangles, edges: &[[u32; 2]]) -> Vec<DMat3> {
    let places = mesh.positions();
    let mut normals = vec![DVec3::ZERO; places.len()];
    for triangle in mesh.indices() {
        let [a, b, c] = triangle.map(|vertex| places[vertex as usize]);
        // Of twice the area, so that large triangles count for more.
        let normal = (b - a).cross(c - a);
        triangle.iter().for_each(|&vertex| normals[vertex as usize] += normal);
    }
    let mut towards = vec![None; places.len()];
    for &[a, b] in edges {
        for (from, to) in [(a, b), (b, a)] {
            towards[from as usize].get_or_insert(to);
        }
    }
    let frame = |vertex: usize| {
        let normal = normals[vertex].normalize_or(DVec3::Y);
        let along = towards[vertex].map_or(DVec3::X, |to| places[to as usize] - places[vertex]);
        let along =
            (along - normal * normal.dot(along)).normalize_or(normal.any_orthonormal_vector());
        DMat3::from_cols(normal, along, normal.cross(along))
    };
    (0..places.len()).map(frame).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::glam::DQuat;

    /// On a mesh that turns as a whole, frames turn with it.
    #[test]
    fn frames_turn_as_the_surface_does() {
        let mesh = undine_geometry::gallery::sphere(0.5, 1);
        let surface = mesh.clone().into_surface("ball").unwrap();
        let edges = Data::new(Geometry::Surface(surface.into())).cloud().unwrap().edges.clone();
        let turn = DQuat::from_scaled_axis(DVec3::new(0.4, -1.0, 0.3));
        let places = mesh.positions().iter().map(|x| turn * *x).collect();
        let turned = Triangles::new(places, mesh.indices().to_vec()).unwrap();
        let (before, after) = (frames_on(&mesh, &edges), frames_on(&turned, &edges));
        for (before, after) in before.iter().zip(&after) {
            assert!((DMat3::from_quat(turn) * *before).abs_diff_eq(*after, 1e-12));
            assert!((before.transpose() * *before).abs_diff_eq(DMat3::IDENTITY, 1e-12));
        }
    }
}
