//! The surface of a liquid as a mesh, frame by frame: Jones 2020, chapter 5, as [`undine_geometry::surfacing`] has it.
//!
//! It acts on nothing: whoever writes frames finds here what mesh to make of whom.

use undine_geometry::surfacing::{Anisotropy, Averaging, Carrying, Method, Recipe};
use undine_schema::setup::Origin;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type, Value};
use undine_sim::offers::Skin;
use undine_sim::{Ingest, ObjectId, Operator, Result, Tasks};

/// "The liquid has a surface."
pub const DECLARATION: Declaration = Declaration {
    name: "surface",
    kind: Kind::Operator,
    doc: "Writes the surface of particles as a closed mesh with every frame",
    about: "One mesh around all particles in its scope, with normals and whatever they carry, velocities for motion blur among it. Filters in its \
        block change the distances before they become a mesh, one after the other. `undine surface` makes the same of \
        files. Nothing that is simulated depends on it.",
    parameters: &[
        Parameter::new("of", Type::Target, "the Object or Group; all in its scope, if not given")
            .optional(),
        Parameter::choice(
            "method",
            &[
                ("ellipsoids", "stretched the way neighbours lie: smooth, with sheets and droplets"),
                ("spheres", "fast, bumpy, and a beginning for filters"),
                ("average", "the mean of the particles around a place (Zhu and Bridson)"),
                ("corrected-average", "without what appears in hollows (Solenthaler and Pajarola)"),
            ],
            "what stands for a particle",
        ),
        Parameter::new(
            "radius",
            Type::Number(Dimension::LENGTH),
            "of all particles, about their spacing; each its own, if not given here",
        )
        .positive()
        .optional(),
        Parameter::new(
            "scale",
            Type::Number(Dimension::NONE),
            "what radii are multiplied by; 1.7, if not given, which makes the radius of a ball their spacing, or 1 with `radius`",
        )
        .positive()
        .usually(0.2, 5.0)
        .optional(),
        Parameter::new(
            "voxel",
            Type::Number(Dimension::LENGTH),
            "the side of a voxel of distances; 0.4 of the mean radius, if not given here",
        )
        .positive()
        .resolution()
        .optional(),
        Parameter::number("search", Dimension::NONE, 2.0, "how far neighbours are looked for, in radii")
            .between(1.01, 16.0)
            .advanced(),
        Parameter::number(
            "ratio",
            Dimension::NONE,
            4.0,
            "the longest axis of an ellipsoid over its shortest, at most",
        )
        .between(1.0, 100.0),
        Parameter::number(
            "droplet-neighbours",
            Dimension::NONE,
            5.0,
            "a particle with no more neighbours is a droplet; one with twice as many is none",
        )
        .between(0.0, 1000.0),
        Parameter::number("droplet-scale", Dimension::NONE, 0.7, "the radius of a droplet, in radii")
            .between(0.01, 10.0),
        Parameter::number(
            "trail",
            Dimension::TIME,
            0.0,
            "droplets are stretched along their velocity by as far as they fly in this time",
        )
        .between(0.0, 1e6),
        Parameter::number(
            "local",
            Dimension::NONE,
            1.0,
            "1 keeps the volume of every ellipsoid, 0 their mean volume",
        )
        .between(0.0, 1.0)
        .advanced(),
        Parameter::number(
            "smoothing",
            Dimension::NONE,
            0.5,
            "how far centres are moved towards the mean of their neighbours",
        )
        .between(0.0, 1.0),
        Parameter::integer("smooth", 0, "how often the mesh is smoothed, its volume kept")
            .between(0.0, 1000.0),
        Parameter::number(
            "coarsen",
            Dimension::LENGTH,
            0.0,
            "takes fewer triangles where the mesh is flat, and moves it by no more than this",
        )
        .not_negative(),
        Parameter::number("least", Dimension::VOLUME, 0.0, "drops parts of less than this volume")
            .not_negative(),
        Parameter::new(
            "bubbles",
            Type::Number(Dimension::VOLUME),
            "fills cavities of less than this volume; those smaller than a ball of two mean radii, if not given",
        )
        .not_negative()
        .optional(),
        Parameter::choice(
            "channels",
            &[
                ("blended", "of all particles around, exact where a channel is linear"),
                ("nearest", "of the particle whose ellipsoid is nearest"),
            ],
            "where vertices take velocities and other channels from",
        ),
        Parameter::new(
            "filters",
            Type::Input,
            "what changes distances before they become a mesh: written as filters in its block",
        )
        .optional()
        .advanced(),
    ],
    example: "surface { soften method=\"gaussian\" reach=2 }",
};

/// What mesh is made of whom.
pub struct Surface {
    skin: Skin,
}

impl Operator for Surface {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let target = ingest.values().optional_text("of")?;
        let named = target.map(|path| (ingest.targets)(&path));
        let mut of = named.unwrap_or_else(|| scope.to_vec());
        of.retain(|id| ingest.world.object(*id).offers.particles().is_some());
        if of.is_empty() {
            return Ok(None);
        }
        let filters = match ingest.values().value("filters") {
            Some((Value::Text(name), Origin::Behavior)) => Some(name),
            _ => None,
        };
        Ok(Some(Self { skin: Skin { of, recipe: recipe(ingest)?, filters } }))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.skin.recipe = recipe(ingest)?;
        Ok(())
    }

    fn tasks(&self, _: &mut Tasks<Self>) {}

    fn skin(&self) -> Option<&Skin> {
        Some(&self.skin)
    }
}

/// How particles become a mesh at the time of the Ingest.
fn recipe(ingest: &Ingest<'_>) -> Result<Recipe> {
    let values = ingest.values();
    // What a Group says of radii and voxels is about what is simulated.
    let own = |name: &str| match values.value(name) {
        Some((Value::Number(number), Origin::Behavior)) => Some(number),
        _ => None,
    };
    let search = values.number("search")?;
    let average = |usual: Averaging| Method::Average(Averaging { search, ..usual });
    let method = match values.text("method")?.as_str() {
        "spheres" => Method::Spheres,
        "average" => average(Averaging::PLAIN),
        "corrected-average" => average(Averaging::CORRECTED),
        _ => Method::Ellipsoids(Anisotropy {
            search,
            ratio: values.number("ratio")?,
            droplet_neighbours: values.number("droplet-neighbours")?,
            droplet_scale: values.number("droplet-scale")?,
            local: values.number("local")?,
            smoothing: values.number("smoothing")?,
            trail: values.number("trail")?,
        }),
    };
    Ok(Recipe {
        method,
        radius: own("radius"),
        scale: values.optional_number("scale")?,
        voxel: own("voxel"),
        smooth: u32::try_from(values.integer("smooth")?).unwrap_or(0),
        coarsen: values.number("coarsen")?,
        least: values.number("least")?,
        bubbles: values.optional_number("bubbles")?,
        carrying: match values.text("channels")?.as_str() {
            "nearest" => Carrying::Nearest,
            _ => Carrying::Blended,
        },
    })
}
