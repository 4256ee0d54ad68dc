//! Typed collective operations on [`Processes`]. Sums run in order of rank, so that every process gets the same bits.

use super::Processes;
use crate::error::{CoreError, Result};
use bytemuck::Pod;

impl dyn Processes + '_ {
    /// Everyone's values, in order of rank. Their numbers may differ.
    pub fn all_gather_values<T: Pod>(&self, values: &[T]) -> Result<Vec<Vec<T>>> {
        if self.count() == 1 {
            return Ok(vec![values.to_vec()]);
        }
        let gathered = self.all_gather(bytemuck::cast_slice(values))?;
        gathered.iter().enumerate().map(|(process, bytes)| unpack(process, bytes)).collect()
    }

    /// The sum of everyone's value, added in order of rank.
    pub fn all_sum_f64(&self, value: f64) -> Result<f64> {
        self.fold(value, |sum, next| sum + next)
    }

    /// The sums of several values at once, each added in order of rank; in place, and for the price of one.
    pub fn all_sum_f64s(&self, values: &mut [f64]) -> Result<()> {
        if self.count() == 1 {
            return Ok(());
        }
        let gathered = self.all_gather_values(values)?;
        if let Some(other) = gathered.iter().find(|other| other.len() != values.len()) {
            let what = "a list to be summed over all processes".into();
            return Err(CoreError::WrongLength { what, found: other.len(), wanted: values.len() });
        }
        for (i, value) in values.iter_mut().enumerate() {
            // From the first partial, not from zero: 0.0 + -0.0 is not -0.0.
            *value = gathered[1..].iter().fold(gathered[0][i], |sum, partial| sum + partial[i]);
        }
        Ok(())
    }

    /// The sum of everyone's value; an error if it passes 64 bits.
    pub fn all_sum_u64(&self, value: u64) -> Result<u64> {
        let sum = self.fold(u128::from(value), |sum, next| sum + next)?;
        u64::try_from(sum).map_err(|_| CoreError::BadValue {
            what: "a sum over all processes".into(),
            found: sum.to_string(),
            wanted: "less than 2^64",
        })
    }

    /// The largest of everyone's value; NaN if any is NaN, so that it cannot hide.
    pub fn all_max_f64(&self, value: f64) -> Result<f64> {
        self.fold(value, |max, next| if next > max || next.is_nan() { next } else { max })
    }

    /// The smallest of everyone's value; NaN if any is NaN, so that it cannot hide.
    pub fn all_min_f64(&self, value: f64) -> Result<f64> {
        self.fold(value, |min, next| if next < min || next.is_nan() { next } else { min })
    }

    /// The largest of everyone's value.
    pub fn all_max_u64(&self, value: u64) -> Result<u64> {
        self.fold(value, u64::max)
    }

    /// The smallest of everyone's value.
    pub fn all_min_u64(&self, value: u64) -> Result<u64> {
        self.fold(value, u64::min)
    }

    /// Whether it holds on any process.
    pub fn any(&self, holds: bool) -> Result<bool> {
        Ok(self.all_max_u64(holds.into())? != 0)
    }

    /// The outcome, if all processes had success; otherwise the same error on every process: that of the lowest rank
    /// that failed, with its name. A single process gets its own error as it is.
    ///
    /// Called between checking and changing, it makes "an operation that fails changes nothing" hold for all together.
    pub fn all_agree<T>(&self, outcome: Result<T>) -> Result<T> {
        if self.count() == 1 {
            return outcome;
        }
        let message = outcome.as_ref().err().map(|error| error.to_string()).unwrap_or_default();
        let messages = self.all_gather(message.as_bytes())?;
        match messages.iter().position(|message| !message.is_empty()) {
            None => outcome,
            Some(process) => {
                let why = String::from_utf8_lossy(&messages[process]).into_owned();
                Err(CoreError::OnProcess { process, count: self.count(), why })
            }
        }
    }

    /// Combines everyone's value in order of rank.
    fn fold<T: Pod>(&self, value: T, combine: impl Fn(T, T) -> T) -> Result<T> {
        if self.count() == 1 {
            return Ok(value);
        }
        let gathered = self.all_gather_values(&[value])?;
        Ok(gathered.into_iter().flatten().reduce(combine).unwrap_or(value))
    }
}

/// The values in the bytes that a process sent.
fn unpack<T: Pod>(process: usize, bytes: &[u8]) -> Result<Vec<T>> {
    const { assert!(size_of::<T>() > 0, "a value of no bytes cannot be counted") };
    if !bytes.len().is_multiple_of(size_of::<T>()) {
        let why = format!(
            "process {process} gave {} bytes, which is no whole number of values of {} bytes",
            bytes.len(),
            size_of::<T>()
        );
        return Err(CoreError::Communication { what: "all_gather", why });
    }
    // Received bytes are not aligned for T: copy them into memory that is.
    let mut values = vec![T::zeroed(); bytes.len() / size_of::<T>()];
    bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Single;

    #[test]
    fn one_process_gets_its_own_value_back() {
        let single: &dyn Processes = &Single;
        assert_eq!(single.all_sum_f64(-0.0).unwrap().to_bits(), (-0.0_f64).to_bits());
        assert_eq!(single.all_sum_u64(u64::MAX), Ok(u64::MAX));
        assert_eq!(single.all_max_f64(2.0), Ok(2.0));
        assert_eq!(single.all_min_u64(3), Ok(3));
        assert_eq!(single.any(true), Ok(true));
        assert_eq!(single.all_gather_values(&[1_u32, 2]).unwrap(), [[1, 2]]);
        let mut values = [1.0, 2.0];
        assert_eq!(single.all_sum_f64s(&mut values), Ok(()));
        assert_eq!(values, [1.0, 2.0]);
    }

    #[test]
    fn one_process_keeps_its_own_error() {
        let single: &dyn Processes = &Single;
        let error = CoreError::NoSuchLevel { found: 40, max: 20 };
        assert_eq!(single.all_agree::<()>(Err(error.clone())), Err(error));
        assert_eq!(single.all_agree(Ok(5)), Ok(5));
    }

    #[test]
    fn bytes_unpack_at_any_alignment_and_half_a_value_is_an_error() {
        let bytes: Vec<u8> =
            std::iter::once(0).chain(bytemuck::bytes_of(&[1.5_f64, -2.0]).to_vec()).collect();
        assert_eq!(unpack::<f64>(0, &bytes[1..]).unwrap(), [1.5, -2.0]);
        let error = unpack::<f64>(2, &bytes).unwrap_err();
        assert!(error.to_string().contains("process 2 gave 17 bytes"), "{error}");
    }
}
