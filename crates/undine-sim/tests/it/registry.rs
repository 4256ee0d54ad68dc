//! The walk over all stores: what is not finite is found and named, every bit counts, every byte is reported.

use crate::fixtures::{Zoo, full_zoo, on_threads};
use undine_core::ElementType;
use undine_core::element::ScalarType;
use undine_core::glam::{DVec3, IVec3};
pub use undine_core::mesh::ElementClass::Vertex as VERTEX;
use undine_sim::registry::{
    ElementName, NotFinite, Store, StoreDigest, StoreMut, Stores, digests, find_not_finite, memory,
};

/// One place in one channel of one store: the number of the store, of the channel, of the piece or class.
type Place = (usize, usize, usize);

/// Calls `visit` with the bytes of every piece of every channel.
fn each_piece(zoo: &mut Zoo, mut visit: impl FnMut(Place, &str, ElementType, &mut [u8])) {
    let mut number = 0;
    zoo.each_mut(&mut |store| {
        match store {
            StoreMut::Domain(_) => {}
            StoreMut::Particles(store, _) => {
                let slots = store.topology().local();
                for (n, (info, column)) in store.columns_mut().enumerate() {
                    for slot in 0..slots {
                        visit(
                            (number, n, slot),
                            &info.name,
                            info.element,
                            column.chunk_bytes_mut(slot as u32),
                        );
                    }
                }
            }
            StoreMut::Volume(store, _) => {
                let slots = store.topology().local();
                for (n, (info, column)) in store.columns_mut().enumerate() {
                    for slot in 0..slots {
                        visit(
                            (number, n, slot),
                            &info.name,
                            info.element,
                            column.chunk_bytes_mut(slot as u32),
                        );
                    }
                }
            }
            StoreMut::Topological(store) => {
                for (n, (info, column)) in store.columns_mut().enumerate() {
                    visit((number, n, 0), &info.name, info.element, column.bytes_mut());
                }
            }
            StoreMut::Mesh(mesh) => {
                for (place, &class) in mesh.kind().classes().iter().enumerate() {
                    for (n, (info, column)) in mesh.columns_mut(class).unwrap().enumerate() {
                        visit((number, n, place), &info.name, info.element, column.bytes_mut());
                    }
                }
            }
            StoreMut::Flat(channels, _) => {
                for (n, (info, column)) in channels.columns_mut().enumerate() {
                    visit((number, n, 0), &info.name, info.element, column.bytes_mut());
                }
            }
        }
        number += 1;
    });
}

fn label(zoo: &Zoo, number: usize) -> String {
    let (mut at, mut label) = (0, String::new());
    zoo.each(&mut |store| {
        if at == number {
            label = store.label().to_owned();
        }
        at += 1;
    });
    label
}

#[test]
fn a_nan_in_any_channel_is_found_with_name_and_place() {
    let mut zoo = full_zoo(1, 40);
    assert_eq!(find_not_finite(&zoo).unwrap(), None);
    let mut places = Vec::new();
    each_piece(&mut zoo, |place, name, element, bytes| {
        if !element.is_integer() && !bytes.is_empty() {
            places.push((place, name.to_owned(), element, bytes.len()));
        }
    });
    assert!(places.len() > 200, "{}", places.len());
    for (at, name, element, len) in places {
        let double = element.name().starts_with('d') || element == ElementType::F64;
        let scalar = if double { 8 } else { 4 };
        // The last component of the last element of the piece.
        let swap = |zoo: &mut Zoo, value: &[u8]| {
            let mut old = Vec::new();
            each_piece(zoo, |place, _, _, bytes| {
                if place == at {
                    let end = &mut bytes[len - scalar..];
                    old = end.to_vec();
                    end.copy_from_slice(value);
                }
            });
            old
        };
        let nan =
            if double { f64::NAN.to_le_bytes().to_vec() } else { f32::NAN.to_le_bytes().to_vec() };
        let old = swap(&mut zoo, &nan);
        let found = find_not_finite(&zoo).unwrap().unwrap_or_else(|| panic!("{at:?} {name}"));
        assert_eq!((found.channel.as_str(), &found.store), (name.as_str(), &label(&zoo, at.0)));
        assert!(found.value.is_nan());
        let components = element.bytes() / scalar;
        assert_eq!(found.component, (components > 1).then_some(components - 1));
        check_place(&zoo, at, len / element.bytes() - 1, &found);
        swap(&mut zoo, &old);
    }
    assert_eq!(find_not_finite(&zoo).unwrap(), None);
}

/// Whether element and position are those of the element of this number in its piece.
fn check_place(
    zoo: &Zoo,
    (store, _, piece): (usize, usize, usize),
    element: usize,
    found: &NotFinite,
) {
    match store {
        1 => {
            let slot = piece as u32;
            let id = zoo.spray.column(zoo.spray.id()).unwrap().chunk(slot)[element];
            assert_eq!(found.element, ElementName::Particle { id });
            let offset = zoo.spray.column(zoo.spray.position()).unwrap().chunk(slot)[element];
            let (frame, bucket) = (zoo.domain.frame(), zoo.spray.topology().bucket(slot));
            let known = offset.is_finite();
            let place = if known { frame.world(bucket, offset) } else { frame.centre(bucket) };
            assert_eq!(found.position, Some(place));
        }
        2 => {
            let id = zoo.rods.column(zoo.rods.id()).unwrap()[element];
            assert_eq!(found.element, ElementName::Particle { id });
            let position = zoo.rods.column(zoo.rods.position()).unwrap()[element];
            assert_eq!(found.position, position.is_finite().then_some(position));
        }
        3 => {
            let ElementName::Voxel { level, voxel } = found.element else { panic!("{found}") };
            let bucket = zoo.air.topology().bucket(piece as u32);
            let edge = if found.channel == "pressure" { 8 } else { 2 };
            // The last voxel of a Bucket is that of its upper corner.
            assert_eq!((level, voxel), (bucket.level, (bucket.coord + 1) * edge - IVec3::ONE));
            let size = zoo.domain.frame().bucket_size(level) / f64::from(edge);
            let inside = if edge == 8 { DVec3::new(0.5, 0.0, 0.5) } else { DVec3::splat(0.5) };
            let place = zoo.domain.frame().origin() + (voxel.as_dvec3() + inside) * size;
            assert!(found.position.unwrap().distance(place) < 1e-12);
        }
        4..=7 => {
            let mesh = &zoo.meshes[store - 4];
            let class = mesh.kind().classes()[piece];
            assert_eq!(found.element, ElementName::Mesh { class, number: element });
            let bounds = mesh.positions().unwrap();
            let inside = |p: DVec3| p.is_finite() && bounds.iter().any(|v| v.is_finite());
            assert!(found.position.is_none_or(inside));
        }
        _ => assert_eq!((found.element, found.position), (ElementName::Index(element), None)),
    }
}

#[test]
fn an_element_of_a_mesh_is_at_the_middle_of_its_vertices() {
    // The last curve, edge, face and cell of each kind, by number of store and place of class.
    for (store, class, vertices) in [
        (4, 2, &[2, 3, 4][..]),
        (5, 1, &[3, 2]),
        (6, 2, &[4]),
        (6, 3, &[1, 2, 3, 4]),
        (7, 3, &[1, 2, 3, 4]),
    ] {
        let mut zoo = full_zoo(2, 3);
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE];
        for mesh in &mut zoo.meshes {
            mesh.positions_mut().unwrap().copy_from_slice(&corners);
        }
        each_piece(&mut zoo, |(number, _, place), _, element, bytes| {
            if (number, place) == (store, class) && element.scalar() == ScalarType::F32 {
                let end = bytes.len() - 4;
                bytes[end..].copy_from_slice(&f32::INFINITY.to_le_bytes());
            }
        });
        let found = find_not_finite(&zoo).unwrap().unwrap();
        let sum: DVec3 = vertices.iter().map(|&vertex| corners[vertex]).sum();
        let place = found.position.unwrap();
        assert!(place.distance(sum / vertices.len() as f64) < 1e-15, "{found}");
        assert_eq!(found.value, f64::INFINITY);
    }
}

#[test]
fn a_digest_changes_with_any_bit_of_its_channel_and_no_other() {
    let mut zoo = full_zoo(3, 12);
    let before = digests(&zoo).unwrap();
    let mut places = Vec::new();
    each_piece(&mut zoo, |place, _, _, bytes| {
        places.extend((0..8 * bytes.len()).step_by(251).map(|bit| (place, bit)));
    });
    for (at, bit) in places {
        let flip = |zoo: &mut Zoo| {
            each_piece(zoo, |place, _, _, bytes| {
                if place == at {
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
            });
        };
        flip(&mut zoo);
        let after = digests(&zoo).unwrap();
        let changed = |(a, b): (&StoreDigest, &StoreDigest)| {
            assert_eq!(a.structure, b.structure);
            a.channels.iter().zip(&b.channels).filter(|(a, b)| a.digest != b.digest).count()
        };
        let counts: Vec<usize> = before.iter().zip(&after).map(changed).collect();
        assert_eq!((counts[at.0], counts.iter().sum::<usize>()), (1, 1), "{at:?}, bit {bit}");
        flip(&mut zoo);
    }
    assert_eq!(digests(&zoo).unwrap(), before);
}

#[test]
fn digests_and_findings_do_not_depend_on_threads() {
    let zoo = full_zoo(4, 500);
    let digest = |threads| on_threads(threads, || digests(&zoo).unwrap());
    assert_eq!(digest(1), digest(3));
    let velocity = zoo.spray.handle::<f32>("kept f32").unwrap();
    let mut column = zoo.spray.column_mut(velocity).unwrap();
    for slot in 0..zoo.spray.topology().local() as u32 {
        column.chunk_mut(slot).fill(f32::NAN);
    }
    drop(column);
    let find = |threads| on_threads(threads, || find_not_finite(&zoo).unwrap());
    let first = find(1);
    assert!(first.is_some());
    (0..20).for_each(|_| assert_eq!(find(3), first));
}

#[test]
fn a_digest_does_not_depend_on_what_was_there_before() {
    let mut zoo = full_zoo(5, 60);
    let before = digests(&zoo).unwrap();
    // More Buckets, and fewer again: chunks lie elsewhere now.
    let old = zoo.domain.topology().clone();
    zoo.domain.dilate(1).unwrap();
    zoo.air.follow(zoo.domain.topology()).unwrap();
    zoo.domain.set_buckets(old.all()).unwrap();
    zoo.air.follow(zoo.domain.topology()).unwrap();
    assert_eq!(digests(&zoo).unwrap(), before);
}

#[test]
fn the_memory_report_counts_every_channel() {
    let zoo = full_zoo(6, 50);
    let report = memory(&zoo).unwrap();
    assert_eq!(report.len(), 9);
    let spray = &report[1];
    let position = spray.channels.iter().find(|channel| channel.name == "position").unwrap();
    assert_eq!(position.elements, zoo.spray.len() as u64);
    assert_eq!(position.bytes.raw, 12 * zoo.spray.len() as u64);
    let sum: u64 = spray.channels.iter().map(|channel| channel.bytes.raw).sum();
    assert_eq!(sum, spray.total.raw);
    let total: u64 = report.iter().map(|store| store.total.total()).sum();
    assert!(total > 10_000);
    let mut labels = Vec::new();
    zoo.each(&mut |store: Store<'_>| labels.push(store.label().to_owned()));
    assert!(report.iter().map(|store| &store.label).eq(&labels));
}
