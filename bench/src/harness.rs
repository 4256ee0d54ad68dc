//! What a benchmark is, and how one is run: triad, benchmark, peers, triad again, report.

use crate::Result;
use crate::machine;
use crate::measure::{Measured, Work};
use crate::peers::{Peer, PeerChoice};
use crate::report::{Report, Value};
use crate::triad::{self, Bandwidth, Triad};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A benchmark, as it stands in the list.
pub struct Benchmark {
    /// Its name on the command line, in the last line and in the results; its file is called the same.
    pub name: &'static str,
    /// One line that says what is measured, in which unit, and what `size` means.
    pub doc: &'static str,
    /// The size when none is given.
    pub default_size: usize,
    /// Other programs that do the same work, to compare with.
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
    mem_bytes: Option<u64>,
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
        Outcome { main, mem_bytes: None, extra: Vec::new(), parts: Vec::new() }
    }

    /// Memory that the data takes [B], as the library reports it.
    pub fn mem_bytes(self, bytes: u64) -> Self {
        Outcome { mem_bytes: Some(bytes), ..self }
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
    let context = Context { size, threads: settings.threads, pools: Pools::new(settings.threads)? };
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
    fields.extend(measured_fields("", &outcome.main, triad));
    for (peer, rate) in peers {
        fields.push((format!("vs_{peer}"), Value::Number(outcome.main.rate() / rate)));
    }
    fields.extend(outcome.mem_bytes.map(|bytes| ("mem_bytes".to_owned(), Value::Count(bytes))));
    fields.push(("hash".to_owned(), Value::Hash(outcome.main.hash)));
    for (part, measured) in &outcome.parts {
        let prefix = format!("{part}_");
        fields.extend(measured_fields(&prefix, measured, triad));
        fields.push((prefix + "hash", Value::Hash(measured.hash)));
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
        }
    }

    fn keys_and_values(fields: &[(String, Value)]) -> String {
        fields.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }

    fn context(threads: usize) -> Context {
        Context { size: 10, threads, pools: Pools::new(threads).expect("a few threads") }
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
    fn keys_that_do_not_apply_are_left_out() {
        assert_eq!(
            keys_and_values(&fields(&context(1), &Outcome::new(measured(1, None)), &[], TRIAD)),
            "size=10 threads=1 seconds=0.5000 rate=2.000k rate_per_core=2.000k hash=0000000000000007"
        );
    }
}
