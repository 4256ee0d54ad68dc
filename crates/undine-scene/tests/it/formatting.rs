//! Laying a scene out, and changing one value in it.

use crate::good::{HAIR, parse};
use proptest::prelude::*;
use undine_scene::document::{self, Element, Scalar};
use undine_scene::{Source, format, rewrite};
use undine_schema::Value;

/// What nodes say, without where they say it.
fn meaning(text: &str) -> Vec<String> {
    fn lines(elements: &[Element], depth: usize, into: &mut Vec<String>) {
        for element in elements {
            let arguments: Vec<&Scalar> =
                element.arguments.iter().map(|atom| &atom.scalar).collect();
            let properties: Vec<(&str, &Scalar)> =
                element.properties.iter().map(|p| (p.name.as_str(), &p.value.scalar)).collect();
            into.push(format!(
                "{depth} {} {arguments:?} {properties:?} {}",
                element.name, element.block
            ));
            lines(&element.children, depth + 1, into);
        }
    }
    let elements = document::parse(&Source::new("scene.kdl", text))
        .unwrap_or_else(|report| panic!("{}\n{text}", report.render(100)));
    let mut into = Vec::new();
    lines(&elements, 0, &mut into);
    into
}

fn formatted(text: &str) -> String {
    format("scene.kdl", text).unwrap_or_else(|report| panic!("{}", report.render(100)))
}

#[test]
fn a_scene_is_laid_out() {
    let untidy = "\u{feff}setup   \"a\"  frames = 2 ;gravity // down\r\n\r\n\r\n\r\n  // about wind\n\
        group \"wind\"{ // windy\n\n\ninflow   velocity = \"4 0 0 m/s\"   /* why */ disabled=#true;drag\n\
        /- pressure\n   volume \\ // long\n   voxel=1\n\n}\ngroup \"b\" {   \n}\n/* two\n   lines */ drag \"x\" /-law=\"linear\" { law \"linear\"; }\n\n";
    insta::assert_snapshot!(formatted(untidy), @r#"
    setup "a" frames=2
    gravity // down

    // about wind
    group "wind" { // windy
        inflow velocity="4 0 0 m/s" /* why */ disabled=#true
        drag
        /-pressure
        volume \ // long
            voxel=1
    }
    group "b" {}
    /* two
       lines */ drag "x" /-law="linear" {
        law "linear"
    }
    "#);
}

#[test]
fn a_tidy_scene_stays_as_it_is() {
    let tidy = formatted(HAIR);
    assert_eq!(formatted(&tidy), tidy);
    assert_eq!(meaning(&tidy), meaning(HAIR));
    assert!(tidy.contains("    springs damping=0.01 // gentle\n"), "{tidy}");
}

#[test]
fn what_is_no_document_is_not_formatted() {
    assert!(format("scene.kdl", "gravity {").is_err());
}

#[test]
fn a_value_is_changed_and_nothing_else() {
    let text = "group \"wind\" { // windy\n  inflow   velocity = \"4 0 0 m/s\"  /* why */\n  volume voxel=0.1\n  drag {\n    law \"linear\" // old\n  }\n}\ninput \"a\" { box; }\n";
    for (path, value, wanted) in [
        ("wind/inflow.velocity", "\"8 0 0 m/s\"", text.replace("4 0 0", "8 0 0")),
        ("wind/volume.voxel", "\"2 cm\"", text.replace("0.1", "\"2 cm\"")),
        ("wind/drag.law", "\"quadratic\"", text.replace("\"linear\"", "\"quadratic\"")),
        ("wind/volume.padding", "4", text.replace("voxel=0.1", "voxel=0.1 padding=4")),
        ("wind.radius", "0.1", text.replace("\"wind\"", "\"wind\" radius=0.1")),
        ("input/a/box.size", "\"1 1 1\"", text.replace("box", "box size=\"1 1 1\"")),
    ] {
        assert_eq!(rewrite::set("scene.kdl", text, path, value).unwrap(), wanted, "{path}");
    }
    assert!(rewrite::set("scene.kdl", text, "wind/rain.size", "1").is_err());
    assert!(rewrite::set("scene.kdl", text, "wind/volume.voxel", "1 {").is_err());
    let keyed = "inflow { velocity { key 1 \"1 0 0\"; }; }";
    assert!(
        rewrite::set("scene.kdl", keyed, "inflow.velocity", "1")
            .unwrap_err()
            .to_string()
            .contains("keys")
    );
}

/// Documents of the shapes that scenes have, with odd layout.
fn documents() -> impl Strategy<Value = String> {
    let space = prop::sample::select(vec![" ", "  ", "\t", " /* c */ ", " \\\n  ", " \\ // c\n "]);
    let value = prop::sample::select(vec![
        "1",
        "-2.5e3",
        "\"4 0 0 m/s\"",
        "#true",
        "word",
        "#\"raw \" text\"#",
        "\"\"\"\n  a\n   b\n  \"\"\"",
    ]);
    let name = prop::sample::select(vec!["gravity", "group", "\"a b\"", "key", "x-1"]);
    let entry = (
        space,
        any::<bool>(),
        prop::option::of(name.clone()),
        prop::sample::select(vec!["=", " = "]),
        value,
    )
        .prop_map(|(space, out, name, equals, value)| {
            let out = if out { "/-" } else { "" };
            name.map_or_else(
                || format!("{space}{out}{value}"),
                |name| format!("{space}{out}{name}{equals}{value}"),
            )
        });
    let entries = prop::collection::vec(entry, 0..3).prop_map(|entries| {
        // A property is given once.
        let mut seen = std::collections::BTreeSet::new();
        entries
            .into_iter()
            .filter(|e| {
                e.split('=').next().is_none_or(|k| {
                    !e.contains('=')
                        || seen.insert(
                            k.trim()
                                .trim_start_matches("/-")
                                .split_whitespace()
                                .last()
                                .unwrap_or("")
                                .to_owned(),
                        )
                })
            })
            .collect::<String>()
    });
    let end = prop::sample::select(vec!["\n", "\n\n\n", ";", " // c\n", "\r\n", " ; \n"]);
    let before =
        prop::sample::select(vec!["", "  ", "// c\n", "/* c\nd */ ", "/-", "/- // c\n", "\n\n"]);
    let leaf = (before.clone(), name.clone(), entries.clone(), end.clone())
        .prop_map(|(before, name, entries, end)| format!("{before}{name}{entries}{end}"));
    leaf.prop_recursive(3, 24, 4, move |inner| {
        (
            before.clone(),
            name.clone(),
            entries.clone(),
            prop::collection::vec(inner, 0..4),
            end.clone(),
        )
            .prop_map(|(before, name, entries, children, end)| {
                format!("{before}{name}{entries} {{{}}}{end}", children.concat())
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn layout_changes_no_meaning_and_is_stable(text in prop::collection::vec(documents(), 0..4)) {
        let text = text.concat();
        // Some of these are refused, such as `/-` in `/-` in `/-`.
        if let Ok(laid_out) = format("scene.kdl", &text) {
            prop_assert_eq!(meaning(&laid_out), meaning(&text), "{}", laid_out);
            prop_assert_eq!(&formatted(&laid_out), &laid_out);
            let comments = |text: &str| text.matches("c\n").count() + text.matches("/* c").count();
            prop_assert_eq!(comments(&laid_out), comments(&text.replace("\r\n", "\n")));
        }
    }

    #[test]
    fn a_value_that_is_set_is_read_back(value in -1e300..1e300_f64, text in "[ -~é\n\t]{0,12}") {
        let scene = rewrite::set("scene.kdl", HAIR, "hair/strands.youngs", &rewrite::written(&Value::Number(value))).unwrap();
        let found = rewrite::get("scene.kdl", &scene, "hair/strands.youngs").unwrap();
        let number = match found { Some(Scalar::Float(number)) => number, Some(Scalar::Integer(whole)) => whole as f64, other => panic!("{other:?}") };
        prop_assert_eq!(number, value);
        let scene = rewrite::set("scene.kdl", HAIR, "wind/air.around", &rewrite::written(&Value::Text(text.clone()))).unwrap();
        prop_assert_eq!(rewrite::get("scene.kdl", &scene, "wind/air.around").unwrap(), Some(Scalar::Text(text)));
    }
}

#[test]
fn a_rewritten_scene_still_runs() {
    let scene = rewrite::set("scene.kdl", HAIR, "wind/inflow.velocity", "\"9 0 0 m/s\"").unwrap();
    assert!(parse(&scene, &[]).is_ok());
    assert_eq!(scene.len(), HAIR.len() - 1);
}
