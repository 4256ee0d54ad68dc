//! Numbers of cells beside walls: what interpolation meets behind a wall should be what is before it.
//!
//! A cell that a solid fills takes the mean of those of its six neighbours that are open, so that nothing seems to flow out of the
//! wall or into it; deeper inside it has what the surroundings have.

use super::STEPS;
use undine_core::volume::Resolution;
use undine_core::{Accessor, DiscreteVolume, GridDomain, Handle};
use undine_sim::Result;

/// Gives cells that solids fill, of which nothing is `open`, what is beside them. Collective.
pub fn extend_cells(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    open: Handle<f32>,
    channels: &[Handle<f32>],
) -> Result<()> {
    let accessor = Accessor::new("extend into walls", domain).over(volume.topology());
    let closed =
        accessor.reduce(volume.own(open), |_, open| u8::from(open.contains(&0.0)), u8::max)?;
    if closed.unwrap_or(0) == 0 {
        return Ok(());
    }
    for &channel in channels {
        let outside = volume.column(channel)?.background();
        let access = (volume.around(open, 1), volume.around(channel, 1));
        let found = accessor.map(access, |_, (open, values)| {
            let closed = (0..512).filter(|&n: &usize| open.chunk()[n] == 0.0);
            let beside = |n: usize| {
                let [x, y, z] = Resolution::R8.coords(n).map(|c| c as i32);
                let (mut sum, mut count) = (0.0, 0.0);
                for [i, j, k] in STEPS {
                    if open.at(x + i, y + j, z + k) != 0.0 {
                        sum += values.at(x + i, y + j, z + k);
                        count += 1.0;
                    }
                }
                if count > 0.0 { sum / count } else { outside }
            };
            closed.map(|n| (n as u16, beside(n))).collect::<Vec<_>>()
        })?;
        accessor.run(volume.write(channel), |here, values| {
            for &(n, value) in &found[here.slot as usize] {
                values[n as usize] = value;
            }
        })?;
    }
    Ok(())
}
