//! The same bits for any number of threads.

use super::shapes::{box_of_tetrahedra, icosphere, torus};
use glam::Vec3Swizzles;
use undine_core::mesh::{NormalWeight, Surface};

/// Everything that is computed on several threads, as one list of bits.
fn fingerprint() -> Vec<u64> {
    let mut bits = Vec::new();
    let surface_bits = |surface: &Surface, bits: &mut Vec<u64>| {
        let vectors = surface.vertex_normals(NormalWeight::Angle).unwrap();
        let more = surface.face_vector_areas().unwrap();
        bits.extend(vectors.iter().chain(&more).flat_map(|v| v.to_array()).map(f64::to_bits));
        bits.extend(surface.edge_lengths().unwrap().into_iter().map(f64::to_bits));
        let totals = [surface.area(), surface.volume(), surface.length()];
        bits.extend(totals.map(|total| total.unwrap().to_bits()));
        let edges = surface.connectivity().edges();
        let tables =
            edges.ends().as_flattened().iter().chain(edges.of_use()).chain(edges.uses().items());
        bits.extend(tables.map(|&entry| u64::from(entry)));
        let triangulation = surface.triangulate().unwrap();
        bits.extend(triangulation.triangles().iter().flatten().map(|&vertex| u64::from(vertex)));
    };
    surface_bits(&icosphere(4), &mut bits);
    surface_bits(&torus(0.3, 70, 40), &mut bits);

    let mut body = box_of_tetrahedra(9, |vertex, p| p + p.yzx() * (vertex % 7) as f64 * 0.01);
    bits.push(body.volume().unwrap().to_bits());
    surface_bits(&body.boundary().unwrap().surface, &mut bits);
    body.positions_mut().unwrap().reverse();
    let faults = body.faults(3000).unwrap();
    assert_eq!(faults.len(), 3000);
    bits.extend(faults.iter().flat_map(|fault| fault.to_string().into_bytes()).map(u64::from));
    bits
}

#[test]
fn every_result_has_the_same_bits_for_any_number_of_threads() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(fingerprint)
    };
    let one = on(1);
    for threads in [2, 3, 7] {
        assert!(on(threads) == one, "{threads} threads give other bits than one");
    }
}
