//! Lines through vertices that a file lists in any order, as curves through consecutive points.

use crate::table::{Channels, Curves, Points};
use undine_core::mesh::Strands;

/// Lines as a file lists them.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    /// How many vertices each line has.
    lengths: Vec<u32>,
    closed: Vec<bool>,
    /// The vertices of all lines, one line after the other.
    vertices: Vec<u32>,
}

/// A vertex where many lines meet is a point of each; so many points for each vertex are still a drawing.
const MOST_REPEATS: usize = 16;

impl Chains {
    /// Adds a line; one that comes back to its first vertex is closed.
    pub fn push(&mut self, mut line: &[u32]) {
        let comes_back = line.len() > 3 && line.first() == line.last();
        if comes_back {
            line = &line[..line.len() - 1];
        }
        self.lengths.push(line.len() as u32);
        self.closed.push(comes_back);
        self.vertices.extend_from_slice(line);
    }

    /// Adds edges; one that begins where the last ended goes on with its line.
    pub fn push_edges(&mut self, edges: &[[u32; 2]]) {
        let mut line: Vec<u32> = Vec::new();
        for &[from, to] in edges {
            let is_whole = line.len() > 3 && line.first() == line.last();
            if is_whole || line.last().is_some_and(|&last| last != from) {
                self.push(&line);
                line.clear();
            }
            if line.is_empty() {
                line.push(from);
            }
            line.push(to);
        }
        if !line.is_empty() {
            self.push(&line);
        }
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The curves, and the points in their order: those on curves, one curve after the other, then those on none. Where
    /// lines share a vertex, each has a point of its own there.
    pub fn into_curves(self, points: Points) -> Result<(Points, Curves), String> {
        let (count, named) = (points.positions.len(), self.vertices.len());
        if named / MOST_REPEATS > count || u32::try_from(named).is_err() {
            return Err(format!("lines name the {count} vertices {named} times"));
        }
        let mut offsets = vec![0];
        offsets.extend(self.lengths.iter().scan(0_u32, |end, &length| {
            *end += length;
            Some(*end)
        }));
        let strands = Strands::new(offsets, self.closed).map_err(|fault| fault.to_string())?;
        let mut order = self.vertices;
        let mut is_used = vec![false; count];
        order.iter().for_each(|&vertex| is_used[vertex as usize] = true);
        order.extend((0..count as u32).filter(|&vertex| !is_used[vertex as usize]));
        let points = if order.iter().copied().eq(0..count as u32) {
            points
        } else {
            gathered(&points, &order)
        };
        Ok((points, Curves { strands, channels: Channels::new() }))
    }
}

fn gathered(points: &Points, order: &[u32]) -> Points {
    let gathered = points.channels.iter().map(|(name, values)| (name, values.gathered(order)));
    Points {
        positions: order.iter().map(|&vertex| points.positions[vertex as usize]).collect(),
        channels: gathered.map(|(name, values)| (name.clone(), values)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Values;
    use undine_core::glam::DVec3;

    fn points(count: u32) -> Points {
        let positions = (0..count).map(|n| DVec3::splat(f64::from(n))).collect();
        let channels = Channels::from([("id".to_owned(), Values::U32((0..count).collect()))]);
        Points { positions, channels }
    }

    #[test]
    fn points_are_put_into_the_order_of_their_curves() {
        let mut chains = Chains::default();
        chains.push(&[3, 1]);
        chains.push(&[1, 0, 4, 1]);
        let (points, curves) = chains.into_curves(points(5)).unwrap();
        assert_eq!(points.channels["id"], Values::U32(vec![3, 1, 1, 0, 4, 2]));
        assert_eq!(points.positions[0], DVec3::splat(3.0));
        assert_eq!(curves.strands.len(), 2);
        assert_eq!(curves.strands.vertices(1), 2..5);
        assert!(!curves.strands.is_closed(0) && curves.strands.is_closed(1));
    }

    #[test]
    fn edges_that_follow_each_other_are_one_line() {
        let mut chains = Chains::default();
        chains.push_edges(&[[0, 1], [1, 2], [3, 4], [4, 5], [5, 3], [3, 0]]);
        let (_, curves) = chains.into_curves(points(6)).unwrap();
        let vertices: Vec<_> = (0..3).map(|curve| curves.strands.vertices(curve)).collect();
        assert_eq!(vertices, [0..3, 3..6, 6..8]);
        assert!(curves.strands.is_closed(1) && !curves.strands.is_closed(2));
    }

    #[test]
    fn a_few_points_do_not_become_millions() {
        let mut chains = Chains::default();
        (0..100).for_each(|_| chains.push(&[0, 1]));
        assert!(chains.into_curves(points(2)).is_err());
    }
}
