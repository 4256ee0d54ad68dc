//! Damaged and hostile checkpoints: an error of our own each time, never a panic, and nothing is touched.

use crate::checkpoint::{identity, saved, state};
use crate::fixtures::{empty_zoo, full_zoo};
use proptest::prelude::*;
use std::io::{self, Cursor, Write};
use undine_core::{Frame, GridDomain, ParticleSystem, glam::DVec3};
use undine_sim::checkpoint::{CheckpointError, load, save, verify};
use undine_sim::registry::{Store, StoreMut, Stores, digests};

/// Two stores, for files that are small enough to try everything on.
struct Small(GridDomain, ParticleSystem);

impl Stores for Small {
    fn each(&self, visit: &mut dyn FnMut(Store<'_>)) {
        visit(Store::Domain(&self.0));
        visit(Store::Particles(&self.1));
    }
    fn each_mut(&mut self, visit: &mut dyn FnMut(StoreMut<'_>)) {
        visit(StoreMut::Domain(&mut self.0));
        visit(StoreMut::Particles(&mut self.1, &self.0));
    }
}

fn small(particles: usize) -> Small {
    let domain = GridDomain::new("space", Frame::new(DVec3::ZERO, 0.1).unwrap());
    let mut spray = ParticleSystem::new("spray", &domain).unwrap();
    let batch = spray.batch(&vec![DVec3::splat(0.3); particles]).unwrap();
    spray.append(&domain, batch).unwrap();
    Small(domain, spray)
}

fn small_file() -> Vec<u8> {
    let mut bytes = Vec::new();
    save(&identity(), &state(), &small(3), &mut bytes).unwrap();
    bytes
}

fn refusal(bytes: &[u8]) -> CheckpointError {
    let mut zoo = small(1);
    let before = digests(&zoo).unwrap();
    let error = load(None, &mut zoo, &mut Cursor::new(bytes)).unwrap_err();
    assert_eq!(digests(&zoo).unwrap(), before, "{error}");
    error
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    let bytes = small_file();
    for len in 0..bytes.len() {
        assert!(matches!(refusal(&bytes[..len]), CheckpointError::Length { .. }), "{len}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(matches!(refusal(&longer), CheckpointError::Length { .. }));
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    let mut bytes = small_file();
    for bit in 0..8 * bytes.len() {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let error = refusal(&bytes);
        let right = match error {
            CheckpointError::NotACheckpoint => bit < 64,
            CheckpointError::Damaged { .. } => bit >= 64,
            _ => false,
        };
        assert!(right, "bit {bit}: {error}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn a_damaged_channel_is_named() {
    let mut bytes = small_file();
    let last = bytes.len() - 5;
    bytes[last] ^= 1;
    let message = verify(&mut Cursor::new(&bytes)).unwrap_err().to_string();
    assert!(
        message.starts_with("the checkpoint is damaged in its channel `position` of spray"),
        "{message}"
    );
}

/// A file whose checksums are right, whatever was done to its directory.
fn resealed(bytes: &[u8], json: &[u8]) -> Vec<u8> {
    let directory = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize;
    let mut file = bytes[..40].to_vec();
    file[16..24].copy_from_slice(&(json.len() as u64).to_le_bytes());
    file[32..36].copy_from_slice(&crc32fast::hash(json).to_le_bytes());
    let crc = crc32fast::hash(&file[..36]);
    file[36..].copy_from_slice(&crc.to_le_bytes());
    [&file[..], json, &bytes[40 + directory..]].concat()
}

#[test]
fn lengths_that_lie_are_refused_before_anything_is_allocated() {
    let bytes = small_file();
    // The header says that the directory, or the rest, is huge.
    for at in [16, 24] {
        let mut huge = bytes.clone();
        huge[at..at + 8].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
        let crc = crc32fast::hash(&huge[..36]);
        huge[36..40].copy_from_slice(&crc.to_le_bytes());
        assert!(matches!(refusal(&huge), CheckpointError::Length { .. }));
    }
}

fn directory(bytes: &[u8]) -> serde_json::Value {
    let len = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize;
    serde_json::from_slice(&bytes[40..40 + len]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Every number of a well-sealed directory, replaced by any other: an error, or what the file still can mean.
    #[test]
    fn hostile_directories_never_panic(which in any::<prop::sample::Index>(), number in prop_oneof![
        Just(0_u64), Just(1), Just(u64::MAX), Just(u64::MAX / 12), Just(1 << 40), 0..100_u64, any::<u64>()
    ]) {
        let bytes = saved(&full_zoo(1, 12));
        let mut json = directory(&bytes);
        let mut numbers = Vec::new();
        collect(&mut json, &mut numbers);
        let at = which.index(numbers.len());
        *numbers[at] = number.into();
        let file = resealed(&bytes, &serde_json::to_vec(&json).unwrap());
        let _ = load(None, &mut empty_zoo(), &mut Cursor::new(&file));
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(load(None, &mut small(1), &mut Cursor::new(&bytes)).is_err());
    }
}

/// Every number in a document.
fn collect<'a>(value: &'a mut serde_json::Value, numbers: &mut Vec<&'a mut serde_json::Value>) {
    match value {
        serde_json::Value::Array(list) => list.iter_mut().for_each(|value| collect(value, numbers)),
        serde_json::Value::Object(map) => {
            map.values_mut().for_each(|value| collect(value, numbers))
        }
        serde_json::Value::Number(_) => numbers.push(value),
        _ => {}
    }
}

/// A disk that is full after so many bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = bytes.len().min(self.0);
        self.0 -= written;
        if written == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(written) }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_that_says_so() {
    let length = small_file().len();
    for room in [0, 39, 40, 100, length - 1] {
        let error = save(&identity(), &state(), &small(3), &mut Full(room)).unwrap_err();
        let CheckpointError::Io { what: "written", source } = error else { panic!("{error}") };
        assert_eq!(source.kind(), io::ErrorKind::StorageFull);
    }
    save(&identity(), &state(), &small(3), &mut Full(length)).unwrap();
}
