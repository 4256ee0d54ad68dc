//! Many pairs at once.

use super::cases::{self, Dice};
use super::judge::{Case, Kind};
use undine_core::glam::DVec3;
use undine_core::{Frame, MemoryBudget};
use undine_geometry::GeometryError;
use undine_geometry::ccd::{
    Contact, Gap, MovingVertices, PairContact, edge_edge, edge_edge_all, mix, point_triangle,
    point_triangle_all,
};

type One = fn([DVec3; 4], [DVec3; 4], Gap) -> undine_geometry::Result<Option<Contact>>;
type All = fn(MovingVertices<'_>, &[[u32; 4]], Gap) -> undine_geometry::Result<Vec<PairContact>>;

const BOTH: [(Kind, One, All); 2] = [
    (Kind::PointTriangle, point_triangle, point_triangle_all),
    (Kind::EdgeEdge, edge_edge, edge_edge_all),
];

/// Sheets that pass through each other, and the candidates of both kinds.
fn sheets(quads: u32, far: DVec3, gap: Gap) -> (mix::PassingSheets, [Vec<[u32; 4]>; 2]) {
    let sheets = mix::passing_sheets(quads, far, 3);
    let frame = Frame::new(far, 0.01).unwrap();
    let found = sheets.candidates(frame, gap, &MemoryBudget::unlimited()).unwrap();
    (sheets, [found.point_triangle, found.edge_edge])
}

#[test]
fn all_pairs_of_passing_sheets_are_answered_as_one_by_one() {
    let gap = Gap::new(1e-4, 1e-6).unwrap();
    for far in [DVec3::ZERO, DVec3::new(1e4, 1e4, -1e4)] {
        let (sheets, pairs) = sheets(60, far, gap);
        let motion = sheets.motion().unwrap();
        for ((kind, one, all), pairs) in BOTH.into_iter().zip(&pairs) {
            let hits = all(motion, pairs, gap).unwrap();
            let rate = hits.len() as f64 / pairs.len() as f64;
            println!("{kind:?}: {} candidates, {:.2} % hit", pairs.len(), 100.0 * rate);
            assert!((0.01..0.1).contains(&rate), "{rate}");
            let mut hits = hits.into_iter().peekable();
            for (number, pair) in pairs.iter().enumerate() {
                let [start, end] =
                    [&sheets.start, &sheets.end].map(|x| pair.map(|v| x[v as usize]));
                let hit = hits.next_if(|hit| hit.pair == number).map(|hit| hit.contact);
                assert_eq!(hit, one(start, end, gap).unwrap(), "{kind:?} {number}");
                // Every fifth is held against samples: what the filter drops does not meet.
                if hit.is_none() && number % 5 == 0 {
                    let case = Case { start, end };
                    assert!(case.first_within(kind, gap.separation(), 16).is_err(), "{case:?}");
                }
            }
            assert_eq!(hits.next(), None);
        }
    }
}

#[test]
fn all_pairs_of_hard_families_are_answered_as_one_by_one() {
    let families: [fn(&mut Dice) -> Case; 5] =
        [cases::anywhere, cases::short_steps, cases::on_a_grid, cases::in_one_plane, |dice| {
            cases::meeting(dice, Kind::EdgeEdge).0
        }];
    for (number, family) in families.into_iter().enumerate() {
        let some: Vec<Case> = (0..8_000).map(|n| family(&mut Dice::new(43, n))).collect();
        let start: Vec<DVec3> = some.iter().flat_map(|case| case.start).collect();
        let end: Vec<DVec3> = some.iter().flat_map(|case| case.end).collect();
        let motion = MovingVertices::new(&start, &end).unwrap();
        let pairs: Vec<[u32; 4]> =
            (0..some.len() as u32).map(|n| [0, 1, 2, 3].map(|k| 4 * n + k)).collect();
        for gap in [
            Gap::new(0.0, 0.0).unwrap(),
            Gap::new(0.1, 1e-6).unwrap(),
            Gap::new(0.5, 0.01).unwrap(),
        ] {
            for (kind, one, all) in BOTH {
                let mut hits = all(motion, &pairs, gap).unwrap().into_iter().peekable();
                for (n, case) in some.iter().enumerate() {
                    let hit = hits.next_if(|hit| hit.pair == n).map(|hit| hit.contact);
                    let wanted = one(case.start, case.end, gap).unwrap();
                    assert_eq!(hit, wanted, "family {number}, {kind:?} {case:?} {gap:?}");
                }
            }
        }
    }
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let gap = Gap::new(1e-3, 1e-6).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (sheets, pairs) = sheets(40, DVec3::ZERO, gap);
            let hits = BOTH.map(|(kind, _, all)| {
                all(sheets.motion().unwrap(), &pairs[kind as usize], gap).unwrap()
            });
            (pairs, hits)
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(7));
}

#[test]
fn any_number_of_pairs_fits_the_lanes() {
    let gap = Gap::default();
    let start = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.2, 0.2, 1.0)];
    let end = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.2, 0.2, -1.0)];
    let motion = MovingVertices::new(&start, &end).unwrap();
    for count in 0..10 {
        let hits = point_triangle_all(motion, &vec![[3, 0, 1, 2]; count], gap).unwrap();
        assert_eq!(hits.len(), count);
        for (number, hit) in hits.iter().enumerate() {
            assert_eq!(hit.pair, number);
            assert!((hit.contact.time - 0.5).abs() < 1e-6 && hit.contact.normal == DVec3::Z);
        }
    }
}

#[test]
fn bad_motions_and_pairs_are_refused_with_their_numbers() {
    let good = [DVec3::ZERO; 4];
    let mut bad = good;
    bad[2].y = f64::NAN;
    assert!(matches!(
        MovingVertices::new(&good, &bad),
        Err(GeometryError::VertexNotFinite { vertex: 2, .. })
    ));
    bad[2].y = 1e200;
    assert!(matches!(MovingVertices::new(&bad, &good), Err(GeometryError::BadParameter { .. })));
    assert!(matches!(
        MovingVertices::new(&good, &good[1..]),
        Err(GeometryError::WrongLength { .. })
    ));
    let motion = MovingVertices::new(&good, &good).unwrap();
    let error = edge_edge_all(motion, &[[0, 1, 2, 3], [0, 9, 1, 2]], Gap::default()).unwrap_err();
    assert_eq!(error.to_string(), "pair 1 refers to vertex 9, but there are only 4");
    assert!(edge_edge_all(motion, &[], Gap::default()).unwrap().is_empty());
    assert!(point_triangle(bad, good, Gap::default()).is_err());
    for wrong in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(Gap::new(wrong, 0.0).is_err() && Gap::new(0.0, wrong).is_err());
    }
}
