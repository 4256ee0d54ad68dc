//! Buckets that change their owner, with all their channels.

use crate::domain::{BucketKey, GridDomain, Slot, Topology};
use crate::error::{CoreError, Result};
use crate::process::Parcel;

/// For each new owner: the Buckets that go to it, each with the bytes of every column.
pub(crate) fn pack<'b>(
    domain: &GridDomain,
    old: &Topology,
    columns: usize,
    read: impl Fn(usize, Slot) -> &'b [u8],
) -> Vec<Parcel> {
    let mut parcels: Vec<Vec<u8>> = vec![Vec::new(); domain.processes().count()];
    for (slot, &bucket) in old.buckets()[..old.local()].iter().enumerate() {
        let owner = domain.owner(bucket);
        if owner == domain.processes().rank() {
            continue;
        }
        let parcel = &mut parcels[owner];
        parcel.extend_from_slice(bytemuck::bytes_of(&bucket.key()));
        for column in 0..columns {
            let bytes = read(column, slot as Slot);
            parcel.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            parcel.extend_from_slice(bytes);
        }
    }
    let full = parcels.into_iter().enumerate().filter(|(_, bytes)| !bytes.is_empty());
    full.map(|(process, bytes)| Parcel { process, bytes }).collect()
}

/// Puts what [`pack`] made on other processes into its new slots.
pub(crate) fn unpack(
    parcels: &[Parcel],
    new: &Topology,
    columns: usize,
    mut write: impl FnMut(usize, Slot, &[u8]),
) -> Result<()> {
    let broken = || CoreError::Communication {
        what: "Buckets that change their owner",
        why: "a parcel does not hold what it says".into(),
    };
    for parcel in parcels {
        let mut rest = &parcel.bytes[..];
        while !rest.is_empty() {
            let key = rest.split_off(..8).ok_or_else(broken)?;
            let key: BucketKey = bytemuck::pod_read_unaligned(key);
            let slot = new.slot(key.bucket()).ok_or_else(broken)?;
            for column in 0..columns {
                let len = rest.split_off(..8).ok_or_else(broken)?;
                let len: u64 = bytemuck::pod_read_unaligned(len);
                let bytes = usize::try_from(len).ok().and_then(|len| rest.split_off(..len));
                write(column, slot, bytes.ok_or_else(broken)?);
            }
        }
    }
    Ok(())
}
