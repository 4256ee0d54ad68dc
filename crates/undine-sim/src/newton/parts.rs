//! A large cluster, cut into parts that are swept beside each other.
//!
//! Gauss–Seidel is serial only where contacts have a block in common. So blocks are cut into *parts* of about as many contacts each, by halving the graph
//! of who touches whom again and again, each time along the levels of a search from an end of it, so that most neighbours stay together. Contacts
//! within a part are one *task*, those between two parts another one. Tasks that have no part in common make a *round*, and are worked on beside each
//! other; rounds come one after another: a colouring of edges, of parts instead of single contacts, which would need as many rounds as a strand
//! has contacts, each with next to nothing in it. What touches three parts and more comes last, by itself.
//!
//! All of it follows from which contact touches which block, never from the number of threads.

use std::ops::Range;

/// Clusters of fewer contacts are swept from the first to the last.
pub(super) const LARGE: usize = 2048;

/// How many contacts a part has to do with at least.
const CONTACTS_PER_PART: usize = 256;

/// Most parts, as a power of two: enough for all threads of a machine. Rounds may be as many as parts, where all of them touch one block.
const MOST_HALVINGS: u32 = 7;

/// What contacts touch: lists of blocks, one after another.
#[derive(Debug, Default)]
pub(super) struct Touching {
    ends: Vec<usize>,
    blocks: Vec<u32>,
}

/// Contacts that one thread visits one after another.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Task {
    /// The one or two parts that they touch, in rising order.
    pub parts: [usize; 2],
    /// Which they are, in the order of visits.
    pub contacts: Range<usize>,
}

/// In which order a cluster is swept.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The blocks, part by part.
    pub blocks: Vec<u32>,
    /// Where each part begins among them, and where the last one ends.
    pub starts: Vec<usize>,
    /// The contacts, in the order of visits.
    pub contacts: Vec<u32>,
    /// Tasks that have no part in common, round by round.
    pub rounds: Vec<Vec<Task>>,
    /// Contacts that touch more than two parts.
    pub rest: Range<usize>,
}

/// A contact, behind the parts that it touches.
type Keyed = ([usize; 2], u32);

impl Touching {
    /// Adds the blocks that a contact touches.
    pub fn add(&mut self, blocks: impl Iterator<Item = u32>) {
        let begin = self.blocks.len();
        for block in blocks {
            if !self.blocks[begin..].contains(&block) {
                self.blocks.push(block);
            }
        }
        self.ends.push(self.blocks.len());
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn of(&self, contact: usize) -> &[u32] {
        let begin = contact.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.blocks[begin..self.ends[contact]]
    }

    /// How many contacts touch each block, and which blocks are touched together with it.
    fn graph(&self, blocks: usize) -> Graph {
        let mut pairs = Vec::new();
        let mut weights = vec![0; blocks];
        for on in (0..self.len()).map(|contact| self.of(contact)) {
            for &one in on {
                weights[one as usize] += 1;
                let others = on.iter().filter(|&&other| other != one);
                pairs.extend(others.map(|&other| (one, other)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let starts = (0..=blocks as u32).map(|block| pairs.partition_point(|pair| pair.0 < block));
        let starts = starts.collect();
        Graph { weights, starts, others: pairs.into_iter().map(|pair| pair.1).collect() }
    }
}

impl Parts {
    /// Cuts so many blocks that contacts touch.
    pub fn new(blocks: usize, touching: &Touching) -> Self {
        let graph = touching.graph(blocks);
        let mut parts = Self { blocks: (0..blocks as u32).collect(), ..Self::default() };
        let mut search = Search { state: vec![0; blocks], stamp: 0 };
        let halvings = (touching.len() / CONTACTS_PER_PART).max(1).ilog2().min(MOST_HALVINGS);
        search.cut(&graph, &mut parts.blocks, halvings, 0, &mut parts.starts);
        parts.starts.push(blocks);
        parts.hand_out(touching);
        parts
    }

    /// Makes tasks of contacts, and rounds of tasks.
    fn hand_out(&mut self, touching: &Touching) {
        let mut part_of = vec![0; self.blocks.len()];
        for (part, span) in self.starts.windows(2).enumerate() {
            self.blocks[span[0]..span[1]].iter().for_each(|&block| part_of[block as usize] = part);
        }
        let key = |contact: usize| {
            let parts = touching.of(contact).iter().map(|&block| part_of[block as usize]);
            let (low, high) = (parts.clone().min().unwrap_or(0), parts.clone().max().unwrap_or(0));
            let is_two = parts.into_iter().all(|part| part == low || part == high);
            if is_two { [low, high] } else { [usize::MAX; 2] }
        };
        let mut keyed: Vec<Keyed> =
            (0..touching.len()).map(|contact| (key(contact), contact as u32)).collect();
        keyed.sort_unstable();
        let rest = keyed.partition_point(|entry| entry.0[0] < usize::MAX);
        let mut tasks: Vec<&[Keyed]> =
            keyed[..rest].chunk_by(|one, other| one.0 == other.0).collect();
        // The largest first, so that those of one round have about as much to do; what is within parts goes together in any case.
        let is_between = |task: &&[Keyed]| task[0].0[0] != task[0].0[1];
        tasks.sort_by_key(|task| (is_between(task), std::cmp::Reverse(task.len()), task[0].0));
        let mut rounds: Vec<(Vec<bool>, Vec<&[Keyed]>)> = Vec::new();
        for task in tasks {
            let parts = task[0].0;
            let is_free = |taken: &[bool]| !parts.iter().any(|&part| taken[part]);
            let round = match rounds.iter().position(|(taken, _)| is_free(taken)) {
                Some(round) => round,
                None => {
                    rounds.push((vec![false; self.starts.len() - 1], Vec::new()));
                    rounds.len() - 1
                }
            };
            parts.iter().for_each(|&part| rounds[round].0[part] = true);
            rounds[round].1.push(task);
        }
        for (_, tasks) in rounds {
            let mut round = Vec::with_capacity(tasks.len());
            for task in tasks {
                let begin = self.contacts.len();
                self.contacts.extend(task.iter().map(|entry| entry.1));
                round.push(Task { parts: task[0].0, contacts: begin..self.contacts.len() });
            }
            self.rounds.push(round);
        }
        self.contacts.extend(keyed[rest..].iter().map(|entry| entry.1));
        self.rest = rest..keyed.len();
    }
}

/// Blocks that contacts tie together.
struct Graph {
    /// How many contacts touch each.
    weights: Vec<usize>,
    starts: Vec<usize>,
    others: Vec<u32>,
}

/// Searches among some of the blocks.
struct Search {
    /// The stamp that each block got last: that it is among those which are looked at, or, being one more, that it was met.
    state: Vec<u32>,
    stamp: u32,
}

impl Search {
    /// Puts blocks into the order of their parts, and tells where each part begins, `from` being where the first does.
    fn cut(
        &mut self,
        graph: &Graph,
        blocks: &mut [u32],
        halvings: u32,
        from: usize,
        starts: &mut Vec<usize>,
    ) {
        if halvings == 0 || blocks.len() < 2 {
            starts.push(from);
            return;
        }
        // What a search meets last is at an end.
        let end = self.levels(graph, blocks, blocks[0]).last().copied().unwrap_or(blocks[0]);
        let levels = self.levels(graph, blocks, end);
        blocks.copy_from_slice(&levels);
        let total: usize = blocks.iter().map(|&block| graph.weights[block as usize]).sum();
        let mut sum = 0;
        let half = blocks.iter().position(|&block| {
            sum += graph.weights[block as usize];
            2 * sum >= total
        });
        let half = (half.unwrap_or(0) + 1).min(blocks.len() - 1);
        let (one, other) = blocks.split_at_mut(half);
        self.cut(graph, one, halvings - 1, from, starts);
        self.cut(graph, other, halvings - 1, from + half, starts);
    }

    /// Blocks in the order in which a search among them meets them; those that do not hang together one after another.
    fn levels(&mut self, graph: &Graph, blocks: &[u32], first: u32) -> Vec<u32> {
        self.stamp += 2;
        blocks.iter().for_each(|&block| self.state[block as usize] = self.stamp);
        let mut levels = Vec::with_capacity(blocks.len());
        for &seed in std::iter::once(&first).chain(blocks) {
            let mut next = levels.len();
            self.meet(seed, &mut levels);
            while next < levels.len() {
                let block = levels[next] as usize;
                for &other in &graph.others[graph.starts[block]..graph.starts[block + 1]] {
                    self.meet(other, &mut levels);
                }
                next += 1;
            }
        }
        levels
    }

    fn meet(&mut self, block: u32, levels: &mut Vec<u32>) {
        let state = &mut self.state[block as usize];
        if *state == self.stamp {
            *state += 1;
            levels.push(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Blocks in a square lattice with contacts between neighbours, a few of which touch blocks from all over.
    fn lattice(side: u32, far: u32) -> (usize, Touching) {
        let mut touching = Touching::default();
        for n in 0..side * side {
            let (x, y) = (n % side, n / side);
            let beside = |x: u32, y: u32| (x < side && y < side).then_some(side * y + x);
            for other in [beside(x + 1, y), beside(x, y + 1), beside(x + 1, y + 1)] {
                touching.add([Some(n), other, Some(n)].into_iter().flatten());
            }
        }
        let all = side * side;
        (0..far).for_each(|n| touching.add((0..4).map(|k| (n + k * all / 4) % all)));
        (all as usize, touching)
    }

    #[test]
    fn every_contact_is_visited_once_beside_others_that_touch_none_of_its_blocks() {
        for (side, far) in [(30, 5), (40, 0), (3, 0), (1, 1)] {
            let (blocks, touching) = lattice(side, far);
            let parts = Parts::new(blocks, &touching);
            let mut contacts = parts.contacts.clone();
            contacts.sort_unstable();
            assert!(contacts.into_iter().eq(0..touching.len() as u32));
            let mut sorted = parts.blocks.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..blocks as u32));
            let mut next = 0;
            for round in &parts.rounds {
                let mut seen = BTreeSet::new();
                for Task { parts: own, contacts } in round {
                    assert_eq!(contacts.start, next, "tasks follow each other");
                    next = contacts.end;
                    let part =
                        |part: usize| &parts.blocks[parts.starts[part]..parts.starts[part + 1]];
                    let own: BTreeSet<u32> = own.iter().flat_map(|&p| part(p)).copied().collect();
                    for &contact in &parts.contacts[contacts.clone()] {
                        let on = touching.of(contact as usize);
                        assert!(on.iter().all(|block| own.contains(block)), "{contact}");
                    }
                    assert!(own.iter().all(|&block| seen.insert(block)), "two see a block");
                }
            }
            assert_eq!(parts.rest, next..touching.len());
        }
    }

    #[test]
    fn parts_have_about_as_much_to_do_and_few_neighbours() {
        let (blocks, touching) = lattice(64, 0);
        let parts = Parts::new(blocks, &touching);
        assert_eq!(parts.starts.len() - 1, 32, "{} contacts", touching.len());
        let sizes = parts.starts.windows(2).map(|span| span[1] - span[0]);
        assert!(sizes.clone().all(|size| (96..=160).contains(&size)), "{sizes:?}");
        // Of a lattice, which has room for eight parts around each.
        assert!(parts.rounds.len() <= 16, "{} rounds", parts.rounds.len());
        let within: usize = parts.rounds[0].iter().map(|task| task.contacts.len()).sum();
        assert!(4 * within > 3 * touching.len(), "{within} of {} stay within", touching.len());
        assert!(parts.rest.is_empty());
    }
}
