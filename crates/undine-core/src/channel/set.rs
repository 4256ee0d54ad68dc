//! The channels of one store, by name and by checked handle.

use super::spec::{ChannelInfo, ChannelSpec};
use crate::element::{Element, ElementType};
use crate::error::{CoreError, Result};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// How a store lays a channel out in memory.
pub trait Layout: 'static {
    /// The column that holds a channel of `T`.
    type Column<T: Element>: Send + Sync + 'static;
    /// The same with `T` forgotten: what the store must do to any channel without knowing its type.
    type Erased: ErasedColumn + ?Sized;

    /// Forgets the type.
    fn erase<T: Element>(column: Self::Column<T>) -> Box<Self::Erased>;
}

/// What every column can say without its element type.
pub trait ErasedColumn: Send + Sync {
    /// For the way back to the typed column.
    fn as_any(&self) -> &dyn Any;
    /// For the way back to the typed column.
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// Bytes that hold elements.
    fn used_bytes(&self) -> usize;
    /// Bytes that are allocated, with slack.
    fn allocated_bytes(&self) -> usize;
    /// What new elements hold, as bytes.
    fn default_bytes(&self) -> &[u8];
}

/// A checked reference to a channel of `T` in one store.
///
/// It goes stale when the channel is removed, and using it then is an error, never another channel.
pub struct Handle<T> {
    store: u64,
    index: u32,
    generation: u32,
    element: PhantomData<fn() -> T>,
}

/// The channels of one store.
pub struct ChannelSet<L: Layout> {
    /// Unique in this program run; ties handles to their store.
    id: u64,
    label: String,
    slots: Vec<Slot<L>>,
}

struct Slot<L: Layout> {
    generation: u32,
    channel: Option<Channel<L>>,
}

struct Channel<L: Layout> {
    info: ChannelInfo,
    /// Whether the copies of other processes' Buckets are as new as their originals.
    halo_fresh: AtomicBool,
    /// Who uses the column, for the message when somebody else wants it.
    users: Mutex<Users>,
    column: RwLock<Box<L::Erased>>,
}

/// Who uses a column.
#[derive(Default)]
struct Users {
    /// Those who have claimed it now, in order.
    now: Vec<&'static str>,
    /// Who claimed it for writing last.
    writer: &'static str,
}

/// A name among the users of a column, for as long as it has a claim.
struct Signature<'a> {
    users: &'a Mutex<Users>,
    task: &'static str,
}

impl<L: Layout> ChannelSet<L> {
    /// An empty set for the store that messages call `label`.
    pub fn new(label: impl Into<String>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), label: label.into(), slots: Vec::new() }
    }

    /// How messages call the store.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Identifies the store within this program run.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Adds a channel.
    pub fn add<T: Element>(
        &mut self,
        spec: &ChannelSpec<T>,
        column: L::Column<T>,
    ) -> Result<Handle<T>> {
        self.check_new(spec)?;
        let channel = Channel {
            info: spec.info.clone(),
            halo_fresh: AtomicBool::new(false),
            users: Mutex::default(),
            column: RwLock::new(L::erase(column)),
        };
        let index = match self.slots.iter().position(|slot| slot.channel.is_none()) {
            Some(index) => index,
            None => {
                self.slots.push(Slot { generation: 0, channel: None });
                self.slots.len() - 1
            }
        };
        let slot = &mut self.slots[index];
        slot.channel = Some(channel);
        Ok(Handle {
            store: self.id,
            index: index as u32,
            generation: slot.generation,
            element: PhantomData,
        })
    }

    /// Whether a channel with this description could be added.
    pub fn check_new<T: Element>(&self, spec: &ChannelSpec<T>) -> Result<()> {
        spec.validate()?;
        if self.find(&spec.info.name).is_some() {
            return Err(CoreError::DuplicateChannel {
                store: self.label.clone(),
                channel: spec.info.name.clone(),
            });
        }
        Ok(())
    }

    /// Removes a channel by name; its handles are stale from now on.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        let index = self.find(name).ok_or_else(|| self.unknown(name))?;
        let slot = &mut self.slots[index];
        slot.generation += 1;
        slot.channel = None;
        Ok(())
    }

    /// The handle of the channel of this name, if it holds `T`.
    pub fn handle<T: Element>(&self, name: &str) -> Result<Handle<T>> {
        let index = self.find(name).ok_or_else(|| self.unknown(name))?;
        let slot = &self.slots[index];
        let found = slot.channel.as_ref().map_or(T::TYPE, |channel| channel.info.element);
        if found != T::TYPE {
            return Err(self.wrong_type(name, found, T::TYPE));
        }
        Ok(Handle {
            store: self.id,
            index: index as u32,
            generation: slot.generation,
            element: PhantomData,
        })
    }

    /// Descriptions of all channels, in a fixed order.
    pub fn infos(&self) -> impl Iterator<Item = &ChannelInfo> {
        self.slots.iter().filter_map(|slot| slot.channel.as_ref()).map(|channel| &channel.info)
    }

    /// The description behind a handle.
    pub fn info<T: Element>(&self, handle: Handle<T>) -> Result<&ChannelInfo> {
        self.channel(handle).map(|channel| &channel.info)
    }

    /// The place of a channel in [`Self::infos`] and [`Self::columns_mut`].
    pub(crate) fn ordinal<T: Element>(&self, handle: Handle<T>) -> Result<usize> {
        self.channel(handle)?;
        let before = &self.slots[..handle.index as usize];
        Ok(before.iter().filter(|slot| slot.channel.is_some()).count())
    }

    /// Claims a channel for reading, in the name of `task`. Refused while somebody writes it, and once
    /// somebody has panicked while writing it.
    pub fn read<T: Element>(
        &self,
        handle: Handle<T>,
        task: &'static str,
    ) -> Result<ChannelRef<'_, L, T>> {
        let channel = self.channel(handle)?;
        let guard = self.claim_read(channel, task)?;
        let column: &L::Column<T> = guard.as_any().downcast_ref().expect(TYPE_WAS_CHECKED);
        Ok(ChannelRef {
            column: NonNull::from(column).cast(),
            _guard: guard,
            _signature: channel.sign(task),
            element: PhantomData,
        })
    }

    /// Claims a channel for writing, in the name of `task`. Copies on other processes become stale, and
    /// therefore all of them make this call alike. Refused while somebody uses it, and once somebody has panicked while writing it.
    pub fn write<T: Element>(
        &self,
        handle: Handle<T>,
        task: &'static str,
    ) -> Result<ChannelMut<'_, L, T>> {
        let channel = self.channel(handle)?;
        let mut guard =
            channel.column.try_write().map_err(|e| self.refused(channel, "written", task, &e))?;
        let signature = channel.sign(task);
        channel.users().writer = task;
        channel.halo_fresh.store(false, Ordering::Relaxed);
        let column: &mut L::Column<T> = guard.as_any_mut().downcast_mut().expect(TYPE_WAS_CHECKED);
        Ok(ChannelMut {
            column: NonNull::from(column).cast(),
            _guard: guard,
            _signature: signature,
            element: PhantomData,
        })
    }

    /// The column behind a handle, for an owner who needs no claim.
    pub fn get_mut<T: Element>(&mut self, handle: Handle<T>) -> Result<&mut L::Column<T>> {
        self.channel(handle)?;
        let channel = self.slots[handle.index as usize].channel.as_mut();
        let column = channel.and_then(|channel| {
            *channel.halo_fresh.get_mut() = false;
            let column = channel.column.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            column.as_any_mut().downcast_mut::<L::Column<T>>()
        });
        column.ok_or_else(|| CoreError::StaleHandle { store: self.label.clone() })
    }

    /// Exchanges what two channels hold, without touching an element; each keeps its name and description.
    pub fn swap<T: Element>(&mut self, one: Handle<T>, other: Handle<T>) -> Result<()> {
        self.channel(one)?;
        self.channel(other)?;
        let mut ends = [one.index as usize, other.index as usize];
        ends.sort_unstable();
        let [low, high] = ends;
        let (before, from) = self.slots.split_at_mut(high);
        let pair = before.get_mut(low).zip(from.first_mut());
        if let Some((Slot { channel: Some(one), .. }, Slot { channel: Some(other), .. })) = pair {
            std::mem::swap(&mut one.column, &mut other.column);
            std::mem::swap(&mut one.halo_fresh, &mut other.halo_fresh);
            std::mem::swap(&mut one.users, &mut other.users);
        }
        Ok(())
    }

    /// Every column with its description, in a fixed order, for work that does not care for types.
    pub fn columns_mut(&mut self) -> impl Iterator<Item = (&ChannelInfo, &mut L::Erased)> {
        self.slots.iter_mut().filter_map(|slot| slot.channel.as_mut()).map(|channel| {
            *channel.halo_fresh.get_mut() = false;
            let column = channel.column.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            (&channel.info, &mut **column)
        })
    }

    /// Calls `visit` with every column, claimed for reading. Fails if one is being written.
    pub fn each_column(
        &self,
        task: &'static str,
        mut visit: impl FnMut(&ChannelInfo, &L::Erased),
    ) -> Result<()> {
        for channel in self.slots.iter().filter_map(|slot| slot.channel.as_ref()) {
            let guard = self.claim_read(channel, task)?;
            let _signature = channel.sign(task);
            visit(&channel.info, &guard);
        }
        Ok(())
    }

    /// Whether the copies of other processes' Buckets are fresh in this channel.
    pub(crate) fn halo_is_fresh<T: Element>(&self, handle: Handle<T>) -> Result<bool> {
        Ok(self.channel(handle)?.halo_fresh.load(Ordering::Relaxed))
    }

    /// Notes that the copies of other processes' Buckets have been refreshed.
    pub(crate) fn set_halo_fresh<T: Element>(&self, handle: Handle<T>) -> Result<()> {
        self.channel(handle)?.halo_fresh.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn channel<T: Element>(&self, handle: Handle<T>) -> Result<&Channel<L>> {
        self.slots
            .get(handle.index as usize)
            .filter(|slot| handle.store == self.id && slot.generation == handle.generation)
            .and_then(|slot| slot.channel.as_ref())
            .ok_or_else(|| CoreError::StaleHandle { store: self.label.clone() })
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.slots
            .iter()
            .position(|slot| slot.channel.as_ref().is_some_and(|channel| channel.info.name == name))
    }

    fn unknown(&self, name: &str) -> CoreError {
        let names: Vec<_> = self.infos().map(|info| format!("`{}`", info.name)).collect();
        CoreError::UnknownChannel {
            store: self.label.clone(),
            channel: name.to_owned(),
            known: if names.is_empty() { "none".into() } else { names.join(", ") },
        }
    }

    fn wrong_type(&self, name: &str, found: ElementType, wanted: ElementType) -> CoreError {
        CoreError::WrongType { store: self.label.clone(), channel: name.to_owned(), found, wanted }
    }

    fn claim_read<'a>(
        &self,
        channel: &'a Channel<L>,
        task: &'static str,
    ) -> Result<RwLockReadGuard<'a, Box<L::Erased>>> {
        channel.column.try_read().map_err(|error| self.refused(channel, "read", task, &error))
    }

    /// Why a claim was refused: somebody has the column, or its last writer panicked.
    fn refused<G>(
        &self,
        channel: &Channel<L>,
        wanted: &'static str,
        task: &'static str,
        error: &TryLockError<G>,
    ) -> CoreError {
        let (store, channel_name) = (self.label.clone(), channel.info.name.clone());
        let users = channel.users();
        match error {
            TryLockError::Poisoned(_) => {
                CoreError::HalfWritten { store, channel: channel_name, task: users.writer }
            }
            TryLockError::WouldBlock => {
                // Whoever had it may have gone in between.
                let holder = users.now.first().copied().unwrap_or("another thread");
                CoreError::ChannelBusy { store, channel: channel_name, wanted, task, holder }
            }
        }
    }
}

impl<L: Layout> Channel<L> {
    fn users(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn sign(&self, task: &'static str) -> Signature<'_> {
        self.users().now.push(task);
        Signature { users: &self.users, task }
    }
}

impl Drop for Signature<'_> {
    fn drop(&mut self) {
        let mut users = self.users.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(at) = users.now.iter().position(|&task| task == self.task) {
            users.now.remove(at);
        }
    }
}

impl<L: Layout> fmt::Debug for ChannelSet<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelSet")
            .field("label", &self.label)
            .field("channels", &self.infos().map(|info| &info.name).collect::<Vec<_>>())
            .finish()
    }
}

/// A channel claimed for reading.
pub struct ChannelRef<'a, L: Layout, T> {
    /// The column behind the guard, its type checked once: kernels come here for every Bucket.
    column: NonNull<()>,
    _guard: RwLockReadGuard<'a, Box<L::Erased>>,
    _signature: Signature<'a>,
    element: PhantomData<T>,
}

// SAFETY: the address is that of a column, which is `Sync`, and which the guard keeps alive and
// unwritten. (Guards are not `Send`, so this is not either.)
unsafe impl<L: Layout, T: Element> Sync for ChannelRef<'_, L, T> {}

/// A channel claimed for writing.
pub struct ChannelMut<'a, L: Layout, T> {
    /// The column behind the guard, its type checked once: loops come here for every element.
    column: NonNull<()>,
    _guard: RwLockWriteGuard<'a, Box<L::Erased>>,
    _signature: Signature<'a>,
    element: PhantomData<T>,
}

// SAFETY: the address is that of a column, which is `Sync`, and which the guard keeps alive and from all others; through
// a shared reference it is only read. (Guards are not `Send`, so this is not either.)
unsafe impl<L: Layout, T: Element> Sync for ChannelMut<'_, L, T> {}

/// A handle is made only for a column of its own element type.
const TYPE_WAS_CHECKED: &str = "a handle always refers to a column of its own type";

impl<L: Layout, T: Element> Deref for ChannelRef<'_, L, T> {
    type Target = L::Column<T>;
    #[inline]
    fn deref(&self) -> &Self::Target {
        // SAFETY: `read` took the address from a column of this very type; its box does not move, and
        // the guard lets nobody write to it as long as `self` lives.
        unsafe { self.column.cast().as_ref() }
    }
}

impl<L: Layout, T: Element> Deref for ChannelMut<'_, L, T> {
    type Target = L::Column<T>;
    #[inline]
    fn deref(&self) -> &Self::Target {
        // SAFETY: `write` took the address from a column of this very type; its box does not move, and
        // nobody else reaches it as long as the guard lives. `&mut` is handed out for a `&mut self` alone.
        unsafe { self.column.cast().as_ref() }
    }
}

impl<L: Layout, T: Element> DerefMut for ChannelMut<'_, L, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        // SAFETY: as above, and `self` is borrowed for as long as what is returned.
        unsafe { self.column.cast().as_mut() }
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.store, self.index, self.generation) == (other.store, other.index, other.generation)
    }
}

impl<T> Eq for Handle<T> {}

impl<T: Element> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle<{}>({}.{}#{})", T::TYPE, self.store, self.index, self.generation)
    }
}
