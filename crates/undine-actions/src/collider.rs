//! The collider Object: something of the scene that moves as the scene says, whatever bumps into it.

use crate::solid::{inside, no_inside};
use std::sync::Arc;
use undine_geometry::collider::Collider;
use undine_geometry::deformation::Deformation;
use undine_geometry::mesh_solid::MeshSolid;
use undine_geometry::triangles::Triangles;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::input::{Data, Geometry};
use undine_sim::{Budget, Id, Ingest, Object, ObjectId, Offers, Result, StoreId, Tasks, World};

/// "There is something to bump into."
pub const DECLARATION: Declaration = Declaration {
    name: "collider",
    kind: Kind::Object,
    doc: "Something to bump into, that moves as the scene says",
    about: "From a shape, a surface or a level set, at rest, moved as a whole, or deforming from frame to frame. An open \
            surface is a sheet: give it a `thickness`, or it is as thin as it looks. `collision` keeps things out of it.",
    parameters: &[
        Parameter::new("input", Type::Input, "its shape, surface or level set"),
        Parameter::number(
            "friction",
            Dimension::NONE,
            0.3,
            "coefficient of Coulomb friction; 0 is as slippery as ice never is",
        )
        .not_negative()
        .usually(0.0, 2.0)
        .varies_by("friction"),
        Parameter::number(
            "thickness",
            Dimension::LENGTH,
            0.0,
            "thickness of a surface that is a sheet; 0 is for closed ones",
        )
        .not_negative()
        .usually(0.0, 0.1)
        .varies_by("thickness"),
    ],
    example: "collider \"floor\" input=\"floor\" friction=0.5",
};

/// Where no voxels are asked for, the Object is in the Domain of voxels of this size [m], which most scenes have.
const VOXEL: f64 = 0.1;

/// Something to bump into.
pub struct SceneCollider {
    id: ObjectId,
    collider: Id<Collider>,
    friction: f64,
}

impl Object for SceneCollider {
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>> {
        let data = ingest.data("input")?;
        let friction = friction(ingest, &data)?;
        let Some(collider) = collider_of(ingest, &data)? else { return Ok(Vec::new()) };
        let collider = ingest.world.colliders.add(collider.with_friction(friction)?);
        let domain = ingest.world.domain(VOXEL)?;
        let offers = Offers { collider: Some(collider), ..Offers::default() };
        let id = ingest.offer(domain, data.attributes.clone(), offers);
        Ok(vec![Self { id, collider, friction }])
    }

    /// An input that changes is looked at where the step begins and where it ends, so that nothing of earlier steps counts.
    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        let name = ingest.values().text("input")?;
        let changes = ingest.inputs.changes(&name);
        let data = ingest.data("input")?;
        let friction = friction(ingest, &data)?;
        if changes {
            // What has vanished for a while is still there, as it was.
            if let Some(collider) = collider_of(ingest, &data)? {
                ingest.world.colliders[self.collider] = collider.with_friction(friction)?;
            }
        } else if friction != self.friction {
            let collider = ingest.world.colliders[self.collider].clone();
            ingest.world.colliders[self.collider] = collider.with_friction(friction)?;
        }
        self.friction = friction;
        Ok(())
    }

    fn id(&self) -> ObjectId {
        self.id
    }

    fn tasks(&self, _: &mut Tasks<Self>) {}

    /// Nothing: what the scene moves has as much as it takes.
    fn budget(&self, _: &World) -> Result<Budget> {
        Ok(Budget::default())
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        Vec::new()
    }
}

fn friction(ingest: &Ingest<'_>, data: &Data) -> Result<f64> {
    ingest.values().of_object(&data.attributes).number("friction")
}

/// A collider during the step that the Ingest is about; `None` if there is nothing in the input.
fn collider_of(ingest: &Ingest<'_>, data: &Data) -> Result<Option<Collider>> {
    let thickness = ingest.values().of_object(&data.attributes).number("thickness")?;
    let collider = match &data.geometry {
        Geometry::Empty => return Ok(None),
        Geometry::Shape(shape) => Collider::solid(shape.clone()),
        Geometry::LevelSet(set) => {
            // A level set that deforms says how fast its surface is.
            let velocity = set.volume().handle("v").ok();
            Collider::level_set(set.clone(), velocity)?
        }
        Geometry::Surface(surface) => {
            let end = Triangles::of_surface(surface)?;
            if end.is_empty() {
                return Ok(None);
            }
            match start_of(ingest, &end)? {
                None => Collider::mesh(MeshSolid::new(end, inside(thickness))?),
                Some(start) => {
                    let frames = [(ingest.since, &start), (ingest.time, &end)];
                    let frames = frames.map(|(time, mesh)| (time, mesh.positions().to_vec()));
                    let deformation = Deformation::new(frames.to_vec())?;
                    let mesh = MeshSolid::new(start, inside(thickness))?;
                    Collider::deforming(mesh, deformation)?
                }
            }
        }
        Geometry::Points(_) | Geometry::Curves(_) | Geometry::Body(_) => {
            return Err(no_inside(ingest, "input", data));
        }
    };
    Ok(Some(match &data.motion {
        Some(motion) => collider.with_motion(motion.clone()),
        None => collider,
    }))
}

/// The mesh where the step begins, if it is the same one, and moves.
fn start_of(ingest: &Ingest<'_>, end: &Triangles) -> Result<Option<Triangles>> {
    let name = ingest.values().text("input")?;
    if ingest.since >= ingest.time || !ingest.inputs.changes(&name) {
        return Ok(None);
    }
    let before: Arc<Data> = ingest.inputs.data(&name, ingest.since)?;
    let Geometry::Surface(surface) = &before.geometry else { return Ok(None) };
    let start = Triangles::of_surface(surface)?;
    let same = start.indices() == end.indices() && start.positions().len() == end.positions().len();
    Ok((same && start.positions() != end.positions()).then_some(start))
}
