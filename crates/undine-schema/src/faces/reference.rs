//! The reference in Markdown: an index, a page for each kind of node, and a page of units.

use super::{KINDS, choices, default, notes, of_kind, paragraphs, takes};
use crate::declaration::{Declaration, Kind};
use crate::display;
use crate::parameter::{Fallback, Level, Parameter};
use crate::unit::{PREFIXES, SYMBOLS};
use std::collections::BTreeMap;

/// The index, shown by whoever opens the folder.
const INDEX: &str = "README.md";
const UNITS: &str = "units.md";

const INTRODUCTION: &str = "\
# Reference

Everything that a scene can hold. Each node has a name, parameters, and an example to begin with. Values may carry
[units](units.md): `radius=\"4 cm\"`, `velocity=\"4 0 0 m/s\"`.

A parameter of a Behavior takes its value from the narrowest place that gives one:

1. each element, by a channel of the input, where the table says *varies by channel*;
2. the input as a whole, by an attribute of that name;
3. the Behavior itself;
4. the nearest Group around it that sets a parameter of that name;
5. the default in the table.

These pages are generated from the declarations in the code. So is what `undine help NAME` prints, and the JSON schema of
`undine schema`.
";

/// The reference of all nodes: names of files in one folder, each with its text. The same declarations give the same bytes,
/// in whatever order they come.
pub fn reference(declarations: &[&Declaration]) -> Vec<(String, String)> {
    let mut files = vec![(INDEX.to_owned(), index(declarations))];
    for (kind, heading, what) in KINDS {
        let found = of_kind(declarations, *kind);
        if !found.is_empty() {
            files.push((page_name(heading), page(*kind, heading, what, &found)));
        }
    }
    files.push((UNITS.to_owned(), units()));
    files
}

fn page_name(heading: &str) -> String {
    format!("{}.md", heading.to_lowercase())
}

fn index(declarations: &[&Declaration]) -> String {
    let mut text = INTRODUCTION.to_owned();
    for (kind, heading, what) in KINDS {
        let found = of_kind(declarations, *kind);
        if found.is_empty() {
            continue;
        }
        let page = page_name(heading);
        text +=
            &format!("\n## [{heading}]({page})\n\n{what}.\n\n| name | what it does |\n|---|---|\n");
        for (declaration, anchor) in found.iter().zip(anchors(heading, &found)) {
            let (name, doc) = (declaration.name, cell(&prose(declaration.doc)));
            text += &format!("| [`{name}`]({page}#{anchor}) | {doc} |\n");
        }
    }
    text
}

fn page(kind: Kind, heading: &str, what: &str, declarations: &[&Declaration]) -> String {
    let mut text = format!("# {heading}\n\n{what}. [All of the reference]({INDEX}).\n\n");
    for (declaration, anchor) in declarations.iter().zip(anchors(heading, declarations)) {
        text += &format!("- [`{}`](#{anchor}): {}\n", declaration.name, prose(declaration.doc));
    }
    for declaration in declarations {
        text += &format!("\n## {}\n\n{}.\n", declaration.name, prose(declaration.doc));
        let mut before_item = false;
        for paragraph in paragraphs(declaration.about) {
            let item = paragraph.starts_with("- ");
            if !(item && before_item) {
                text.push('\n');
            }
            // What is about a node is written as Markdown: emphasis and links are meant.
            text += &paragraph;
            text.push('\n');
            before_item = item;
        }
        if !declaration.example.trim().is_empty() {
            text += &fenced("kdl", declaration.example.trim_end());
        }
        for (level, title) in [(Level::Basic, "Parameters"), (Level::Advanced, "Advanced")] {
            text += &table(declaration.parameters, level, title);
        }
        if declaration.parameters.is_empty() {
            text += &format!("\nThis {} takes no parameters.\n", kind.noun());
        }
    }
    text
}

/// The parameters of a level, a row each; nothing if there are none.
fn table(parameters: &[Parameter], level: Level, title: &str) -> String {
    let mut text = String::new();
    for parameter in parameters.iter().filter(|parameter| parameter.level == level) {
        if text.is_empty() {
            text += &format!("\n**{title}**\n\n");
            text += "| name | takes | default | what it is |\n|---|---|---|---|\n";
        }
        let given = match (default(parameter), parameter.fallback) {
            (Some(default), _) => code(&default),
            (None, Fallback::Required) => "*required*".to_owned(),
            (None, _) => "–".to_owned(),
        };
        let mut words = prose(parameter.doc) + &notes(parameter);
        for (word, doc) in choices(parameter) {
            words += &format!("<br>{}: {}", code(word), prose(doc));
        }
        let cells = [code(parameter.name), takes(parameter), given, words];
        let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

fn units() -> String {
    let mut text = format!(
        "# Units\n\n\
         Every physical value may carry a unit: `\"2 cm\"`, `\"4 0 0 m/s\"`, `\"1300 kg/m3\"`. A bare number is in SI. \
         [All of the reference]({INDEX}).\n\n\
         Units multiply with a space, `*` or `·` and divide with `/`: `Pa s`, `N·m`, `kg/m/s`. A power is a number behind \
         a symbol: `m3`, `m^3`, `m³`, `s-1`.\n\n\
         **Degrees.** `20 degC` is the temperature 293.15 K, never a difference of 20 K: write a difference in `K`. \
         In a product, such as `J/kg/K`, only `K` can stand.\n\n\
         **Frames.** `fps` is frames per second; feet per second are `ft/s`.\n\n\
         | symbol | name | measures | one of it | prefixes |\n|---|---|---|---|---|\n",
    );
    for symbol in SYMBOLS {
        let unit = symbol.unit();
        let measures = unit.dimension.name().unwrap_or_default();
        let one = display::digits(unit.to_si(1.0));
        let one = format!("{one} {}", display::customary_unit(unit.dimension));
        let prefixes = if symbol.prefixed { "yes" } else { "" };
        let row = [&code(symbol.symbol), symbol.name, measures, one.trim_end(), prefixes];
        text += &format!("| {} |\n", row.join(" | ").trim_end());
    }
    text += "\nPrefixes:";
    for (n, (prefix, over, under)) in PREFIXES.iter().enumerate() {
        let gap = if n == 0 { "" } else { "," };
        text += &format!("{gap} {} {:e}", code(prefix), over / under);
    }
    text + ".\n"
}

/// Where GitHub's headings of a page are reached: a heading that comes again gets a number.
fn anchors(heading: &str, declarations: &[&Declaration]) -> Vec<String> {
    let mut met: BTreeMap<String, usize> = BTreeMap::from([(heading.to_lowercase(), 1)]);
    let mut anchor = |declaration: &&Declaration| {
        let count = met.entry(declaration.name.to_owned()).or_default();
        *count += 1;
        match *count {
            1 => declaration.name.to_owned(),
            again => format!("{}-{}", declaration.name, again - 1),
        }
    };
    declarations.iter().map(&mut anchor).collect()
}

/// A doc line in Markdown: what is no code is shown letter by letter.
fn prose(text: &str) -> String {
    let mut shown = String::new();
    // Every second piece is between backticks; an odd one out is a letter like others.
    let pieces: Vec<&str> = text.split('`').collect();
    for (n, piece) in pieces.iter().enumerate() {
        let in_code = n % 2 == 1;
        if in_code && n + 1 < pieces.len() {
            shown += &code(piece);
            continue;
        }
        if in_code {
            shown += "\\`";
        }
        for c in piece.chars() {
            match c {
                '\\' | '*' | '_' | '[' | ']' => shown.extend(['\\', c]),
                '<' => shown += "&lt;",
                '&' => shown += "&amp;",
                '\n' | '\r' => shown.push(' '),
                _ => shown.push(c),
            }
        }
    }
    shown
}

/// A text between backticks, more of them than it holds itself.
fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    match text {
        "" => String::new(),
        _ if text.contains('`') => format!("{ticks} {text} {ticks}"),
        _ => format!("{ticks}{text}{ticks}"),
    }
}

/// A text as a cell of a table: GitHub takes every `|` for the next cell, also in code, unless a `\` stands before it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A block of code, with a fence that it cannot close itself.
fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("\n{fence}{language}\n{text}\n{fence}\n")
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::toy::{ALL, BALL, BARE, ODD};
    use super::*;

    fn file(name: &str, declarations: &[&Declaration]) -> String {
        let files = reference(declarations);
        files.into_iter().find(|(file, _)| file == name).unwrap_or_else(|| panic!("{name}")).1
    }

    #[test]
    fn a_page_reads_well() {
        let wanted = "\
# Objects

What is simulated through time. [All of the reference](README.md).

- [`ball`](#ball): A ball that bounces

## ball

A ball that bounces.

Follows Hertz, *On the contact of elastic solids* (1882), for slow impacts.

Not for:

- fast impacts
- balls that break

```kdl
ball \"red\" input=\"balls\" radius=\"4 cm\"
```

**Parameters**

| name | takes | default | what it is |
|---|---|---|---|
| `input` | input | *required* | where it is at the start |
| `radius` | length [m] | `2 cm` | its radius (greater than 0; usually from 1 mm to 1 m; varies by channel `pscale`) |
| `velocity` | vector [m/s] | `4 0 0 m/s` | how it moves |
| `viscosity` | dynamic viscosity [Pa·s] | `0.001 Pa·s` | of what is in it (at least 0) |
| `skin` | choice | `rubber` | what it is made of<br>`rubber`: gives way<br>`steel`: does not \\| ever |

**Advanced**

| name | takes | default | what it is |
|---|---|---|---|
| `seams` | whole number | `2` | how many seams (from 0 to 12) |
| `hollow` | flag | `#false` | whether there is nothing inside |
| `label` | text | – | what is printed on it |
| `picture` | file | – | what is painted on it |
| `rests-on` | Object or Group | – | what it lies on |
";
        assert_eq!(file("objects.md", &[&BALL]), wanted);
    }

    #[test]
    fn every_node_and_parameter_is_there_and_every_table_has_its_cells() {
        for (name, text) in reference(ALL) {
            for row in text.lines().filter(|line| line.starts_with('|')) {
                let cells = row.replace("\\|", "").matches('|').count() - 1;
                let wanted = match name.as_str() {
                    INDEX => 2,
                    UNITS => 5,
                    _ => 4,
                };
                assert_eq!(cells, wanted, "{name}: {row}");
            }
        }
        let index = file(INDEX, ALL);
        for declaration in ALL {
            let (_, heading, _) =
                KINDS.iter().find(|(kind, ..)| *kind == declaration.kind).unwrap();
            let page = file(&page_name(heading), ALL);
            assert!(page.contains(&format!("\n## {}\n", declaration.name)));
            assert!(index.contains(&format!("({}#{})", page_name(heading), declaration.name)));
            for parameter in declaration.parameters {
                assert!(page.contains(&format!("\n| `{}` | ", parameter.name)));
            }
        }
    }

    #[test]
    fn the_order_of_declarations_changes_nothing() {
        let turned: Vec<&Declaration> = ALL.iter().rev().copied().collect();
        assert_eq!(reference(ALL), reference(&turned));
    }

    #[test]
    fn letters_that_mean_something_to_markdown_are_shown() {
        assert_eq!(prose("u* = <b> & a_b `c*|d` [x]"), "u\\* = &lt;b> &amp; a\\_b `c*|d` \\[x\\]");
        assert_eq!(prose("one ` tick"), "one \\` tick");
        assert_eq!(code("a`b"), "`` a`b ``");
        let page = file("operators.md", &[&ODD]);
        assert!(page.contains("\n````kdl\n// ```\na-name 1\n````\n"), "{page}");
        assert!(page.contains("\\| a \\* b &lt;c> `d\\|e` \\\\ and a doc"), "{page}");
    }

    #[test]
    fn a_name_that_is_a_heading_too_is_reached_by_its_number() {
        let forces = Declaration { name: "forces", ..BARE };
        assert_eq!(anchors("Forces", &[&BARE, &forces]), ["bare", "forces-1"]);
        assert!(file(INDEX, &[&forces]).contains("(forces.md#forces-1)"));
        assert!(file("forces.md", &[&forces]).contains("This Force takes no parameters."));
    }

    #[test]
    fn every_unit_is_listed() {
        let page = file(UNITS, &[]);
        for wanted in [
            "| `cm`",
            "| `lb` | pound | a mass | 0.45359237 kg | |",
            "| `degC` | degree Celsius | a temperature | 274.15 K | |",
            "| `P` | poise | a dynamic viscosity | 0.1 Pa·s | yes |",
            "| `%` | per cent | a bare number | 0.01 | |",
            "`k` 1e3",
        ] {
            assert_eq!(page.contains(wanted), wanted != "| `cm`", "{wanted}: {page}");
        }
        assert_eq!(page.lines().filter(|line| line.starts_with("| `")).count(), SYMBOLS.len());
    }
}
