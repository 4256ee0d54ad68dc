//! One pair at a time.

use super::cases::{self, Dice};
use super::judge::{Case, Kind};
use undine_core::glam::DVec3;
use undine_geometry::ccd::{Contact, Gap, edge_edge, point_triangle};

const KINDS: [Kind; 2] = [Kind::PointTriangle, Kind::EdgeEdge];

fn ask(kind: Kind, case: &Case, gap: Gap) -> Option<Contact> {
    match kind {
        Kind::PointTriangle => point_triangle(case.start, case.end, gap).unwrap(),
        Kind::EdgeEdge => edge_edge(case.start, case.end, gap).unwrap(),
    }
}

/// How often pairs met and were reported, and how well.
#[derive(Debug, Default)]
struct Tally {
    cases: u32,
    met: u32,
    reported: u32,
    /// Reported, though they never come within reach.
    false_positives: u32,
    /// Reported at a time when they are not yet within reach, and the most that was missing, as a fraction of the extent.
    early: u32,
    earliest: f64,
}

impl Tally {
    /// Holds an answer against samples: never none, nor late, where there is contact.
    fn judge(&mut self, kind: Kind, case: &Case, gap: Gap, samples: u32) {
        let found = ask(kind, case, gap);
        let extent = case.extent();
        self.cases += 1;
        self.reported += u32::from(found.is_some());
        // What is nearer than rounding can tell is a contact too.
        let truth = case.first_within(kind, gap.separation() + 2e-15 * extent, samples);
        if let Ok(time) = truth {
            self.met += 1;
            let contact =
                found.unwrap_or_else(|| panic!("missed at {time}: {kind:?} {case:?} {gap:?}"));
            assert!(
                contact.time <= time,
                "late: {} > {time} {kind:?} {case:?} {gap:?}",
                contact.time
            );
        }
        let Some(contact) = found else { return };
        let reach = gap.separation() + gap.tolerance().max(1e-12 * extent);
        let beyond = case.distance(kind, contact.time) - reach;
        if beyond > 0.0 {
            self.early += 1;
            self.earliest = self.earliest.max(beyond / extent);
        }
        self.false_positives += u32::from(truth.is_err_and(|least| least > reach) && beyond > 0.0);
        check_parts(kind, case, &contact);
    }

    /// Holds the tally against what is promised: no false positives, and early reports only of the degenerate.
    fn is_tight(&self) {
        assert_eq!(self.false_positives, 0, "{self:?}");
        assert!(self.early <= self.cases / 3000 && self.earliest < 1e-7, "{self:?}");
    }
}

/// The weights give the gap, and sum to one over the first primitive and minus one over the second.
fn check_parts(kind: Kind, case: &Case, contact: &Contact) {
    assert!((0.0..=1.0).contains(&contact.time) && (contact.normal.length() - 1.0).abs() < 1e-12);
    let (x, w) = (case.at(contact.time), contact.weights);
    let gap: DVec3 = (0..4).map(|k| x[k] * w[k]).sum();
    assert!((gap.length() - contact.distance).abs() <= 1e-10 * case.extent(), "{case:?}");
    let split = match kind {
        Kind::PointTriangle => 1,
        Kind::EdgeEdge => 2,
    };
    let (first, second) = w.split_at(split);
    assert!((first.iter().sum::<f64>() - 1.0).abs() < 1e-10, "{w:?}");
    assert!((second.iter().sum::<f64>() + 1.0).abs() < 1e-10, "{w:?}");
    assert!(first.iter().all(|&w| w >= 0.0) && second.iter().all(|&w| w <= 0.0), "{w:?}");
}

fn run(
    name: &str,
    count: u64,
    samples: u32,
    gap: impl Fn(&mut Dice) -> Gap,
    make: impl Fn(&mut Dice) -> Case,
) -> Tally {
    let mut tally = Tally::default();
    for n in 0..count {
        let mut dice = Dice::new(17, n);
        let case = make(&mut dice);
        let gap = gap(&mut dice);
        for kind in KINDS {
            tally.judge(kind, &case, gap, samples);
        }
    }
    println!("{name}: {tally:?}");
    tally
}

fn some_gap(dice: &mut Dice) -> Gap {
    let separation = if dice.unit() < 0.5 { 0.0 } else { 0.1 * dice.unit() };
    Gap::new(separation, 10.0_f64.powf(-3.0 - 6.0 * dice.unit())).unwrap()
}

#[test]
fn no_contact_of_random_pairs_is_missed_or_late() {
    let anywhere = run("anywhere", 60_000, 24, some_gap, cases::anywhere);
    let short = run("short steps", 60_000, 24, some_gap, cases::short_steps);
    for tally in [anywhere, short] {
        assert!(tally.met > 3_000 && tally.met < tally.cases / 2);
        tally.is_tight();
    }
}

#[test]
fn no_contact_on_a_grid_is_missed_or_late() {
    let none = |_: &mut Dice| Gap::new(0.0, 1e-9).unwrap();
    let whole = |dice: &mut Dice| Gap::new((4.0 * dice.unit()).floor() * 0.5, 1e-9).unwrap();
    for tally in [
        run("grid", 40_000, 24, none, cases::on_a_grid),
        run("grid, apart", 40_000, 24, whole, cases::on_a_grid),
    ] {
        assert!(tally.met > 5_000);
        tally.is_tight();
    }
}

#[test]
fn no_contact_in_a_common_plane_is_missed_or_late() {
    let tally = run("one plane", 60_000, 24, some_gap, cases::in_one_plane);
    assert!(tally.met > 20_000);
    tally.is_tight();
}

#[test]
fn pairs_that_are_made_to_meet_are_found_at_any_scale_and_place() {
    let mut tally = Tally::default();
    for n in 0..120_000 {
        let mut dice = Dice::new(5, n);
        let kind = KINDS[n as usize % 2];
        let (case, time) = cases::meeting(&mut dice, kind);
        let scale = 10.0_f64.powi((n / 2 % 13) as i32 - 6);
        let far = if n % 3 == 0 { DVec3::new(1e4, -1e4, 1e4) } else { DVec3::ZERO };
        let moved = |x: [DVec3; 4]| x.map(|x| x * scale + far);
        let case = Case { start: moved(case.start), end: moved(case.end) };
        // What rounding of the positions does to the contact is given to the separation.
        let coordinates = case.start.iter().chain(&case.end);
        let farthest = coordinates.fold(0.0_f64, |most, x| most.max(x.length()));
        let separation = 8.0 * f64::EPSILON * farthest;
        let gap = Gap::new(separation, 1e-9 * case.extent()).unwrap();
        let contact = ask(kind, &case, gap).unwrap_or_else(|| panic!("missed {kind:?} {case:?}"));
        assert!(contact.time <= time, "late: {} > {time} {kind:?} {case:?}", contact.time);
        tally.judge(kind, &case, gap, 8);
    }
    println!("meeting: {tally:?}");
    tally.is_tight();
}

#[test]
fn touching_at_the_start_and_at_the_end_is_contact() {
    let [a, b, c] = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let gap = Gap::new(0.5, 0.0).unwrap();
    for scale in [1e-6, 1.0, 1e6] {
        let ask = |from: f64, to: f64| {
            let place = |z: f64| [DVec3::new(0.25, 0.25, z), a, b, c].map(|x| x * scale);
            point_triangle(place(from), place(to), Gap::new(0.5 * scale, 0.0).unwrap()).unwrap()
        };
        assert_eq!(ask(0.5, 3.0).unwrap().time, 0.0);
        assert!(ask(0.5 + 1e-9, 3.0).is_none());
        let last = ask(2.0, 0.5).unwrap();
        assert!(last.time <= 1.0 && last.time > 1.0 - 1e-12 && last.normal == DVec3::Z);
        assert!(ask(2.0, 0.5 + 1e-9).is_none());
    }
    // Edges that cross in the middle, at a half.
    let crossing =
        |z: f64| [-DVec3::X, DVec3::X, -DVec3::Y + DVec3::Z * z, DVec3::Y + DVec3::Z * z];
    assert_eq!(edge_edge(crossing(0.5), crossing(1.0), gap).unwrap().unwrap().time, 0.0);
    let contact = edge_edge(crossing(1.0), crossing(0.5), gap).unwrap().unwrap();
    assert!(contact.time > 1.0 - 1e-12 && contact.normal == -DVec3::Z);
    assert_eq!(contact.weights, [0.5, 0.5, -0.5, -0.5]);
}

#[test]
fn what_rests_meets_at_once_or_never() {
    let none = Gap::new(0.0, 0.0).unwrap();
    let [o, x, y, z] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let rest =
        |v: [DVec3; 4]| [point_triangle(v, v, none).unwrap(), edge_edge(v, v, none).unwrap()];
    // A point, twice a segment, a segment beside another, a tetrahedron.
    assert!(rest([y; 4]).iter().all(|contact| contact.is_some_and(|c| c.time == 0.0)));
    assert!(rest([x, o, x, o]).iter().all(|contact| contact.is_some_and(|c| c.time == 0.0)));
    assert!(rest([o, x, y, y + x]).iter().all(Option::is_none));
    assert!(rest([o, x, y, z]).iter().all(Option::is_none));
    // Parallel edges that slide along each other at a distance, and then meet.
    let slide = |d: f64, height: f64| [o, x, x * d + y * height, x * (d + 1.0) + y * height];
    let near = Gap::new(0.25, 1e-12).unwrap();
    assert!(
        edge_edge(slide(-3.0, 0.25 + 1e-11), slide(3.0, 0.25 + 1e-11), near).unwrap().is_none()
    );
    let first = edge_edge(slide(-3.0, 0.25), slide(3.0, 0.25), near).unwrap().unwrap();
    assert!((first.time - 1.0 / 3.0).abs() < 1e-5, "{first:?}");
}

#[test]
fn the_numbering_of_vertices_changes_nothing() {
    for n in 0..20_000 {
        let mut dice = Dice::new(23, n);
        let kind = KINDS[n as usize % 2];
        let case = if n % 3 == 0 {
            cases::on_a_grid(&mut dice)
        } else {
            cases::meeting(&mut dice, kind).0
        };
        let gap = Gap::new(0.1 * dice.unit(), 1e-9).unwrap();
        let found = ask(kind, &case, gap);
        let orders: &[[usize; 4]] = match kind {
            Kind::PointTriangle => &[[0, 2, 3, 1], [0, 3, 1, 2], [0, 1, 3, 2], [0, 3, 2, 1]],
            Kind::EdgeEdge => &[[1, 0, 2, 3], [0, 1, 3, 2], [2, 3, 0, 1], [3, 2, 0, 1]],
        };
        for order in orders {
            let other =
                Case { start: order.map(|k| case.start[k]), end: order.map(|k| case.end[k]) };
            let again = ask(kind, &other, gap);
            let (Some(a), Some(b)) = (found, again) else {
                assert_eq!(found, again, "{case:?}");
                continue;
            };
            let side = if order[0] < 2 { 1.0 } else { -1.0 };
            assert_eq!(
                (a.time, a.distance, a.normal),
                (b.time, b.distance, b.normal * side),
                "{case:?}"
            );
            // Where vertices coincide, their weights may be exchanged.
            let distinct = (0..4).all(|i| {
                (0..i).all(|j| case.start[i] != case.start[j] || case.end[i] != case.end[j])
            });
            if distinct {
                assert_eq!(order.map(|k| a.weights[k] * side), b.weights, "{case:?}");
            }
        }
    }
}

#[test]
fn a_greater_separation_is_met_no_later() {
    let mut met = 0;
    for n in 0..30_000 {
        let mut dice = Dice::new(29, n);
        let case = cases::anywhere(&mut dice);
        let tolerance = 1e-6;
        for kind in KINDS {
            let mut last = None;
            for step in 0..5 {
                let separation = f64::from(step * step) * 0.02;
                let found = ask(kind, &case, Gap::new(separation, tolerance).unwrap());
                let time = found.map(|contact| contact.time);
                assert!(last.is_none_or(|last| time.is_some_and(|time| time <= last)), "{case:?}");
                last = time;
            }
            met += u32::from(last.is_some());
        }
    }
    assert!(met > 10_000);
}
