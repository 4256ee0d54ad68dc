//! Manybodies: blocks of every shape, blocks that are not positive definite, and CG on the whole.

use crate::direct::dense_solve;
use crate::systems::{distance, laplacian, noise, share};
use crate::threads::on_processes;
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use std::ops::Range;
use std::sync::Arc;
use undine_linsolve::manybodies::{BandMemory, Bands, Blocks, Manybodies, manybodies_solve};
use undine_linsolve::matrix::{Assembly, Element, Elements, NodeRows, Nodes};
use undine_linsolve::{Csr, Matrix, Preconditioner, SolveError, Stop};

type Triplets = Vec<(usize, usize, f64)>;

/// A chain of `n` unknowns that couple over up to `reach`: a rod, more or less.
fn chain(first: usize, n: usize, reach: usize, seed: u64) -> Triplets {
    let values = noise(n * reach, seed);
    let mut triplets = Vec::new();
    let mut diagonal = vec![0.1; n];
    for i in 0..n {
        for step in 1..=reach.min(n - 1 - i) {
            let value = values[i * reach + step - 1];
            let (row, column) = (first + i, first + i + step);
            triplets.extend([(row, column, value), (column, row, value)]);
            diagonal[i] += value.abs();
            diagonal[i + step] += value.abs();
        }
    }
    triplets
        .extend(diagonal.into_iter().enumerate().map(|(i, value)| (first + i, first + i, value)));
    triplets
}

/// Contacts between random unknowns of different blocks: k·(x − y)².
fn contacts(triplets: &mut Triplets, n: usize, count: usize, k: f64) {
    let places = noise(2 * count, 77);
    let place = |x: f64| ((x + 1.0) * 0.499 * n as f64) as usize;
    for pair in places.chunks(2) {
        let (i, j) = (place(pair[0]), place(pair[1]));
        if i != j {
            triplets.extend([(i, i, k), (j, j, k), (i, j, -k), (j, i, -k)]);
        }
    }
}

/// Chains of several lengths and widths, tied together.
fn bundle(lengths: &[usize], reach: usize) -> (Matrix, Blocks) {
    let mut triplets = Vec::new();
    let mut ranges = Vec::new();
    let mut first = 0;
    for (n, &length) in lengths.iter().enumerate() {
        triplets.extend(chain(first, length, reach, n as u64 + 1));
        ranges.push(first..first + length);
        first += length;
    }
    contacts(&mut triplets, first, first / 4, 0.5);
    let csr = Csr::from_triplets(first, first, triplets).unwrap();
    (Matrix::single(csr).unwrap(), Blocks::ranges(&ranges))
}

/// The matrix with all entries between blocks left out.
fn block_diagonal(csr: &Csr<f64>, blocks: &Blocks) -> Csr<f64> {
    let mut block_of = vec![usize::MAX; csr.rows()];
    for block in 0..blocks.len() {
        blocks.rows(block).iter().for_each(|&row| block_of[row as usize] = block);
    }
    let mut triplets = Vec::new();
    for row in 0..csr.rows() {
        let (columns, values) = csr.row(row);
        for (&column, &value) in columns.iter().zip(values) {
            let column = column as usize;
            let alone = block_of[row] == usize::MAX;
            if row == column || (!alone && block_of[row] == block_of[column]) {
                triplets.push((row, column, value));
            }
        }
    }
    Csr::from_triplets(csr.rows(), csr.rows(), triplets).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn applying_it_solves_every_block(
        lengths in prop::collection::vec(1_usize..40, 1..14),
        reach in 1_usize..12,
        shuffled in any::<bool>(),
    ) {
        let (matrix, blocks) = bundle(&lengths, reach);
        let n = matrix.csr().rows();
        // Rows of a block in any order, the first block left out.
        let blocks = if shuffled {
            Blocks::lists((1..blocks.len()).map(|block| {
                let mut rows = blocks.rows(block).to_vec();
                rows.sort_by_key(|&row| u64::from(row).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                rows
            }))
        } else {
            blocks
        };
        let mut manybodies = Manybodies::new(&matrix, &blocks).unwrap();
        prop_assert!(manybodies.fallbacks().is_empty());
        let r = noise(n, 3);
        let mut z = vec![0.0; n];
        manybodies.apply(&r, &mut z).unwrap();
        let wanted = dense_solve(&block_diagonal(matrix.csr(), &blocks), &r);
        let size = wanted.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        for (z, wanted) in z.iter().zip(&wanted) {
            // Single precision is enough for a preconditioner.
            prop_assert!((z - wanted).abs() <= 1e-4 * size, "{} {}", z, wanted);
        }
    }
}

/// Bands, wide blocks and a body of many rows in one system.
fn mixed() -> (Matrix, Blocks) {
    let mut triplets = Vec::new();
    let mut ranges = Vec::new();
    let mut first = 0;
    for n in 0..30 {
        let length = 20 + n % 5;
        triplets.extend(chain(first, length, 7, n as u64));
        ranges.push(first..first + length);
        first += length;
    }
    for _ in 0..3 {
        let body = laplacian(9);
        for row in 0..body.rows() {
            let (columns, values) = body.row(row);
            let entries = columns.iter().zip(values);
            triplets.extend(entries.map(|(&c, &v)| (first + row, first + c as usize, v)));
        }
        ranges.push(first..first + body.rows());
        first += body.rows();
    }
    contacts(&mut triplets, first, 200, 2.0);
    let csr = Csr::from_triplets(first, first, triplets).unwrap();
    (Matrix::single(csr).unwrap(), Blocks::ranges(&ranges))
}

#[test]
fn cg_with_manybodies_solves_the_whole_system() {
    let (matrix, blocks) = mixed();
    let n = matrix.csr().rows();
    let b = noise(n, 1);
    let mut x = vec![0.0; n];
    let report = manybodies_solve(&matrix, &blocks, &b, &mut x, &Stop::relative(1e-10)).unwrap();
    assert!(report.converged() && report.notes.is_empty(), "{report}");
    assert!(report.preconditioner.contains("3 sparse"), "{report}");
    let mut ax = vec![0.0; n];
    matrix.csr().multiply(&x, &mut ax);
    let off: f64 = ax.iter().zip(&b).map(|(ax, b)| (ax - b).powi(2)).sum();
    assert!(off.sqrt() <= 1e-9 * b.iter().map(|b| b * b).sum::<f64>().sqrt());
}

#[test]
fn blocks_alone_are_solved_in_one_step() {
    let (matrix, blocks) = mixed();
    let matrix = Matrix::single(block_diagonal(matrix.csr(), &blocks)).unwrap();
    let n = matrix.csr().rows();
    let mut x = vec![0.0; n];
    let stop = Stop::relative(1e-4);
    let report = manybodies_solve(&matrix, &blocks, &noise(n, 2), &mut x, &stop).unwrap();
    assert!(report.converged() && report.iterations <= 2, "{report}");
}

/// Blocks that nothing ties to each other are solved by their factors alone, to all digits, whatever their shape.
#[test]
fn direct_factors_solve_blocks_to_rounding() {
    let (tied, blocks) = mixed();
    let alone = Matrix::single(block_diagonal(tied.csr(), &blocks)).unwrap();
    let wanted = noise(alone.csr().rows(), 5);
    let mut b = vec![0.0; wanted.len()];
    alone.csr().multiply(&wanted, &mut b);
    let off = |mut factors: Manybodies| {
        let mut x = vec![0.0; wanted.len()];
        factors.apply(&b, &mut x).unwrap();
        assert!(factors.fallbacks().is_empty());
        distance(&x, &wanted)
    };
    let direct = off(Manybodies::direct(&alone, &blocks).unwrap());
    assert!(direct < 1e-12, "{direct}");
    // As a preconditioner, single precision does for most.
    let enough = off(Manybodies::new(&alone, &blocks).unwrap());
    assert!(enough > 1e3 * direct, "{enough}");
    // New values keep the precision.
    let mut factors = Manybodies::direct(&tied, &blocks).unwrap();
    factors.refactor(&alone).unwrap();
    let again = off(factors);
    assert!(again < 1e-12, "{again}");
}

#[test]
fn manybodies_has_the_same_bits_on_any_number_of_threads() {
    let (matrix, blocks) = mixed();
    let n = matrix.csr().rows();
    let b = noise(n, 5);
    let solve = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut x = vec![0.0; n];
            let report = manybodies_solve(&matrix, &blocks, &b, &mut x, &Stop::default()).unwrap();
            assert!(report.converged());
            x.into_iter().map(f64::to_bits).collect::<Vec<_>>()
        })
    };
    let alone = solve(1);
    for threads in [2, 3, 7] {
        assert!(solve(threads) == alone, "{threads} threads");
    }
}

#[test]
fn new_values_and_even_a_new_pattern_are_taken_in() {
    let (matrix, blocks) = mixed();
    let n = matrix.csr().rows();
    let mut csr = matrix.csr().clone();
    csr.values_mut().iter_mut().for_each(|value| *value *= 3.0);
    let scaled = Matrix::single(csr).unwrap();
    // One more entry inside of a block, outside of its band.
    let mut triplets: Triplets = Vec::new();
    for row in 0..n {
        let (columns, values) = matrix.csr().row(row);
        triplets.extend(columns.iter().zip(values).map(|(&c, &v)| (row, c as usize, v)));
    }
    triplets.extend([(0, 19, -0.05), (19, 0, -0.05)]);
    let wider = Matrix::single(Csr::from_triplets(n, n, triplets).unwrap()).unwrap();

    let r = noise(n, 6);
    let mut kept = Manybodies::new(&matrix, &blocks).unwrap();
    for matrix in [&scaled, &wider, &matrix] {
        kept.refactor(matrix).unwrap();
        let mut anew = Manybodies::new(matrix, &blocks).unwrap();
        let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
        kept.apply(&r, &mut x).unwrap();
        anew.apply(&r, &mut y).unwrap();
        for (x, y) in x.iter().zip(&y) {
            assert!((x - y).abs() <= 1e-4 * y.abs().max(1.0), "{x} {y}");
        }
    }
}

#[test]
fn a_block_that_is_not_positive_definite_is_shifted_and_named() {
    for body in [false, true] {
        let (matrix, blocks) = mixed();
        let n = matrix.csr().rows();
        let block = if body { 31 } else { 7 };
        let row = blocks.rows(block)[5] as usize;
        let mut triplets: Triplets = Vec::new();
        for row in 0..n {
            let (columns, values) = matrix.csr().row(row);
            triplets.extend(columns.iter().zip(values).map(|(&c, &v)| (row, c as usize, v)));
        }
        // A little below zero on the diagonal.
        let diagonal = matrix.csr().get(row, row);
        triplets.push((row, row, -diagonal - 1e-3));
        let matrix = Matrix::single(Csr::from_triplets(n, n, triplets).unwrap()).unwrap();
        let mut manybodies = Manybodies::new(&matrix, &blocks).unwrap();
        let fallbacks = manybodies.fallbacks();
        assert_eq!(fallbacks.len(), 1, "{fallbacks:?}");
        assert_eq!(fallbacks[0].block, block);
        assert!(fallbacks[0].pivot <= 0.0 && fallbacks[0].shift > 0.0);
        assert!(blocks.rows(block).contains(&(fallbacks[0].row as u32)));
        // It is still a positive definite preconditioner.
        for seed in 0..4 {
            let r = noise(n, seed);
            let mut z = vec![0.0; n];
            manybodies.apply(&r, &mut z).unwrap();
            assert!(r.iter().zip(&z).map(|(r, z)| r * z).sum::<f64>() > 0.0);
        }
    }
}

#[test]
fn cg_converges_although_blocks_had_to_be_shifted() {
    // Chains and a closed box that float freely: semi-definite, solved for a right-hand side that pushes none of them away.
    let mut triplets: Triplets = Vec::new();
    let mut ranges = Vec::new();
    let mut spring = |i: usize, j: usize| {
        triplets.extend([(i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)]);
    };
    for chain in 0..10 {
        let first = 30 * chain;
        (first..first + 29).for_each(|i| spring(i, i + 1));
        ranges.push(first..first + 30);
    }
    let side = 8;
    for i in 0..side * side * side {
        let at = [i / (side * side), i / side % side, i % side];
        for (axis, step) in [side * side, side, 1].into_iter().enumerate() {
            if at[axis] + 1 < side {
                spring(300 + i, 300 + i + step);
            }
        }
    }
    ranges.push(300..300 + side * side * side);
    let n = 300 + side * side * side;
    let matrix = Matrix::single(Csr::from_triplets(n, n, triplets).unwrap()).unwrap();
    let blocks = Blocks::ranges(&ranges);
    let mut b = noise(n, 9);
    for range in ranges {
        let mean = b[range.clone()].iter().sum::<f64>() / range.len() as f64;
        b[range].iter_mut().for_each(|b| *b -= mean);
    }
    let fallbacks = Manybodies::new(&matrix, &blocks).unwrap().fallbacks().to_vec();
    assert_eq!(fallbacks.len(), 11, "{fallbacks:?}");
    let mut x = vec![0.0; n];
    let report = manybodies_solve(&matrix, &blocks, &b, &mut x, &Stop::relative(1e-8)).unwrap();
    assert!(report.converged() && report.iterations < 20, "{report}");
    assert!(report.notes[0].contains("11 blocks are not positive definite"), "{report}");
}

#[test]
fn rows_without_a_block_and_empty_blocks_are_fine() {
    let csr = laplacian(3);
    let matrix = Matrix::single(csr).unwrap();
    let b = noise(27, 1);
    for blocks in [
        Blocks::default(),
        Blocks::ranges(&[]),
        Blocks::ranges(&[3..9, 5..5, 20..27]),
        Blocks::lists([vec![26, 0, 13], vec![]]),
    ] {
        let mut x = vec![0.0; 27];
        let report = manybodies_solve(&matrix, &blocks, &b, &mut x, &Stop::default()).unwrap();
        assert!(report.converged(), "{report}");
    }
    let empty = Matrix::single(Csr::from_triplets(0, 0, []).unwrap()).unwrap();
    let report =
        manybodies_solve(&empty, &Blocks::default(), &[], &mut [], &Stop::default()).unwrap();
    assert!(report.converged());
}

#[test]
fn rows_that_do_not_exist_or_come_twice_are_refused() {
    let matrix = Matrix::single(laplacian(2)).unwrap();
    for (blocks, said) in [
        (Blocks::ranges(&[0..4, 4..9]), "a row of block 1 is 8"),
        (Blocks::ranges(&[0..4, 3..8]), "a row of block 1 is 3"),
    ] {
        let error = Manybodies::new(&matrix, &blocks).unwrap_err();
        assert!(matches!(error, SolveError::BadValue { .. }));
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn several_processes_factor_their_own_rows() {
    let (whole, blocks) = bundle(&[30; 24], 6);
    let n = whole.csr().rows();
    let b = noise(n, 4);
    let mut wanted = vec![0.0; n];
    let stop = Stop::relative(1e-10);
    assert!(manybodies_solve(&whole, &blocks, &b, &mut wanted, &stop).unwrap().converged());
    for count in [2, 3] {
        // Both cut the rods between two of them.
        let found = on_processes(count, |processes| {
            let (matrix, own) = share(&processes, whole.csr());
            let rods: Vec<_> = (0..own.len() / 30).map(|rod| 30 * rod..30 * rod + 30).collect();
            let mut x = vec![0.0; own.len()];
            let blocks = Blocks::ranges(&rods);
            let report = manybodies_solve(&matrix, &blocks, &b[own], &mut x, &stop).unwrap();
            assert!(report.converged(), "{report}");
            x
        });
        assert!(distance(&found.concat(), &wanted) < 1e-7, "{count} processes");
    }
}

/// Chains of vertices with a turn each: the nodes, and the rows of each chain.
fn chains(lengths: &[usize]) -> (NodeRows, Vec<Range<usize>>) {
    let vertices: usize = lengths.iter().sum();
    let nodes = NodeRows::single(Nodes::of_sizes([3, 1].repeat(vertices)).unwrap());
    let mut first = 0;
    let rows = lengths.iter().map(|length| {
        first += 4 * length;
        first - 4 * length..first
    });
    (nodes, rows.collect())
}

/// Elements of chains: inertia, springs with matrices of their own, and rows on five nodes, as rods have them.
fn elements_of(nodes: &Arc<Nodes>, chains: &[Range<usize>]) -> Vec<Elements> {
    let mut lists = vec![Elements::new(nodes); 3];
    let mut seeds = vec![Vec::new(); 3];
    for rows in chains {
        let (first, end) = (rows.start as u32 / 2, rows.end as u32 / 2);
        for node in (first..end).step_by(2) {
            lists[0].add_dense(&[node, node + 1]).unwrap();
            seeds[0].push(u64::from(node));
            if node + 2 < end {
                // Not in the order of rows.
                lists[1].add_dense(&[node + 2, node]).unwrap();
                seeds[1].push(u64::from(node) + 1000);
            }
            if node + 4 < end {
                lists[2].add_rows(&[node, node + 1, node + 2, node + 3, node + 4], 2).unwrap();
                seeds[2].push(u64::from(node) + 2000);
            }
        }
    }
    for (elements, seeds) in lists.iter_mut().zip(&seeds) {
        elements.fill(|n, values| match values {
            Element::Dense { force, matrix } => {
                let k = force.len();
                force.copy_from_slice(&noise(k, seeds[n]));
                let a = noise(k, seeds[n] + 500);
                for (at, entry) in matrix.iter_mut().enumerate() {
                    let (i, j) = (at / k, at % k);
                    *entry = a[i] * a[j] + if i == j { 1.0 } else { 0.0 };
                }
            }
            Element::Rows { pull, stiffness, gradient } => {
                pull.copy_from_slice(&noise(2, seeds[n]));
                stiffness.copy_from_slice(&[5.0, 0.5, 0.5, 3.0]);
                gradient.copy_from_slice(&noise(gradient.len(), seeds[n] + 500));
            }
        });
    }
    lists
}

/// What is added up, factored and solved Object by Object is what the matrix of all of them says.
#[test]
fn bands_solve_what_the_whole_matrix_says() {
    let lengths = [7, 3, 9, 8, 2, 8, 7, 9, 8, 7, 30];
    let (nodes, objects) = chains(&lengths);
    let mut assembly = Assembly::new(nodes.clone());
    let all = elements_of(nodes.nodes(), &objects);
    assembly.assemble(&all.iter().collect::<Vec<_>>()).unwrap();
    let matrix = assembly.matrix().unwrap().to_matrix().unwrap();

    let batches = Bands::batches(&objects.iter().map(Range::len).collect::<Vec<_>>());
    assert!(batches.iter().all(|batch| batch.len() <= 8));
    assert_eq!(batches.iter().map(Vec::len).sum::<usize>(), lengths.len());
    let mut memory = BandMemory::default();
    let mut x = vec![0.0; matrix.csr().rows()];
    for batch in &batches {
        let own: Vec<Range<usize>> = batch.iter().map(|&n| objects[n as usize].clone()).collect();
        let lists = elements_of(nodes.nodes(), &own);
        let mut bands = Bands::new(nodes.nodes(), own.clone(), &lists).unwrap();
        let report = bands.solve(&lists, &mut memory).unwrap();
        assert!(report.is_sound && report.residual <= 1e-24 * report.force, "{report:?}");
        for (place, rows) in own.iter().enumerate() {
            let (force, found): (Vec<f64>, Vec<f64>) =
                bands.solved(place).map(|[force, x]| (force, x)).unzip();
            x[rows.clone()].copy_from_slice(&found);
            assert!(distance(&force, &assembly.force()[rows.clone()]) < 1e-13);
            // The rows of L have the diagonal of L·Lᵀ for the squares of their lengths.
            for row in 0..rows.len() {
                let entries: Vec<f64> = bands.factor_row(place, row).collect();
                let (inverse, left) = entries.split_last().unwrap();
                let square = left.iter().map(|l| l * l).sum::<f64>() + inverse.powi(-2);
                let (columns, values) = matrix.csr().row(rows.start + row);
                let own = columns.iter().position(|&c| c as usize == rows.start + row).unwrap();
                assert!((square - values[own]).abs() < 1e-12 * square);
            }
        }
    }
    for (row, force) in assembly.force().iter().enumerate() {
        let (columns, values) = matrix.csr().row(row);
        let product: f64 = columns.iter().zip(values).map(|(&c, v)| v * x[c as usize]).sum();
        assert!((product - force).abs() < 1e-11, "{row}: {product} {force}");
    }
}

#[test]
fn objects_that_are_tied_or_wide_are_no_bands() {
    let (nodes, objects) = chains(&[4, 4, 40]);
    let refused = |touched: &[u32]| {
        let mut tie = Elements::new(nodes.nodes());
        tie.add_dense(touched).unwrap();
        Bands::new(nodes.nodes(), objects.clone(), &[tie]).is_none()
    };
    assert!(!refused(&[0, 6]) && refused(&[0, 8]) && refused(&[16, 40]));
}

/// A matrix that has no factor is told of, and solved by somebody else.
#[test]
fn bands_that_are_not_positive_definite_are_told_of() {
    let (nodes, objects) = chains(&[3]);
    let mut lists = elements_of(nodes.nodes(), &objects);
    lists[0].fill(|n, values| {
        if let Element::Dense { matrix, .. } = values
            && n == 1
        {
            matrix[0] = -100.0;
        }
    });
    let mut bands = Bands::new(nodes.nodes(), objects, &lists).unwrap();
    assert!(!bands.solve(&lists, &mut BandMemory::default()).unwrap().is_sound);
}
