//! Processes that are threads of the test: distributed code runs without MPI.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::time::Duration;
use undine_core::process::{Parcel, Pending};
use undine_core::{Processes, Result, Single};

/// Runs `work` on each of `count` processes, and returns what they return, in order of rank.
pub fn on_processes<R: Send>(
    count: usize,
    work: impl Fn(Arc<dyn Processes>) -> R + Sync,
) -> Vec<R> {
    let post = Arc::new(Post {
        count,
        barrier: Barrier::new(count),
        boxes: Mutex::default(),
        arrived: Condvar::new(),
    });
    std::thread::scope(|scope| {
        let start = |rank| {
            let (post, work) = (Arc::clone(&post), &work);
            scope.spawn(move || work(Arc::new(Thread { rank, post })))
        };
        let threads: Vec<_> = (0..count).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no process panics")).collect()
    })
}

/// Messages in the order in which they were sent.
type Letters = VecDeque<Vec<u8>>;

#[derive(Debug)]
struct Post {
    count: usize,
    barrier: Barrier,
    /// What is under way from one process to another.
    boxes: Mutex<HashMap<(usize, usize), Letters>>,
    arrived: Condvar,
}

#[derive(Debug)]
struct Thread {
    rank: usize,
    post: Arc<Post>,
}

impl Thread {
    fn send(&self, to: usize, bytes: Vec<u8>) {
        let mut boxes = self.post.boxes.lock().expect("no process panics");
        boxes.entry((self.rank, to)).or_default().push_back(bytes);
        self.post.arrived.notify_all();
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        let mut boxes = self.post.boxes.lock().expect("no process panics");
        loop {
            if let Some(bytes) =
                boxes.get_mut(&(from, self.rank)).and_then(|letters| letters.pop_front())
            {
                return bytes;
            }
            let wait = self.post.arrived.wait_timeout(boxes, Duration::from_secs(300));
            let (back, late) = wait.expect("no process panics");
            assert!(!late.timed_out(), "process {} waits for {from} in vain", self.rank);
            boxes = back;
        }
    }
}

impl Processes for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.post.count
    }

    /// Waits at once. The parcels come in order of rank, but all say that they are from process 0.
    fn start(&self, outgoing: Vec<Parcel>, incoming: &[(usize, usize)]) -> Result<Pending> {
        outgoing.into_iter().for_each(|parcel| self.send(parcel.process, parcel.bytes));
        let mut incoming = incoming.to_vec();
        incoming.sort_by_key(|&(process, _)| process);
        let arrived: Vec<Parcel> = incoming
            .iter()
            .map(|&(process, length)| {
                let bytes = self.receive(process);
                assert_eq!(bytes.len(), length, "from {process} to {}", self.rank);
                Parcel { process: 0, bytes }
            })
            .collect();
        let sizes: Vec<(usize, usize)> =
            arrived.iter().map(|parcel| (0, parcel.bytes.len())).collect();
        Single.start(arrived, &sizes)
    }

    fn all_to_all(&self, values: &[u64]) -> Result<Vec<u64>> {
        (0..self.count()).for_each(|to| self.send(to, values[to].to_le_bytes().to_vec()));
        let number = |bytes: Vec<u8>| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        Ok((0..self.count()).map(|from| number(self.receive(from))).collect())
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        (0..self.count()).for_each(|to| self.send(to, bytes.to_vec()));
        Ok((0..self.count()).map(|from| self.receive(from)).collect())
    }

    fn barrier(&self) -> Result<()> {
        self.post.barrier.wait();
        Ok(())
    }

    fn abort(&self, message: &str) -> ! {
        panic!("process {}: {message}", self.rank)
    }

    fn exchange(&self, outgoing: Vec<Parcel>) -> Result<Vec<Parcel>> {
        let mut sends = vec![0; self.count()];
        outgoing.iter().for_each(|parcel| sends[parcel.process] = 1);
        let comes = self.all_to_all(&sends)?;
        outgoing.into_iter().for_each(|parcel| self.send(parcel.process, parcel.bytes));
        let sources = (0..self.count()).filter(|&from| comes[from] == 1);
        Ok(sources.map(|process| Parcel { process, bytes: self.receive(process) }).collect())
    }
}
