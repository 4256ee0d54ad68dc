//! Matrices of blocks against dense ones.

use crate::dense::{dense, product};
use crate::systems::noise;
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use std::sync::Arc;
use undine_linsolve::gallery::{Held, RodsSetup, elasticity, rods};
use undine_linsolve::krylov::cg;
use undine_linsolve::matrix::{BlockCsr, BlockMatrix, Nodes};
use undine_linsolve::precondition::Jacobi;
use undine_linsolve::{Csr, SolveError, Stop};

/// A random sparse matrix over nodes of random sizes; some nodes have columns only, as copies of foreign ones do.
fn systems() -> impl Strategy<Value = (Csr<f64>, Nodes)> {
    let sizes = prop::collection::vec(prop::sample::select(vec![1, 2, 3, 4, 5, 6]), 1..12);
    (sizes, 0_usize..3, any::<u64>()).prop_map(|(sizes, copies, seed)| {
        let row_nodes = sizes.len().saturating_sub(copies).max(1);
        let rows: usize = sizes[..row_nodes].iter().sum();
        let nodes = Nodes::of_sizes(sizes).unwrap();
        let columns = nodes.rows();
        let random = noise(3 * rows * columns, seed);
        let entries = (0..rows * columns).filter(|&n| random[3 * n] > 0.6);
        let triplets = entries.map(|n| (n / columns, n % columns, random[3 * n + 1]));
        (Csr::from_triplets(rows, columns, triplets).unwrap(), nodes)
    })
}

proptest! {
    #[test]
    fn blocks_hold_the_matrix_and_multiply_like_it((csr, nodes) in systems(), seed in any::<u64>()) {
        let nodes = Arc::new(nodes);
        let blocks = BlockCsr::from_csr(&csr, Arc::clone(&nodes)).unwrap();
        prop_assert_eq!((blocks.rows(), blocks.columns()), (csr.rows(), csr.columns()));
        let truth = dense(&csr);
        prop_assert_eq!(&dense(&blocks.to_csr().unwrap()), &truth);
        for node in 0..blocks.row_nodes() {
            for (column, block) in blocks.row(node) {
                let entries = nodes.range(node).flat_map(|r| nodes.range(column).map(move |c| (r, c)));
                prop_assert!(entries.zip(block).all(|((r, c), &entry)| truth[r][c] == entry));
                prop_assert!(block.iter().any(|&entry| entry != 0.0), "no needless block");
            }
        }
        // The same terms in the same order: the same bits as the scalar product, but for terms that are zero.
        let x = noise(csr.columns(), seed);
        let (mut y, mut scalar) = (vec![0.0; csr.rows()], vec![0.0; csr.rows()]);
        blocks.multiply(&x, &mut y);
        csr.multiply(&x, &mut scalar);
        prop_assert_eq!(&y, &scalar);
        let wanted = product(&truth, &x);
        prop_assert!(y.iter().zip(&wanted).all(|(y, wanted)| (y - wanted).abs() < 1e-13));

        let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        let mut y = vec![0.0_f32; csr.rows()];
        blocks.convert::<f32>().multiply(&x, &mut y);
        prop_assert!(y.iter().zip(&wanted).all(|(y, wanted)| (f64::from(*y) - wanted).abs() < 1e-4));
    }
}

#[test]
fn products_have_the_same_bits_on_any_number_of_threads() {
    let hair = rods(&RodsSetup::of_unknowns(20_000)).unwrap();
    let nodes = Arc::new(Nodes::uniform(hair.positions.len(), 4).unwrap());
    let blocks = BlockCsr::from_csr(&hair.matrix, nodes).unwrap();
    let x = noise(blocks.columns(), 5);
    let on = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut y = vec![0.0; blocks.rows()];
        pool.install(|| blocks.multiply(&x, &mut y));
        let csr = pool.install(|| blocks.to_csr().unwrap());
        (y, csr)
    };
    let alone = on(1);
    assert!([2, 3, 7].into_iter().all(|threads| on(threads) == alone));
    let mut scalar = vec![0.0; blocks.rows()];
    hair.matrix.multiply(&x, &mut scalar);
    assert_eq!(scalar, alone.0);
}

#[test]
fn a_system_of_blocks_is_solved_like_one_of_numbers() {
    let box_ = elasticity([5, 3, 3], 0.3, Held::OneFace).unwrap();
    let nodes = Arc::new(Nodes::uniform(box_.positions.len(), 3).unwrap());
    let blocks = BlockCsr::from_csr(&box_.matrix, nodes).unwrap();
    assert_eq!(blocks.diagonal_blocks().flatten().count(), box_.positions.len());
    let system = BlockMatrix::single(blocks).unwrap();
    let b = noise(box_.matrix.rows(), 9);
    let mut x = vec![0.0; b.len()];
    let mut jacobi = Jacobi::new(&system.to_matrix().unwrap()).unwrap();
    let report = cg(&system, &mut jacobi, &b, &mut x, &Stop::relative(1e-10)).unwrap();
    assert!(report.converged(), "{report}");
    let residual = product(&dense(&box_.matrix), &x);
    assert!(residual.iter().zip(&b).all(|(ax, b)| (ax - b).abs() < 1e-8));
}

#[test]
fn blocks_that_are_none_are_refused() {
    let nodes = Arc::new(Nodes::of_sizes([1, 3]).unwrap());
    let new = |starts: &[u32], indices: &[u32], values: Vec<f64>| {
        BlockCsr::new(Arc::clone(&nodes), starts.to_vec(), indices.to_vec(), values)
    };
    assert_eq!(new(&[0, 2, 3], &[0, 1, 1], vec![1.0; 13]).unwrap().blocks(), 3);
    let error = new(&[0, 1, 2], &[0, 2], vec![1.0; 10]).unwrap_err();
    assert!(error.to_string().contains("row 1 of the matrix has column 2"), "{error}");
    let error = new(&[0, 2, 3], &[0, 1, 1], vec![1.0; 12]).unwrap_err();
    assert!(matches!(error, SolveError::WrongLength { found: 12, wanted: 13, .. }), "{error}");
    let mut values = vec![1.0; 13];
    values[7] = f64::NAN;
    let error = new(&[0, 2, 3], &[0, 1, 1], values).unwrap_err();
    assert!(matches!(error, SolveError::EntryNotFinite { row: 2, column: 1, .. }), "{error}");
    let error = new(&[0, 1, 2, 2], &[0, 1], vec![1.0; 10]).unwrap_err();
    assert_eq!(error, SolveError::NotSquare { rows: 3, columns: 2 });
    let error = Nodes::of_sizes([3, 0, 1]).unwrap_err();
    assert!(error.to_string().contains("the size of node 1 is 0"), "{error}");
    let csr = Csr::from_triplets(3, 4, [(0, 0, 1.0)]).unwrap();
    assert!(matches!(BlockCsr::from_csr(&csr, nodes), Err(SolveError::WrongLength { .. })));
}
