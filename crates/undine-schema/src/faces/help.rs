//! What `undine help` prints: everything about one Behavior, the list of all, or what was meant by a name that is none.

use super::{KINDS, choices, default, notes, of_kind, paragraphs, takes, with_article};
use crate::declaration::Declaration;
use crate::parameter::{Fallback, Level, Parameter};
use crate::spelling;

/// The narrowest page that is tried; on a narrower terminal lines break by themselves.
const NARROWEST: usize = 30;

/// Everything about a node, on a page so many letters wide; with its advanced parameters, or with a hint how to see them.
///
/// No line is wider, except for a single word or a line of the example: what one copies stays whole.
pub fn help(declaration: &Declaration, width: usize, advanced: bool) -> String {
    let width = width.max(NARROWEST);
    let mut page = Page { text: String::new(), width };
    page.wrap("", "", &format!("{}: {}", declaration.name, with_article(declaration.kind)));
    page.wrap("  ", "  ", declaration.doc);
    let mut before_item = false;
    for paragraph in paragraphs(declaration.about) {
        let item = paragraph.starts_with("- ");
        if !(item && before_item) {
            page.line("");
        }
        page.wrap("  ", if item { "    " } else { "  " }, &paragraph);
        before_item = item;
    }

    let of_level = |level| declaration.parameters.iter().filter(move |p| p.level == level);
    let basic: Vec<&Parameter> = of_level(Level::Basic).collect();
    let more: Vec<&Parameter> = of_level(Level::Advanced).collect();
    page.table("Parameters", &basic);
    if advanced {
        page.table("Advanced parameters", &more);
    } else if !more.is_empty() {
        let count = match more.len() {
            1 => "1 advanced parameter more".to_owned(),
            many => format!("{many} advanced parameters more"),
        };
        page.line("");
        page.wrap("", "", &format!("{count}: undine help {} --advanced", declaration.name));
    }
    if !declaration.example.trim().is_empty() {
        page.line("");
        page.line("Example");
        for line in declaration.example.trim_end().lines() {
            page.line(&format!("  {line}"));
        }
    }
    page.text
}

/// Commands of a program, a line each: their names, and what they do.
pub fn commands(program: &str, commands: &[(&str, String)], width: usize) -> String {
    let mut page = Page { text: String::new(), width: width.max(NARROWEST) };
    let column = commands.iter().map(|(name, _)| letters(name)).max().unwrap_or(0);
    page.wrap("", "", "Commands: what the program does");
    for (name, about) in commands {
        page.entry(&[(*name, column)], about);
    }
    page.wrap("", "", &format!("{program} COMMAND --help says more about one of them"));
    page.text
}

/// All nodes, by kind, a line each.
pub fn overview(declarations: &[&Declaration], width: usize) -> String {
    let mut page = Page { text: String::new(), width: width.max(NARROWEST) };
    // A name that is longer than a third of the page is not worth a column of that width.
    let widths = declarations.iter().map(|declaration| letters(declaration.name));
    let column = widths.filter(|&name| name <= page.width / 3).max().unwrap_or(0);
    for (kind, heading, what) in KINDS {
        let found = of_kind(declarations, *kind);
        if found.is_empty() {
            continue;
        }
        page.wrap("", "", &format!("{heading}: {}", lower_first(what)));
        for declaration in found {
            page.entry(&[(declaration.name, column)], declaration.doc);
        }
        page.line("");
    }
    page.wrap("", "", "undine help NAME says more about one of them");
    page.text
}

/// What to say of a name that no node has: names that are spelt alike, and nodes with a parameter of that name.
pub fn unknown(name: &str, declarations: &[&Declaration]) -> String {
    /// More guesses than these help nobody.
    const GUESSES: usize = 3;
    // Typed by somebody: control characters must not reach a terminal, nor pages of text.
    let shown: String = name.chars().take(60).flat_map(char::escape_debug).collect();
    let mut names: Vec<&str> = declarations.iter().map(|declaration| declaration.name).collect();
    names.sort_unstable();
    names.dedup();
    let quoted = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(" or ")
    };
    let typed: String = name.chars().take(60).collect();
    let mut alike = spelling::alike(&typed, names);
    alike.truncate(GUESSES);
    let mut owners: Vec<&str> = declarations
        .iter()
        .filter(|declaration| declaration.parameter(name).is_some())
        .map(|declaration| declaration.name)
        .collect();
    owners.sort_unstable();
    owners.truncate(GUESSES);

    let mut text = format!("there is no `{shown}`");
    if !owners.is_empty() {
        text += &format!("; it is a parameter of {}", quoted(&owners));
    } else if !alike.is_empty() {
        text += &format!("; did you mean {}?", quoted(&alike));
    }
    text + "\n`undine help` lists everything that there is"
}

/// Text that grows line by line, on a page of a width in letters.
struct Page {
    text: String,
    width: usize,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Words on as many lines as it takes; `first` stands before the first line and `rest` before the others.
    fn wrap(&mut self, first: &str, rest: &str, words: &str) {
        let mut line = first.to_owned();
        let mut empty = true;
        for piece in unbroken(words) {
            if !empty && letters(&line) + 1 + letters(&piece) > self.width {
                self.line(&line);
                line = rest.to_owned();
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(&piece);
            empty = false;
        }
        self.line(&line);
    }

    /// A row: cells in columns of these widths, and words beside them, or below if a cell is too wide for its column.
    fn entry(&mut self, cells: &[(&str, usize)], words: &str) {
        let mut head = String::from("  ");
        let mut end = 2;
        for (cell, width) in cells {
            head.push_str(cell);
            head.push_str("  ");
            end += width + 2;
            head.extend(std::iter::repeat_n(' ', end.saturating_sub(letters(&head))));
        }
        let indent = " ".repeat(end);
        if letters(&head) > end {
            self.line(&head);
            head.clone_from(&indent);
        }
        self.wrap(&head, &indent, words);
    }

    /// Parameters: name, what they take, default, and the rest in words; below each other where the page is too narrow.
    fn table(&mut self, heading: &str, parameters: &[&Parameter]) {
        /// What the words need at least, to be read at ease.
        const WORDS: usize = 28;
        if parameters.is_empty() {
            return;
        }
        self.line("");
        self.line(heading);
        let rows: Vec<[String; 3]> = parameters
            .iter()
            .map(|parameter| [parameter.name.to_owned(), takes(parameter), given(parameter)])
            .collect();
        let column = |n: usize| rows.iter().map(|row| letters(&row[n])).max().unwrap_or(0);
        let columns: [usize; 3] = std::array::from_fn(column);
        let fits = 2 + columns.iter().map(|width| width + 2).sum::<usize>() + WORDS <= self.width;
        for (parameter, [name, takes, given]) in parameters.iter().zip(&rows) {
            let words = format!("{}{}", parameter.doc, notes(parameter));
            let indent = if fits {
                self.entry(&[(name, columns[0]), (takes, columns[1]), (given, columns[2])], &words);
                columns.iter().sum::<usize>() + 8
            } else {
                self.wrap("  ", "    ", &format!("{name}: {takes}, {given}"));
                self.wrap("      ", "      ", &words);
                6
            };
            let (first, rest) = (" ".repeat(indent), " ".repeat(indent + 2));
            for (word, doc) in choices(parameter) {
                self.wrap(&first, &rest, &format!("{word}: {doc}"));
            }
        }
    }
}

/// The words of a text, each number together with what follows it: no line breaks between `4 0 0` and `m/s`.
fn unbroken(words: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut after_number = false;
    for word in words.split_whitespace() {
        match pieces.last_mut() {
            Some(last) if after_number => {
                last.push(' ');
                last.push_str(word);
            }
            _ => pieces.push(word.to_owned()),
        }
        after_number = word.parse::<f64>().is_ok_and(f64::is_finite);
    }
    pieces
}

/// A parameter's default, or whether it has to be given.
fn given(parameter: &Parameter) -> String {
    default(parameter).unwrap_or_else(|| match parameter.fallback {
        Fallback::Required => "required".to_owned(),
        _ => "optional".to_owned(),
    })
}

fn letters(text: &str) -> usize {
    text.chars().count()
}

fn lower_first(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_lowercase().chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use super::super::toy::{ALL, BALL, BARE, ODD};
    use super::*;

    #[test]
    fn help_reads_well() {
        let wanted = "\
ball: an Object
  A ball that bounces

  Follows Hertz, *On the contact of elastic solids* (1882), for slow impacts.

  Not for:

  - fast impacts
  - balls that break

Parameters
  input      input                     required    where it is at the start
  radius     length [m]                2 cm        its radius (greater than 0;
                                                   usually from 1 mm to 1 m; varies
                                                   by channel `pscale`)
  velocity   vector [m/s]              4 0 0 m/s   how it moves
  viscosity  dynamic viscosity [Pa·s]  0.001 Pa·s  of what is in it (at least 0)
  skin       choice                    rubber      what it is made of
                                                   rubber: gives way
                                                   steel: does not | ever

5 advanced parameters more: undine help ball --advanced

Example
  ball \"red\" input=\"balls\" radius=\"4 cm\"
";
        assert_eq!(help(&BALL, 84, false), wanted);
        assert_eq!(help(&BARE, 80, true), "bare: a Force\n  Does nothing\n");
    }

    #[test]
    fn advanced_parameters_are_shown_to_those_who_ask() {
        let wanted = "
Advanced parameters
  seams     whole number     2         how many seams (from 0 to 12)
  hollow    flag             #false    whether there is nothing inside
  label     text             optional  what is printed on it
  picture   file             optional  what is painted on it
  rests-on  Object or Group  optional  what it lies on

Example
";
        let page = help(&BALL, 100, true);
        assert!(page.contains(wanted), "{page}");
        assert!(!page.contains("--advanced"));
    }

    #[test]
    fn a_narrow_page_stacks_what_has_no_room() {
        let wanted = "
  radius: length [m], 2 cm
      its radius (greater than 0;
      usually from 1 mm to 1 m; varies
      by channel `pscale`)
";
        let page = help(&BALL, 40, false);
        assert!(page.contains(wanted), "{page}");
    }

    #[test]
    fn numbers_stay_with_their_units() {
        let pieces = ["from", "-1e-3 0 2.5 m/s", "to", "12;", "at", "most", "3"];
        assert_eq!(unbroken("from -1e-3 0 2.5 m/s  to 12; at most 3"), pieces);
        assert_eq!(unbroken("inf is none"), ["inf", "is", "none"]);
    }

    #[test]
    fn no_line_is_wider_than_the_page_unless_it_is_one_word() {
        for width in [0, 30, 40, 57, 80, 200] {
            let mut pages = vec![overview(ALL, width)];
            for declaration in ALL {
                pages.push(help(declaration, width, true));
                pages.push(help(declaration, width, false));
            }
            for line in pages.iter().flat_map(|page| page.lines()) {
                let example = ALL.iter().any(|one| one.example.contains(line.trim()));
                let one_word = line.split_whitespace().count() <= 1;
                assert!(letters(line) <= width.max(NARROWEST) || one_word || example, "{line}");
                assert_eq!(line, line.trim_end());
            }
        }
    }

    #[test]
    fn every_parameter_is_in_the_help_with_its_default() {
        for (declaration, width) in ALL.iter().flat_map(|d| [40, 80, 160].map(|w| (d, w))) {
            let page = help(declaration, width, true);
            let words: Vec<&str> =
                page.split_whitespace().map(|word| word.trim_end_matches(':')).collect();
            let page = words.join(" ");
            for parameter in declaration.parameters {
                assert!(words.contains(&parameter.name), "{}", parameter.name);
                assert!(page.contains(&given(parameter)), "{}", parameter.name);
                for (word, _) in choices(parameter) {
                    assert!(words.contains(word), "{word}");
                }
            }
        }
    }

    #[test]
    fn the_overview_has_a_line_for_each_by_kind() {
        let wanted = "\
Objects: what is simulated through time
  ball  A ball that bounces

Forces: what pushes and pulls on each point of Objects
  bare  Does nothing

undine help NAME says more about one of them
";
        assert_eq!(overview(&[&BARE, &BALL], 80), wanted);
        assert!(overview(ALL, 80).contains(&format!("\n  {}\n", ODD.name)));
        assert_eq!(overview(&[], 80), "undine help NAME says more about one of them\n");
    }

    #[test]
    fn an_unknown_name_gets_a_guess() {
        let end = "\n`undine help` lists everything that there is";
        for (name, wanted) in [
            ("balls", "there is no `balls`; did you mean `ball`?"),
            ("radius", "there is no `radius`; it is a parameter of `ball`"),
            ("thermodynamics", "there is no `thermodynamics`"),
            ("\u{1b}[2J", "there is no `\\u{1b}[2J`"),
        ] {
            assert_eq!(unknown(name, ALL), format!("{wanted}{end}"));
        }
        assert!(unknown(&"x".repeat(1_000_000), ALL).len() < 200);
    }
}
