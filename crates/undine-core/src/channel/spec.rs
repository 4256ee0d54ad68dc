//! What a channel is, apart from its data: name, unit, default, how it merges, whether it is kept.

use crate::element::{Element, ElementType};
use crate::error::{CoreError, Result};
use std::borrow::Cow;

/// How the values of several particles become one when the particles merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Combine {
    /// The value of the particle that stays (the one with the smallest id).
    #[default]
    Keep,
    /// The sum: mass, volume.
    Sum,
    /// The mean weighted by the `mass` channel, or the plain mean without one: velocity, temperature.
    Mean,
    /// The smallest, component by component.
    Min,
    /// The largest, component by component.
    Max,
}

/// The description of a channel to be added: everything but its data.
///
/// ```
/// use undine_core::{ChannelSpec, Combine};
/// use glam::Vec3;
/// let velocity = ChannelSpec::new("velocity", Vec3::ZERO).unit("m/s").combine(Combine::Mean);
/// # let _ = velocity;
/// ```
#[derive(Debug, Clone)]
pub struct ChannelSpec<T> {
    pub(crate) info: ChannelInfo,
    pub(crate) default: T,
}

impl<T: Element> ChannelSpec<T> {
    /// A channel of this name, whose new elements hold `default`.
    pub fn new(name: impl Into<String>, default: T) -> Self {
        let info = ChannelInfo {
            name: name.into(),
            element: T::TYPE,
            unit: Cow::Borrowed(""),
            combine: Combine::Keep,
            checkpoint: true,
            internal: false,
        };
        Self { info, default }
    }

    /// The SI unit of the values, as text, for example `m/s`.
    pub fn unit(mut self, unit: impl Into<Cow<'static, str>>) -> Self {
        self.info.unit = unit.into();
        self
    }

    /// How values combine when particles merge.
    pub fn combine(mut self, combine: Combine) -> Self {
        self.info.combine = combine;
        self
    }

    /// Leaves the channel out of checkpoints: it can be computed again.
    pub fn transient(mut self) -> Self {
        self.info.checkpoint = false;
        self
    }

    /// Leaves the channel out of frames: it means something to the Object alone that has it.
    pub fn internal(mut self) -> Self {
        self.info.internal = true;
        self
    }

    pub(crate) fn validate(&self) -> Result<()> {
        if self.info.name.is_empty() {
            return Err(CoreError::BadValue {
                what: "a channel's name".into(),
                found: "empty".into(),
                wanted: "at least one character",
            });
        }
        if self.info.combine == Combine::Mean && T::TYPE.is_integer() {
            return Err(CoreError::BadValue {
                what: format!(
                    "the way in which channel `{}` of {} combines",
                    self.info.name,
                    T::TYPE
                ),
                found: "Mean".into(),
                wanted: "Keep, Sum, Min or Max, because integers have no mean",
            });
        }
        let rotation = matches!(T::TYPE, ElementType::Quat | ElementType::DQuat);
        if rotation && !matches!(self.info.combine, Combine::Keep | Combine::Mean) {
            return Err(CoreError::BadValue {
                what: format!(
                    "the way in which channel `{}` of {} combines",
                    self.info.name,
                    T::TYPE
                ),
                found: format!("{:?}", self.info.combine),
                wanted: "Keep or Mean, because rotations have neither sum nor order",
            });
        }
        Ok(())
    }
}

/// What a channel is, apart from its data.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelInfo {
    /// The name, unique within its store.
    pub name: String,
    /// The type of one element.
    pub element: ElementType,
    /// The SI unit of the values, as text; empty for plain numbers.
    pub unit: Cow<'static, str>,
    /// How values combine when particles merge.
    pub combine: Combine,
    /// Whether the channel belongs in a checkpoint.
    pub checkpoint: bool,
    /// Whether it is nobody's business but the Object's that has it: frames do not hold it.
    pub internal: bool,
}
