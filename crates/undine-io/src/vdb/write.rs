//! One file, whatever the number of processes: each encodes its own leaves, the first joins the pieces and writes.

use super::grid::{ChannelGrid, GridVisitor, VolumeGrid, VolumeOptions, each_grid};
use super::points::{PointOptions, points_grid};
use super::value::GridValue;
use crate::error::{IoError, Result};
use crate::gather::{Order, gather};
use crate::metadata::FileMetadata;
use crate::names::UpAxis;
use crate::table::Points;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use undine_core::process::{Parcel, Processes};
use undine_core::{CoreError, DiscreteVolume, GridDomain};
use undine_vdb::Entry;
use undine_vdb::write::{self, Compression, EncodedGrid, GridParts};

/// A `.vdb` file to be: grids are added one after another, on all processes alike, and written by the first.
///
/// ```
/// use undine_core::{DiscreteVolume, GridDomain};
/// use undine_io::{FileMetadata, vdb::{ChannelGrid, VdbFile, VolumeOptions}};
/// # fn write(domain: &GridDomain, smoke: &DiscreteVolume) -> undine_io::Result<()> {
/// let metadata = FileMetadata { fps: Some(24.0), frame: Some(7), ..FileMetadata::default() };
/// let mut file = VdbFile::new(domain.processes().clone(), metadata);
/// for channel in ["density", "temperature", "velocity"] {
///     file.add_channel(domain, smoke, &ChannelGrid::customary(channel), &VolumeOptions::default())?;
/// }
/// file.save("smoke.0007.vdb".as_ref())
/// # }
/// ```
pub struct VdbFile {
    processes: Arc<dyn Processes>,
    metadata: FileMetadata,
    compression: Compression,
    /// The turn of what is added: to the axis of the file, or none.
    turn: UpAxis,
    /// On the first process; on others none.
    grids: Vec<EncodedGrid>,
}

impl VdbFile {
    /// A file without grids, compressed as OpenVDB does by default.
    pub fn new(processes: Arc<dyn Processes>, metadata: FileMetadata) -> Self {
        let (turn, compression) = (metadata.up, Compression::default());
        Self { processes, metadata, compression, turn, grids: Vec::new() }
    }

    /// The same, for what has the file's axis up already, so that nothing is turned.
    pub fn upright(mut self) -> Self {
        self.turn = UpAxis::Y;
        self
    }

    /// The same, compressed otherwise.
    pub fn compressed(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Adds the grids of a channel; the axis that points up is that of the file. Collective.
    pub fn add_channel(
        &mut self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        channel: &ChannelGrid<'_>,
        options: &VolumeOptions,
    ) -> Result<()> {
        let options = VolumeOptions { up: self.turn, ..options.clone() };
        each_grid(domain, volume, channel, &options, self)
    }

    /// Adds a grid of points, of which each process has some; the axis that points up is that of the file. Collective.
    pub fn add_points(
        &mut self,
        name: &str,
        points: &Points,
        order: Order,
        options: &PointOptions,
    ) -> Result<()> {
        let options = PointOptions { up: self.turn, ..options.clone() };
        let points = gather(&*self.processes, points, order)?;
        let encoded = points.map(|points| {
            let mut grid = points_grid(name, &points, &options)?;
            grid.metadata.insert("creator".into(), Entry::String(self.metadata.creator.clone()));
            Ok(write::encode_grid(&grid, self.compression)?)
        });
        let encoded = agree(&*self.processes, encoded.transpose())?;
        self.grids.extend(encoded);
        Ok(())
    }

    /// Writes the file, on the first process; on others nothing.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        if self.processes.rank() != 0 {
            return Ok(());
        }
        Ok(write::write(out, &self.metadata.to_vdb(), &self.grids)?)
    }

    /// Writes the file under its name, whole or not at all; every process returns when it is there. Collective.
    pub fn save(&self, path: &Path) -> Result<()> {
        let written = match self.processes.rank() {
            0 => write::write_file(path, &self.metadata.to_vdb(), &self.grids, false),
            _ => Ok(()),
        };
        agree(&*self.processes, written.map_err(IoError::from))
    }
}

impl GridVisitor for VdbFile {
    fn visit<V: GridValue>(&mut self, grid: &VolumeGrid<'_, V>) -> Result<()> {
        let mut metadata = grid.metadata.clone();
        metadata.insert("creator".into(), Entry::String(self.metadata.creator.clone()));
        let parts = GridParts {
            name: &grid.name,
            class: grid.class,
            transform: grid.transform,
            saved_as_half: grid.saved_as_half,
            metadata: &metadata,
            background: grid.background,
            tiles: &grid.tiles,
            leaves: &grid.leaves,
        };
        let piece = write::encode(&parts, self.compression).map_err(IoError::from);
        let piece = agree(&*self.processes, piece)?;
        if self.processes.count() == 1 {
            self.grids.push(piece);
            return Ok(());
        }
        let (rank, mut own) = (self.processes.rank(), None);
        let outgoing = if rank == 0 {
            own = Some(piece);
            Vec::new()
        } else {
            vec![Parcel { process: 0, bytes: piece.to_bytes() }]
        };
        let parcels = self.processes.exchange(outgoing)?;
        let joined = own.map(|own| {
            let of_others = parcels.iter().map(|parcel| EncodedGrid::from_bytes(&parcel.bytes));
            let pieces: Result<Vec<_>, _> = std::iter::once(Ok(own)).chain(of_others).collect();
            EncodedGrid::join(pieces?).map_err(IoError::from)
        });
        self.grids.extend(agree(&*self.processes, joined.transpose())?);
        Ok(())
    }
}

/// The outcome, if all processes had success; otherwise an error on every one: its own, or that of the lowest rank that failed.
pub(crate) fn agree<T>(processes: &dyn Processes, outcome: Result<T>) -> Result<T> {
    if processes.count() == 1 {
        return outcome;
    }
    let why = outcome.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let said = processes.all_gather(why.as_bytes())?;
    match said.iter().position(|why| !why.is_empty()) {
        Some(process) if outcome.is_ok() => {
            let why = String::from_utf8_lossy(&said[process]).into_owned();
            Err(CoreError::OnProcess { process, count: processes.count(), why }.into())
        }
        _ => outcome,
    }
}
