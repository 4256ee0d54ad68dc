//! A system that is shared out: every process works on its part, and all get what one alone would have found.

use super::passes;
use crate::springs::Spring;
use crate::stand::{FIXED, Links, POINTS, Stand};
use std::{error::Error, sync::Arc};
use undine_core::glam::DVec3;
use undine_core::process::Processes;
use undine_sim::constraint::Placed;
use undine_sim::newton::{
    Contact, ContactEnd, Contacts, Mode, NewtonError, Solved, System, SystemSettings,
};

/// Points of a chain.
const LENGTH: usize = 8;

#[test]
fn each_process_solves_its_chains() {
    passes("chains");
}

#[test]
fn contacts_of_chains_are_solved_as_by_one() {
    passes("contacts of chains");
}

#[test]
fn a_pile_of_balls_is_solved_as_by_one() {
    passes("a pile of balls");
}

#[test]
fn what_fails_on_one_fails_on_all() {
    passes("a fault");
}

/// Numbers from −1 to 1 that look like chance.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

/// Chains that hang in a row, and move towards each other.
fn hanging(chains: usize, mode: Mode) -> Stand {
    let mut stand = Stand::new(0.01);
    stand.gravity = DVec3::NEG_Y * 9.81;
    stand.drag = 0.01;
    let mut chance = Chance(5);
    let (mut along, mut held) = (Vec::new(), Vec::new());
    for chain in 0..chains {
        let root = DVec3::X * (0.02 * chain as f64);
        held.push(([(LENGTH * chain) as u32, chain as u32], spring()));
        stand.fixed.push(Placed::at(root + DVec3::Y * 0.01));
        for k in 0..LENGTH {
            let place = root - DVec3::Y * (0.01 * k as f64) + 1e-3 * chance.vector();
            stand.point(0.01, place, 0.5 * chance.vector());
            let n = (LENGTH * chain + k) as u32;
            if k > 0 {
                along.push(([n - 1, n], spring()));
            }
        }
    }
    stand.springs = vec![Links::new([POINTS, POINTS], along), Links::new([POINTS, FIXED], held)];
    stand.springs.iter_mut().for_each(|links| links.mode = mode);
    stand
}

fn spring() -> Spring {
    Spring { length: 0.01, stiffness: 100.0 }
}

/// A contact of two points, or of one with what stays.
fn touch(
    stand: &Stand,
    contacts: &mut Contacts,
    [one, other]: [Option<usize>; 2],
    friction: f64,
    chance: &mut Chance,
) {
    let place = |n: Option<usize>| n.map(|n| stand.points[n]);
    let normal = match (place(one), place(other)) {
        (Some(one), Some(other)) => (one - other).normalize(),
        _ => DVec3::Y,
    };
    let gap = 5e-4 * chance.next();
    let slip = gap * normal + 1e-4 * chance.vector().reject_from(normal);
    let (apart, compliance, force) = (0.0, 0.0, DVec3::ZERO);
    contacts.add(
        Contact { normal, gap, slip, apart, friction, compliance, accuracy: 0.0, force },
        |ends| {
            for (node, weight) in [(one, 1.0), (other, -1.0)] {
                let node = node.map(|node| node as u32);
                ends.extend(node.map(|node| ContactEnd { node, lever: None, weight }));
            }
        },
    );
}

/// Contacts of each chain with the next, and of its end with the ground.
fn touching(stand: &Stand, chains: usize, friction: f64, seed: u64) -> Contacts {
    let (mut contacts, mut chance) = (Contacts::new(), Chance(seed));
    for chain in 0..chains {
        for k in 1..LENGTH {
            let n = LENGTH * chain + k;
            if chain + 1 < chains {
                touch(stand, &mut contacts, [Some(n), Some(n + LENGTH)], friction, &mut chance);
            }
        }
        let end = LENGTH * chain + LENGTH - 1;
        touch(stand, &mut contacts, [Some(end), None], friction, &mut chance);
    }
    contacts
}

/// What a system makes of a stand: its step, the forces of contacts, and how it went.
struct Outcome {
    du: Vec<f64>,
    forces: Vec<DVec3>,
    solved: Solved,
    own_rows: usize,
}

/// Solves first with some contacts, and then anew with others.
fn solve(
    stand: &Stand,
    processes: Option<&Arc<dyn Processes>>,
    contacts: [&Contacts; 2],
    settings: &SystemSettings,
) -> Result<Outcome, NewtonError> {
    let mut system = System::new(stand.unknowns())?;
    if let Some(processes) = processes {
        // Along x, as points are made.
        system.share(processes, (0..stand.points.len() as u64).collect());
    }
    let [mut first, mut second] = contacts.map(Clone::clone);
    stand.with(|_, at| {
        system.connect(at.terms, at.forces)?;
        let (mut from, mut du) = (Vec::new(), Vec::new());
        let before = system.solve_touching(at, &mut first, settings, &mut from)?;
        let solved = match second.is_empty() {
            true => {
                du.clone_from(&from);
                before
            }
            false => system.touch_again(at, &mut second, &from, settings, &mut du)?,
        };
        let contacts = if second.is_empty() { &first } else { &second };
        let forces = contacts.list().iter().map(|contact| contact.force).collect();
        Ok(Outcome { du, forces, solved, own_rows: system.own_rows() })
    })
}

/// Every process has the same, to the bit.
fn is_the_same_everywhere(processes: &dyn Processes, outcome: &Outcome) {
    let forces = outcome.forces.iter().flat_map(|force| force.to_array());
    let multipliers = outcome.solved.multipliers.iter().flatten().copied();
    let numbers: Vec<f64> = outcome.du.iter().copied().chain(forces).chain(multipliers).collect();
    let all = processes.all_gather_values(&numbers).unwrap();
    assert!(all.iter().all(|other| *other == all[0]));
    let slopes = processes.all_gather_values(&[outcome.solved.linearised.slope]).unwrap();
    assert!(slopes.iter().all(|slope| *slope == slopes[0]));
}

/// The largest difference, as a part of the largest number.
fn apart(found: impl Iterator<Item = f64>, wanted: impl Iterator<Item = f64>) -> f64 {
    let pairs: Vec<(f64, f64)> = found.zip(wanted).collect();
    let largest = pairs.iter().fold(0.0_f64, |most, (_, wanted)| most.max(wanted.abs()));
    assert!(largest > 0.0);
    pairs.iter().fold(0.0_f64, |most, (found, wanted)| most.max((found - wanted).abs())) / largest
}

fn is_near(found: &Outcome, wanted: &Outcome, tolerance: f64) {
    let off = apart(found.du.iter().copied(), wanted.du.iter().copied());
    assert!(off <= tolerance, "steps are {off:e} of their size apart");
    let forces = |outcome: &Outcome| {
        outcome.forces.iter().flat_map(|force| force.to_array()).collect::<Vec<f64>>()
    };
    if !wanted.forces.is_empty() {
        let off = apart(forces(found).into_iter(), forces(wanted).into_iter());
        assert!(off <= tolerance, "forces are {off:e} of their size apart");
        let report = found.solved.linearised.touch.expect("contacts");
        assert!(report.converged && report.contacts > 0, "{report:?}");
    }
}

/// Each works on its share of the chains, and nobody on those of others.
pub fn chains(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let chains = 60;
    for mode in [Mode::Stiffness, Mode::Compliance] {
        let mut stand = hanging(chains, mode);
        stand.begin();
        let (settings, none) = (SystemSettings::default(), Contacts::new());
        let alone = solve(&stand, None, [&none; 2], &settings)?;
        let shared = solve(&stand, Some(processes), [&none; 2], &settings)?;
        is_near(&shared, &alone, 1e-9);
        is_the_same_everywhere(&**processes, &shared);
        let lambda = |outcome: &Outcome| outcome.solved.multipliers.concat();
        if mode == Mode::Compliance {
            let off = apart(lambda(&shared).into_iter(), lambda(&alone).into_iter());
            assert!(off < 1e-9, "{off:e}");
        }

        let rows = 3 * LENGTH * chains;
        assert_eq!(alone.own_rows, rows);
        let own = processes.all_gather_values(&[shared.own_rows as u64])?.concat();
        assert_eq!(own.iter().sum::<u64>(), rows as u64, "{own:?}");
        let fair = (rows / processes.count()) as u64;
        let chain = 3 * LENGTH as u64;
        assert!(own.iter().all(|own| own.abs_diff(fair) <= chain), "{own:?}");
    }
    Ok(())
}

/// Whole clusters of contacts on one process each, and all of them in common: with friction, and without.
pub fn contacts(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let chains = 24;
    let mut stand = hanging(chains, Mode::Stiffness);
    stand.begin();
    // So far that the order of sweeps hardly shows.
    // To be compared, forces have to be solved for ten thousand times as exactly as in a run, which takes more sweeps.
    let settings = SystemSettings {
        tied_contact_speed: 1e-9,
        contact_sweeps: 5000,
        ..SystemSettings::default()
    };
    for friction in [0.0, 0.2] {
        let both = [7, 11].map(|seed| touching(&stand, chains, friction, seed));
        let both = [&both[0], &both[1]];
        let alone = solve(&stand, None, both, &settings)?;
        assert!(alone.forces.iter().filter(|force| **force != DVec3::ZERO).count() > chains);
        for (contacts_alone, tolerance) in [(usize::MAX, 1e-9), (0, 1e-5)] {
            let settings = SystemSettings { contacts_alone, ..settings };
            let shared = solve(&stand, Some(processes), both, &settings)?;
            is_near(&shared, &alone, tolerance);
            is_the_same_everywhere(&**processes, &shared);
            let in_common = shared.solved.linearised.touch.map_or(0, |report| report.in_common);
            assert_eq!(in_common > 0, contacts_alone == 0 && processes.count() > 1);
        }
    }
    Ok(())
}

/// Balls that nothing ties, in a heap on the ground.
pub fn pile(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (wide, high) = (24, 3);
    let mut stand = Stand::new(0.01);
    stand.gravity = DVec3::NEG_Y * 9.81;
    let mut chance = Chance(3);
    for n in 0..wide * high {
        let place = DVec3::new((n / high) as f64, (n % high) as f64, 0.0) + 0.1 * chance.vector();
        stand.point(1.0 + 0.5 * chance.next(), 0.02 * place, 0.1 * chance.vector());
    }
    stand.begin();
    let mut contacts = Contacts::new();
    for n in 0..wide * high {
        match n % high {
            0 => touch(&stand, &mut contacts, [Some(n), None], 0.0, &mut chance),
            _ => touch(&stand, &mut contacts, [Some(n), Some(n - 1)], 0.0, &mut chance),
        }
        if n + high < wide * high {
            touch(&stand, &mut contacts, [Some(n), Some(n + high)], 0.0, &mut chance);
        }
    }
    let settings = SystemSettings { contact_speed: 1e-10, ..SystemSettings::default() };
    let none = Contacts::new();
    let alone = solve(&stand, None, [&contacts, &none], &settings)?;
    for (contacts_alone, tolerance) in [(usize::MAX, 0.0), (0, 1e-5)] {
        let settings = SystemSettings { contacts_alone, ..settings };
        let shared = solve(&stand, Some(processes), [&contacts, &none], &settings)?;
        is_near(&shared, &alone, tolerance);
        is_the_same_everywhere(&**processes, &shared);
    }
    Ok(())
}

/// A chain that has no place: the process that works on it finds out, and all are told.
pub fn fault(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let mut stand = hanging(20, Mode::Stiffness);
    stand.begin();
    stand.springs[0].elements[3].stiffness = f64::NAN;
    let none = Contacts::new();
    let settings = SystemSettings::default();
    let error = solve(&stand, Some(processes), [&none; 2], &settings).map(|_| ()).unwrap_err();
    let count = processes.count();
    assert_eq!(
        error.to_string(),
        format!("process 0 of {count}: element 3 of springs is NaN, but must be finite")
    );
    Ok(())
}
