//! A piece of a grid as bytes, to be sent from one process to another.

use crate::compression::Compression;
use crate::error::{Result, VdbError};
use crate::grid::Class;
use crate::mask::LeafMask;
use crate::tree::{FileOrder, Level};
use crate::value::Kind;
use crate::write::bytes::{put_coordinate, put_i64, put_mask, put_string, put_u32};
use crate::write::encoded::{
    Buffers, EncodedGrid, EncodedTile, Head, Place, TileValue, value_size,
};
use crate::write::is_aligned;
use crate::write::metadata::{RawEntry, RawMetadata, put_metadata};

const MARK: [u8; 8] = *b"vdbpiec1";
const CLASSES: [Class; 4] = [Class::Unknown, Class::LevelSet, Class::FogVolume, Class::Staggered];
const LEVELS: [Level; 3] = [Level::Leaf, Level::Lower, Level::Upper];

impl EncodedGrid {
    /// The piece as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MARK.to_vec();
        self.head.put(&mut bytes);
        put_i64(self.tiles.len() as i64, &mut bytes);
        for tile in &self.tiles {
            put_coordinate(tile.origin, &mut bytes);
            bytes.extend([tile.level as u8, u8::from(tile.is_active)]);
            bytes.extend_from_slice(tile.value.bytes());
        }
        put_i64(self.origins.len() as i64, &mut bytes);
        self.origins.iter().for_each(|&origin| put_coordinate(origin, &mut bytes));
        self.masks.iter().for_each(|mask| put_mask(&mask.0, &mut bytes));
        let (buffers, places) = match &self.buffers {
            Buffers::Leaves { bytes, places } => (bytes, Some(places)),
            Buffers::Whole(bytes) => (bytes, None),
        };
        put_i64(buffers.len() as i64, &mut bytes);
        for buffer in buffers {
            put_blob(buffer, &mut bytes);
        }
        bytes.push(u8::from(places.is_some()));
        for place in places.into_iter().flatten() {
            [place.buffer, place.start, place.end].iter().for_each(|&n| put_u32(n, &mut bytes));
        }
        bytes
    }

    /// The piece of bytes that [`EncodedGrid::to_bytes`] has made; an error if they are anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut rest = Rest { bytes, at: 0 };
        if rest.array()? != MARK {
            return Err(rest.malformed("this is not a piece of a grid"));
        }
        let head = Head::get(&mut rest)?;
        let size = value_size(head.kind);
        let count = rest.count(14 + size)?;
        let tiles = (0..count).map(|_| rest.tile(size)).collect::<Result<Vec<_>>>()?;
        let count = rest.count(12 + 64)?;
        let origins = (0..count).map(|_| rest.coordinate()).collect::<Result<Vec<_>>>()?;
        let masks = (0..count).map(|_| rest.mask()).collect::<Result<Vec<_>>>()?;
        let buffers = rest.count(8)?;
        let buffers =
            (0..buffers).map(|_| rest.blob().map(<[u8]>::to_vec)).collect::<Result<Vec<_>>>()?;
        let has_places = rest.flag()?;
        let buffers = if has_places {
            let places = (0..count).map(|_| rest.place(&buffers)).collect::<Result<_>>()?;
            Buffers::Leaves { bytes: buffers, places }
        } else {
            Buffers::Whole(buffers)
        };
        if rest.at != bytes.len() {
            return Err(rest.malformed("there are more bytes than the piece has"));
        }
        let are_aligned = tiles.iter().all(|tile| is_aligned(tile.origin, tile.level))
            && origins.iter().all(|&origin| is_aligned(origin, Level::Leaf));
        if !are_aligned || !origins.is_sorted_by_key(|&origin| FileOrder::of(origin)) {
            return Err(rest.malformed("leaves or tiles are not where they can be"));
        }
        let grid = Self { head, tiles, origins, masks, buffers };
        grid.topology()?;
        Ok(grid)
    }
}

impl Head {
    fn put(&self, bytes: &mut Vec<u8>) {
        put_string(&self.name, bytes);
        let kind = Kind::ALL.iter().position(|&kind| kind == self.kind).unwrap_or_default();
        bytes.extend([kind as u8, self.class as u8, u8::from(self.saved_as_half)]);
        put_u32(self.compression.flags(), bytes);
        put_blob(&self.transform, bytes);
        put_metadata(&self.metadata, bytes);
        bytes.extend_from_slice(&self.background);
    }

    fn get(rest: &mut Rest) -> Result<Self> {
        let name = rest.string()?;
        let [kind, class] = rest.array()?;
        let kind = Kind::ALL.get(usize::from(kind)).copied();
        let kind = kind.ok_or_else(|| rest.malformed("there is no such type of values"))?;
        let class = CLASSES.get(usize::from(class)).copied();
        let class = class.ok_or_else(|| rest.malformed("there is no such class"))?;
        let saved_as_half = rest.flag()?;
        let compression = Compression::of_flags(rest.u32()?);
        let transform = rest.blob()?.to_vec();
        let mut metadata = RawMetadata::new();
        for _ in 0..rest.u32()? {
            let (name, kind) = (rest.string()?, rest.string()?);
            let length = rest.u32()? as usize;
            metadata.insert(name, RawEntry { kind, bytes: rest.take(length)?.to_vec() });
        }
        let background = rest.take(value_size(kind))?.to_vec();
        Ok(Self { name, kind, class, saved_as_half, compression, transform, metadata, background })
    }
}

fn put_blob(blob: &[u8], bytes: &mut Vec<u8>) {
    put_i64(blob.len() as i64, bytes);
    bytes.extend_from_slice(blob);
}

/// What has not been read yet.
struct Rest<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    fn malformed(&self, found: &str) -> VdbError {
        VdbError::Malformed {
            offset: self.at as u64,
            found: found.to_owned(),
            wanted: "a piece of a grid as another process of this build sends it".to_owned(),
        }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let taken = self.bytes[self.at..].get(..length).ok_or_else(|| VdbError::Truncated {
            offset: self.at as u64,
            what: "a part of a piece of a grid".to_owned(),
            wanted: length as u64,
        })?;
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.first_chunk().copied().unwrap_or([0; N]))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn flag(&mut self) -> Result<bool> {
        match self.array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(self.malformed("a switch is neither on nor off")),
        }
    }

    /// A number of things that take at least `each` bytes: not more than can be there.
    fn count(&mut self, each: usize) -> Result<usize> {
        let count = u64::from_le_bytes(self.array()?);
        let most = (self.bytes.len() - self.at) / each;
        if count > most as u64 {
            return Err(self.malformed("there are more things than bytes for them"));
        }
        Ok(count as usize)
    }

    fn blob(&mut self) -> Result<&'a [u8]> {
        let length = self.count(1)?;
        self.take(length)
    }

    fn string(&mut self) -> Result<String> {
        let length = self.u32()? as usize;
        let bytes = self.take(length)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| self.malformed("a name is not UTF-8"))
    }

    fn coordinate(&mut self) -> Result<[i32; 3]> {
        Ok([self.u32()?, self.u32()?, self.u32()?].map(|number| number as i32))
    }

    fn mask(&mut self) -> Result<LeafMask> {
        let mut mask = LeafMask::NONE;
        for word in &mut mask.0 {
            *word = u64::from_le_bytes(self.array()?);
        }
        Ok(mask)
    }

    fn tile(&mut self, size: usize) -> Result<EncodedTile> {
        let origin = self.coordinate()?;
        let [level] = self.array()?;
        let level = LEVELS.get(usize::from(level)).copied();
        let level = level.ok_or_else(|| self.malformed("there is no such level of tiles"))?;
        let is_active = self.flag()?;
        let value = TileValue::new(self.take(size)?);
        let value = value.ok_or_else(|| self.malformed("the value of a tile is too long"))?;
        Ok(EncodedTile { origin, level, value, is_active })
    }

    fn place(&mut self, buffers: &[Vec<u8>]) -> Result<Place> {
        let place = Place { buffer: self.u32()?, start: self.u32()?, end: self.u32()? };
        let buffer = buffers.get(place.buffer as usize);
        let range = place.start as usize..place.end as usize;
        match buffer.and_then(|buffer| buffer.get(range)) {
            Some(_) => Ok(place),
            None => Err(self.malformed("the bytes of a leaf are not there")),
        }
    }
}
