//! How long a tree over a large mesh takes to build, to refit and to answer, on one thread or on all.
//!
//! `cargo run --release -p undine-geometry --example closest -- [knot|bunny|sphere] [threads]`

use undine_core::glam::DVec3;
use undine_geometry::{Bvh, Triangles, gallery, random};

const QUERIES: u64 = 1_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let threads = arguments.get(1).and_then(|threads| threads.parse().ok()).unwrap_or(1);
    let mesh = match arguments.first().map_or("knot", String::as_str) {
        "bunny" => gallery::bunny(8),
        "sphere" => gallery::sphere(0.5, 8),
        _ => gallery::knot(0.06, 2500, 200),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| measure(mesh));
}

fn measure(mesh: Triangles) {
    let count = mesh.len();
    let start = processor_seconds();
    let mut bvh = Bvh::new(mesh).expect("made meshes are good");
    println!("build    {count} triangles {:.3} s", processor_seconds() - start);
    let memory = bvh.memory();
    println!(
        "memory   {:.1} bytes per triangle for the tree, {:.1} for the mesh",
        (memory.nodes + memory.leaves) as f64 / count as f64,
        memory.triangles as f64 / count as f64
    );
    let positions = bvh.triangles().positions().to_vec();
    let start = processor_seconds();
    bvh.refit(positions).expect("the same positions");
    println!("refit    {:.3} s", processor_seconds() - start);

    let bounds = bvh.triangles().bounds().expect("triangles");
    let unit = |n| DVec3::from_array([0, 1, 2].map(|seed| random::unit(seed, n)));
    let voxel = bounds.size().max_element() / 256.0;
    let spread: Vec<DVec3> = (0..QUERIES).map(|n| bounds.min + bounds.size() * unit(n)).collect();
    let near: Vec<DVec3> = (0..QUERIES)
        .map(|n| {
            let triangle = random::bits(4, n) % count as u64;
            let [a, b, c] = bvh.triangles().corners(triangle as usize);
            (a + b + c) / 3.0 + (unit(n) - 0.5) * 6.0 * voxel
        })
        .collect();
    for (name, points) in [("spread", &spread), ("near", &near)] {
        for _ in 0..3 {
            let start = processor_seconds();
            let found = bvh.closest_all(points);
            let seconds = processor_seconds() - start;
            let sum: f64 = found.iter().flatten().map(|closest| closest.distance_squared).sum();
            println!("{name:8} {:.2} M/s (sum {sum:.6})", QUERIES as f64 / seconds * 1e-6);
        }
        let start = processor_seconds();
        let sum: f64 = points[..100_000]
            .iter()
            .filter_map(|&at| bvh.closest(at))
            .map(|closest| closest.distance_squared)
            .sum();
        let seconds = processor_seconds() - start;
        println!("{name:8} {:.2} M/s one by one (sum {sum:.6})", 0.1 / seconds);
    }
}

/// The time that all threads have worked [s], which other programs on the machine change little.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |field: usize| fields[field].parse::<f64>().expect("a number of ticks");
    (ticks(11) + ticks(12)) / 100.0
}
