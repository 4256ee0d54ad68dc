//! No text is too strange: whatever comes in, there is an answer, soon, and never a panic or an overflow.

use crate::good::{HAIR, parse};
use proptest::prelude::*;
use undine_scene::syntax::{grammar, token};
use undine_scene::{Report, Source, document, format};

/// Whether the grammar refuses a text, or else the parser takes it.
fn grammar_and_parser_agree(text: &str) -> bool {
    let source = Source::new("scene.kdl", text);
    let mut report = Report::default();
    grammar::check(&source, &token::tokens(text), &mut report);
    report.has_errors() || document::parse(&source).is_ok()
}

/// What scenes are made of, and what breaks them.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "(",
        ")",
        "=",
        ";",
        "\n",
        " ",
        "\"",
        "#",
        "\\",
        "/-",
        "//",
        "/*",
        "*/",
        "\"\"\"",
        "r",
        "#\"",
        "\"#",
        "gravity",
        "group",
        "\"a\"",
        "key",
        "1",
        "-2.5",
        "2cm",
        ".5",
        "true",
        "#true",
        "#null",
        "m/s",
        "setup",
        "input",
        "velocity=",
        "\"4 0 0 m/s\"",
        "\u{feff}",
        "\0",
        "é",
        "\u{85}",
        "\r\n",
        "\t",
        "use",
        "template",
        "expose",
        "include",
        "path=",
        "\\u{41}",
        "\"\"\"\n a\n \"\"\"",
        ",",
        "[",
        "1e",
        "+",
        "0x",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_parser_takes_what_the_grammar_lets_through(text in pieces()) {
        prop_assert!(grammar_and_parser_agree(&text), "{text:?}");
    }

    #[test]
    fn any_text_gets_an_answer(text in "\\PC{0,80}") {
        prop_assert!(grammar_and_parser_agree(&text), "{text:?}");
        let _ = parse(&text, &[]).map_err(|report| report.render(80));
        let _ = format("scene.kdl", &text);
    }

    #[test]
    fn a_scene_with_slips_gets_an_answer(at in prop::collection::vec((0..2000_usize, pieces(), 0..6_usize), 1..4)) {
        let mut text = HAIR.to_owned();
        for (at, piece, removed) in at {
            let floor = |mut n: usize| { n = n.min(text.len()); while !text.is_char_boundary(n) { n -= 1; } n };
            let (from, to) = (floor(at), floor(at + removed));
            let short: String = piece.chars().take(8).collect();
            text.replace_range(from..to, &short);
        }
        prop_assert!(grammar_and_parser_agree(&text), "{text:?}");
        if let Err(report) = parse(&text, &[]) {
            prop_assert!(!report.render(80).is_empty());
        }
    }
}

#[test]
fn deep_and_long_texts_are_refused_without_an_overflow() {
    for text in [
        "a {".repeat(100_000),
        "a {".repeat(100_000) + &"}".repeat(100_000),
        "}".repeat(100_000),
        ")".repeat(100_000),
        ")\n".repeat(100_000),
        "/*".repeat(100_000),
        "/* ".repeat(100_000) + &"*/ ".repeat(100_000),
        "/-".repeat(100_000),
        "a /-{ ".repeat(1000),
        "a\n/-b {\n c\n".repeat(30) + &"}".repeat(30),
        "\"".repeat(100_001),
        "#\"\"\"".repeat(50_000),
        "\\u{".repeat(100_000),
        "\"\\u{".repeat(50_000),
        "\\ ".repeat(100_000),
        "a=".repeat(100_000),
        "(a".repeat(100_000),
        "\u{feff}".repeat(10_000),
        "a=1 ".repeat(50_000),
    ] {
        let report = parse(&text, &[]).unwrap_err();
        assert!(report.has_errors() && report.diagnostics().len() <= 100);
        assert!(!report.diagnostics()[0].render(80).is_empty());
    }
}

#[test]
fn what_is_taken_out_inside_what_is_taken_out_costs_nothing() {
    let nodes = "a\n/-b {\n c\n".repeat(60) + &"}\n".repeat(60);
    let blocks = "a /-{ ".repeat(60) + &"} ".repeat(60);
    for text in [nodes, blocks, "/-a; b; /-c {}; d".to_owned()] {
        assert!(document::parse(&Source::new("scene.kdl", text)).is_ok());
    }
}

#[test]
fn templates_that_grow_without_end_are_refused() {
    let mut text = "setup frames=1\ntemplate \"t0\" { gravity; }\n".to_owned();
    for n in 1..30 {
        text += &format!(
            "template \"t{n}\" {{ use \"t{}\" as=\"a\"; use \"t{}\" as=\"b\"; }}\n",
            n - 1,
            n - 1
        );
    }
    text += "use \"t29\"\n";
    let report = parse(&text, &[]).unwrap_err();
    assert!(report.diagnostics()[0].message.contains("grow"), "{}", report.render(80));
}
