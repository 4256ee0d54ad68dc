//! Compressed sparse rows: the entries of each row together, columns ascending.

use crate::error::{Result, SolveError};
use crate::real::Real;
use rayon::prelude::*;

/// Rows that one task of a product works on.
const ROWS_PER_TASK: usize = 1024;

/// A sparse matrix in compressed rows. Columns of a row ascend, none twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr<T> {
    columns: usize,
    /// Where each row begins in `indices` and `values`, and one end more.
    starts: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> Csr<T> {
    /// A matrix of given parts: `starts` has one entry more than there are rows.
    ///
    /// Refuses a structure that is none, and entries that are not finite.
    pub fn new(
        columns: usize,
        starts: Vec<u32>,
        indices: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Self> {
        let bad = |row: usize, why: String| Err(SolveError::BadStructure { row, why });
        if starts.first() != Some(&0) {
            return bad(0, "does not begin at entry 0".into());
        }
        if indices.len() != values.len() {
            return Err(SolveError::WrongLength {
                what: "the list of columns of a matrix",
                found: indices.len(),
                wanted: values.len(),
            });
        }
        let rows = starts.len() - 1;
        if starts[rows] as usize != indices.len() {
            return bad(
                rows.saturating_sub(1),
                format!("ends at entry {}, but there are {}", starts[rows], indices.len()),
            );
        }
        if let Some(row) = (0..rows).find(|&row| starts[row] > starts[row + 1]) {
            return bad(row, format!("goes from entry {} to {}", starts[row], starts[row + 1]));
        }
        let fault = (0..rows).into_par_iter().find_map_first(|row| {
            let range = starts[row] as usize..starts[row + 1] as usize;
            let found = &indices[range.clone()];
            if let Some(&column) = found.iter().find(|&&column| column as usize >= columns) {
                let why = format!("has column {column}, but there are {columns}");
                return Some(SolveError::BadStructure { row, why });
            }
            if let Some(pair) = found.windows(2).find(|pair| pair[0] >= pair[1]) {
                let why = format!("has column {} after {}; they must ascend", pair[1], pair[0]);
                return Some(SolveError::BadStructure { row, why });
            }
            let entry = range.clone().find(|&entry| !values[entry].is_finite())?;
            let (column, value) = (indices[entry] as usize, values[entry].to_f64());
            Some(SolveError::EntryNotFinite { row, column, value })
        });
        match fault {
            Some(fault) => Err(fault),
            None => Ok(Self { columns, starts, indices, values }),
        }
    }

    /// A matrix of parts that are known to be sound, unchecked but in builds with assertions.
    pub(crate) fn from_sound_parts(
        columns: usize,
        starts: Vec<u32>,
        indices: Vec<u32>,
        values: Vec<T>,
    ) -> Self {
        debug_assert_eq!(starts.last().map(|&end| end as usize), Some(indices.len()));
        debug_assert_eq!(indices.len(), values.len());
        debug_assert!(
            starts.windows(2).all(|row| {
                let row = &indices[row[0] as usize..row[1] as usize];
                row.windows(2).all(|pair| pair[0] < pair[1])
                    && row.last().is_none_or(|&column| (column as usize) < columns)
            }),
            "columns ascend and are there"
        );
        Self { columns, starts, indices, values }
    }

    /// A matrix of (row, column, value) in any order. Values of the same place are added in the order given.
    pub fn from_triplets(
        rows: usize,
        columns: usize,
        triplets: impl IntoIterator<Item = (usize, usize, T)>,
    ) -> Result<Self> {
        check_count("the number of rows of a matrix", rows)?;
        check_count("the number of columns of a matrix", columns)?;
        let mut entries: Vec<(usize, usize, T)> = triplets.into_iter().collect();
        if let Some(&(row, column, _)) =
            entries.iter().find(|&&(row, column, _)| row >= rows || column >= columns)
        {
            let why = format!("of {rows} has column {column}; there are {columns} columns");
            return Err(SolveError::BadStructure { row, why });
        }
        entries.par_sort_by_key(|&(row, column, _)| (row, column));
        let mut starts = vec![0_u32; rows + 1];
        let mut indices = Vec::with_capacity(entries.len());
        let mut values: Vec<T> = Vec::with_capacity(entries.len());
        let mut last = None;
        for (row, column, value) in entries {
            if last == Some((row, column)) {
                *values.last_mut().expect("there was a last one") += value;
                continue;
            }
            last = Some((row, column));
            starts[row + 1] += 1;
            indices.push(column as u32);
            values.push(value);
        }
        check_count("the number of entries of a matrix", indices.len())?;
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        Self::new(columns, starts, indices, values)
    }

    /// A matrix made row by row, on all threads: `fill` gets a row's number and pushes its (column, value) in any order.
    /// Values of the same place are added in the order given.
    pub fn from_rows(
        rows: usize,
        columns: usize,
        fill: impl Fn(usize, &mut Vec<(u32, T)>) + Sync,
    ) -> Result<Self> {
        check_count("the number of rows of a matrix", rows)?;
        check_count("the number of columns of a matrix", columns)?;
        let parts: Vec<RowsPart<T>> = (0..rows.div_ceil(ROWS_PER_TASK))
            .into_par_iter()
            .map(|n| {
                let first = n * ROWS_PER_TASK;
                RowsPart::new(first..(first + ROWS_PER_TASK).min(rows), &fill)
            })
            .collect();
        let entries = parts.iter().map(|part| part.indices.len()).sum();
        check_count("the number of entries of a matrix", entries)?;
        let mut starts = Vec::with_capacity(rows + 1);
        let mut indices = Vec::with_capacity(entries);
        let mut values = Vec::with_capacity(entries);
        starts.push(0);
        for part in parts {
            let before = indices.len() as u32;
            starts.extend(part.ends.iter().map(|end| before + end));
            indices.extend_from_slice(&part.indices);
            values.extend_from_slice(&part.values);
        }
        Self::new(columns, starts, indices, values)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many entries are stored.
    pub fn entries(&self) -> usize {
        self.values.len()
    }

    /// Where each row begins, and one end more.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The column of every entry, row after row.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The value of every entry, row after row.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The values, for new ones on the same pattern.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Where a row's entries are.
    #[inline(always)]
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// The columns and values of a row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> (&[u32], &[T]) {
        let range = self.range(row);
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The entry at a place; zero where none is stored.
    pub fn get(&self, row: usize, column: usize) -> T {
        let (columns, values) = self.row(row);
        columns.binary_search(&(column as u32)).map_or(T::ZERO, |entry| values[entry])
    }

    /// The diagonal; zero where none is stored.
    pub fn diagonal(&self) -> Vec<T> {
        (0..self.rows()).into_par_iter().map(|row| self.get(row, row)).collect()
    }

    /// y = A·x.
    pub fn multiply(&self, x: &[T], y: &mut [T]) {
        self.multiply_with(x, y, |_, product| product);
    }

    /// y = f(y, A·x), row by row: `multiply_with(x, r, |b, ax| b - ax)` leaves the residual where the right-hand side was.
    pub fn multiply_with(&self, x: &[T], y: &mut [T], f: impl Fn(T, T) -> T + Sync) {
        assert!(x.len() == self.columns && y.len() == self.rows(), "a vector per side");
        let block = |(n, y): (usize, &mut [T])| {
            let first = n * ROWS_PER_TASK;
            for (row, y) in (first..).zip(y) {
                let (columns, values) = self.row(row);
                let terms = columns.iter().zip(values).map(|(&column, &a)| a * x[column as usize]);
                *y = f(*y, terms.fold(T::ZERO, |sum, term| sum + term));
            }
        };
        if y.len() <= 4 * ROWS_PER_TASK {
            y.chunks_mut(ROWS_PER_TASK).enumerate().for_each(block);
        } else {
            y.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(block);
        }
    }

    /// The transpose.
    pub fn transpose(&self) -> Self {
        let mut starts = vec![0_u32; self.columns + 1];
        for &column in &self.indices {
            starts[column as usize + 1] += 1;
        }
        for column in 0..self.columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut indices = vec![0; self.entries()];
        let mut values = vec![T::ZERO; self.entries()];
        for row in 0..self.rows() {
            let (columns, entries) = self.row(row);
            for (&column, &value) in columns.iter().zip(entries) {
                let place = next[column as usize] as usize;
                next[column as usize] += 1;
                indices[place] = row as u32;
                values[place] = value;
            }
        }
        Self::from_sound_parts(self.rows(), starts, indices, values)
    }

    /// The same matrix in another precision.
    pub fn convert<U: Real>(&self) -> Csr<U> {
        Csr {
            columns: self.columns,
            starts: self.starts.clone(),
            indices: self.indices.clone(),
            values: self.values.par_iter().map(|value| U::from_f64(value.to_f64())).collect(),
        }
    }

    /// Refuses a matrix that is not symmetric: two mirrored entries of its first rows × rows part may differ by at most
    /// `tolerance` times the largest of both and of √|aᵢᵢ aⱼⱼ|, beside which a rounded zero is a zero.
    pub fn check_symmetric(&self, tolerance: f64) -> Result<()> {
        let roots = self.diagonal_roots();
        self.find_fault(|row, column, value| {
            let mirrored = self.get(column, row).to_f64();
            let scale = roots[row] * roots[column];
            let allowed = tolerance * value.abs().max(mirrored.abs()).max(scale);
            let is_wrong = (value - mirrored).abs() > allowed;
            is_wrong.then_some(SolveError::NotSymmetric { row, column, value, mirrored })
        })
    }

    /// Refuses a diagonal that is not positive everywhere, in the name of a method that needs it so.
    pub fn check_positive_diagonal(&self, method: &'static str) -> Result<()> {
        let rows = (0..self.rows()).into_par_iter();
        let fault = rows.find_map_first(|row| {
            let value = self.get(row, row).to_f64();
            let is_positive = value > 0.0;
            let wanted = "positive";
            (!is_positive).then_some(SolveError::BadDiagonal { row, value, method, wanted })
        });
        fault.map_or(Ok(()), Err)
    }

    /// Refuses what is plainly not symmetric positive definite: a matrix that is not symmetric to `tolerance`, a diagonal
    /// that is not positive, an entry that is not below √(aᵢᵢ aⱼⱼ). To pass is a hint and no proof.
    pub fn check_spd_hints(&self, tolerance: f64, method: &'static str) -> Result<()> {
        self.check_positive_diagonal(method)?;
        self.check_symmetric(tolerance)?;
        let roots = self.diagonal_roots();
        self.find_fault(|row, column, value| {
            let limit = roots[row] * roots[column];
            // Equality is for singular matrices, such as those of closed walls, which rounding may carry across.
            let is_wrong = column != row && value.abs() > limit * (1.0 + 1e-6);
            is_wrong.then_some(SolveError::NotPositive { row, column, value, limit })
        })
    }

    /// √|aᵢᵢ| by row: a product of two of them is finite where one of two diagonal entries would not be.
    fn diagonal_roots(&self) -> Vec<f64> {
        self.diagonal().into_iter().map(|value| value.to_f64().abs().sqrt()).collect()
    }

    /// The first fault of any entry in the first rows × rows part. One that is not finite is a fault to everybody.
    fn find_fault(
        &self,
        fault: impl Fn(usize, usize, f64) -> Option<SolveError> + Sync,
    ) -> Result<()> {
        let rows = self.rows();
        let of_row = |row: usize| {
            let (columns, values) = self.row(row);
            let entries = columns.iter().zip(values);
            let mut local = entries.filter(|(column, _)| (**column as usize) < rows);
            local.find_map(|(&column, value)| {
                let (column, value) = (column as usize, value.to_f64());
                match value.is_finite() {
                    true => fault(row, column, value),
                    false => Some(SolveError::EntryNotFinite { row, column, value }),
                }
            })
        };
        (0..rows).into_par_iter().find_map_first(of_row).map_or(Ok(()), Err)
    }

    /// Bytes of the three lists.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.starts[..])
            + size_of_val(&self.indices[..])
            + size_of_val(&self.values[..])) as u64
    }
}

/// Some rows of a matrix in the making.
struct RowsPart<T> {
    /// Where each row ends.
    ends: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> RowsPart<T> {
    fn new(rows: std::ops::Range<usize>, fill: impl Fn(usize, &mut Vec<(u32, T)>)) -> Self {
        let mut part =
            Self { ends: Vec::with_capacity(rows.len()), indices: Vec::new(), values: Vec::new() };
        let mut entries = Vec::new();
        for row in rows {
            entries.clear();
            fill(row, &mut entries);
            // The sort is stable: sums run in the order in which their terms came.
            entries.sort_by_key(|&(column, _)| column);
            let first = part.indices.len();
            for &(column, value) in &entries {
                if part.indices.len() > first && part.indices.last() == Some(&column) {
                    let last = part.values.len() - 1;
                    part.values[last] += value;
                } else {
                    part.indices.push(column);
                    part.values.push(value);
                }
            }
            part.ends.push(part.indices.len() as u32);
        }
        part
    }
}

/// Refuses more of something than 32 bits count.
pub(super) fn check_count(what: &'static str, count: usize) -> Result<()> {
    if count < u32::MAX as usize {
        return Ok(());
    }
    let wanted = "fewer than 4294967295";
    Err(SolveError::BadValue { what: what.into(), found: count.to_string(), wanted })
}
