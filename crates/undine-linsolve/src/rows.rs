//! The rows of a system, as one process sees them: its own, and copies of those that its columns need from others.
//!
//! A vector over the rows has `local` entries, or `stored` ones if copies of foreign entries follow. Matrix, prolongation
//! and Bucket operators all refresh their copies here, so that none of them knows how processes talk.

use crate::error::{Result, SolveError};
use bytemuck::Pod;
use std::sync::Arc;
use undine_core::process::Parcel;
use undine_core::{Processes, Single};

/// Which rows this process owns, which foreign ones it keeps copies of, and what travels to keep those fresh.
///
/// Making one and refreshing are collective: all processes call alike.
#[derive(Debug, Clone)]
pub struct Rows {
    processes: Arc<dyn Processes>,
    local: usize,
    stored: usize,
    /// Where every process's rows begin in the numbering of all, and one end more.
    firsts: Vec<u64>,
    /// To each process: the entries that it keeps copies of.
    sends: Vec<(usize, Vec<u32>)>,
    /// From each process: where the entries go, in the order in which they are sent.
    receives: Vec<(usize, Vec<u32>)>,
}

impl Rows {
    /// `count` rows, all on this one process.
    pub fn single(count: usize) -> Arc<Self> {
        Arc::new(Self {
            processes: Arc::new(Single),
            local: count,
            stored: count,
            firsts: vec![0, count as u64],
            sends: Vec::new(),
            receives: Vec::new(),
        })
    }

    /// `local` rows here, and copies of the `foreign` ones: numbers in the numbering of all rows, ascending. Process after
    /// process owns a run of that numbering. Collective.
    pub fn distributed(
        processes: Arc<dyn Processes>,
        local: usize,
        foreign: &[u64],
    ) -> Result<Arc<Self>> {
        let firsts = firsts(&*processes, local)?;
        let rank = processes.rank();
        processes.all_agree(check_foreign(foreign, &firsts, rank))?;

        // Ask each owner for its entries; what others ask of us is what we send.
        let mut receives = Vec::new();
        let mut requests = Vec::new();
        let mut copy = local as u32;
        for owner in (0..processes.count()).filter(|&owner| owner != rank) {
            let range = firsts[owner]..firsts[owner + 1];
            let low = foreign.partition_point(|&number| number < range.start);
            let high = foreign.partition_point(|&number| number < range.end);
            if low == high {
                continue;
            }
            let wanted: Vec<u32> =
                foreign[low..high].iter().map(|&number| (number - range.start) as u32).collect();
            requests.push(Parcel { process: owner, bytes: bytemuck::cast_slice(&wanted).to_vec() });
            receives.push((owner, (copy..copy + wanted.len() as u32).collect()));
            copy += wanted.len() as u32;
        }
        let sends = processes
            .exchange(requests)?
            .into_iter()
            .map(|parcel| (parcel.process, unpack::<u32>(&parcel.bytes)))
            .collect();
        Ok(Arc::new(Self {
            stored: local + foreign.len(),
            processes,
            local,
            firsts,
            sends,
            receives,
        }))
    }

    /// Rows whose exchange somebody has worked out already: to each process the local entries to send, from each the places
    /// of what arrives. Places may be left out of every list: they are then never refreshed. Collective.
    pub fn with_exchange(
        processes: Arc<dyn Processes>,
        local: usize,
        stored: usize,
        sends: Vec<(usize, Vec<u32>)>,
        receives: Vec<(usize, Vec<u32>)>,
    ) -> Result<Arc<Self>> {
        let firsts = firsts(&*processes, local)?;
        let inside = |lists: &[(usize, Vec<u32>)], range: std::ops::Range<usize>| {
            lists.iter().flat_map(|(_, list)| list).all(|&place| range.contains(&(place as usize)))
        };
        let checked =
            if stored < local || !inside(&sends, 0..local) || !inside(&receives, local..stored) {
                Err(undine_core::CoreError::BadValue {
                    what: "an exchange of rows".into(),
                    found: "a place outside of the vector".into(),
                    wanted: "local rows to send, copies to receive",
                })
            } else {
                Ok(())
            };
        processes.all_agree(checked)?;
        Ok(Arc::new(Self { processes, local, stored, firsts, sends, receives }))
    }

    /// The processes that share the rows.
    pub fn processes(&self) -> &Arc<dyn Processes> {
        &self.processes
    }

    /// How many rows this process owns.
    pub fn local(&self) -> usize {
        self.local
    }

    /// Entries of a vector with copies: own rows and copies of foreign ones.
    pub fn stored(&self) -> usize {
        self.stored
    }

    /// How many rows all processes have together.
    pub fn total(&self) -> u64 {
        self.firsts[self.firsts.len() - 1]
    }

    /// The number of this process's first row among all.
    pub fn first(&self) -> u64 {
        self.firsts[self.processes.rank()]
    }

    /// The process that owns a row, by its number among all.
    pub fn owner(&self, number: u64) -> usize {
        self.firsts.partition_point(|&first| first <= number) - 1
    }

    /// Where every process's rows begin in the numbering of all, and one end more.
    pub fn firsts(&self) -> &[u64] {
        &self.firsts
    }

    /// The number among all rows of every stored entry. Collective.
    pub fn numbers(&self) -> Result<Vec<u64>> {
        let mut numbers = vec![u64::MAX; self.stored];
        for (number, n) in numbers[..self.local].iter_mut().zip(self.first()..) {
            *number = n;
        }
        self.refresh(&mut numbers)?;
        Ok(numbers)
    }

    /// Whether one process owns everything, so that nothing ever travels.
    pub fn is_single(&self) -> bool {
        self.processes.count() == 1
    }

    /// Brings the owners' values into the copies of a vector with `stored` entries. Collective.
    pub fn refresh<T: Pod>(&self, values: &mut [T]) -> Result<()> {
        if self.is_single() {
            return Ok(());
        }
        let outgoing = self
            .sends
            .iter()
            .map(|(process, entries)| {
                let packed: Vec<T> = entries.iter().map(|&entry| values[entry as usize]).collect();
                Parcel { process: *process, bytes: bytemuck::cast_slice(&packed).to_vec() }
            })
            .collect();
        let incoming: Vec<(usize, usize)> = self
            .receives
            .iter()
            .map(|(process, entries)| (*process, entries.len() * size_of::<T>()))
            .collect();
        let arrived = self.processes.start(outgoing, &incoming)?.finish()?;
        for ((_, entries), parcel) in self.receives.iter().zip(arrived) {
            for (&entry, value) in entries.iter().zip(unpack::<T>(&parcel.bytes)) {
                values[entry as usize] = value;
            }
        }
        Ok(())
    }

    /// The opposite of [`Self::refresh`]: adds what stands in the copies to the owners' entries, in order of rank. Collective.
    pub fn give_back<T: Pod + std::ops::AddAssign>(&self, values: &mut [T]) -> Result<()> {
        if self.is_single() {
            return Ok(());
        }
        let outgoing = self.receives.iter().map(|(process, copies)| {
            let packed: Vec<T> = copies.iter().map(|&copy| values[copy as usize]).collect();
            Parcel { process: *process, bytes: bytemuck::cast_slice(&packed).to_vec() }
        });
        let size = |list: &[u32]| size_of_val(list) / size_of::<u32>() * size_of::<T>();
        let incoming: Vec<(usize, usize)> =
            self.sends.iter().map(|(process, entries)| (*process, size(entries))).collect();
        let arrived = self.processes.start(outgoing.collect(), &incoming)?.finish()?;
        for ((_, entries), parcel) in self.sends.iter().zip(arrived) {
            for (&entry, value) in entries.iter().zip(unpack::<T>(&parcel.bytes)) {
                values[entry as usize] += value;
            }
        }
        Ok(())
    }

    /// The owners' lists for every copy, where local entry n has the list `list(n)`. Collective.
    pub fn fetch_lists<T: Pod>(&self, list: impl Fn(usize) -> Vec<T>) -> Result<Vec<Vec<T>>> {
        let mut lengths = vec![0_u32; self.stored];
        let mut lists = vec![Vec::new(); self.stored - self.local];
        if self.is_single() {
            return Ok(lists);
        }
        let mut outgoing = Vec::new();
        for (process, entries) in &self.sends {
            let mut packed: Vec<T> = Vec::new();
            for &entry in entries {
                let list = list(entry as usize);
                lengths[entry as usize] = list.len() as u32;
                packed.extend(list);
            }
            let bytes = bytemuck::cast_slice(&packed).to_vec();
            outgoing.push(Parcel { process: *process, bytes });
        }
        self.refresh(&mut lengths)?;
        let length = |copy: &u32| lengths[*copy as usize] as usize;
        let size = |copies: &[u32]| copies.iter().map(length).sum::<usize>() * size_of::<T>();
        let incoming: Vec<(usize, usize)> =
            self.receives.iter().map(|(process, copies)| (*process, size(copies))).collect();
        let arrived = self.processes.start(outgoing, &incoming)?.finish()?;
        for ((_, copies), parcel) in self.receives.iter().zip(arrived) {
            let values = unpack::<T>(&parcel.bytes);
            let mut rest = &values[..];
            for copy in copies {
                let (here, behind) = rest.split_at(length(copy));
                lists[*copy as usize - self.local] = here.to_vec();
                rest = behind;
            }
        }
        Ok(lists)
    }

    /// The sum of everyone's value, in order of rank. Collective.
    pub fn sum(&self, value: f64) -> Result<f64> {
        Ok(self.processes.all_sum_f64(value)?)
    }

    /// The sums of several values at once, each in order of rank. Collective.
    pub fn sums<const N: usize>(&self, mut values: [f64; N]) -> Result<[f64; N]> {
        self.processes.all_sum_f64s(&mut values)?;
        Ok(values)
    }

    /// The largest of everyone's value. Collective.
    pub fn max(&self, value: f64) -> Result<f64> {
        Ok(self.processes.all_max_f64(value)?)
    }

    /// The outcome, if all processes had success; otherwise the error of the lowest rank that failed. Collective.
    pub fn all_agree<T>(&self, outcome: Result<T>) -> Result<T> {
        if self.is_single() {
            return outcome;
        }
        let said = match &outcome {
            Ok(_) => Ok(()),
            Err(error) => Err(undine_core::CoreError::Communication {
                what: "a system of equations",
                why: error.to_string(),
            }),
        };
        self.processes.all_agree(said)?;
        outcome
    }

    /// Refuses a vector of another length than the local rows.
    pub fn check(&self, what: &'static str, values: &[f64]) -> Result<()> {
        if values.len() == self.local {
            return Ok(());
        }
        Err(SolveError::WrongLength { what, found: values.len(), wanted: self.local })
    }

    /// Bytes of the lists.
    pub fn bytes(&self) -> u64 {
        let lists = self.sends.iter().chain(&self.receives);
        4 * lists.map(|(_, list)| list.len() as u64).sum::<u64>() + 8 * self.firsts.len() as u64
    }
}

/// Where every process's rows begin. Collective.
fn firsts(processes: &dyn Processes, local: usize) -> Result<Vec<u64>> {
    let counts = processes.all_gather_values(&[local as u64])?.concat();
    let mut end = 0;
    Ok(std::iter::once(0)
        .chain(counts.into_iter().map(|count| {
            end += count;
            end
        }))
        .collect())
}

/// That foreign rows exist, are foreign, and ascend.
fn check_foreign(foreign: &[u64], firsts: &[u64], rank: usize) -> undine_core::Result<()> {
    let own = firsts[rank]..firsts[rank + 1];
    let total = firsts[firsts.len() - 1];
    let wrong = |(n, &number): (usize, &u64)| {
        number >= total || own.contains(&number) || (n > 0 && foreign[n - 1] >= number)
    };
    match foreign.iter().enumerate().find(|&entry| wrong(entry)) {
        None => Ok(()),
        Some((_, number)) => Err(undine_core::CoreError::BadValue {
            what: "a foreign row".into(),
            found: format!("{number} of {total}"),
            wanted: "ascending numbers of rows that other processes own",
        }),
    }
}

/// The values in received bytes, which are not aligned for them.
pub(crate) fn unpack<T: Pod>(bytes: &[u8]) -> Vec<T> {
    let mut values = vec![T::zeroed(); bytes.len() / size_of::<T>()];
    bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
    values
}
