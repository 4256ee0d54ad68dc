//! Detection on several processes: everything is everywhere, each process looks at its part of it, and all get what is found, in the order in
//! which one process would have found it.

use super::find::{Found, Key, Part, Surroundings};
use std::ops::Range;
use undine_core::CoreError;
use undine_core::glam::DVec3;
use undine_sim::newton::Contact;
use undine_sim::{ObjectId, Result};

/// Numbers that a contact travels as.
const WORDS: usize = 38;

impl Surroundings<'_> {
    /// This process's part of so many things.
    pub fn part(&self, count: usize) -> Range<usize> {
        let (rank, processes) = (self.processes.rank(), self.processes.count());
        count * rank / processes..count * (rank + 1) / processes
    }

    /// What all processes have found in their parts, one after another. Collective.
    pub fn of_all(&self, found: Result<Vec<Found>>) -> Result<Vec<Found>> {
        if self.processes.count() == 1 {
            return found;
        }
        let found = self.agree(found)?;
        let words: Vec<[u64; WORDS]> = found.iter().map(pack).collect();
        let all = self.processes.all_gather_values(words.as_flattened())?;
        Ok(all.iter().flat_map(|words| words.as_chunks().0).map(unpack).collect())
    }

    /// The pairs that all processes have found, one after another. Collective.
    pub fn pairs_of_all(&self, found: Result<Vec<[u32; 2]>>) -> Result<Vec<[u32; 2]>> {
        match self.processes.count() {
            1 => found,
            _ => Ok(self.processes.all_gather_values(&self.agree(found)?)?.concat()),
        }
    }

    /// Whether it holds on any process. Collective.
    pub fn any(&self, holds: Result<bool>) -> Result<bool> {
        match self.processes.count() {
            1 => holds,
            _ => Ok(self.processes.any(self.agree(holds)?)?),
        }
    }

    /// The outcome, if all processes had success; otherwise the error of the first that failed, on every one. Collective.
    fn agree<T>(&self, outcome: Result<T>) -> Result<T> {
        let said = outcome.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let said = self.processes.all_gather(said.as_bytes())?;
        let Some(process) = said.iter().position(|said| !said.is_empty()) else { return outcome };
        let why = String::from_utf8_lossy(&said[process]).into_owned();
        Err(CoreError::OnProcess { process, count: self.processes.count(), why }.into())
    }
}

fn pack(found: &Found) -> [u64; WORDS] {
    let Found { key, first, second, at, contact, places, reach, passes, was_broken, is_kept } =
        found;
    let Contact { normal, gap, slip, apart, friction, compliance, accuracy, force } = *contact;
    let both = |[one, other]: [u32; 2]| u64::from(one) << 32 | u64::from(other);
    let part = |part: &Part| match part {
        Part::Still => [0; 4],
        Part::Particles { object, on } => {
            let [one, other] = on.map(|on| on.1.to_bits());
            [1 + 2 * object.0 as u64, both(on.map(|on| on.0)), one, other]
        }
        Part::Body { object, body } => [2 + 2 * object.0 as u64, u64::from(*body), 0, 0],
    };
    let vectors = [*at, normal, slip, force, places[0], places[1]];
    let vectors = vectors.iter().flat_map(|vector| vector.to_array());
    let numbers =
        vectors.chain([gap, apart, friction, *reach, compliance, accuracy]).map(f64::to_bits);
    let flags = [passes, is_kept, was_broken];
    let flags: u64 = flags.iter().enumerate().map(|(n, flag)| u64::from(**flag) << n).sum();
    let words = [both(key.objects), flags].into_iter().chain(key.points);
    let mut words = words.chain(part(first)).chain(part(second)).chain(numbers);
    std::array::from_fn(|_| words.next().unwrap_or(0))
}

fn unpack(words: &[u64; WORDS]) -> Found {
    let both = |word: u64| [(word >> 32) as u32, word as u32];
    let number = |n: usize| f64::from_bits(words[n]);
    let vector = |n: usize| DVec3::new(number(n), number(n + 1), number(n + 2));
    let part = |n: usize| match words[n] {
        0 => Part::Still,
        kind if kind % 2 == 1 => {
            let [one, other] = both(words[n + 1]);
            let on = [(one, number(n + 2)), (other, number(n + 3))];
            Part::Particles { object: ObjectId((kind / 2) as usize), on }
        }
        kind => Part::Body { object: ObjectId((kind / 2 - 1) as usize), body: words[n + 1] as u32 },
    };
    Found {
        key: Key { objects: both(words[0]), points: std::array::from_fn(|k| words[2 + k]) },
        passes: words[1] & 1 != 0,
        is_kept: words[1] & 2 != 0,
        was_broken: words[1] & 4 != 0,
        first: part(6),
        second: part(10),
        at: vector(14),
        contact: Contact {
            normal: vector(17),
            slip: vector(20),
            force: vector(23),
            gap: number(32),
            apart: number(33),
            friction: number(34),
            compliance: number(36),
            accuracy: number(37),
        },
        places: [vector(26), vector(29)],
        reach: number(35),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_arrive_as_they_were_sent() {
        let vector = |n: f64| DVec3::new(n, -n, 0.1 * n);
        let on = [(7, 0.25), (u32::MAX, 0.75)];
        let parts = [
            Part::Still,
            Part::Particles { object: ObjectId(0), on },
            Part::Particles { object: ObjectId(5), on },
            Part::Body { object: ObjectId(0), body: 3 },
            Part::Body { object: ObjectId(4), body: u32::MAX },
        ];
        for (n, first) in parts.into_iter().enumerate() {
            let sent = Found {
                key: Key { objects: [3, u32::MAX], points: [1, u64::MAX, 5, n as u64] },
                first,
                second: parts[parts.len() - 1 - n],
                at: vector(1.0),
                contact: Contact {
                    normal: vector(2.0),
                    gap: -0.0,
                    slip: vector(3.0),
                    apart: 4.0,
                    friction: 5.0,
                    compliance: 10.0,
                    accuracy: 11.0,
                    force: vector(6.0),
                },
                places: [vector(7.0), vector(8.0)],
                reach: 9.0,
                passes: n % 2 == 0,
                was_broken: n < 2,
                is_kept: n % 3 == 0,
            };
            // All that there is of it, in words; and the sign of nothing, which they do not show.
            let arrived = unpack(&pack(&sent));
            assert_eq!(format!("{arrived:?}"), format!("{sent:?}"));
            assert!(arrived.contact.gap.is_sign_negative());
        }
    }
}
