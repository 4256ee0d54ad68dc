//! Filters on distances: `soften`, `dilate`, `erode`, `open` and `close`, everywhere or within a mask. They work on level sets of inputs,
//! and in the block of a `surface` on those of particles.

use super::{Call, Fault};
use std::sync::Arc;
use undine_geometry::levelset::{Filter, Mask};
use undine_geometry::{LevelSet, Solid};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::input::{Data, Geometry};

const WITHIN: Parameter =
    Parameter::new("within", Type::Input, "only inside of this solid; everywhere, if not given")
        .optional();
const OUTSIDE: Parameter =
    Parameter::new("outside", Type::Input, "only outside of this solid").optional();
const TRANSITION: Parameter = Parameter::new(
    "transition",
    Type::Number(Dimension::LENGTH),
    "how wide the way is from full effect at the solid to none; three voxels, if not given",
)
.positive()
.optional();
const DISTANCE: Parameter =
    Parameter::number("distance", Dimension::LENGTH, 0.01, "how far").positive().required();

pub(super) static SOFTEN: Declaration = Declaration {
    name: "soften",
    kind: Kind::Filter,
    doc: "Smooths the surface of a level set",
    about: "A `surface` of particles or a level set of an input: a surface becomes one by `to-distance`.",
    parameters: &[
        Parameter::choice(
            "method",
            &[
                ("gaussian", "the Gaussian mean; `reach` is two standard deviations"),
                ("mean", "the mean of a cube that reaches as far"),
                ("median", "the median of it, at most 2 voxels: small features go, edges stay"),
                ("laplacian", "half of the way to the mean of the six neighbours"),
                ("curvature", "the surface flows by its mean curvature: planes stay"),
            ],
            "how",
        ),
        Parameter::integer("reach", 1, "how many voxels it reaches").between(1.0, 8.0),
        Parameter::integer("iterations", 1, "how often").between(1.0, 1000.0),
        WITHIN,
        OUTSIDE,
        TRANSITION,
    ],
    example: "soften method=\"gaussian\" reach=2 within=\"pool\"",
};

pub(super) static DILATE: Declaration = Declaration {
    name: "dilate",
    kind: Kind::Filter,
    doc: "Moves the surface of a level set outwards",
    about: "",
    parameters: &[DISTANCE, WITHIN, OUTSIDE, TRANSITION],
    example: "dilate distance=\"5 mm\"",
};

pub(super) static ERODE: Declaration = Declaration {
    name: "erode",
    kind: Kind::Filter,
    doc: "Moves the surface of a level set inwards",
    about: "",
    parameters: &[DISTANCE, WITHIN, OUTSIDE, TRANSITION],
    example: "erode distance=\"5 mm\"",
};

pub(super) static OPEN: Declaration = Declaration {
    name: "open",
    kind: Kind::Filter,
    doc: "Takes away what is thinner than twice a distance: erodes, then dilates",
    about: "",
    parameters: &[DISTANCE, WITHIN, OUTSIDE, TRANSITION],
    example: "open distance=\"5 mm\"",
};

pub(super) static CLOSE: Declaration = Declaration {
    name: "close",
    kind: Kind::Filter,
    doc: "Fills gaps narrower than twice a distance: dilates, then erodes",
    about: "",
    parameters: &[DISTANCE, WITHIN, OUTSIDE, TRANSITION],
    example: "close distance=\"5 mm\"",
};

pub(super) fn soften(call: &Call<'_>) -> Result<Data, Fault> {
    let reach = u8::try_from(call.given.count("reach")?).unwrap_or(u8::MAX);
    let filter = match call.given.text("method")?.as_str() {
        "mean" => Filter::Mean(reach),
        "median" if reach > 2 => {
            return Err(Fault::parameter("reach", reach, "a median reaches 1 or 2 voxels"));
        }
        "median" => Filter::Median(reach),
        "laplacian" => Filter::Laplacian,
        "curvature" => Filter::MeanCurvature,
        _ => Filter::Gaussian(reach),
    };
    let iterations = call.given.count("iterations")?;
    // A filter wants a band that is a voxel wider than it reaches.
    let wanted = f64::from(reach) + 1.0;
    changed(call, wanted, |set, mask| set.filter(filter, iterations, mask))
}

pub(super) fn dilate(call: &Call<'_>) -> Result<Data, Fault> {
    moved(call, LevelSet::dilate)
}

pub(super) fn erode(call: &Call<'_>) -> Result<Data, Fault> {
    moved(call, LevelSet::erode)
}

pub(super) fn open(call: &Call<'_>) -> Result<Data, Fault> {
    moved(call, LevelSet::open)
}

pub(super) fn close(call: &Call<'_>) -> Result<Data, Fault> {
    moved(call, LevelSet::close)
}

fn moved(
    call: &Call<'_>,
    by: fn(&mut LevelSet, f64) -> undine_geometry::Result<()>,
) -> Result<Data, Fault> {
    let distance = call.given.number("distance")?;
    changed(call, 0.0, |set, mask| match mask {
        None => by(set, distance),
        Some(mask) => set.masked(mask, |set| by(set, distance)),
    })
}

/// A level set that is changed within a mask, with a band of so many voxels at least.
fn changed(
    call: &Call<'_>,
    band: f64,
    change: impl FnOnce(&mut LevelSet, Option<&Mask<'_>>) -> undine_geometry::Result<()>,
) -> Result<Data, Fault> {
    let data = call.data_at_rest()?;
    let Geometry::LevelSet(set) = &data.geometry else {
        return Err(Fault::WrongData { found: data.noun(), wanted: "a level set" });
    };
    let voxel = set.voxel_size();
    let transition = call.given.optional_number("transition")?.unwrap_or(3.0 * voxel);
    let [within, outside] = ["within", "outside"].map(|name| mask_solid(call, name));
    let (solid, is_outside) = match (within?, outside?) {
        (Some(_), Some(_)) => {
            let wanted = "a mask is `within` a solid or `outside` of one; make one solid of both";
            return Err(Fault::parameter("outside", "given beside `within`", wanted));
        }
        (within, None) => (within, false),
        (None, outside) => (outside, true),
    };
    let mask = solid.as_deref().map(|solid| Mask::solid(solid, transition)).transpose()?;
    let mask = mask.map(|mask| if is_outside { mask.inverted() } else { mask });
    let mut set = set.with_width(f64::from(set.width()).max(band * voxel))?;
    change(&mut set, mask.as_ref())?;
    Ok(Data { geometry: Geometry::LevelSet(Arc::new(set)), ..data })
}

fn mask_solid(call: &Call<'_>, parameter: &str) -> Result<Option<Arc<dyn Solid + Send>>, Fault> {
    match call.given.optional_text(parameter)? {
        None => Ok(None),
        Some(_) => Ok(Some(call.input(parameter)?.solid(call.time)?)),
    }
}
