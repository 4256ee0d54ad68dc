//! Which things hang together: trees whose roots stand for the sets.

/// Sets of numbers that are joined; the lowest number of a set stands for it.
#[derive(Debug, Clone)]
pub struct Forest(Vec<u32>);

impl Forest {
    /// Every number for itself.
    pub fn new(count: usize) -> Self {
        Self((0..count as u32).collect())
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lowest number of a set; halves the path on its way, which keeps trees flat.
    pub fn root(&mut self, mut item: u32) -> u32 {
        while self.0[item as usize] != item {
            let up = self.0[item as usize];
            self.0[item as usize] = self.0[up as usize];
            item = self.0[item as usize];
        }
        item
    }

    /// Makes one set of those of two numbers.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_stands_for_all_that_are_joined() {
        let mut forest = Forest::new(8);
        for [a, b] in [[5, 4], [1, 2], [7, 5], [4, 2], [6, 6]] {
            forest.join(a, b);
        }
        let roots: Vec<u32> = (0..forest.len() as u32).map(|n| forest.root(n)).collect();
        assert_eq!(roots, [0, 1, 1, 3, 1, 1, 6, 1]);
    }
}
