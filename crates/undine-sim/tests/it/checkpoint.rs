//! Checkpoints: what is saved comes back to the last bit, and goes on as if nothing had happened.

use crate::fixtures::{Zoo, empty_zoo, empty_zoo_within, full_zoo, live, on_threads};
use proptest::prelude::*;
use std::io::Cursor;
use undine_core::glam::DVec3;
use undine_core::{ChannelSpec, CoreError, MemoryBudget};
use undine_sim::checkpoint::{
    CheckpointError, Identity, Migration, State, Value, inspect, load, load_with, save,
};
use undine_sim::registry::{ChannelDigest, StoreDigest, digests};

pub fn identity() -> Identity {
    Identity { build: "0.1.0".into(), scene: "a1b2".into() }
}

pub fn state() -> State {
    let values = [
        ("residual".to_owned(), Value::F64(f64::from_bits(0x7FF8_0000_0000_0001))),
        ("seed".to_owned(), Value::U64(u64::MAX)),
        ("name".to_owned(), Value::Text("Rührkuchen".to_owned())),
    ];
    State { frame: -3, time: 0.1 + 0.2, step: 77, values: values.into_iter().collect() }
}

pub fn saved(zoo: &Zoo) -> Vec<u8> {
    let mut bytes = Vec::new();
    let length = save(&identity(), &state(), zoo, &mut bytes).unwrap();
    assert_eq!(length, bytes.len() as u64);
    bytes
}

pub fn loaded(bytes: &[u8]) -> Zoo {
    let mut zoo = empty_zoo();
    load(Some(&identity()), &mut zoo, &mut Cursor::new(bytes)).unwrap();
    zoo
}

/// What a checkpoint keeps: transient channels are not of it.
pub fn kept(zoo: &Zoo) -> Vec<StoreDigest> {
    let mut all = digests(zoo).unwrap();
    all.iter_mut().for_each(|store| store.channels.retain(|channel| channel.checkpoint));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_is_saved_comes_back_and_goes_on_the_same(seed in any::<u32>(), particles in 0..120_usize) {
        let mut original = full_zoo(u64::from(seed), particles);
        let bytes = saved(&original);
        let mut copy = loaded(&bytes);
        prop_assert_eq!(kept(&copy), kept(&original));
        prop_assert_eq!(&saved(&copy), &bytes);
        // Ids of new particles, order in Buckets, everything: twice more.
        for _ in 0..2 {
            live(&mut original);
            live(&mut copy);
            prop_assert_eq!(kept(&copy), kept(&original));
        }
        prop_assert_eq!(saved(&copy), saved(&original));
    }
}

#[test]
fn state_comes_back_to_the_last_bit() {
    let bytes = saved(&full_zoo(1, 10));
    let found = load(None, &mut empty_zoo(), &mut Cursor::new(&bytes)).unwrap();
    let wanted = state();
    assert_eq!((found.frame, found.time.to_bits(), found.step), (-3, wanted.time.to_bits(), 77));
    assert_eq!(found.values["seed"], Value::U64(u64::MAX));
    assert_eq!(found.values["name"], wanted.values["name"]);
    let Value::F64(nan) = found.values["residual"] else { panic!() };
    assert_eq!(nan.to_bits(), 0x7FF8_0000_0000_0001);
    let summary = inspect(&mut Cursor::new(&bytes)).unwrap();
    assert_eq!((summary.identity, summary.bytes), (identity(), bytes.len() as u64));
    assert!(
        summary
            .stores
            .iter()
            .any(|(_, label, channels)| label == "air" && channels.contains(&"inside".into()))
    );
}

#[test]
fn a_file_does_not_depend_on_threads() {
    let one = on_threads(1, || saved(&full_zoo(3, 100)));
    let three = on_threads(3, || saved(&full_zoo(3, 100)));
    assert_eq!(one, three);
    assert_eq!(on_threads(1, || kept(&loaded(&one))), on_threads(3, || kept(&loaded(&one))));
}

#[test]
fn stores_that_shared_their_buckets_share_them_again() {
    let zoo = loaded(&saved(&full_zoo(4, 30)));
    assert_eq!(zoo.air.topology().id(), zoo.domain.topology().id());
}

#[test]
fn a_checkpoint_replaces_whatever_was_there() {
    let original = full_zoo(5, 40);
    let mut busy = full_zoo(6, 90);
    load(None, &mut busy, &mut Cursor::new(saved(&original))).unwrap();
    assert_eq!(kept(&busy), kept(&original));
}

#[test]
fn transient_channels_begin_at_their_defaults() {
    let zoo = loaded(&saved(&full_zoo(7, 40)));
    let default = f32::from_le_bytes([3, 0, 0, 0]);
    let handle = zoo.spray.handle::<f32>("transient f32").unwrap();
    let column = zoo.spray.column(handle).unwrap();
    let slots = 0..zoo.spray.topology().local() as u32;
    assert!(slots.flat_map(|slot| column.chunk(slot)).all(|&value| value == default));
    let handle = zoo.air.handle::<f32>("transient f32").unwrap();
    assert!(zoo.air.column(handle).unwrap().chunk(0).iter().all(|&value| value == default));
    let handle = zoo.rods.handle::<f32>("transient f32").unwrap();
    assert!(zoo.rods.column(handle).unwrap().iter().all(|&value| value == default));
}

#[test]
fn handles_survive_a_load() {
    let mut zoo = empty_zoo();
    let (spray, air) = (zoo.spray.handle::<u64>("kept u64"), zoo.air.handle::<u64>("inside"));
    let cloth = zoo.meshes[2].position();
    load(None, &mut zoo, &mut Cursor::new(saved(&full_zoo(8, 20)))).unwrap();
    assert!(zoo.spray.column(spray.unwrap()).is_ok() && zoo.air.column(air.unwrap()).is_ok());
    assert_eq!(zoo.meshes[2].values_mut(crate::registry::VERTEX, cloth).unwrap().len(), 5);
}

#[test]
fn a_channel_that_only_the_file_has_is_made() {
    let mut original = full_zoo(9, 30);
    original.spray.add_channel(&ChannelSpec::new("age", 2.5_f32).unit("s")).unwrap();
    let mut copy = empty_zoo();
    copy.air.remove_channel("inside").unwrap();
    copy.air.remove_channel("pressure").unwrap();
    copy.rods.remove_channel("kept dmat4").unwrap();
    let unnamed = |digest: &ChannelDigest| digest.name.contains("age");
    load(None, &mut copy, &mut Cursor::new(saved(&original))).unwrap();
    assert_eq!(kept(&copy), kept(&original));
    assert!(kept(&copy)[1].channels.iter().any(unnamed));
    assert!(copy.air.mask("inside").is_ok());
    assert_eq!(copy.spray.channels().infos().last().unwrap().unit, "s");
    live(&mut copy);
    live(&mut original);
    assert_eq!(kept(&copy), kept(&original));
}

fn refusal(original: &Zoo, copy: &mut Zoo) -> CheckpointError {
    let before = digests(copy).unwrap();
    let error = load(None, copy, &mut Cursor::new(saved(original))).unwrap_err();
    assert_eq!(digests(copy).unwrap(), before, "nothing changes");
    error
}

#[test]
fn a_channel_that_only_the_store_has_is_refused_by_name() {
    let mut copy = empty_zoo();
    copy.air
        .add_channel(&ChannelSpec::new("smoke", 0.0_f32), undine_core::volume::VoxelShape::CELLS)
        .unwrap();
    let error = refusal(&full_zoo(1, 5), &mut copy);
    assert!(
        error
            .to_string()
            .starts_with("the checkpoint has no channel `smoke` of air; it has `inside`"),
        "{error}"
    );
}

#[test]
fn a_channel_of_another_type_or_unit_is_refused() {
    let mut copy = empty_zoo();
    copy.rods.remove_channel("kept vec3").unwrap();
    copy.rods.add_channel(&ChannelSpec::new("kept vec3", 0.0_f32).unit("m/s")).unwrap();
    let message = refusal(&full_zoo(1, 5), &mut copy).to_string();
    assert_eq!(
        message,
        "the type of channel `kept vec3` of rods is vec3 in the checkpoint, but must be f32"
    );
    let mut copy = empty_zoo();
    copy.rods.remove_channel("kept f32").unwrap();
    copy.rods.add_channel(&ChannelSpec::new("kept f32", 0.0_f32).unit("cm/s")).unwrap();
    let message = refusal(&full_zoo(1, 5), &mut copy).to_string();
    assert_eq!(
        message,
        "the unit of channel `kept f32` of rods is `m/s` in the checkpoint, but must be `cm/s`"
    );
}

#[test]
fn other_stores_than_the_scene_has_are_refused() {
    let mut copy = empty_zoo();
    copy.meshes.pop();
    assert!(
        matches!(refusal(&full_zoo(1, 5), &mut copy), CheckpointError::UnknownStore { label, .. } if label == "jelly")
    );
    let mut original = full_zoo(1, 5);
    original.meshes.pop();
    assert!(
        matches!(refusal(&original, &mut empty_zoo()), CheckpointError::MissingStore { label, .. } if label == "jelly")
    );
    original.meshes.extend(full_zoo(1, 5).meshes);
    let error = save(&identity(), &state(), &original, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, CheckpointError::DuplicateStore { .. }), "{error}");
}

#[test]
fn another_lattice_is_refused_with_both_named() {
    let mut copy = empty_zoo();
    let frame = undine_core::Frame::new(DVec3::ZERO, 0.04).unwrap();
    copy.domain = undine_core::GridDomain::new("space", frame);
    let message = refusal(&full_zoo(1, 5), &mut copy).to_string();
    assert!(
        message.contains("voxels of 0.05 m from [10, 0.1, -3]") && message.contains("0.04 m"),
        "{message}"
    );
}

#[test]
fn another_scene_or_build_is_refused_if_asked() {
    let bytes = saved(&full_zoo(1, 5));
    let other = Identity { scene: "c3d4".into(), ..identity() };
    let error = load(Some(&other), &mut empty_zoo(), &mut Cursor::new(&bytes)).unwrap_err();
    assert_eq!(error.to_string(), "the checkpoint belongs to scene `a1b2`, but this is `c3d4`");
}

#[test]
fn memory_stays_within_the_budget() {
    let bytes = saved(&full_zoo(2, 100));
    let budget = MemoryBudget::new(40_000);
    let mut zoo = empty_zoo_within(&budget);
    let error = load(None, &mut zoo, &mut Cursor::new(&bytes)).unwrap_err();
    assert!(matches!(error, CheckpointError::Store(CoreError::OverBudget { .. })), "{error}");
}

#[test]
fn a_channel_that_is_being_written_is_not_saved() {
    let zoo = full_zoo(2, 10);
    let _claim = zoo.spray.column_mut(zoo.spray.position()).unwrap();
    let error = save(&identity(), &state(), &zoo, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, CheckpointError::Store(CoreError::ChannelBusy { .. })), "{error}");
}

/// A file as format version `version` would have it, its directory changed by `change`.
fn as_version(bytes: &[u8], version: u32, change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    let directory = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize;
    let mut json = serde_json::from_slice(&bytes[40..40 + directory]).unwrap();
    change(&mut json);
    let json = serde_json::to_vec(&json).unwrap();
    let mut file = bytes[..40].to_vec();
    file[8..12].copy_from_slice(&version.to_le_bytes());
    file[16..24].copy_from_slice(&(json.len() as u64).to_le_bytes());
    file[32..36].copy_from_slice(&crc32fast::hash(&json).to_le_bytes());
    let crc = crc32fast::hash(&file[..36]);
    file[36..].copy_from_slice(&crc.to_le_bytes());
    file.extend(json);
    file.extend(&bytes[40 + directory..]);
    file
}

#[test]
fn an_older_version_is_brought_up_to_date() {
    // Say that version 0 called substeps `substeps`, and knew no processes.
    let original = full_zoo(11, 30);
    let old = as_version(&saved(&original), 0, |directory| {
        directory.as_object_mut().unwrap().remove("processes");
        let state = directory["state"].as_object_mut().unwrap();
        let step = state.remove("step").unwrap();
        state.insert("substeps".into(), step);
    });
    let steps = [Migration {
        from: 0,
        change: |directory| {
            directory["processes"] = 1.into();
            let state = directory["state"].as_object_mut().ok_or("there is no state")?;
            let step = state.remove("substeps").ok_or("there are no substeps")?;
            state.insert("step".into(), step);
            Ok(())
        },
    }];
    let mut copy = empty_zoo();
    let state = load_with(&steps, None, &mut copy, &mut Cursor::new(&old)).unwrap();
    assert_eq!(state.step, 77);
    assert_eq!(kept(&copy), kept(&original));

    let broken = as_version(&saved(&original), 0, |_| ());
    let error = load_with(&steps, None, &mut copy, &mut Cursor::new(&broken)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the checkpoint could not be brought from format version 0 to 1: there are no substeps"
    );
    let error = load(None, &mut copy, &mut Cursor::new(&old)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the checkpoint has format version 0, but this build reads versions 1 to 1; begin again, or use the build that wrote it"
    );
}

#[test]
fn a_newer_version_is_refused_with_both_named() {
    let new = as_version(&saved(&full_zoo(1, 5)), 9, |_| ());
    let error = load(None, &mut empty_zoo(), &mut Cursor::new(&new)).unwrap_err();
    assert!(matches!(error, CheckpointError::Version { found: 9, newest: 1, .. }), "{error}");
}

#[test]
fn a_checkpoint_of_another_number_of_processes_is_the_same_state() {
    let one = saved(&full_zoo(1, 5));
    let four = as_version(&one, 1, |directory| directory["processes"] = 4.into());
    let mut copy = empty_zoo();
    load(None, &mut copy, &mut Cursor::new(&four)).unwrap();
    assert!(saved(&copy) == one);
}
