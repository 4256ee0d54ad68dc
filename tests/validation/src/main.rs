//! Runs the validation cases and writes their pages: `validation [--list] [NAME …]`.

use std::process::ExitCode;
use std::{env, fs};
use validation::cases::PAGES;
use validation::{Case, Page, clock, machine, page};

fn main() -> ExitCode {
    // A case that runs on several processes starts this program again, under `mpirun`.
    if let Ok(work) = env::var(validation::cases::CHILD) {
        return validation::cases::core::child(&work);
    }
    let words: Vec<String> = env::args().skip(1).collect();
    if words.iter().any(|word| word == "--list") {
        for case in PAGES.iter().flat_map(|page| page.cases) {
            println!("{:<32} {}", case.name, case.doc);
        }
        return ExitCode::SUCCESS;
    }
    let cases = || PAGES.iter().flat_map(|page| page.cases);
    if let Some(unknown) = words.iter().find(|word| cases().all(|case| case.name != *word)) {
        eprintln!("error: there is no case `{unknown}`; `cargo xtask validate --list` lists them");
        return ExitCode::from(2);
    }

    let mut failed = 0;
    for page in PAGES {
        let chosen = page
            .cases
            .iter()
            .filter(|case| words.is_empty() || words.iter().any(|word| word == case.name));
        let results: Vec<page::Outcome> = chosen.map(run).collect();
        failed += results.iter().filter(|result| !result.verdict.passed).count();
        // A page tells of all its cases or is left as it was.
        if results.len() == page.cases.len()
            && let Err(why) = write(page, &results)
        {
            eprintln!("error: {why}");
            failed += 1;
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs one case and prints its figures as rows of a table.
fn run(case: &Case) -> page::Outcome {
    println!("  {}: {}", case.name, case.doc);
    let result = case.execute();
    for figure in &result.verdict.figures {
        let mark = match (figure.holds, &figure.short) {
            (true, _) => "✓",
            (false, Some(_)) => "~",
            (false, None) => "✗",
        };
        println!("    {mark} {:<40} {:>16}   wanted {}", figure.name, figure.value, figure.wanted);
    }
    println!(
        "    {} in {:.1} s",
        if result.verdict.passed { "passed" } else { "FAILED" },
        result.seconds
    );
    result
}

fn write(page: &Page, results: &[page::Outcome]) -> Result<(), String> {
    let circumstances =
        [("date", clock::now()), ("commit", machine::commit()), ("machine", machine::machine())];
    let path = machine::root().join(format!("docs/validation/{}.md", page.name));
    fs::write(&path, page.markdown(results, &circumstances))
        .map_err(|why| format!("cannot write {}: {why}", path.display()))?;
    println!("  wrote docs/validation/{}.md", page.name);
    Ok(())
}
