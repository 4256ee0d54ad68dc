//! The transform of a grid: one of OpenVDB's maps, all of which but the frustum are one linear map here.

use crate::error::{Result, VdbError};
use crate::read::cursor::Cursor;
use crate::transform::Transform;

/// Reads a transform.
pub(crate) fn read_transform(cursor: &mut Cursor<'_>) -> Result<Transform> {
    let begin = cursor.offset();
    let kind = cursor.string("the type of a transform")?;
    let transform = match kind.as_str() {
        "UniformScaleMap" | "ScaleMap" => Transform::scaled(scale(cursor)?, [0.0; 3]),
        "UniformScaleTranslateMap" | "ScaleTranslateMap" => {
            let translation = vector(cursor)?;
            Transform::scaled(scale(cursor)?, translation)
        }
        "TranslationMap" => Transform::uniform(1.0, vector(cursor)?),
        "AffineMap" | "UnitaryMap" => {
            let mut rows = [[0.0; 4]; 4];
            for number in rows.as_flattened_mut() {
                *number = cursor.f64("a transform")?;
            }
            Transform { rows }
        }
        "NonlinearFrustumMap" => {
            return Err(VdbError::Unsupported {
                offset: begin,
                what: "a frustum transform".to_owned(),
                wanted: "resample the grid to voxels of one size, for example with Houdini's VDB Resample".to_owned(),
            });
        }
        _ => {
            return Err(VdbError::Unsupported {
                offset: begin,
                what: format!("a transform of type `{}`", kind.escape_debug()),
                wanted: "linear ones are: ScaleMap, ScaleTranslateMap, their Uniform kin, TranslationMap, AffineMap, UnitaryMap".to_owned(),
            });
        }
    };
    let has_only_numbers = transform.rows.iter().flatten().all(|number| number.is_finite());
    if !has_only_numbers || transform.rows.map(|row| row[3]) != [0.0, 0.0, 0.0, 1.0] {
        return Err(VdbError::Malformed {
            offset: begin,
            found: format!("a {kind} of the rows {:?}", transform.rows),
            wanted: "it must be of finite numbers, its last column 0 0 0 1".to_owned(),
        });
    }
    Ok(transform)
}

/// The scale, of a scale and the four vectors that follow from it.
fn scale(cursor: &mut Cursor<'_>) -> Result<[f64; 3]> {
    let scale = vector(cursor)?;
    for _ in 0..4 {
        vector(cursor)?;
    }
    Ok(scale)
}

fn vector(cursor: &mut Cursor<'_>) -> Result<[f64; 3]> {
    let what = "a transform";
    Ok([cursor.f64(what)?, cursor.f64(what)?, cursor.f64(what)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(kind: &str, numbers: &[f64]) -> Vec<u8> {
        let mut bytes = (kind.len() as u32).to_le_bytes().to_vec();
        bytes.extend(kind.as_bytes());
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes
    }

    fn read(kind: &str, numbers: &[f64]) -> Result<Transform> {
        let bytes = bytes(kind, numbers);
        let mut cursor = Cursor::new(&bytes, 0);
        let transform = read_transform(&mut cursor)?;
        assert_eq!(cursor.left(), 0, "{kind}");
        Ok(transform)
    }

    #[test]
    fn every_linear_map_is_one_transform() {
        let mut numbers = vec![5.0, 6.0, 7.0, 0.5, 0.25, 2.0];
        numbers.extend([9.0; 12]);
        let scaled = Transform::scaled([0.5, 0.25, 2.0], [5.0, 6.0, 7.0]);
        assert_eq!(read("ScaleTranslateMap", &numbers).unwrap(), scaled);
        assert_eq!(read("UniformScaleTranslateMap", &numbers).unwrap(), scaled);
        let scaled = Transform::scaled([0.5, 0.25, 2.0], [0.0; 3]);
        assert_eq!(read("ScaleMap", &numbers[3..]).unwrap(), scaled);
        assert_eq!(read("UniformScaleMap", &numbers[3..]).unwrap(), scaled);
        let moved = Transform::uniform(1.0, [5.0, 6.0, 7.0]);
        assert_eq!(read("TranslationMap", &numbers[..3]).unwrap(), moved);
        let mut rows = [[0.0; 4]; 4];
        (0..12).for_each(|n| rows[n / 3][n % 3] = n as f64);
        rows[3][3] = 1.0;
        assert_eq!(read("AffineMap", rows.as_flattened()).unwrap(), Transform { rows });
        assert_eq!(read("UnitaryMap", rows.as_flattened()).unwrap(), Transform { rows });
    }

    #[test]
    fn frustums_and_nonsense_are_refused() {
        let error = read("NonlinearFrustumMap", &[0.0; 8]).unwrap_err();
        assert!(
            matches!(&error, VdbError::Unsupported { wanted, .. } if wanted.contains("resample")),
            "{error}"
        );
        assert!(matches!(read("WarpMap", &[]), Err(VdbError::Unsupported { .. })));
        let nan = read("TranslationMap", &[0.0, f64::NAN, 0.0]);
        assert!(matches!(nan, Err(VdbError::Malformed { .. })));
        assert!(matches!(read("AffineMap", &[0.0; 16]), Err(VdbError::Malformed { .. })));
        assert!(matches!(read("AffineMap", &[0.0; 15]), Err(VdbError::Truncated { .. })));
    }
}
