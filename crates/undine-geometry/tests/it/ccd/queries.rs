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

/// How often pairs met, were reported, and were reported too far from each other.
#[derive(Debug, Default)]
struct Tally {
    cases: u32,
    met: u32,
    reported: u32,
    false_positives: u32,
    farthest: f64,
}

impl Tally {
    /// Holds an answer against samples: never none, nor late, where there is contact. Counts reports that are early by
    /// more than the tolerance.
    fn judge(&mut self, kind: Kind, case: &Case, gap: Gap, samples: u32) {
        let found = ask(kind, case, gap);
        let extent = case.extent();
        let slack = 1e-13 * extent;
        self.cases += 1;
        self.reported += u32::from(found.is_some());
        let truth = case.first_within(kind, gap.separation() - slack, samples);
        if let Ok(time) = truth {
            self.met += 1;
            let contact =
                found.unwrap_or_else(|| panic!("missed {kind:?} {case:?} {gap:?} at {time}"));
            assert!(
                contact.time <= time,
                "late: {} > {time} {kind:?} {case:?} {gap:?}",
                contact.time
            );
        }
        let Some(contact) = found else { return };
        assert!(
            (0.0..=1.0).contains(&contact.time) && (contact.normal.length() - 1.0).abs() < 1e-12
        );
        let beyond = case.distance(kind, contact.time)
            - gap.separation()
            - gap.tolerance().max(1e-12 * extent);
        if beyond > 0.0 {
            self.false_positives += 1;
            self.farthest = self.farthest.max(beyond / extent);
        }
        // The weights give the gap, and sum to one and minus one.
        let x = case.at(contact.time);
        let w = contact.weights;
        let gap_vector: DVec3 = (0..4).map(|k| x[k] * w[k]).sum();
        assert!(
            (gap_vector.length() - contact.distance).abs() < 1e-10 * extent + 1e-300,
            "{case:?}"
        );
        assert!(w.iter().sum::<f64>().abs() < 1e-10, "{w:?}");
        let first = match kind {
            Kind::PointTriangle => w[0],
            Kind::EdgeEdge => w[0] + w[1],
        };
        assert!((first - 1.0).abs() < 1e-10, "{w:?}");
    }
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
    let anywhere = run("anywhere", 60_000, 48, some_gap, cases::anywhere);
    let short = run("short steps", 60_000, 48, some_gap, cases::short_steps);
    for tally in [anywhere, short] {
        assert!(tally.met > 3_000 && tally.met < tally.cases / 2);
        assert_eq!(tally.false_positives, 0, "{tally:?}");
    }
}

#[test]
fn no_contact_on_a_grid_is_missed_or_late() {
    let none = |_: &mut Dice| Gap::new(0.0, 1e-9).unwrap();
    let whole = |dice: &mut Dice| Gap::new((4.0 * dice.unit()).floor() * 0.5, 1e-9).unwrap();
    for tally in [
        run("grid", 40_000, 48, none, cases::on_a_grid),
        run("grid, apart", 40_000, 48, whole, cases::on_a_grid),
    ] {
        assert!(tally.met > 5_000);
        assert_eq!(tally.false_positives, 0, "{tally:?}");
    }
}

#[test]
fn no_contact_in_a_common_plane_is_missed_or_late() {
    let tally = run("one plane", 60_000, 48, some_gap, cases::in_one_plane);
    assert!(tally.met > 20_000);
    assert_eq!(tally.false_positives, 0, "{tally:?}");
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
        let separation = 1e-14 * case.extent() + 8.0 * f64::EPSILON * far.length();
        let gap = Gap::new(separation, 1e-9 * case.extent()).unwrap();
        let contact = ask(kind, &case, gap).unwrap_or_else(|| panic!("missed {kind:?} {case:?}"));
        assert!(contact.time <= time, "late: {} > {time} {kind:?} {case:?}", contact.time);
        tally.judge(kind, &case, gap, 8);
    }
    println!("meeting: {tally:?}");
    assert!(tally.false_positives < tally.cases / 1000, "{tally:?}");
}
