//! Vertices at which parts of a Body only touch, taken apart.
//!
//! Where a solid is thinner than the lattice can tell, warping may bring two of its parts together in a vertex or
//! an edge, though no tetrahedra of theirs share a face. Each part gets a vertex of its own at the same
//! place, so that the boundary does not run into itself there.

use rayon::prelude::*;
use undine_core::glam::DVec3;

/// Gives each group of tetrahedra around a vertex that no faces connect a vertex of its own, for the vertices that are
/// marked. New vertices come after all others, in the order of those they copy.
pub(super) fn separate(positions: &mut Vec<DVec3>, cells: &mut [[u32; 4]], marked: &mut Vec<bool>) {
    let uses = uses(cells, marked);
    let stars: Vec<&[(u32, u32)]> = uses.chunk_by(|a, b| a.0 == b.0).collect();
    let apart: Vec<(u32, Vec<u32>)> = {
        let cells = &*cells;
        stars.par_iter().flat_map_iter(|star| groups(star, cells)).collect()
    };
    for (vertex, group) in apart {
        let copy = positions.len() as u32;
        positions.push(positions[vertex as usize]);
        marked.push(true);
        for cell in group {
            cells[cell as usize] =
                cells[cell as usize].map(|corner| if corner == vertex { copy } else { corner });
        }
    }
}

/// The edges with more than two faces of the boundary, ascending, the lower vertex first. Both ends are marked.
pub(super) fn pinched(cells: &[[u32; 4]], marked: &[bool]) -> Vec<[u32; 2]> {
    let uses = uses(cells, marked);
    let stars: Vec<&[(u32, u32)]> = uses.chunk_by(|a, b| a.0 == b.0).collect();
    let around = |star: &&[(u32, u32)]| {
        let faces = faces(star, cells);
        // Faces of the boundary have one tetrahedron.
        let alone = faces.chunk_by(|a, b| a.0 == b.0).filter(|faces| faces.len() == 1);
        let mut ends: Vec<u32> = alone.flat_map(|faces| faces[0].0).collect();
        ends.sort_unstable();
        let vertex = star[0].0;
        let pinched = |ends: &&[u32]| ends.len() > 2 && ends[0] > vertex;
        ends.chunk_by(|a, b| a == b)
            .filter(pinched)
            .map(|ends| [vertex, ends[0]])
            .collect::<Vec<_>>()
    };
    stars.par_iter().flat_map_iter(around).collect()
}

/// Marked vertices and the tetrahedra that have them, ascending.
fn uses(cells: &[[u32; 4]], marked: &[bool]) -> Vec<(u32, u32)> {
    let mut uses: Vec<(u32, u32)> = (0..)
        .zip(cells)
        .flat_map(|(cell, corners)| corners.map(|vertex| (vertex, cell)))
        .filter(|&(vertex, _)| marked[vertex as usize])
        .collect();
    uses.par_sort_unstable();
    uses
}

/// The faces at a vertex, by their other corners, ascending, each with the number of a tetrahedron in the star.
fn faces(star: &[(u32, u32)], cells: &[[u32; 4]]) -> Vec<([u32; 2], usize)> {
    let mut faces = Vec::with_capacity(3 * star.len());
    for (number, &(vertex, cell)) in star.iter().enumerate() {
        let mut others = cells[cell as usize];
        others.sort_unstable_by_key(|&corner| (corner == vertex, corner));
        let [a, b, c, _] = others;
        faces.extend([([a, b], number), ([a, c], number), ([b, c], number)]);
    }
    faces.sort_unstable();
    faces
}

/// The tetrahedra of each group around a vertex but the first, ascending.
fn groups(star: &[(u32, u32)], cells: &[[u32; 4]]) -> Vec<(u32, Vec<u32>)> {
    let faces = faces(star, cells);
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
