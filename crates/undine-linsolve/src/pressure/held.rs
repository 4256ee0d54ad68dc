//! A level some of whose cells are held where they are, for a cycle that only corrects the others.

use super::half::{HALF, VOXELS};
use super::level::{Diagonal, Kind, Level};

impl Level {
    /// The same equations, but cells that are not free are kept at zero. They still count as neighbours: the others' diagonals stay.
    pub fn with_held(&self, free: &[bool]) -> Self {
        let mut held = self.clone();
        for (bucket, kind) in held.kinds.iter_mut().enumerate() {
            let free = &free[bucket * VOXELS..][..VOXELS];
            if free.iter().all(|&free| free) {
                continue;
            }
            let number = match *kind {
                Kind::Empty => continue,
                Kind::Uniform(c) => {
                    let number = held.diagonals.len() as u32;
                    held.diagonals.push(Diagonal::uniform(6.0 * c));
                    *kind = Kind::Constant(c, number);
                    number
                }
                Kind::Constant(_, number) | Kind::Varied(_, number) => number,
            };
            let diagonal = &mut held.diagonals[number as usize];
            for (place, _) in free.iter().enumerate().filter(|(_, free)| !**free) {
                let (colour, at) = (place / HALF, place % HALF);
                diagonal.rounded[colour].as_flattened_mut().as_flattened_mut()[at] = 0.0;
                diagonal.inverse[colour].as_flattened_mut().as_flattened_mut()[at] = 0.0;
            }
        }
        held
    }
}

impl Diagonal {
    fn uniform(d: f32) -> Self {
        let exact = [[[[f64::from(d); 4]; 8]; 8]; 2];
        Self { exact, rounded: [[[[d; 4]; 8]; 8]; 2], inverse: [[[[1.0 / d; 4]; 8]; 8]; 2] }
    }
}
