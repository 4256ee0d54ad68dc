//! Where a prim stands: the operations of `xformOpOrder`, from the outermost to the innermost.

use super::super::compose::Composed;
use super::super::layer::{Array, Value};
use undine_core::glam::{DMat4, DQuat, DVec3};

/// More operations than any prim has.
const MOST_OPERATIONS: usize = 1000;

/// What a prim does to the space that it is in.
pub(super) struct Local {
    pub matrix: DMat4,
    /// Whether what is above it has no say.
    pub resets: bool,
}

/// The transformation of a prim at a time. `Err` says what is wrong with it.
pub(super) fn local(prim: &Composed, time: Option<f64>) -> Result<Local, String> {
    let mut local = Local { matrix: DMat4::IDENTITY, resets: false };
    let order = prim.value("xformOpOrder", time);
    let Some(Value::Array(Array::Token(order))) = order.as_deref() else { return Ok(local) };
    if order.len() > MOST_OPERATIONS {
        return Err(format!("its `xformOpOrder` has more than {MOST_OPERATIONS} operations"));
    }
    for word in order {
        if word == "!resetXformStack!" {
            local = Local { matrix: DMat4::IDENTITY, resets: true };
            continue;
        }
        let (name, is_inverse) = match word.strip_prefix("!invert!") {
            Some(name) => (name, true),
            None => (word.as_str(), false),
        };
        let operation = name.strip_prefix("xformOp:").and_then(|rest| rest.split(':').next());
        let Some(operation) = operation else {
            return Err(format!("`{word}` of its `xformOpOrder` is no operation"));
        };
        // What is listed and has no value does nothing.
        let Some(matrix) = matrix(prim, name, operation, time)? else { continue };
        local.matrix *= if is_inverse { matrix.inverse() } else { matrix };
    }
    if !local.matrix.is_finite() {
        return Err("its transformation is not finite, or cannot be undone".to_owned());
    }
    Ok(local)
}

fn matrix(
    prim: &Composed,
    name: &str,
    operation: &str,
    time: Option<f64>,
) -> Result<Option<DMat4>, String> {
    if operation == "orient" {
        return orientation(prim, name, time);
    }
    let Some(value) = prim.value(name, time) else { return Ok(None) };
    let wrong = || format!("`{name}` has a value of another type than `{operation}` takes");
    let numbers = value.numbers().ok_or_else(wrong)?;
    let one = || match numbers[..] {
        [number] => Ok(number),
        _ => Err(wrong()),
    };
    let three = || match numbers[..] {
        [x, y, z] => Ok(DVec3::new(x, y, z)),
        _ => Err(wrong()),
    };
    let axis = || match operation.as_bytes().last() {
        Some(b'X') => DVec3::X,
        Some(b'Y') => DVec3::Y,
        _ => DVec3::Z,
    };
    Ok(Some(match operation {
        "translate" => DMat4::from_translation(three()?),
        "translateX" | "translateY" | "translateZ" => DMat4::from_translation(axis() * one()?),
        "scale" => DMat4::from_scale(three()?),
        "scaleX" | "scaleY" | "scaleZ" => DMat4::from_scale(DVec3::ONE + axis() * (one()? - 1.0)),
        "rotateX" | "rotateY" | "rotateZ" => DMat4::from_axis_angle(axis(), one()?.to_radians()),
        "rotateXYZ" | "rotateXZY" | "rotateYXZ" | "rotateYZX" | "rotateZXY" | "rotateZYX" => {
            let angles = three()?;
            // The first named turns first, and so stands last in the product.
            operation["rotate".len()..].chars().fold(DMat4::IDENTITY, |turned, letter| {
                let (axis, angle) = match letter {
                    'X' => (DVec3::X, angles.x),
                    'Y' => (DVec3::Y, angles.y),
                    _ => (DVec3::Z, angles.z),
                };
                DMat4::from_axis_angle(axis, angle.to_radians()) * turned
            })
        }
        "transform" => {
            // Rows there are columns here: there, a point stands before its matrix.
            let rows: [f64; 16] = numbers.try_into().map_err(|_| wrong())?;
            DMat4::from_cols_array(&rows)
        }
        other => return Err(format!("`{other}` of its `xformOpOrder` is no operation")),
    }))
}

/// A turn by a quaternion. Between samples it turns evenly.
fn orientation(prim: &Composed, name: &str, time: Option<f64>) -> Result<Option<DMat4>, String> {
    let Some(sampled) = prim.sampled(name, time) else { return Ok(None) };
    let quaternion = |value: &Value| {
        let numbers: Option<[f64; 4]> = value.numbers().and_then(|numbers| numbers.try_into().ok());
        let turn = DQuat::from_array(numbers.ok_or_else(|| format!("`{name}` is no quaternion"))?);
        // No turn at all is what OpenUSD makes of nothing.
        let length = turn.length();
        Ok::<_, String>(if length > 0.0 { turn / length } else { DQuat::IDENTITY })
    };
    let low = quaternion(sampled.low)?;
    let turn = match sampled.high {
        Some((high, part)) => low.slerp(quaternion(high)?, part),
        None => low,
    };
    Ok(Some(DMat4::from_quat(turn)))
}
