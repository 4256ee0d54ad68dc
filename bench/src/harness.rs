//! What a benchmark is, and how one is run: triad, benchmark, peers, triad again, report.

use crate::Result;
use crate::machine;
use crate::measure::{Measured, Work};
use crate::peers::{
    self, Bake, Peer, PeerBake, PeerChoice, PeerFile, PeerSolves, PeerSurface, SolverPeer, System,
};
use crate::report::{Report, Value};
use crate::triad::{self, Bandwidth, Triad};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::path::Path;
use undine_core::glam::DVec3;

/// A benchmark, as it stands in the list.
pub struct Benchmark {
    /// Its name on the command line, in the last line and in the results; its file is called the same.
    pub name: &'static str,
    /// One line that says what is measured, in which unit, and what `size` means.
    pub doc: &'static str,
    /// The size when none is given.
    pub default_size: usize,
    /// Other programs that do the same work on data of their own, to compare with. Those that are handed the benchmark's
    /// data are named where it does so, see [`Context::solve_with`].
    pub peers: &'static [Peer],
    /// Prepares the data, measures the work, and returns what was found. Runs inside the pool of all threads, so that what
    /// it touches first is spread over them.
    pub run: fn(&Context) -> Result<Outcome>,
}

/// What a benchmark is told.
#[derive(Debug)]
pub struct Context {
    /// How large; each benchmark says what it counts.
    pub size: usize,
    /// Threads of the parallel calls.
    pub threads: usize,
    peers: PeerChoice,
    pools: Pools,
}

/// The two thread pools that work is timed in.
#[derive(Debug)]
pub struct Pools {
    /// All threads of the run.
    pub many: ThreadPool,
    /// One thread.
    pub one: ThreadPool,
}

/// What a benchmark found: its main measurement, and what else it has to say.
#[derive(Debug, Clone)]
pub struct Outcome {
    main: Measured,
    extra: Vec<(String, Value)>,
    parts: Vec<(&'static str, Measured)>,
}

/// How to run a benchmark.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Size, or the benchmark's own default.
    pub size: Option<usize>,
    /// Threads of the parallel calls.
    pub threads: usize,
    /// Which peers run along.
    pub peers: PeerChoice,
    /// Size of each of the triad's three arrays [B].
    pub triad_array_bytes: usize,
}

impl Context {
    /// Work to be measured: one call works on `units` of `unit`.
    pub fn work(&self, unit: &'static str, units: u64) -> Work<'_> {
        Work::new(&self.pools, unit, units)
    }

    /// Has `peers` solve the very `system` that the benchmark solves, on as many threads: those that the user has chosen and
    /// that can be had. To be called last, when all work is measured; [`Measured::against`] compares.
    pub fn solve_with(&self, peers: &[SolverPeer], system: &System) -> PeerSolves {
        peers::solve_with(peers, self.peers, system, self.threads)
    }

    /// Has OpenVDB read a file that the benchmark has written, and write it again, on as many threads: if the user has chosen
    /// peers and it can be had. To be called last, when all work is measured.
    pub fn openvdb_file(&self, path: &Path) -> Option<PeerFile> {
        peers::openvdb_file(self.peers, path, self.threads)
    }

    /// Has Blender's Mantaflow simulate a box of so many cells across up to frame `last`, of which the frames after
    /// `warm_up` are timed, on as many threads: if the user has chosen peers and it can be had. To be called last.
    pub fn mantaflow(&self, what: Bake, size: usize, frames: [usize; 2]) -> Option<PeerBake> {
        peers::mantaflow(self.peers, what, size, self.threads, frames)
    }

    /// Has splashsurf surface the particles of the benchmark, half of whose spacing is `radius` [m], on cubes of so many radii, on as many
    /// threads: if the user has chosen peers and it can be had. To be called last.
    pub fn splashsurf(&self, positions: &[DVec3], radius: f64, cube: f64) -> Option<PeerSurface> {
        peers::splashsurf(self.peers, positions, radius, cube, self.threads)
    }

    /// Does `work` on one thread.
    pub fn on_one<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pools.one.install(work)
    }
}

impl Pools {
    /// A pool of `threads` and a pool of one.
    pub fn new(threads: usize) -> Result<Self> {
        let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build();
        Ok(Pools { many: pool(threads)?, one: pool(1)? })
    }
}

impl Outcome {
    /// An outcome with one measurement.
    pub fn new(main: Measured) -> Self {
        Outcome { main, extra: Vec::new(), parts: Vec::new() }
    }

    /// Memory that goes with the main measurement [B], see [`Measured::mem_bytes`].
    pub fn mem_bytes(self, bytes: u64) -> Self {
        Outcome { main: self.main.mem_bytes(bytes), ..self }
    }

    /// A second measurement of the same run. Its keys are `PART_rate`, `PART_rate_per_core`, `PART_vs_triad` and so on.
    pub fn also(mut self, part: &'static str, measured: Measured) -> Self {
        self.parts.push((part, measured));
        self
    }

    /// A further `key=value`, after the keys that all benchmarks share.
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.extra.push((key.to_owned(), value));
        self
    }
}

impl Default for Settings {
    /// A plain run on all cores of this machine.
    fn default() -> Self {
        Settings {
            size: None,
            threads: machine::cores(),
            peers: PeerChoice::None,
            triad_array_bytes: triad::array_bytes_for_this_machine(),
        }
    }
}

/// Runs one benchmark and says on standard output what it does; the caller prints the report last.
pub fn run(benchmark: &Benchmark, settings: &Settings) -> Result<Report> {
    let size = settings.size.unwrap_or(benchmark.default_size);
    let Settings { threads, peers, .. } = *settings;
    let context = Context { size, threads, peers, pools: Pools::new(threads)? };
    println!("{}: {}", benchmark.name, benchmark.doc);
    if let Some(load) = machine::load() {
        // A machine that is busy all the time looks steady to the triad; the reader should know.
        println!("  load of the last minute: {load:.2} on {} cores", machine::cores());
    }

    let mut triad = Triad::new(&context.pools, settings.triad_array_bytes);
    let before = triad.measure();
    describe_triad("before", before, context.threads);

    let outcome = context.pools.many.install(|| (benchmark.run)(&context))?;
    describe_work("", &outcome.main);
    outcome.parts.iter().for_each(|(part, measured)| describe_work(part, measured));

    let peer_rates: Vec<_> = benchmark
        .peers
        .iter()
        .filter_map(|peer| Some((peer.name, peer.rate_if_chosen(settings.peers, &context)?)))
        .collect();

    let after = triad.measure();
    describe_triad("after", after, context.threads);
    let void = !before.agrees_with(after);
    if void {
        println!(
            "  void: the triad changed by more than 10 %, something else was using the machine"
        );
    }

    let fields = fields(&context, &outcome, &peer_rates, before.max(after));
    Ok(Report { name: benchmark.name, fields, void })
}

/// All keys and values, in the order that the README gives.
fn fields(
    context: &Context,
    outcome: &Outcome,
    peers: &[(&'static str, f64)],
    triad: Bandwidth,
) -> Vec<(String, Value)> {
    let mut fields = vec![
        ("size".to_owned(), Value::Count(context.size as u64)),
        ("threads".to_owned(), Value::Count(context.threads as u64)),
    ];
    let main = &outcome.main;
    fields.extend(measured_fields("", main, triad));
    fields.extend(
        peers.iter().map(|(peer, rate)| (format!("vs_{peer}"), Value::Number(main.rate() / rate))),
    );
    fields.extend(compared_fields("", main));
    for (part, measured) in &outcome.parts {
        let prefix = format!("{part}_");
        fields.extend(measured_fields(&prefix, measured, triad));
        fields.extend(compared_fields(&prefix, measured));
    }

    // Parts that solve the system of the main measurement share its peers, whose own figures then stand there once.
    fields.extend(solve_fields("", &main.peers));
    for (part, measured) in outcome.parts.iter().filter(|(_, part)| part.peers != main.peers) {
        fields.extend(solve_fields(&format!("{part}_"), &measured.peers));
    }
    fields.extend(outcome.extra.iter().cloned());
    fields
}

/// The keys of one measurement, from `seconds` to `speedup_vs_triad`.
fn measured_fields(prefix: &str, measured: &Measured, triad: Bandwidth) -> Vec<(String, Value)> {
    let key = |name: &str| format!("{prefix}{name}");
    let mut fields = vec![
        (key("seconds"), Value::Number(measured.seconds)),
        (key("rate"), Value::Rate(measured.rate())),
        (key("rate_per_core"), Value::Rate(measured.rate() / measured.threads as f64)),
    ];
    if let Some(bandwidth) = measured.bandwidth() {
        fields.push((key("vs_triad"), Value::Number(bandwidth / triad.many)));
    }
    // One thread over one thread says nothing.
    if measured.threads > 1 {
        fields.push((key("speedup"), Value::Number(measured.speedup())));
        fields.push((key("speedup_vs_triad"), Value::Number(measured.speedup() / triad.speedup())));
    }
    fields
}

/// The keys of one measurement after those of its time, from `vs_PEER` to `hash`.
fn compared_fields(prefix: &str, measured: &Measured) -> Vec<(String, Value)> {
    let mut fields = Vec::new();
    for (peer, solve) in &measured.peers {
        let faster = solve.seconds() / measured.seconds;
        fields.push((format!("{prefix}vs_{peer}"), Value::Number(faster)));
    }
    if let Some(bytes) = measured.mem_bytes {
        fields.push((format!("{prefix}mem_bytes"), Value::Count(bytes)));
        for (peer, solve) in measured.peers.iter().filter(|(_, solve)| solve.extra_bytes > 0) {
            let ratio = bytes as f64 / solve.extra_bytes as f64;
            fields.push((format!("{prefix}mem_vs_{peer}"), Value::Number(ratio)));
        }
    }
    fields.push((format!("{prefix}hash"), Value::Hash(measured.hash)));
    fields
}

/// What peers that solved a system found themselves.
fn solve_fields(prefix: &str, peers: &PeerSolves) -> Vec<(String, Value)> {
    let of_peer = |(peer, solve): &(&str, peers::PeerSolve)| {
        let key = |name: &str| format!("{prefix}{peer}_{name}");
        [
            (key("seconds"), Value::Number(solve.seconds())),
            (key("setup_seconds"), Value::Number(solve.setup_seconds)),
            (key("iterations"), Value::Count(solve.iterations)),
            (key("bytes"), Value::Count(solve.extra_bytes)),
        ]
    };
    peers.iter().flat_map(of_peer).collect()
}

fn describe_triad(when: &str, triad: Bandwidth, threads: usize) {
    let (many, one) = (Value::Rate(triad.many), Value::Rate(triad.one));
    println!("  triad {when}: {many}B/s on {threads} threads, {one}B/s on 1");
}

fn describe_work(part: &str, measured: &Measured) {
    let Measured { unit, units, threads, seconds, seconds_on_one, .. } = measured;
    let label = if part.is_empty() { "work" } else { part };
    let (seconds, on_one) = (Value::Number(*seconds), Value::Number(*seconds_on_one));
    println!("  {label}: {units} {unit} in {seconds} s on {threads} threads, in {on_one} s on 1");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(threads: usize, bytes: Option<u64>) -> Measured {
        Measured {
            unit: "voxels",
            units: 1000,
            bytes,
            threads,
            seconds: 0.5,
            seconds_on_one: 0.9,
            hash: 7,
            mem_bytes: None,
            peers: PeerSolves::new(),
        }
    }

    fn keys_and_values(fields: &[(String, Value)]) -> String {
        fields.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }

    fn context(threads: usize) -> Context {
        let pools = Pools::new(threads).expect("a few threads");
        Context { size: 10, threads, peers: PeerChoice::None, pools }
    }

    const TRIAD: Bandwidth = Bandwidth { many: 8000.0, one: 5000.0 };

    #[test]
    fn keys_come_in_the_documented_order_with_parts_and_extras_last() {
        let outcome = Outcome::new(measured(2, Some(2000)))
            .with("voxels", Value::Count(1000))
            .mem_bytes(4096)
            .also("shell", measured(2, None));
        assert_eq!(
            keys_and_values(&fields(&context(2), &outcome, &[("taichi", 500.0)], TRIAD)),
            "size=10 threads=2 seconds=0.5000 rate=2.000k rate_per_core=1.000k vs_triad=0.5000 speedup=1.800 \
             speedup_vs_triad=1.125 vs_taichi=4.000 mem_bytes=4096 hash=0000000000000007 shell_seconds=0.5000 \
             shell_rate=2.000k shell_rate_per_core=1.000k shell_speedup=1.800 shell_speedup_vs_triad=1.125 \
             shell_hash=0000000000000007 voxels=1000"
        );
    }

    #[test]
    fn peers_that_solve_the_same_system_are_compared_with_every_part_and_told_of_once() {
        let solve = |setup_seconds, extra_bytes| peers::PeerSolve {
            setup_seconds,
            solve_seconds: 0.25,
            iterations: 14,
            residual: 1e-7,
            extra_bytes,
        };
        let poisson = vec![("amgcl", solve(0.75, 400)), ("scipy", solve(0.0, 0))];
        let elasticity = vec![("pardiso", solve(2.25, 1000))];
        let outcome = Outcome::new(measured(1, None).mem_bytes(200).against(&poisson))
            .also("multigrid", measured(1, None).mem_bytes(100).against(&poisson))
            .also("elasticity", measured(1, None).against(&elasticity))
            .with("nonzeros", Value::Count(7));
        let found = keys_and_values(&fields(&context(1), &outcome, &[], TRIAD));
        let plain = |part: &str| {
            format!("{part}seconds=0.5000 {part}rate=2.000k {part}rate_per_core=2.000k")
        };
        assert_eq!(
            found,
            [
                "size=10 threads=1",
                &plain(""),
                "vs_amgcl=2.000 vs_scipy=0.5000 mem_bytes=200 mem_vs_amgcl=0.5000 hash=0000000000000007",
                &plain("multigrid_"),
                "multigrid_vs_amgcl=2.000 multigrid_vs_scipy=0.5000 multigrid_mem_bytes=100",
                "multigrid_mem_vs_amgcl=0.2500 multigrid_hash=0000000000000007",
                &plain("elasticity_"),
                "elasticity_vs_pardiso=5.000 elasticity_hash=0000000000000007",
                "amgcl_seconds=1.000 amgcl_setup_seconds=0.7500 amgcl_iterations=14 amgcl_bytes=400",
                "scipy_seconds=0.2500 scipy_setup_seconds=0 scipy_iterations=14 scipy_bytes=0",
                "elasticity_pardiso_seconds=2.500 elasticity_pardiso_setup_seconds=2.250",
                "elasticity_pardiso_iterations=14 elasticity_pardiso_bytes=1000",
                "nonzeros=7",
            ]
            .join(" ")
        );
    }

    #[test]
    fn keys_that_do_not_apply_are_left_out() {
        assert_eq!(
            keys_and_values(&fields(&context(1), &Outcome::new(measured(1, None)), &[], TRIAD)),
            "size=10 threads=1 seconds=0.5000 rate=2.000k rate_per_core=2.000k hash=0000000000000007"
        );
    }
}
