//! The collider Object: something of the scene that moves as the scene says, whatever bumps into it.

use undine_geometry::collider::Collider;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::input::{Data, Geometry};
use undine_sim::offers::Looks;
use undine_sim::{
    Budget, Id, Ingest, Object, ObjectId, Offers, Result, SimError, StoreId, Tasks, World,
};

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
    collider: Id<Option<Collider>>,
}

impl Object for SceneCollider {
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>> {
        let name = ingest.values().text("input")?;
        let data = ingest.data("input")?;
        // What is not there yet, but may come, is an Object from the start.
        if data.is_empty() && !ingest.inputs.changes(&name) {
            return Ok(Vec::new());
        }
        let collider = collider_of(ingest, &data)?;
        let collider = ingest.world.colliders.add(collider);
        let domain = ingest.world.domain(VOXEL)?;
        let looks = Some(Looks::Input(name));
        let offers = Offers { collider: Some(collider), looks, ..Offers::default() };
        let id = ingest.offer(domain, data.attributes.clone(), offers);
        Ok(vec![Self { id, collider }])
    }

    /// Made anew from where the step begins and where it ends, so that nothing of earlier steps counts; what has vanished is gone.
    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        let name = ingest.values().text("input")?;
        let data = ingest.data("input")?;
        if ingest.inputs.changes(&name) {
            ingest.world.colliders[self.collider] = collider_of(ingest, &data)?;
        } else if let Some(collider) = ingest.world.colliders[self.collider].take() {
            let collider = collider.with_friction(friction(ingest, &data)?)?;
            ingest.world.colliders[self.collider] = Some(collider);
        }
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
    if data.is_empty() {
        return Ok(None);
    }
    let thickness = ingest.values().of_object(&data.attributes).number("thickness")?;
    let name = ingest.values().text("input")?;
    let before = match ingest.since < ingest.time && ingest.inputs.changes(&name) {
        true => Some(ingest.inputs.data(&name, ingest.since)?),
        false => None,
    };
    let before = before.as_deref().map(|data| (ingest.since, data));
    check_room(ingest, data)?;
    let collider = data.collider(ingest.time, before, thickness);
    let collider = collider.map_err(|why| ingest.input_fault("input", why))?;
    Ok(Some(collider.with_friction(friction(ingest, data)?)?))
}

/// What each corner of a surface takes as a collider: its triangle, the boxes around it, and which side is inside [bytes].
const BYTES_OF_CORNER: u64 = 128;

/// Refuses a surface that is too large to bump into.
fn check_room(ingest: &Ingest<'_>, data: &Data) -> Result<()> {
    let Geometry::Surface(surface) = &data.geometry else { return Ok(()) };
    let corners = surface.connectivity().corners().len() as u64;
    let what = format!("a collider of {corners} corners");
    let room = ingest.world.budget.check(&what, corners.saturating_mul(BYTES_OF_CORNER));
    room.map_err(|why| SimError::no_room(ingest.path, why))
}
