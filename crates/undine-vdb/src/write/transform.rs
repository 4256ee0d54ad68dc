//! Transforms as a file holds them: the simplest of OpenVDB's maps that is exactly the same.

use crate::transform::Transform;
use crate::write::bytes::put_string;

/// OpenVDB refuses to open an affine map whose determinant is smaller.
const LEAST_DETERMINANT: f64 = 3e-15;

/// Appends a transform; says what is wrong with one that cannot be written, and what would be right.
pub(super) fn put_transform(
    transform: &Transform,
    bytes: &mut Vec<u8>,
) -> Result<(), (String, &'static str)> {
    let rows = &transform.rows;
    if !rows.iter().flatten().all(|number| number.is_finite()) {
        let found = "its transform has a number that is not finite".to_owned();
        return Err((found, "all sixteen are finite"));
    }
    if rows.map(|row| row[3]) != [0.0, 0.0, 0.0, 1.0] {
        return Err(("its transform is not linear".to_owned(), "the last column is 0 0 0 1"));
    }
    let is_diagonal =
        (0..3).all(|row| (0..3).all(|column| row == column || rows[row][column] == 0.0));
    let [tx, ty, tz, _] = rows[3];
    if is_diagonal {
        put_scale([rows[0][0], rows[1][1], rows[2][2]], [tx, ty, tz], bytes)
    } else {
        put_affine(rows, bytes)
    }
}

fn put_scale(
    scale: [f64; 3],
    translation: [f64; 3],
    bytes: &mut Vec<u8>,
) -> Result<(), (String, &'static str)> {
    let inverse = scale.map(|side| 1.0 / side);
    let inverse_square = inverse.map(|inverse| inverse * inverse);
    if !inverse_square.iter().all(|number| number.is_finite()) {
        let found = format!("its voxels have the sides {scale:?} m");
        return Err((found, "no side of a voxel is 0, nor so small that its square is"));
    }
    let is_uniform = scale[0] == scale[1] && scale[0] == scale[2];
    let is_moved = translation != [0.0; 3];
    put_string(
        match (is_uniform, is_moved) {
            (true, false) => "UniformScaleMap",
            (true, true) => "UniformScaleTranslateMap",
            (false, false) => "ScaleMap",
            (false, true) => "ScaleTranslateMap",
        },
        bytes,
    );
    if is_moved {
        put_doubles(&translation, bytes);
    }
    put_doubles(&scale, bytes);
    put_doubles(&scale.map(f64::abs), bytes);
    put_doubles(&inverse, bytes);
    put_doubles(&inverse_square, bytes);
    put_doubles(&inverse.map(|inverse| inverse / 2.0), bytes);
    Ok(())
}

fn put_affine(rows: &[[f64; 4]; 4], bytes: &mut Vec<u8>) -> Result<(), (String, &'static str)> {
    let [[a, b, c, _], [d, e, f, _], [g, h, i, _], _] = rows;
    let determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
    if !determinant.is_finite() || determinant.abs() < LEAST_DETERMINANT {
        let found = format!("its transform turns or shears, with the determinant {determinant:e}");
        return Err((found, "OpenVDB opens such a transform if that is 3e-15 or more"));
    }
    put_string("AffineMap", bytes);
    rows.iter().for_each(|row| put_doubles(row, bytes));
    Ok(())
}

fn put_doubles(numbers: &[f64], bytes: &mut Vec<u8>) {
    numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(transform: &Transform) -> (String, Vec<f64>) {
        let mut bytes = Vec::new();
        put_transform(transform, &mut bytes).unwrap();
        let length = u32::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
        let name = String::from_utf8(bytes[4..4 + length].to_vec()).unwrap();
        let (numbers, rest) = bytes[4 + length..].as_chunks();
        assert!(rest.is_empty());
        (name, numbers.iter().map(|number| f64::from_le_bytes(*number)).collect())
    }

    #[test]
    fn the_simplest_map_that_is_the_same_is_taken() {
        let (name, numbers) = map(&Transform::uniform(0.5, [0.0; 3]));
        assert_eq!(name, "UniformScaleMap");
        let each = [0.5, 0.5, 2.0, 4.0, 1.0];
        assert_eq!(numbers, each.map(|number| [number; 3]).concat());
        let (name, numbers) = map(&Transform::uniform(1.0, [1.0, 2.0, 3.0]));
        assert_eq!(name, "UniformScaleTranslateMap");
        assert_eq!(numbers[..6], [1.0, 2.0, 3.0, 1.0, 1.0, 1.0]);
        assert_eq!(numbers.len(), 18);
        let (name, numbers) = map(&Transform::scaled([1.0, -2.0, 4.0], [0.0; 3]));
        assert_eq!((name.as_str(), numbers.len()), ("ScaleMap", 15));
        assert_eq!(numbers[3..9], [1.0, 2.0, 4.0, 1.0, -0.5, 0.25]);
        let (name, numbers) = map(&Transform::scaled([1.0, 2.0, 4.0], [0.0, 0.0, 1.0]));
        assert_eq!((name.as_str(), numbers.len()), ("ScaleTranslateMap", 18));
        let mut turned = Transform::uniform(1.0, [5.0, 6.0, 7.0]);
        (turned.rows[0], turned.rows[1]) = ([0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0]);
        let (name, numbers) = map(&turned);
        assert_eq!(name, "AffineMap");
        assert_eq!(numbers, turned.rows.concat());
    }

    #[test]
    fn transforms_that_openvdb_cannot_open_are_refused() {
        let refused =
            |rows: [[f64; 4]; 4]| put_transform(&Transform { rows }, &mut Vec::new()).is_err();
        let good = Transform::uniform(1.0, [0.0; 3]).rows;
        assert!(!refused(good));
        for (row, column, number) in
            [(0, 0, 0.0), (1, 1, f64::NAN), (3, 0, f64::INFINITY), (2, 2, 1e-200), (0, 3, 1.0)]
        {
            let mut rows = good;
            rows[row][column] = number;
            assert!(refused(rows), "{rows:?}");
        }
        // Singular, and as good as singular.
        assert!(refused([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], good[2], good[3]]));
        let small = good.map(|row| row.map(|number| number * 1e-6));
        assert!(!refused([small[0], small[1], small[2], good[3]]));
        assert!(refused([small[1], small[0], small[2], good[3]]));
    }
}
