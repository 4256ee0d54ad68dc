//! Matrix Market files: read as published, written to the last bit, refused by line.

use crate::dense::dense;
use crate::systems::{laplacian, noise};
use proptest::prelude::*;
use undine_linsolve::matrix::market::{
    Written, matrix_text, parse_matrix, parse_vector, read_matrix, vector_text,
};
use undine_linsolve::{Csr, SolveError};

fn refusal(text: &str) -> String {
    parse_matrix(text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn every_kind_of_file_is_read() {
    let truth = |text: &str| dense(&parse_matrix(text.as_bytes()).unwrap());
    let general = "%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 3 3\n1 1 1.5\n\n\
                   % another\n2 3 -2e3\n1 2 .25\n";
    let wanted = vec![vec![1.5, 0.25, 0.0], vec![0.0, 0.0, -2000.0]];
    assert_eq!(truth(general), wanted);
    assert_eq!(truth(&general.replace('\n', "\r\n")), wanted, "line ends of Windows");
    assert_eq!(truth(&general.to_uppercase().replace("2E3", "2D+03")), wanted, "Fortran");
    assert_eq!(truth(general.trim_end()), wanted, "no end of the last line");
    let symmetric = "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 4\n2 1 -1\n";
    assert_eq!(truth(symmetric), [[4.0, -1.0], [-1.0, 0.0]]);
    let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n";
    assert_eq!(truth(skew), [[0.0, -3.0], [3.0, 0.0]]);
    let pattern = "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 2\n";
    assert_eq!(truth(pattern), [[0.0, 1.0], [0.0, 1.0]]);
    let array = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";
    assert_eq!(truth(array), [[1.0, 3.0], [2.0, 4.0]]);
    let array = "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n";
    assert_eq!(truth(array), [[1.0, 2.0], [2.0, 3.0]]);
    let array = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n";
    assert_eq!(truth(array), [[0.0, -1.0, -2.0], [1.0, 0.0, -3.0], [2.0, 3.0, 0.0]]);
    let twice = "%%MatrixMarket matrix coordinate real general\n1 1 3\n1 1 1\n1 1 2\n1 1 4\n";
    assert_eq!(truth(twice), [[7.0]], "entries of the same place are added");
}

#[test]
fn refusals_name_the_line_and_what_would_be_right() {
    let real = "%%MatrixMarket matrix coordinate real";
    let cases = [
        ("", "line 1 is ``, but must be `%%MatrixMarket matrix FORMAT FIELD SYMMETRY`"),
        ("%%MatrixMarket tensor array real general", "says the object is `tensor`"),
        ("%%MarketMatrix matrix array real general", "not with `%%MatrixMarket`"),
        ("%%MatrixMarket matrix lists real general", "must say `coordinate` or `array`"),
        ("%%MatrixMarket matrix array complex general", "complex matrices are not read"),
        ("%%MatrixMarket matrix array real hermitian", "line 1 says `hermitian`"),
        (
            "%%MatrixMarket matrix array quaternion general",
            "must say `real`, `integer` or `pattern`",
        ),
        ("%%MatrixMarket matrix array pattern general", "an array has values"),
        ("%%MatrixMarket matrix array real odd", "must say `general`, `symmetric`"),
        ("%%MatrixMarket matrix array real general\n% only this\n", "line 3 is behind the last"),
        ("%%MatrixMarket matrix array real general\n2 2 2\n", "line 2 has 3 numbers"),
        ("%%MatrixMarket matrix array real general\n1 2\n1\n", "row 1 and column 2 is missing"),
        (
            &format!("{real} general\n2 -2 1\n"),
            "line 2 has `-2`, but must be `rows columns entries`",
        ),
        (
            &format!("{real} general\n2 2 2\n1 1 1\n"),
            "line 4 is behind the last, but 1 of 2 entries",
        ),
        (
            &format!("{real} general\n2 2 1\n1 1\n"),
            "line 3 is `1 1`, but must be `row column value`",
        ),
        (&format!("{real} general\n2 2 1\n3 1 1\n"), "line 3 has row `3`, but must have 1 … 2"),
        (&format!("{real} general\n2 2 1\n1 0 1\n"), "line 3 has column `0`, but must have 1 … 2"),
        (
            &format!("{real} general\n2 2 1\n1 1 one\n"),
            "has the value `one`, but must have a finite",
        ),
        (&format!("{real} general\n2 2 1\n1 1 NaN\n"), "has the value `NaN`"),
        (&format!("{real} general\n2 2 1\n1 1 1e999\n"), "has the value `1e999`"),
        (
            &format!("{real} general\n1 1 1\n1 1 1\n2 2 2\n"),
            "line 4 has `2 2 2` behind the last entry",
        ),
        (&format!("{real} symmetric\n2 3 0\n"), "a symmetric matrix is square"),
        (&format!("{real} symmetric\n2 2 1\n1 2 1\n"), "line 3 has entry (1, 2)"),
        (&format!("{real} skew-symmetric\n2 2 1\n1 1 1\n"), "those below the diagonal"),
        ("%%MatrixMarket matrix array integer general\n1 1\n1.5\n", "must have a whole number"),
    ];
    for (text, wanted) in cases {
        let found = refusal(text);
        assert!(found.contains(wanted), "{found:?} has no {wanted:?}");
    }
    let error = read_matrix("there/is/no.mtx".as_ref()).unwrap_err();
    assert!(matches!(error, SolveError::NotReadable { .. }), "{error}");
}

#[test]
fn a_header_that_claims_too_much_costs_no_memory() {
    let coordinate = "%%MatrixMarket matrix coordinate real general\n";
    let found = refusal(&format!("{coordinate}3 3 1000000000000\n1 1 1\n"));
    assert!(found.contains("999999999999 of 1000000000000 entries are missing"), "{found}");
    let found = refusal(&format!("{coordinate}4000000000 1 1\n1 1 1\n"));
    assert!(found.contains("line 2 claims 4000000000 rows"), "{found}");
    let found = refusal(&format!("{coordinate}1000000000000 1 1\n1 1 1\n"));
    assert!(found.contains("is 1000000000000, but must be fewer"), "{found}");
    let found = refusal(&format!("{coordinate}99999999999999999999999 1 1\n1 1 1\n"));
    assert!(found.contains("line 2 has `99999999999999999999999`"), "{found}");
    for sizes in ["4000000000 4000000000", "4000000000 1"] {
        let array = format!("%%MatrixMarket matrix array real general\n{sizes}\n1\n");
        assert!(refusal(&array).contains("is missing"));
        assert!(parse_vector(array.as_bytes()).is_err());
    }
    // Columns without rows are no work either.
    let empty = "%%MatrixMarket matrix array real general\n0 4000000000\n";
    assert_eq!(parse_matrix(empty.as_bytes()).unwrap().entries(), 0);
}

#[test]
fn only_a_symmetric_matrix_is_written_as_one() {
    let matrix = laplacian(3);
    let (all, half) = (
        matrix_text(&matrix, Written::General).unwrap(),
        matrix_text(&matrix, Written::Symmetric).unwrap(),
    );
    assert!(half.lines().count() < all.lines().count());
    assert_eq!(parse_matrix(half.as_bytes()).unwrap(), matrix);
    let uneven = Csr::from_triplets(2, 2, [(0, 1, 1.0)]).unwrap();
    let error = matrix_text(&uneven, Written::Symmetric).unwrap_err();
    assert!(matches!(error, SolveError::NotSymmetric { row: 0, column: 1, .. }), "{error}");
}

/// Any finite number, tiny and huge ones included.
fn finite() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite())
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_to_the_last_bit(
        rows in 1_usize..9,
        columns in 1_usize..9,
        entries in prop::collection::btree_map((0_usize..9, 0_usize..9), finite(), 0..30),
        vector in prop::collection::vec(finite(), 0..20),
    ) {
        let entries = entries.into_iter().filter(|((row, column), _)| *row < rows && *column < columns);
        let matrix =
            Csr::from_triplets(rows, columns, entries.map(|((r, c), value)| (r, c, value))).unwrap();
        let text = matrix_text(&matrix, Written::General).unwrap();
        let back = parse_matrix(text.as_bytes()).unwrap();
        prop_assert_eq!(&back, &matrix);
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(back.values()), bits(matrix.values()));
        let back = parse_vector(vector_text(&vector).as_bytes()).unwrap();
        // A sum with 0 turns −0 into 0, which is the same number.
        prop_assert_eq!(back, vector);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _outcome = parse_matrix(&bytes);
        let with_banner = [b"%%MatrixMarket matrix coordinate real general\n", &bytes[..]].concat();
        let _outcome = parse_matrix(&with_banner);
    }
}

#[test]
fn a_damaged_file_is_read_or_refused_but_never_panics() {
    let files = [
        matrix_text(&laplacian(2), Written::Symmetric).unwrap(),
        matrix_text(&laplacian(2), Written::General).unwrap(),
        vector_text(&noise(10, 1)),
    ];
    let bytes = b"0123456789 -+.eEdD\n\r%nainf\0\xff";
    for (file, seed) in files.iter().zip(1..) {
        let random = noise(30_000, seed);
        let pick = |n: usize, of: usize| ((random[n] + 1.0) / 2.0 * of as f64) as usize % of;
        for n in (0..random.len() - 9).step_by(9) {
            let mut damaged = file.clone().into_bytes();
            for edit in 0..1 + pick(n, 3) {
                if damaged.is_empty() {
                    break;
                }
                let at = pick(n + 1 + edit, damaged.len());
                match pick(n + 4 + edit, 4) {
                    0 => damaged[at] = bytes[pick(n + 6 + edit, bytes.len())],
                    1 => damaged.insert(at, bytes[pick(n + 6 + edit, bytes.len())]),
                    2 => drop(damaged.remove(at)),
                    _ => damaged.truncate(at),
                }
            }
            if let Ok(matrix) = parse_matrix(&damaged) {
                assert!(matrix.values().iter().all(|value| value.is_finite()));
            }
            let _outcome = parse_vector(&damaged);
        }
    }
}
