//! Vertices at which parts of a Body only touch, taken apart.
//!
//! Where a solid is thinner than the lattice can tell, warping may bring two of its parts together in a vertex or
//! an edge, though no tetrahedra of theirs share a face. Each part gets a vertex of its own at the same
//! place, so that the boundary does not run into itself there.

use rayon::prelude::*;
use undine_core::glam::DVec3;

/// Gives each group of tetrahedra around a vertex that no faces connect a vertex of its own, for the vertices that are
/// marked. New vertices come after all others, in the order of those they copy.
pub(super) fn separate(positions: &mut Vec<DVec3>, cells: &mut [[u32; 4]], marked: &[bool]) {
    let mut uses: Vec<(u32, u32)> = (0..)
        .zip(cells.iter())
        .flat_map(|(cell, corners)| corners.map(|vertex| (vertex, cell)))
        .filter(|&(vertex, _)| marked[vertex as usize])
        .collect();
    uses.par_sort_unstable();
    let stars: Vec<&[(u32, u32)]> = uses.chunk_by(|a, b| a.0 == b.0).collect();
    let apart: Vec<(u32, Vec<u32>)> = {
        let cells = &*cells;
        stars.par_iter().flat_map_iter(|star| groups(star, cells)).collect()
    };
    for (vertex, group) in apart {
        let copy = positions.len() as u32;
        positions.push(positions[vertex as usize]);
        for cell in group {
            cells[cell as usize] =
                cells[cell as usize].map(|corner| if corner == vertex { copy } else { corner });
        }
    }
}

/// The tetrahedra of each group around a vertex but the first, ascending.
fn groups(star: &[(u32, u32)], cells: &[[u32; 4]]) -> Vec<(u32, Vec<u32>)> {
    // The faces at the vertex, by their other corners, and the tetrahedron's number in the star.
    let mut faces: Vec<([u32; 2], usize)> = Vec::with_capacity(3 * star.len());
    for (number, &(vertex, cell)) in star.iter().enumerate() {
        let mut others = cells[cell as usize];
        others.sort_unstable_by_key(|&corner| (corner == vertex, corner));
        let [a, b, c, _] = others;
        faces.extend([([a, b], number), ([a, c], number), ([b, c], number)]);
    }
    faces.sort_unstable();

    // The lowest tetrahedron of each group stands for it.
    let mut first: Vec<usize> = (0..star.len()).collect();
    let find = |first: &[usize], mut number: usize| {
        while first[number] != number {
            number = first[number];
        }
        number
    };
    for pair in faces.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let [a, b] = [find(&first, pair[0].1), find(&first, pair[1].1)];
        first[a.max(b)] = a.min(b);
    }
    (1..star.len())
        .filter(|&number| first[number] == number)
        .map(|number| {
            let group = (number..star.len()).filter(|&other| find(&first, other) == number);
            (star[0].0, group.map(|other| star[other].1).collect())
        })
        .collect()
}
