//! Velocities that a VDB file has beside its level set.

use super::{graph, node, text};
use std::path::Path;
use undine_core::glam::{DMat3, DVec3, Vec3};
use undine_core::volume::{Interpolation, Sampler};
use undine_geometry::Solid;
use undine_geometry::levelset::LevelSet;
use undine_io::UpAxis;
use undine_sim::input::Geometry;
use undine_vdb::write::{Compression, encode_grid, write_file};
use undine_vdb::{Class, Content, Entry, Grid, LeafMask, Metadata, Transform, Tree, VOXELS};

const RADIUS: f64 = 0.5;

/// A velocity that changes linearly, so that interpolation finds it exactly [m/s].
fn velocity(at: DVec3) -> DVec3 {
    let slope = DMat3::from_cols_array(&[1.0, -2.0, 0.5, 0.3, 0.7, -1.1, 2.0, 0.0, -0.4]);
    DVec3::new(0.2, -0.1, 3.0) + slope * at
}

/// Leaves that fill ± 1 m, with a value for the place of each voxel's centre [m].
fn tree<V: undine_vdb::Value>(voxel: f64, background: V, value: impl Fn(DVec3) -> V) -> Tree<V> {
    let mut tree = Tree::new(background);
    let leaves = (1.0 / (8.0 * voxel)).ceil() as i32;
    for n in 0..(2 * leaves).pow(3) {
        let side = 2 * leaves;
        let origin = [n / (side * side), n / side % side, n % side].map(|c| 8 * (c - leaves));
        let at = |v: usize, axis: usize| f64::from(origin[axis]) + (v >> (6 - 3 * axis) & 7) as f64;
        let values: [V; VOXELS] = std::array::from_fn(|v| {
            value(DVec3::from([0, 1, 2].map(|axis| voxel * (at(v, axis) + 0.5))))
        });
        tree.leaves.push(origin, LeafMask::ALL, &values);
    }
    tree
}

/// Voxels along the axes of the simulation, as a file with this axis up says it.
fn grid(name: &str, class: Class, voxel: f64, content: Content, up: UpAxis) -> Grid {
    let row = |vector: DVec3, last: f64| {
        let [x, y, z] = up.to_file(voxel * vector).to_array();
        [x, y, z, last]
    };
    let [x, y, z] = DVec3::AXES.map(|axis| row(axis, 0.0));
    let transform = Transform { rows: [x, y, z, row(DVec3::splat(0.5), 1.0)] };
    let (metadata, saved_as_half) = (Metadata::new(), false);
    Grid { name: name.to_owned(), class, transform, saved_as_half, metadata, content }
}

/// A ball, as narrow bands are: leaves that the surface does not touch are left out.
fn ball(voxel: f64, up: UpAxis) -> Grid {
    let width = 3.0 * voxel;
    let whole = tree(voxel, width as f32, |at| (at.length() - RADIUS).clamp(-width, width) as f32);
    let mut band = Tree::new(width as f32);
    for (leaf, values) in whole.leaves.values.chunks(VOXELS).enumerate() {
        if values.iter().any(|distance| f64::from(distance.abs()) < 0.99 * width) {
            let values: &[f32; VOXELS] = values.try_into().unwrap();
            band.leaves.push(whole.leaves.origins[leaf], LeafMask::ALL, values);
        }
    }
    grid("surface", Class::LevelSet, voxel, Content::Float(band), up)
}

fn load(file: &Path) -> Result<std::sync::Arc<LevelSet>, String> {
    let load = node("load", &[("file", text(&file.display().to_string()))]);
    match graph(vec![load]).evaluate("it", 0.0) {
        Ok(data) => match &data.geometry {
            Geometry::LevelSet(set) => Ok(set.clone()),
            other => Err(format!("{other:?}")),
        },
        Err(error) => Err(error.to_string()),
    }
}

fn save(file: &Path, up: UpAxis, grids: &[Grid]) {
    let mut metadata = Metadata::new();
    metadata.insert("up_axis".to_owned(), Entry::String(up.word().to_owned()));
    let encoded: Vec<_> =
        grids.iter().map(|grid| encode_grid(grid, Compression::default()).unwrap()).collect();
    write_file(file, &metadata, &encoded, false).unwrap();
}

#[test]
fn a_level_set_brings_the_velocities_beside_it_deep_inside_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flow.vdb");
    // Components on faces are told along the file's own axes, so that there is no such file with another axis up.
    let kinds = [
        (UpAxis::Y, 0.05, Class::Staggered),
        (UpAxis::Y, 0.07, Class::Staggered),
        (UpAxis::Y, 0.05, Class::Unknown),
        (UpAxis::Z, 0.05, Class::Unknown),
    ];
    for (up, voxel, class) in kinds {
        let on_face = |at: DVec3, axis: usize| {
            let face = at - 0.5 * voxel * DVec3::AXES[axis];
            velocity(face)[axis] as f32
        };
        let values = tree(voxel, [0.0; 3], |at| match class {
            Class::Staggered => [0, 1, 2].map(|axis| on_face(at, axis)),
            _ => up.to_file(velocity(at)).as_vec3().to_array(),
        });
        let flow = grid("vel", class, voxel, Content::Vec3s(values), up);
        save(&file, up, &[ball(0.05, up), flow]);
        let set = load(&file).unwrap();
        let handle = set.volume().handle::<Vec3>("v").unwrap();
        let column = set.volume().column(handle).unwrap();
        let sampler = Sampler::new(&column, set.topology(), Interpolation::Linear);
        for at in [DVec3::ZERO, DVec3::new(0.31, -0.2, 0.1), DVec3::new(0.02, 0.48, 0.03)] {
            let (slot, offset) = sampler.locate(at).unwrap();
            let found = sampler.at(slot, offset).as_dvec3();
            assert!((found - velocity(at)).length() < 1e-5, "{up:?} {class:?} {at}: {found}");
            let distances = set.column().unwrap();
            let wanted = (at.length() - RADIUS).max(-0.15);
            assert!((set.sampler(&distances).distance(at) - wanted).abs() < 5e-3, "{at}");
        }
    }
}

#[test]
fn velocities_of_voxels_far_too_large_are_refused_with_the_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flow.vdb");
    let coarse = tree(40.0, [1.0; 3], |_| [1.0; 3]);
    save(
        &file,
        UpAxis::Y,
        &[
            ball(0.05, UpAxis::Y),
            grid("vel", Class::Unknown, 40.0, Content::Vec3s(coarse), UpAxis::Y),
        ],
    );
    let error = load(&file).unwrap_err();
    assert!(error.contains("grid `vel`") && error.contains("voxels of about one size"), "{error}");
}
