//! Assembly against a dense sum, on threads and on processes.

use crate::dense::dense;
use crate::systems::noise;
use crate::threads::on_processes;
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use std::sync::Arc;
use undine_linsolve::matrix::{Assembly, Element, Elements, NodeRows, Nodes, Pattern};
use undine_linsolve::{Operator, SolveError};

/// Some elements on nodes among all: those with rows of ∇C and those with a matrix.
#[derive(Debug, Clone)]
struct Plan {
    sizes: Vec<usize>,
    elements: Vec<(Vec<u32>, usize)>,
}

fn plans() -> impl Strategy<Value = Plan> {
    let sizes = prop::collection::vec(prop::sample::select(vec![1, 2, 3, 4, 6]), 1..14);
    sizes.prop_flat_map(|sizes| {
        let nodes = prop::collection::vec(0..sizes.len() as u32, 1..4);
        let elements = prop::collection::vec((nodes, 0_usize..4), 0..25);
        elements.prop_map(move |mut elements| {
            for (nodes, _) in &mut elements {
                nodes.sort_unstable();
                nodes.dedup();
            }
            Plan { sizes: sizes.clone(), elements }
        })
    })
}

/// The values of an element: pull, stiffness, gradient, or force and matrix, symmetric.
fn values(element: usize, step: u64, lengths: [usize; 3]) -> [Vec<f64>; 3] {
    let of = |n: u64, length| noise(length, 1000 * step + 10 * element as u64 + n + 1);
    [of(0, lengths[0]), of(1, lengths[1]), of(2, lengths[2])]
}

fn symmetric(mut matrix: Vec<f64>, n: usize) -> Vec<f64> {
    for i in 0..n {
        for j in 0..i {
            matrix[i * n + j] = matrix[j * n + i];
        }
    }
    matrix
}

/// Fills elements whose number among all is `numbers[n]`.
fn fill(elements: &mut Elements, numbers: &[usize], step: u64) {
    elements.fill(|n, element| match element {
        Element::Rows { pull, stiffness, gradient } => {
            let lengths = [pull.len(), stiffness.len(), gradient.len()];
            let [new_p, new_s, new_g] = values(numbers[n], step, lengths);
            stiffness.copy_from_slice(&symmetric(new_s, pull.len()));
            pull.copy_from_slice(&new_p);
            gradient.copy_from_slice(&new_g);
        }
        Element::Dense { force, matrix } => {
            let [new_f, new_m, _] = values(numbers[n], step, [force.len(), matrix.len(), 0]);
            matrix.copy_from_slice(&symmetric(new_m, force.len()));
            force.copy_from_slice(&new_f);
        }
    });
}

fn elements(plan: &Plan, nodes: &Arc<Nodes>) -> Elements {
    let mut elements = Elements::new(nodes);
    for (touched, rows) in &plan.elements {
        match rows {
            0 => elements.add_dense(touched).unwrap(),
            _ => elements.add_rows(touched, *rows).unwrap(),
        }
    }
    elements
}

/// The truth: matrix and force by plain sums.
fn summed(plan: &Plan, step: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let nodes = Nodes::of_sizes(plan.sizes.iter().copied()).unwrap();
    let mut matrix = vec![vec![0.0; nodes.rows()]; nodes.rows()];
    let mut force = vec![0.0; nodes.rows()];
    for (n, (touched, r)) in plan.elements.iter().enumerate() {
        let rows: Vec<usize> =
            touched.iter().flat_map(|&node| nodes.range(node as usize)).collect();
        let (k, r) = (rows.len(), *r);
        let (m, f) = if r == 0 {
            let [f, m, _] = values(n, step, [k, k * k, 0]);
            (symmetric(m, k), f)
        } else {
            let [pull, s, g] = values(n, step, [r, r * r, r * k]);
            let s = symmetric(s, r);
            let pairs = || (0..r * r).map(|pq| (pq / r, pq % r));
            let entry = |i: usize, j: usize| {
                pairs().map(|(p, q)| g[p * k + i] * s[p * r + q] * g[q * k + j]).sum()
            };
            let m = (0..k * k).map(|ij| entry(ij / k, ij % k)).collect();
            let force = |i: usize| (0..r).map(|p| -g[p * k + i] * pull[p]).sum();
            (m, (0..k).map(force).collect())
        };
        for (i, &row) in rows.iter().enumerate() {
            force[row] += f[i];
            for (j, &column) in rows.iter().enumerate() {
                matrix[row][column] += m[i * k + j];
            }
        }
    }
    (matrix, force)
}

fn near(found: &[f64], wanted: &[f64]) -> bool {
    found.len() == wanted.len()
        && found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_assembled_matrix_is_the_sum_of_all_elements(plan in plans()) {
        let nodes = NodeRows::single(Nodes::of_sizes(plan.sizes.iter().copied()).unwrap());
        let mut elements = elements(&plan, nodes.nodes());
        let numbers: Vec<usize> = (0..plan.elements.len()).collect();
        let mut assembly = Assembly::new(nodes);
        for step in 0..2 {
            fill(&mut elements, &numbers, step);
            let pattern = assembly.assemble(&[&elements]).unwrap();
            prop_assert_eq!(pattern == Pattern::Reused, step > 0);
            let (matrix, force) = summed(&plan, step);
            let csr = assembly.matrix().unwrap().blocks().to_csr().unwrap();
            csr.check_symmetric(0.0).unwrap();
            let found = dense(&csr);
            prop_assert!(found.iter().zip(&matrix).all(|(found, wanted)| near(found, wanted)));
            prop_assert!(near(assembly.force(), &force));
        }
    }

    /// Elements are dealt out to processes by any rule; rows of foreign nodes travel to their owner.
    #[test]
    fn processes_assemble_the_same_matrix_together(plan in plans(), count in 1_usize..5, seed in 0_u64..9) {
        let numbers: Vec<usize> = (0..plan.elements.len()).collect();
        let (matrix, force) = summed(&plan, 3);
        let all = Nodes::of_sizes(plan.sizes.iter().copied()).unwrap();
        let x = noise(all.rows(), seed);
        let wanted = crate::dense::product(&matrix, &x);
        let first = |rank: usize| rank * plan.sizes.len() / count;

        let parts = on_processes(count, |processes| {
            let rank = processes.rank();
            let own: Vec<usize> =
                numbers.iter().copied().filter(|n| (n * 7 + seed as usize) % count == rank).collect();
            let range = first(rank)..first(rank + 1);
            let mut foreign: Vec<u64> =
                own.iter().flat_map(|&n| &plan.elements[n].0).map(|&node| u64::from(node)).collect();
            foreign.retain(|&node| !range.contains(&(node as usize)));
            foreign.sort_unstable();
            foreign.dedup();
            let local = Nodes::of_sizes(plan.sizes[range].iter().copied()).unwrap();
            let nodes = NodeRows::distributed(processes, &local, &foreign).unwrap();
            let here = |&node: &u32| nodes.find(u64::from(node)).unwrap() as u32;
            let elements_here = own
                .iter()
                .map(|&n| (plan.elements[n].0.iter().map(here).collect(), plan.elements[n].1))
                .collect();
            let part = Plan { sizes: Vec::new(), elements: elements_here };
            let mut elements = elements(&part, nodes.nodes());
            let mut assembly = Assembly::new(nodes);
            for step in [2, 3] {
                fill(&mut elements, &own, step);
                let _pattern = assembly.assemble(&[&elements]).unwrap();
            }
            let matrix = assembly.matrix().unwrap();
            let rows = matrix.rows();
            let mut x_here = vec![0.0; rows.stored()];
            let start = rows.first() as usize;
            x_here[..rows.local()].copy_from_slice(&x[start..start + rows.local()]);
            let mut y = vec![0.0; rows.local()];
            matrix.apply(&mut x_here, &mut y).unwrap();
            (y, assembly.force().to_vec())
        });
        let found: Vec<f64> = parts.iter().flat_map(|(y, _)| y).copied().collect();
        let found_force: Vec<f64> = parts.iter().flat_map(|(_, force)| force).copied().collect();
        prop_assert!(near(&found, &wanted), "{:?} {:?}", found, wanted);
        prop_assert!(near(&found_force, &force));
    }
}

/// A chain of nodes of alternating size with an element between each two, and long ones across.
fn chain(count: u32) -> Plan {
    let sizes = (0..count).map(|n| [1, 3, 4, 6][n as usize % 4]).collect();
    let mut elements: Vec<(Vec<u32>, usize)> = (1..count).map(|n| (vec![n - 1, n], 2)).collect();
    elements.extend((0..count / 2).map(|n| (vec![n, count - 1 - n, (n * 7) % count], 1)));
    elements.extend((0..count).map(|n| (vec![n], 0)));
    Plan { sizes, elements }
}

#[test]
fn assembly_has_the_same_bits_on_any_number_of_threads() {
    let plan = chain(3000);
    let numbers: Vec<usize> = (0..plan.elements.len()).collect();
    let on = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let nodes = NodeRows::single(Nodes::of_sizes(plan.sizes.iter().copied()).unwrap());
            let mut elements = elements(&plan, nodes.nodes());
            let mut assembly = Assembly::new(nodes);
            fill(&mut elements, &numbers, 1);
            let _pattern = assembly.assemble(&[&elements]).unwrap();
            (assembly.matrix().unwrap().blocks().clone(), assembly.force().to_vec())
        })
    };
    let alone = on(1);
    assert!([2, 3, 7].into_iter().all(|threads| on(threads) == alone));
}

#[test]
fn a_changed_pattern_is_found_and_named() {
    let nodes = NodeRows::single(Nodes::uniform(4, 3).unwrap());
    let sizes = Arc::clone(nodes.nodes());
    let list = |pairs: &[[u32; 2]]| {
        let mut elements = Elements::new(&sizes);
        pairs.iter().for_each(|pair| elements.add_rows(pair, 1).unwrap());
        elements
    };
    let (springs, contacts) = (list(&[[0, 1], [1, 2], [2, 3]]), list(&[[0, 3], [1, 3]]));
    let mut assembly = Assembly::new(nodes);
    assert!(assembly.matrix().is_none());
    let first = Pattern::Rebuilt { change: None };
    assert_eq!(assembly.assemble(&[&springs, &contacts]).unwrap(), first);
    assert_eq!(assembly.assemble(&[&springs, &contacts]).unwrap(), Pattern::Reused);
    // Equal elements in other memory are the same pattern.
    assert_eq!(assembly.assemble(&[&springs, &list(&[[0, 3], [1, 3]])]).unwrap(), Pattern::Reused);
    for (contacts, change) in [
        (list(&[[0, 3], [0, 2]]), (1, 1)),
        (list(&[[0, 3], [0, 2], [1, 3]]), (1, 2)),
        (list(&[[0, 3]]), (1, 1)),
    ] {
        let pattern = assembly.assemble(&[&springs, &contacts]).unwrap();
        assert_eq!(pattern, Pattern::Rebuilt { change: Some(change) });
    }
    let mut contacts = list(&[[0, 3]]);
    contacts.clear();
    assert_eq!(contacts.count(), 0);
    contacts.add_rows(&[0, 3], 1).unwrap();
    assert_eq!(assembly.assemble(&[&springs, &contacts]).unwrap(), Pattern::Reused);
    let pattern = assembly.assemble(&[&springs]).unwrap();
    assert_eq!(pattern, Pattern::Rebuilt { change: Some((1, 0)) });
    assert_eq!(assembly.matrix().unwrap().blocks().blocks(), 4 + 2 * 3);
}

#[test]
fn bad_elements_are_refused_by_number() {
    let nodes = NodeRows::single(Nodes::of_sizes([3, 4]).unwrap());
    let mut elements = Elements::new(nodes.nodes());
    elements.add_rows(&[0, 1], 1).unwrap();
    let error = elements.add_rows(&[0, 2], 1).unwrap_err();
    assert_eq!(error.to_string(), "element 1 touches node 2, but there are 2");
    let error = elements.add_dense(&[]).unwrap_err();
    assert_eq!(error.to_string(), "element 1 touches no node; it needs one or more");
    let error = elements.add_rows(&[0], 0).unwrap_err();
    assert_eq!(error.to_string(), "element 1 has no row of C; it needs one or more");
    elements.add_dense(&[1]).unwrap();
    elements.fill(|_, element| {
        if let Element::Dense { matrix, .. } = element {
            matrix[5] = f64::NAN;
        }
    });
    let mut assembly = Assembly::new(nodes);
    let error = assembly.assemble(&[&elements]).unwrap_err();
    assert_eq!(error.to_string(), "element 1 has the value NaN");
    let other = Elements::new(&Arc::new(Nodes::uniform(5, 1).unwrap()));
    let error = assembly.assemble(&[&other]).unwrap_err();
    assert!(matches!(error, SolveError::WrongLength { found: 5, wanted: 2, .. }), "{error}");
}
