//! `cargo run --release -p bench -- NAME`: runs a benchmark and prints, last, one line of `key=value`.

use bench::harness::{self, Benchmark, Settings};
use bench::list::{self, BENCHMARKS};
use bench::peers::PeerChoice;
use bench::{Result, record};
use clap::Parser;
use std::num::NonZeroUsize;
use std::process::ExitCode;

/// Undine's benchmarks. bench/README.md says what the keys of the last line mean.
#[derive(Parser)]
struct Arguments {
    /// The benchmark to run, or `all`
    #[arg(required_unless_present = "list")]
    name: Option<String>,
    /// List the benchmarks
    #[arg(long)]
    list: bool,
    /// How large; each benchmark says what it counts, and has its default
    #[arg(long, value_name = "N")]
    size: Option<NonZeroUsize>,
    /// Threads of the parallel run [default: all cores]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Run the peers too, installing them on first use; `=all` includes those known to be ten times slower
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "fast")]
    peers: Option<PeerChoice>,
    /// Append the result, with date and commit, to bench/results/<cpu>-<cores>/NAME.csv
    #[arg(long)]
    record: bool,
}

fn main() -> ExitCode {
    // As the command line does.
    undine_core::memory::keep_freed();
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let Some(name) = arguments.name.as_deref().filter(|_| !arguments.list) else {
        let width = BENCHMARKS.iter().map(|benchmark| benchmark.name.len()).max().unwrap_or(0);
        BENCHMARKS.iter().for_each(|Benchmark { name, doc, .. }| println!("{name:width$}  {doc}"));
        return Ok(());
    };
    let chosen: &[&Benchmark] = match name {
        "all" if arguments.size.is_some() => {
            return Err("`all` takes no --size: it means something else in every benchmark".into());
        }
        "all" => BENCHMARKS,
        name => &[list::find(name)?],
    };

    let mut settings =
        Settings { size: arguments.size.map(NonZeroUsize::get), ..Settings::default() };
    settings.threads = arguments.threads.map_or(settings.threads, usize::from);
    settings.peers = arguments.peers.unwrap_or(PeerChoice::None);

    for benchmark in chosen {
        let report = harness::run(benchmark, &settings)?;
        if arguments.record {
            match record::record(&report) {
                Ok(path) => println!("  recorded in {}", path.display()),
                Err(error) => println!("  not recorded: {error}"),
            }
        }
        println!("{report}");
    }
    Ok(())
}
