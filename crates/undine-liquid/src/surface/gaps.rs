//! Whether gaps between rigid bodies and other solids are wet: they are so thin that no particles tell.
//!
//! What is beside a gap comes into it, from all sides at once and everywhere as fast: each of its cells is wet if there are
//! fewer open faces between it and liquid than between it and air.

use undine_core::access::{Accessor, VoxelNeighbourhood};
use undine_core::volume::{DiscreteVolume, Mask, MaskHandle, Resolution};
use undine_core::{GridDomain, Handle};
use undine_fluid::field;
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// The steps to the cells beside one, and where the face between is: the axis, and whether it is that cell's own lower face.
const STEPS: [([i32; 3], usize, bool); 6] = [
    ([-1, 0, 0], 0, true),
    ([1, 0, 0], 0, false),
    ([0, -1, 0], 1, true),
    ([0, 1, 0], 1, false),
    ([0, 0, -1], 2, true),
    ([0, 0, 1], 2, false),
];

/// Adds to the liquid cells those of gaps that are wet. Collective.
pub fn wet(domain: &GridDomain, volume: &DiscreteVolume, field: &FluidField) -> Result<()> {
    let Some(gaps) = field::gaps(volume) else { return Ok(()) };
    let walls = field.walls;
    let accessor = |task| Accessor::new(task, domain).over(volume.topology());
    let any = accessor("look for gaps").reduce(
        volume.own(gaps.words),
        |_, gaps| u8::from(gaps.iter().any(|word| *word != 0)),
        u8::max,
    )?;
    if any.unwrap_or(0) == 0 {
        return Ok(());
    }
    let mut scratch = DiscreteVolume::on("gaps", domain, volume.topology().clone());
    let dry = scratch.add_mask("dry", Resolution::R8)?.words;
    accessor("mark air beside gaps").run(
        (
            volume.own(field.cells.words),
            volume.own(gaps.words),
            volume.own(walls.volume),
            scratch.write(dry),
        ),
        |_, (cells, gaps, open, dry)| {
            for (x, dry) in dry.iter_mut().enumerate() {
                let is_open =
                    (0..64).fold(0, |all, n| all | u64::from(open[x << 6 | n] != 0.0) << n);
                *dry = is_open & !cells[x] & !gaps[x];
            }
        },
    )?;
    while spread(domain, volume, field, gaps, (&scratch, dry))? {}
    Ok(())
}

/// Lets liquid and air go on by a cell each; whether they have.
fn spread(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    gaps: MaskHandle,
    (scratch, dry): (&DiscreteVolume, Handle<u64>),
) -> Result<bool> {
    let walls = field.walls;
    let accessor = Accessor::new("wet gaps", domain).over(volume.topology());
    let found = accessor.map(
        (
            (volume.around(field.cells.words, 1), scratch.around(dry, 1)),
            (volume.own(gaps.words), volume.own(walls.volume)),
            walls.area.faces.map(|face| volume.around(face, 1)),
        ),
        |_, ((cells, dry), (gaps, open), area)| {
            let mut new = Vec::new();
            for x in 0..8 {
                let left = gaps[x] & !cells.chunk()[x] & !dry.chunk()[x];
                for n in Mask([left]).ones().filter(|n| open[x << 6 | n] != 0.0) {
                    let n = x << 6 | n;
                    let at = Resolution::R8.coords(n).map(|c| c as i32);
                    let reached = |by: &VoxelNeighbourhood<'_, u64>| {
                        STEPS.iter().any(|(step, axis, is_own)| {
                            let beside = [0, 1, 2].map(|a| at[a] + step[a]);
                            let [x, y, z] = if *is_own { at } else { beside };
                            area[*axis].at(x, y, z) > 0.0 && is_on(by, beside)
                        })
                    };
                    let is_wet = reached(&cells);
                    if is_wet || reached(&dry) {
                        new.push((n as u16, is_wet));
                    }
                }
            }
            new
        },
    )?;
    let any = found.iter().any(|new| !new.is_empty());
    let any = domain.processes().all_gather(&[u8::from(any)])?.concat().contains(&1);
    if any {
        accessor.run(
            (volume.write(field.cells.words), scratch.write(dry)),
            |here, (cells, dry)| {
                for &(n, is_wet) in &found[here.slot as usize] {
                    let to = if is_wet { &mut *cells } else { &mut *dry };
                    Mask(&mut to[..]).set(n as usize, true);
                }
            },
        )?;
    }
    Ok(any)
}

/// The bit of a cell.
fn is_on(mask: &VoxelNeighbourhood<'_, u64>, [x, y, z]: [i32; 3]) -> bool {
    let words = mask.neighbour(x >> 3, y >> 3, z >> 3);
    words[(x & 7) as usize] >> ((y & 7) << 3 | z & 7) & 1 != 0
}

/// Keeps the velocity of faces in gaps, where no particle has brought one: what flows there goes on. Collective.
pub fn keep_velocity(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
) -> Result<()> {
    let (Some(mass), Some(gaps)) = (field.face_mass, field::gaps(volume)) else {
        return Ok(());
    };
    let access = (
        volume.around(gaps.words, 1),
        mass.faces.map(|face| volume.own(face)),
        field.velocity.faces.map(|face| volume.own(face)),
        field.velocity_before.faces.map(|face| volume.write(face)),
    );
    Accessor::new("keep velocities in gaps", domain).over(volume.topology()).run(
        access,
        |_, (gaps, mass, velocity, before)| {
            for (axis, before) in before.into_iter().enumerate() {
                let mut back = [0; 3];
                back[axis] = -1;
                let [i, j, k] = back;
                let none = |words: &[u64]| words.iter().all(|word| *word == 0);
                if none(gaps.chunk()) && none(gaps.neighbour(i, j, k)) {
                    continue;
                }
                for (n, before) in before.iter_mut().enumerate() {
                    let at = Resolution::R8.coords(n).map(|c| c as i32);
                    let below = [0, 1, 2].map(|a| at[a] + back[a]);
                    if mass[axis][n] <= 0.0 && (is_on(&gaps, at) || is_on(&gaps, below)) {
                        *before = velocity[axis][n];
                    }
                }
            }
        },
    )?;
    Ok(())
}
