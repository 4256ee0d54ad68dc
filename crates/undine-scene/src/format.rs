//! Lays a scene out: four spaces for each level, one space between values, one node to a line.
//!
//! Works on tokens, and prints each of them but white space as it is: comments, numbers and strings keep their text, and
//! what the scene means cannot change. Blank lines are kept, several as one.

use crate::diagnostic::{Report, Source};
use crate::syntax::grammar;
use crate::syntax::token::{self, Kind, Token};

/// The text laid out; or what keeps it from being a document.
pub fn format(name: &str, text: &str) -> Result<String, Report> {
    let source = Source::new(name, text);
    let tokens = token::tokens(text);
    let mut report = Report::default();
    grammar::check(&source, &tokens, &mut report);
    if report.has_errors() {
        return Err(report);
    }
    let mut layout = Layout {
        out: String::with_capacity(text.len()),
        depth: 0,
        at_start: true,
        blank: false,
        glue: false,
        opened: false,
        run: 0,
    };
    for (n, token) in tokens.iter().enumerate() {
        layout.token(token, &text[token.span.clone()], &tokens[n + 1..]);
    }
    layout.end_line();
    Ok(layout.out)
}

struct Layout {
    out: String,
    depth: usize,
    /// Whether nothing stands in this line yet.
    at_start: bool,
    /// Whether a blank line stands before the next line.
    blank: bool,
    /// Whether the next token follows without a space.
    glue: bool,
    /// Whether nothing but a comment stands behind the last `{`.
    opened: bool,
    /// How many line breaks have come since the last word.
    run: usize,
}

impl Layout {
    fn token(&mut self, token: &Token, text: &str, rest: &[Token]) {
        if token.kind != Kind::Newline && token.kind != Kind::Space {
            self.run = 0;
            self.opened &= token.kind == Kind::LineComment && !self.at_start;
        }
        match token.kind {
            Kind::Space => {}
            Kind::Newline => {
                self.run += 1;
                // Behind `/-` a line break means nothing.
                if !self.glue {
                    self.end_line();
                }
                self.blank |= self.run > 1 && !self.out.is_empty() && !self.opened;
            }
            Kind::Semicolon => {
                // A comment behind `;` belongs to the node before it.
                if !matches!(next(rest), Some(Kind::LineComment)) {
                    self.end_line();
                }
            }
            Kind::Continuation => self.continuation(text),
            Kind::LineComment => {
                let glued = std::mem::take(&mut self.glue);
                self.word(text.trim_end());
                self.end_line();
                self.glue = glued;
            }
            Kind::Open => {
                self.word("{");
                self.depth += 1;
                self.opened = true;
                // A block with nothing in it stays in its line.
                if next_word(rest) == Some(Kind::Close) {
                    self.glue = true;
                } else if !matches!(next(rest), Some(Kind::LineComment)) {
                    self.end_line();
                }
            }
            Kind::Close => {
                self.depth = self.depth.saturating_sub(1);
                self.blank = false;
                if !self.glue {
                    self.end_line();
                }
                self.word("}");
            }
            Kind::Equals => {
                self.out.push('=');
                self.glue = true;
            }
            Kind::SlashDash => {
                self.word("/-");
                self.glue = true;
            }
            _ => {
                self.word(text);
                // What follows a name and its `=` follows without a space.
                if next(rest) == Some(Kind::Equals) {
                    self.glue = true;
                }
            }
        }
    }

    /// `\` at the end of a line: what follows is indented one more.
    fn continuation(&mut self, text: &str) {
        let comment = text[1..].trim();
        if self.at_start {
            return;
        }
        self.word("\\");
        if !comment.is_empty() {
            self.out.push(' ');
            self.out.push_str(comment);
        }
        self.out.push('\n');
        self.out.push_str(&"    ".repeat(self.depth + 1));
        self.glue = true;
    }

    fn word(&mut self, text: &str) {
        if self.at_start {
            if std::mem::take(&mut self.blank) {
                self.out.push('\n');
            }
            self.out.push_str(&"    ".repeat(self.depth));
            self.at_start = false;
        } else if !self.glue {
            self.out.push(' ');
        }
        self.glue = false;
        self.out.push_str(text);
    }

    fn end_line(&mut self) {
        self.glue = false;
        if !self.at_start {
            self.out.push('\n');
            self.at_start = true;
        }
    }
}

/// The next token that is no white space within a line.
fn next(rest: &[Token]) -> Option<Kind> {
    rest.iter().map(|token| token.kind).find(|kind| *kind != Kind::Space)
}

/// The next token that is no white space at all.
fn next_word(rest: &[Token]) -> Option<Kind> {
    rest.iter().map(|token| token.kind).find(|kind| !matches!(kind, Kind::Space | Kind::Newline))
}
