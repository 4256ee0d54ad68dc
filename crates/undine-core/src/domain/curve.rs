//! The three-dimensional Hilbert curve, top bit first, so that the index of a coarse cell is the
//! prefix of the indices of all cells inside it (Hamilton & Rau-Chaplin 2008, §3).
//!
//! Walking down one bit per axis at a time, the curve's local orientation is one of 24 states: an
//! entry corner `e` and a direction `d`. Both ways use tables over these states. The last two steps,
//! through a block of 4×4×4 cells, have tables of their own.

/// Tables of the walk: `[state][octant or digit]`.
struct Walk {
    /// Which digit the curve gives to an octant.
    digit: [[u8; 8]; 24],
    /// Which octant the curve visits as a digit.
    octant: [[u8; 8]; 24],
    /// The state inside the octant of a digit.
    next: [[u8; 8]; 24],
}

static WALK: Walk = walk();

/// Bits per axis inside a block.
pub(super) const BLOCK_BITS: u32 = 2;

/// Tables of the walk through a block: `[state][cell or place]`.
struct BlockWalk {
    /// The place along the curve of a cell, numbered by [`cell_number`].
    place: [[u8; 64]; 24],
    /// The cell at a place.
    cell: [[u8; 64]; 24],
}

static BLOCK_WALK: BlockWalk = block_walk();

/// The number of a cell of a block: z fastest.
pub(super) fn cell_number(cell: [i32; 3]) -> usize {
    (cell[0] << 4 | cell[1] << 2 | cell[2]) as usize
}

/// The place along the curve of a cell of a block in which the curve has this orientation.
pub(super) fn place_in_block(state: u8, cell: usize) -> u32 {
    u32::from(BLOCK_WALK.place[usize::from(state)][cell])
}

/// The cell of a block at a place along the curve: the inverse of [`place_in_block`].
pub(super) fn cell_in_block(state: u8, place: u32) -> [i32; 3] {
    let cell = i32::from(BLOCK_WALK.cell[usize::from(state)][place as usize]);
    [cell >> 4, cell >> 2 & 3, cell & 3]
}

/// The curve index of a cell with `bits` bits per axis; the lowest `3 * bits` bits of the result.
pub(super) fn encode(cell: [u32; 3], bits: u32) -> u64 {
    let (mut state, mut index) = (0_usize, 0_u64);
    for bit in (0..bits).rev() {
        let octant =
            ((cell[0] >> bit & 1) << 2 | (cell[1] >> bit & 1) << 1 | (cell[2] >> bit & 1)) as usize;
        let digit = WALK.digit[state][octant];
        state = WALK.next[state][digit as usize] as usize;
        index = index << 3 | u64::from(digit);
    }
    index
}

/// The cell at an index of the curve: the inverse of [`encode`].
pub(super) fn decode(index: u64, bits: u32) -> [u32; 3] {
    decode_with_state(index, bits).0
}

/// The cell at an index of the curve, and the orientation of the curve inside it.
pub(super) fn decode_with_state(index: u64, bits: u32) -> ([u32; 3], u8) {
    let (mut state, mut cell) = (0_usize, [0_u32; 3]);
    for bit in (0..bits).rev() {
        let digit = (index >> (3 * bit) & 7) as usize;
        let octant = WALK.octant[state][digit];
        state = WALK.next[state][digit] as usize;
        for (axis, coordinate) in cell.iter_mut().enumerate() {
            *coordinate = *coordinate << 1 | u32::from(octant >> (2 - axis) & 1);
        }
    }
    (cell, state as u8)
}

const fn rotate_left(value: u32, by: u32) -> u32 {
    let by = by % 3;
    (value << by | value >> (3 - by)) & 7
}

const fn gray(value: u32) -> u32 {
    value ^ (value >> 1)
}

/// The corner in which the curve enters the sub-cube of digit `w`.
const fn entry(w: u32) -> u32 {
    if w == 0 { 0 } else { gray(2 * ((w - 1) / 2)) }
}

/// The axis along which the curve leaves the sub-cube of digit `w`.
const fn axis(w: u32) -> u32 {
    if w == 0 {
        0
    } else if w.is_multiple_of(2) {
        (w - 1).trailing_ones() % 3
    } else {
        w.trailing_ones() % 3
    }
}

const fn walk() -> Walk {
    let mut walk = Walk { digit: [[0; 8]; 24], octant: [[0; 8]; 24], next: [[0; 8]; 24] };
    let mut state = 0;
    while state < 24 {
        let (e, d) = (state as u32 / 3, state as u32 % 3);
        let mut w = 0;
        while w < 8 {
            let octant = rotate_left(gray(w), d + 1) ^ e;
            walk.octant[state][w as usize] = octant as u8;
            walk.digit[state][octant as usize] = w as u8;
            let next_e = e ^ rotate_left(entry(w), d + 1);
            let next_d = (d + axis(w) + 1) % 3;
            walk.next[state][w as usize] = (next_e * 3 + next_d) as u8;
            w += 1;
        }
        state += 1;
    }
    walk
}

const fn block_walk() -> BlockWalk {
    let walk = walk();
    let mut block = BlockWalk { place: [[0; 64]; 24], cell: [[0; 64]; 24] };
    let mut state = 0;
    while state < 24 {
        let mut place = 0;
        while place < 64 {
            let high = walk.octant[state][place >> 3] as usize;
            let inner = walk.next[state][place >> 3] as usize;
            let low = walk.octant[inner][place & 7] as usize;
            // Bits x y z of both octants, interleaved to x x y y z z.
            let mut cell = 0;
            let mut axis = 0;
            while axis < 3 {
                let shift = 2 - axis;
                cell = cell << 2 | (high >> shift & 1) << 1 | (low >> shift & 1);
                axis += 1;
            }
            block.cell[state][place] = cell as u8;
            block.place[state][cell] = place as u8;
            place += 1;
        }
        state += 1;
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_visits_every_cell_once_in_steps_of_one() {
        let bits = 4;
        let mut last = None;
        for index in 0..1_u64 << (3 * bits) {
            let cell = decode(index, bits);
            assert_eq!(encode(cell, bits), index);
            if let Some(last) = last {
                let step: u32 =
                    cell.iter().zip(last).map(|(a, b): (&u32, u32)| a.abs_diff(b)).sum();
                assert_eq!(step, 1, "from {last:?} to {cell:?}");
            }
            last = Some(cell);
        }
    }

    #[test]
    fn a_coarse_index_is_the_prefix_of_the_fine_ones() {
        for cell in [[0, 0, 0], [1_000_000, 3, 77], [123, 456_789, 1_048_575]] {
            let fine = encode(cell, 20);
            let coarse = encode(cell.map(|c| c >> 5), 15);
            assert_eq!(fine >> 15, coarse);
        }
    }
}
