//! A `.vdb` file: opened, it knows the head of every grid; a grid's tree is read when it is asked for.

use std::fmt;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{Result, VdbError};
use crate::grid::{Content, Grid};
use crate::metadata::Metadata;
use crate::points::{PointTree, read_points, skip_points};
use crate::read::cursor::{Cursor, malformed};
use crate::read::head::{
    Descriptor, GridHead, Header, Layout, read_descriptor, read_head, read_header,
};
use crate::read::native_half::{NativeHalf, widened};
use crate::read::topology::{Topology, read_topology};
use crate::read::tree::{go_to_blocks, read_tree, scan_leaves};
use crate::tree::{Bounds, Leaves, Tree};
use crate::value::{Kind, MaskBit, Value};

/// A file whose grids can be read.
#[derive(Debug)]
pub struct File<R> {
    source: Source<R>,
    header: Header,
    heads: Vec<GridHead>,
    warnings: Vec<Warning>,
}

/// What of a file cannot be read, while the rest can.
#[derive(Debug)]
pub struct Warning {
    /// The name of the grid; none if the file does not get as far as to give it.
    pub grid: Option<String>,
    /// The attribute of points, if the rest of the grid can be read.
    pub attribute: Option<String>,
    /// How many grids after it are lost with it, since where they begin is not known.
    pub lost: u32,
    /// What is wrong.
    pub error: VdbError,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.attribute {
            write!(f, "the attribute `{name}` of ")?;
        }
        match &self.grid {
            Some(name) => write!(f, "the grid `{name}`")?,
            None => write!(f, "a grid")?,
        }
        match self.lost {
            0 => write!(f, " cannot be read: {}", self.error),
            1 => write!(f, " and the one after it cannot be read: {}", self.error),
            lost => write!(f, " and the {lost} after it cannot be read: {}", self.error),
        }
    }
}

impl File<std::fs::File> {
    /// Opens a file and reads the head of every grid.
    ///
    /// # Errors
    /// If the file cannot be opened, if it is not a `.vdb` file, or if none of the grids that it has can be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let file = path.as_ref();
        let open = |source| VdbError::Open { file: file.to_owned(), source };
        match Self::new(std::fs::File::open(file).map_err(open)?) {
            Err(VdbError::Io(source)) => Err(open(source)),
            other => other,
        }
    }
}

impl<R: Read + Seek> File<R> {
    /// Reads the head of every grid.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn new(mut reader: R) -> Result<Self> {
        let length = reader.seek(SeekFrom::End(0))?;
        let mut source = Source { reader, length, window: vec![], begin: 0 };
        let header = source.parse(0, length, read_header)?;
        let mut file = Self { source, header, heads: vec![], warnings: vec![] };
        match file.header.has_offsets {
            true => file.read_heads_by_offset()?,
            false => file.read_heads_in_sequence()?,
        }
        match file.heads.is_empty() && !file.warnings.is_empty() {
            true => Err(file.warnings.swap_remove(0).error),
            false => Ok(file),
        }
    }

    /// The version of the format.
    pub fn version(&self) -> u32 {
        self.header.version
    }

    /// The version of the library that wrote the file, major and minor.
    pub fn library_version(&self) -> [u32; 2] {
        self.header.library
    }

    /// The file's own identifier.
    pub fn uuid(&self) -> &str {
        &self.header.uuid
    }

    /// The file's own metadata.
    pub fn metadata(&self) -> &Metadata {
        &self.header.metadata
    }

    /// The heads of all grids that can be read, in the order of the file.
    pub fn grids(&self) -> &[GridHead] {
        &self.heads
    }

    /// What cannot be read.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The first grid of this name.
    ///
    /// # Errors
    /// If there is none, or if it is one of those that cannot be read; which is then said as the warning says it.
    pub fn index_of(&self, name: &str) -> Result<usize> {
        if let Some(index) = self.heads.iter().position(|head| head.name == name) {
            return Ok(index);
        }
        let refused = self.warnings.iter().find(|warning| warning.grid.as_deref() == Some(name));
        Err(match refused {
            Some(warning) => again(&warning.error),
            None => self.no_such_grid(name.to_owned()),
        })
    }

    /// Reads the first grid of this name.
    ///
    /// # Errors
    /// As [`File::index_of`] and [`File::grid`].
    pub fn grid_named(&mut self, name: &str) -> Result<Grid> {
        self.grid(self.index_of(name)?)
    }

    /// Reads a grid.
    ///
    /// # Errors
    /// If there is no such grid, or if it is not what the format allows.
    pub fn grid(&mut self, index: usize) -> Result<Grid> {
        self.read_grid(index, None)
    }

    /// Reads of a grid only what meets a box. Voxels of leaves that are outside it become inactive background; tiles that
    /// meet it are whole.
    ///
    /// # Errors
    /// As [`File::grid`], but that blocks of leaves outside the box may be damaged.
    pub fn grid_within(&mut self, index: usize, within: Bounds) -> Result<Grid> {
        self.read_grid(index, Some(within))
    }

    /// The box of a grid's active voxels, none if there are none: as the file says, or else from the topology alone.
    ///
    /// # Errors
    /// As [`File::grid`].
    pub fn bounds(&mut self, index: usize) -> Result<Option<Bounds>> {
        let head = self.head(index)?;
        if head.bounds.is_some() {
            return Ok(head.bounds);
        }
        let tree = self.tree_of(index)?;
        let (kind, layout, place) = (tree.kind, tree.layout, tree.place.clone());
        let bytes = self.source.read(place.tree, place.blocks)?;
        let cursor = &mut Cursor::new(&bytes, place.tree);
        let in_file = |error| self.source.in_file(place.blocks, error);
        fn bounds<T: Value>(cursor: &mut Cursor<'_>, layout: &Layout) -> Result<Option<Bounds>> {
            Ok(read_topology::<T>(cursor, layout)?.bounds())
        }
        match kind {
            Kind::Float if layout.native_half => bounds::<NativeHalf>(cursor, &layout),
            Kind::Float => bounds::<f32>(cursor, &layout),
            Kind::Double => bounds::<f64>(cursor, &layout),
            Kind::Int32 => bounds::<i32>(cursor, &layout),
            Kind::Int64 => bounds::<i64>(cursor, &layout),
            Kind::Bool => bounds::<bool>(cursor, &layout),
            Kind::Mask => bounds::<MaskBit>(cursor, &layout),
            Kind::Vec3s => bounds::<[f32; 3]>(cursor, &layout),
            Kind::Vec3d => bounds::<[f64; 3]>(cursor, &layout),
            Kind::Vec3i => bounds::<[i32; 3]>(cursor, &layout),
            Kind::Points => bounds::<u32>(cursor, &layout),
        }
        .map_err(in_file)
    }

    fn read_grid(&mut self, index: usize, within: Option<Bounds>) -> Result<Grid> {
        let head = self.head(index)?.clone();
        let tree = self.tree_of(index)?;
        let (kind, layout, place) = (tree.kind, tree.layout, tree.place.clone());
        let bytes = self.source.read(place.tree, place.end)?;
        let tree = TreeBytes {
            cursor: Cursor::new(&bytes, place.tree),
            blocks: (place.blocks - place.tree) as usize,
            layout,
            within,
        };
        let mut unread = Vec::new();
        let content = tree
            .content(kind, &mut unread)
            .map_err(|error| self.source.in_file(place.end, error))?;
        for (attribute, error) in unread {
            let (grid, attribute) = (Some(head.name.clone()), Some(attribute));
            // A grid may be read more than once.
            if !self.warnings.iter().any(|w| (&w.grid, &w.attribute) == (&grid, &attribute)) {
                self.warnings.push(Warning { grid, attribute, lost: 0, error });
            }
        }
        Ok(Grid {
            name: head.name,
            class: head.class,
            transform: head.transform,
            saved_as_half: head.saved_as_half,
            metadata: head.metadata,
            content,
        })
    }

    fn head(&self, index: usize) -> Result<&GridHead> {
        self.heads.get(index).ok_or_else(|| self.no_such_grid(format!("number {index}")))
    }

    /// The head of the grid that has the tree of this one: itself, or the one whose tree it shares.
    fn tree_of(&self, index: usize) -> Result<&GridHead> {
        let head = self.head(index)?;
        let parent = &head.place.parent;
        if parent.is_empty() {
            return Ok(head);
        }
        let found = self.heads.iter().find(|other| other.place.unique_name == *parent);
        found.filter(|other| other.place.parent.is_empty()).ok_or_else(|| {
            let found = format!("the grid `{}` shares the tree of `{parent}`", head.name);
            let wanted = "that is to be a grid that can be read, with a tree of its own";
            malformed(head.bytes.start, found.escape_debug().to_string(), wanted)
        })
    }

    fn no_such_grid(&self, name: String) -> VdbError {
        let names: Vec<String> = self.heads.iter().map(|head| format!("`{}`", head.name)).collect();
        VdbError::NoSuchGrid { name, there: names.join(", ") }
    }

    /// Reads the heads, going from the end of each grid to the next.
    fn read_heads_by_offset(&mut self) -> Result<()> {
        let mut at = self.header.end;
        for ordinal in 0..self.header.grids {
            let lost = self.header.grids - ordinal - 1;
            let descriptor = match self.source.parse(at, self.source.length, read_descriptor) {
                Ok(descriptor) => descriptor,
                Err(error) => return self.warn(None, lost, error),
            };
            let name = Some(descriptor.name().to_owned());
            let end = match self.end_of(&descriptor) {
                Ok(end) => end,
                Err(error) => return self.warn(name, lost, error),
            };
            at = end;
            match self.read_head_by_offset(&descriptor, end) {
                Ok(head) => self.heads.push(head),
                Err(error) => self.warn(name, 0, error)?,
            }
        }
        Ok(())
    }

    /// Where a grid ends, which is after its descriptor and in the file.
    fn end_of(&self, descriptor: &Descriptor) -> Result<u64> {
        let (end, length) = (descriptor.end, self.source.length);
        let field = descriptor.after - 8;
        let out = match u64::try_from(end) {
            Ok(end) if end < descriptor.after => "it is after the grid's descriptor",
            Ok(end) if end <= length => return Ok(end),
            Ok(end) => {
                return Err(VdbError::Truncated {
                    offset: length,
                    what: "the rest of the grid".to_owned(),
                    wanted: end - length,
                });
            }
            Err(_) => "it is not negative",
        };
        Err(malformed(field, format!("the offset of a grid's end is {end}"), out))
    }

    fn read_head_by_offset(&mut self, descriptor: &Descriptor, end: u64) -> Result<GridHead> {
        let inside = descriptor.after..=end;
        let begin = u64::try_from(descriptor.grid).ok().filter(|begin| inside.contains(begin));
        let begin = begin.ok_or_else(|| {
            let found = format!("the offset of a grid is {}", descriptor.grid);
            malformed(descriptor.after - 24, found, format!("it is in {inside:?}"))
        })?;
        let mut head = self.source.parse(begin, end, |cursor| read_head(cursor, descriptor))?;

        // A grid that shares another's tree ends after its transform.
        let inside = head.place.tree..=end;
        let blocks = match descriptor.parent.is_empty() {
            true => u64::try_from(descriptor.blocks).ok(),
            false => Some(end),
        };
        head.place.blocks = blocks.filter(|blocks| inside.contains(blocks)).ok_or_else(|| {
            let found = format!("the offset of a grid's blocks is {}", descriptor.blocks);
            malformed(descriptor.after - 16, found, format!("it is in {inside:?}"))
        })?;
        head.place.end = end;
        head.bytes.end = end;
        Ok(head)
    }

    /// Reads the heads of a file without offsets, where a grid ends being known only from its tree.
    fn read_heads_in_sequence(&mut self) -> Result<()> {
        let begin = self.header.end;
        let bytes = self.source.read(begin, self.source.length)?;
        let cursor = &mut Cursor::new(&bytes, begin);
        for ordinal in 0..self.header.grids {
            let lost = self.header.grids - ordinal - 1;
            let descriptor = match read_descriptor(cursor) {
                Ok(descriptor) => descriptor,
                Err(error) => return self.warn(None, lost, error),
            };
            match read_head_in_sequence(cursor, &descriptor) {
                Ok(head) => self.heads.push(head),
                Err(error) => return self.warn(Some(descriptor.name().to_owned()), lost, error),
            }
        }
        Ok(())
    }

    /// Keeps what is wrong with a grid, unless it is the system that fails.
    fn warn(&mut self, grid: Option<String>, lost: u32, error: VdbError) -> Result<()> {
        match error {
            VdbError::Io(_) => Err(error),
            _ => {
                self.warnings.push(Warning { grid, attribute: None, lost, error });
                Ok(())
            }
        }
    }
}

fn read_head_in_sequence(cursor: &mut Cursor<'_>, descriptor: &Descriptor) -> Result<GridHead> {
    let mut head = read_head(cursor, descriptor)?;
    head.place.blocks = head.place.tree;
    if descriptor.parent.is_empty() {
        let layout = &head.layout;
        head.place.blocks = match head.kind {
            Kind::Float if layout.native_half => skip_tree::<NativeHalf>(cursor, layout)?,
            Kind::Float => skip_tree::<f32>(cursor, layout)?,
            Kind::Double => skip_tree::<f64>(cursor, layout)?,
            Kind::Int32 => skip_tree::<i32>(cursor, layout)?,
            Kind::Int64 => skip_tree::<i64>(cursor, layout)?,
            Kind::Bool => skip_tree::<bool>(cursor, layout)?,
            Kind::Mask => skip_tree::<MaskBit>(cursor, layout)?,
            Kind::Vec3s => skip_tree::<[f32; 3]>(cursor, layout)?,
            Kind::Vec3d => skip_tree::<[f64; 3]>(cursor, layout)?,
            Kind::Vec3i => skip_tree::<[i32; 3]>(cursor, layout)?,
            Kind::Points => {
                let topology = read_topology::<u32>(cursor, layout)?;
                let blocks = cursor.offset();
                skip_points(cursor, &topology.masks)?;
                blocks
            }
        };
    }
    head.place.end = cursor.offset();
    head.bytes.end = head.place.end;
    Ok(head)
}

/// Goes behind a tree, and says where the blocks of its leaves begin.
fn skip_tree<T: Value>(cursor: &mut Cursor<'_>, layout: &Layout) -> Result<u64> {
    let topology = read_topology::<T>(cursor, layout)?;
    let blocks = cursor.offset();
    scan_leaves(cursor, &topology, layout)?;
    Ok(blocks)
}

/// A tree as the file has it.
struct TreeBytes<'a> {
    cursor: Cursor<'a>,
    /// After how many of the cursor's bytes the blocks of the leaves begin.
    blocks: usize,
    layout: Layout,
    within: Option<Bounds>,
}

impl TreeBytes<'_> {
    /// Reads the tree of a grid of this kind; attributes of points that cannot be read come to `unread`.
    fn content(self, kind: Kind, unread: &mut Vec<(String, VdbError)>) -> Result<Content> {
        Ok(match kind {
            Kind::Float if self.layout.native_half => Content::Float(widened(self.read()?)),
            Kind::Float => Content::Float(self.read()?),
            Kind::Double => Content::Double(self.read()?),
            Kind::Int32 => Content::Int32(self.read()?),
            Kind::Int64 => Content::Int64(self.read()?),
            Kind::Bool => Content::Bool(self.read()?),
            Kind::Mask => Content::Mask(self.read()?),
            Kind::Vec3s => Content::Vec3s(self.read()?),
            Kind::Vec3d => Content::Vec3d(self.read()?),
            Kind::Vec3i => Content::Vec3i(self.read()?),
            Kind::Points => Content::Points(self.read_points(unread)?),
        })
    }

    fn read<T: Value>(mut self) -> Result<Tree<T>> {
        read_tree(&mut self.cursor, self.blocks, &self.layout, self.within)
    }

    fn read_points(mut self, unread: &mut Vec<(String, VdbError)>) -> Result<PointTree> {
        let topology = read_topology::<u32>(&mut self.cursor, &self.layout)?;
        go_to_blocks(&mut self.cursor, self.blocks)?;
        let Topology { background, tiles, origins, masks } = topology;
        let leaves = Leaves { origins, masks, values: vec![] };
        let voxels = Tree { background, tiles, leaves };
        let points = read_points(&mut self.cursor, voxels, unread)?;
        Ok(match self.within {
            Some(within) => points.within(within),
            None => points,
        })
    }
}

/// The bytes of a file.
#[derive(Debug)]
struct Source<R> {
    reader: R,
    length: u64,
    /// What was read last for parsing, and where it begins: heads of small grids lie close together.
    window: Vec<u8>,
    begin: u64,
}

impl<R: Read + Seek> Source<R> {
    /// The bytes of a range that is in the file.
    fn read(&mut self, begin: u64, end: u64) -> Result<Vec<u8>> {
        let wanted = end.min(self.length).saturating_sub(begin);
        self.reader.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::with_capacity(usize::try_from(wanted).unwrap_or(0));
        let there = self.reader.by_ref().take(wanted).read_to_end(&mut bytes)?;
        match there as u64 == wanted {
            true => Ok(bytes),
            false => Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into()),
        }
    }

    /// Parses what begins at an offset and ends before `limit`, but whose length is not known: takes more and more of the
    /// file until it suffices.
    fn parse<T>(
        &mut self,
        begin: u64,
        limit: u64,
        parse: impl Fn(&mut Cursor<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut length = 1 << 14;
        loop {
            let window_end = self.begin + self.window.len() as u64;
            let end = window_end.min(limit);
            if (self.begin..end).contains(&begin) {
                let bytes =
                    &self.window[(begin - self.begin) as usize..(end - self.begin) as usize];
                match parse(&mut Cursor::new(bytes, begin)) {
                    Err(VdbError::Truncated { .. }) if end < limit => {}
                    other => return other.map_err(|error| self.in_file(limit, error)),
                }
            } else if begin >= limit {
                let nothing = parse(&mut Cursor::new(&[], begin));
                return nothing.map_err(|error| self.in_file(limit, error));
            }
            self.window = self.read(begin, begin.saturating_add(length))?;
            self.begin = begin;
            length *= 8;
        }
    }

    /// What to say of bytes that end at `end`: if that is not where the file ends, then it has not been cut short.
    fn in_file(&self, end: u64, error: VdbError) -> VdbError {
        match error {
            VdbError::Truncated { offset, what, wanted } if end < self.length => {
                let found = format!("{what} of {wanted} bytes begins here");
                malformed(offset, found, format!("the file gives it the bytes before {end}"))
            }
            other => other,
        }
    }
}

/// An error once more.
fn again(error: &VdbError) -> VdbError {
    match error {
        VdbError::Malformed { offset, found, wanted } => {
            malformed(*offset, found.clone(), wanted.clone())
        }
        VdbError::Truncated { offset, what, wanted } => {
            VdbError::Truncated { offset: *offset, what: what.clone(), wanted: *wanted }
        }
        VdbError::Unsupported { offset, what, wanted } => {
            VdbError::Unsupported { offset: *offset, what: what.clone(), wanted: wanted.clone() }
        }
        other => VdbError::Io(std::io::Error::other(other.to_string())),
    }
}
