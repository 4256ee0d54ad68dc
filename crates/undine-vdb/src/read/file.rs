//! A `.vdb` file: opened, it knows the head of every grid; a grid's tree is read when it is asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Seek};
use std::path::Path;

use crate::error::{Result, VdbError};
use crate::grid::Grid;
use crate::metadata::Metadata;
use crate::read::content::{read_bounds, read_content, skip_content};
use crate::read::cursor::{Cursor, malformed};
use crate::read::head::{Descriptor, GridHead, Header, read_descriptor, read_head, read_header};
use crate::read::instances::Instances;
use crate::read::source::Source;
use crate::tree::Bounds;

/// A file whose grids can be read.
#[derive(Debug)]
pub struct File<R> {
    source: Source<R>,
    header: Header,
    heads: Vec<GridHead>,
    /// By unique name the first grid that has it.
    by_name: BTreeMap<String, usize>,
    instances: Instances,
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

impl<R: Read + Seek + Send> File<R> {
    /// Reads the head of every grid.
    ///
    /// # Errors
    /// As [`File::open`].
    pub fn new(reader: R) -> Result<Self> {
        let mut source = Source::new(reader)?;
        let header = source.parse(0, source.length, read_header)?;
        let instances = Instances::of_file(source.length);
        let (heads, by_name, warnings) = (vec![], BTreeMap::new(), vec![]);
        let mut file = Self { source, header, heads, by_name, instances, warnings };
        match file.header.has_offsets {
            true => file.read_heads_by_offset()?,
            false => file.read_heads_in_sequence()?,
        }
        for (index, head) in file.heads.iter().enumerate() {
            file.by_name.entry(head.place.unique_name.clone()).or_insert(index);
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

    /// Allows the grids that share a tree with another to take so much memory together [bytes], those that were read already
    /// included. Unless this is called they may take 256 MB, and 64 times the length of the file.
    pub fn allow_instances(&mut self, bytes: u64) {
        self.instances.most = bytes;
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
    /// If there is no such grid, if it is not what the format allows, or if it shares the tree of another and with it all that
    /// do and were read take more memory than is allowed (see [`File::allow_instances`]).
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
        let tree = &self.heads[self.tree_of(index)?];
        let (kind, layout, place) = (tree.kind, tree.layout, tree.place.clone());
        read_bounds(&mut self.source, kind, &layout, &place)
    }

    fn read_grid(&mut self, index: usize, within: Option<Bounds>) -> Result<Grid> {
        let head = self.head(index)?.clone();
        let of_tree = self.tree_of(index)?;
        let is_instance = of_tree != index;
        if let (true, None, Some(bytes)) = (is_instance, within, self.instances.known(of_tree)) {
            // Known to be too much, it is not even read.
            self.instances.take(index, &head.name, head.bytes.start, bytes)?;
        }
        let tree = &self.heads[of_tree];
        let (kind, layout, place) = (tree.kind, tree.layout, tree.place.clone());
        let mut unread = Vec::new();
        let source = &mut self.source;
        let content = read_content(source, kind, &layout, &place, within, &mut unread)?;
        if is_instance {
            self.instances.take(index, &head.name, head.bytes.start, content.memory())?;
        }
        if within.is_none() {
            self.instances.learn(of_tree, content.memory());
        }
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

    /// The grid that has the tree of this one: itself, or the one whose tree it shares.
    fn tree_of(&self, index: usize) -> Result<usize> {
        let head = self.head(index)?;
        let parent = &head.place.parent;
        if parent.is_empty() {
            return Ok(index);
        }
        let found = self.by_name.get(parent).copied();
        found.filter(|&other| self.heads[other].place.parent.is_empty()).ok_or_else(|| {
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
        head.place.blocks = skip_content(cursor, head.kind, &head.layout)?;
    }
    head.place.end = cursor.offset();
    head.bytes.end = head.place.end;
    Ok(head)
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
