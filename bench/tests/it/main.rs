//! The harness from end to end, on sizes so small that nothing but its workings is measured.

use bench::harness::{Settings, run};
use bench::list::BENCHMARKS;
use bench::peers::PeerChoice;
use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(arguments)
        .output()
        .expect("the program was built")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_triad_reports_every_key_that_applies_in_order() {
    let benchmark = bench::list::find("triad").expect("the triad is in the list");
    let settings =
        Settings { size: Some(1), threads: 2, peers: PeerChoice::None, triad_array_bytes: 1 << 20 };
    let report = run(benchmark, &settings).expect("the triad runs");
    let keys: Vec<&str> = report.fields.iter().map(|(key, _)| key.as_str()).collect();
    let expected =
        "size threads seconds rate rate_per_core vs_triad speedup speedup_vs_triad mem_bytes hash";
    assert_eq!(keys.join(" "), expected);
    assert!(report.to_string().starts_with("triad: size=1 threads=2 seconds="));
}

#[test]
fn the_last_line_of_the_program_is_the_report_and_hashes_agree_between_runs() {
    let hashes = ["1", "2", "3"].map(|threads| {
        let output = bench(&["triad", "--size", "1", "--threads", threads]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        let last = said.lines().last().expect("something was printed");
        assert!(last.starts_with(&format!("triad: size=1 threads={threads} ")), "{last}");
        last.split(' ').find(|word| word.starts_with("hash=")).expect("a hash").to_owned()
    });
    assert_eq!(hashes[0], hashes[1]);
    assert_eq!(hashes[0], hashes[2]);
}

#[test]
fn the_list_has_a_line_for_every_benchmark() {
    let output = bench(&["--list"]);
    let said = text(&output.stdout);
    assert!(output.status.success());
    assert_eq!(said.lines().count(), BENCHMARKS.len());
    for (line, benchmark) in said.lines().zip(BENCHMARKS) {
        assert!(line.starts_with(benchmark.name) && line.ends_with(benchmark.doc), "{line}");
    }
}

#[test]
fn bad_arguments_are_errors_that_say_what_would_be_right() {
    let cases: [(&[&str], &str); 5] = [
        (&["traid"], "did you mean triad?"),
        (&["all", "--size", "3"], "`all` takes no --size"),
        (&["triad", "--threads", "0"], "--threads"),
        (&["triad", "--peers=some"], "none, fast, all"),
        (&[], "<NAME>"),
    ];
    for (arguments, message) in cases {
        let output = bench(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(text(&output.stderr).contains(message), "{arguments:?}: {}", text(&output.stderr));
    }
}
