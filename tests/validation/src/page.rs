//! Cases, and the page of results that those of one subject fill.

use crate::verdict::Verdict;
use std::fmt::Write;
use std::panic;
use std::time::Instant;

/// One case: what it shows, and how.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Short name, by which it is called: `halo-on-8-processes`.
    pub name: &'static str,
    /// A sentence: what must be true, and after whom.
    pub doc: &'static str,
    /// Does it. A panic counts as a failure.
    pub run: fn() -> Verdict,
}

/// The cases of one subject, which become `docs/validation/NAME.md`.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Name of the file, without ending.
    pub name: &'static str,
    /// Heading of the page.
    pub title: &'static str,
    /// Its cases, in the order in which they run.
    pub cases: &'static [Case],
}

/// A case that was run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The case.
    pub case: Case,
    /// What it found.
    pub verdict: Verdict,
    /// How long it took [s].
    pub seconds: f64,
}

impl Case {
    /// Runs the case and keeps its time.
    pub fn execute(&self) -> Outcome {
        let start = Instant::now();
        let verdict = panic::catch_unwind(self.run).unwrap_or_else(|payload| {
            let words = payload.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| payload.downcast_ref::<&str>().copied());
            Verdict::broken(format!("panicked: {}", words.unwrap_or("without a message")))
        });
        Outcome { case: *self, verdict, seconds: start.elapsed().as_secs_f64() }
    }
}

impl Page {
    /// The page as Markdown. `circumstances` are pairs such as date, commit and machine.
    pub fn markdown(&self, results: &[Outcome], circumstances: &[(&str, String)]) -> String {
        let mut text = format!("# {}\n\nWritten by `cargo xtask validate`.\n\n", self.title);
        // Writing to a string cannot fail.
        for (name, value) in circumstances {
            let _ = writeln!(text, "- {name}: {value}");
        }
        let passed = results.iter().filter(|result| result.verdict.passed).count();
        let _ = writeln!(text, "- cases: {passed} of {} passed", results.len());
        let all = || results.iter().flat_map(|result| &result.verdict.figures);
        let short = all().filter(|figure| figure.short.is_some()).count();
        if short > 0 {
            let _ = writeln!(
                text,
                "- of {} figures {short} fall short of what is wanted: `~`, with what still has to hold, and why",
                all().count()
            );
        }
        for Outcome { case, verdict, seconds } in results {
            let word = if verdict.passed { "passed" } else { "FAILED" };
            let _ = write!(text, "\n## {}\n\n{} ({word}, {seconds:.1} s)\n\n", case.name, case.doc);
            text += "| figure | found | wanted | |\n|---|---|---|---|\n";
            for figure in &verdict.figures {
                let [name, value, wanted] =
                    [&figure.name, &figure.value, &figure.wanted].map(|cell| in_cell(cell));
                let mark = match &figure.short {
                    _ if figure.holds => "✓".to_owned(),
                    Some(why) => format!("~ {}", in_cell(why)),
                    None => "✗".to_owned(),
                };
                let _ = writeln!(text, "| {name} | {value} | {wanted} | {mark} |");
            }
        }
        text
    }
}

/// Text that does not break a Markdown table.
fn in_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Case =
        Case { name: "good", doc: "All is well.", run: || Verdict::new().same("legs", 4, 4) };
    const BAD: Case = Case { name: "bad", doc: "It breaks.", run: || panic!("no | legs\nat all") };

    #[test]
    fn a_panic_is_a_failed_case_with_its_message() {
        let result = BAD.execute();
        assert!(!result.verdict.passed);
        assert!(result.verdict.figures[0].value.contains("no | legs"));
    }

    #[test]
    fn a_page_says_why_figures_fall_short() {
        const SHORT: Case = Case {
            name: "short",
            doc: "It is nearly there.",
            run: || Verdict::new().at_most_or("error", 0.07, [0.05, 0.1], "cells are | coarse"),
        };
        let page = Page { name: "beasts", title: "Beasts", cases: &[SHORT] };
        let results: Vec<Outcome> = page.cases.iter().map(Case::execute).collect();
        let text = page.markdown(&results, &[]);
        for part in [
            "1 of 1 passed",
            "of 1 figures 1 fall short",
            "| error | 0.07 | ≤ 0.05 | ~ ≤ 0.1: cells are \\| coarse |",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }

    #[test]
    fn a_page_holds_circumstances_and_every_figure() {
        let page = Page { name: "beasts", title: "Beasts", cases: &[GOOD, BAD] };
        let results: Vec<Outcome> = page.cases.iter().map(Case::execute).collect();
        let text = page.markdown(&results, &[("commit", "abc".to_string())]);
        for part in [
            "# Beasts",
            "- commit: abc",
            "1 of 2 passed",
            "| legs | 4 | 4 | ✓ |",
            "no \\| legs at all",
            "FAILED",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }
}
