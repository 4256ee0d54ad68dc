//! Holds tokens against the grammar of KDL 2, with a message of its own for each usual slip.
//!
//! One pass over the tokens without recursion. Type annotations are KDL but mean nothing in a scene, and are refused.

use super::slips::{self, Said};
use super::token::{Kind, Slip, Token};
use crate::diagnostic::{Diagnostic, Place, Report, Source};
use std::ops::Range;
use undine_schema::Unit;

/// How deep nodes may nest.
pub const MAX_DEPTH: usize = 64;

/// Adds to `report` whatever keeps the tokens of a source from being a document. Gives the bytes that `/-` takes out.
pub fn check(source: &Source, tokens: &[Token], report: &mut Report) -> Vec<Range<usize>> {
    let mut grammar =
        Grammar { source, tokens, at: 0, open_string: false, out: Vec::new(), report };
    grammar.document();
    grammar.out
}

/// A `{` that waits for its `}`.
#[derive(Clone, Copy, Default)]
struct Block {
    /// The token.
    open: usize,
    /// The `/-` that took the node out that it belongs to.
    node_out: Option<usize>,
    /// The `/-` before the block itself; the node's children may still come.
    block_out: Option<usize>,
}

struct Grammar<'a> {
    source: &'a Source,
    tokens: &'a [Token],
    at: usize,
    /// Whether a string was left open: the quotes of all lines behind it may be the other way round.
    open_string: bool,
    /// What `/-` takes out, in bytes.
    out: Vec<Range<usize>>,
    report: &'a mut Report,
}

/// What one entry of a node was.
struct Entry {
    /// The tokens of its value, or of the argument.
    value: usize,
    /// Of its name, for a property.
    name: Option<usize>,
    /// Whether `/-` took it out.
    out: bool,
}

impl<'a> Grammar<'a> {
    fn document(&mut self) {
        let mut blocks: Vec<Block> = Vec::new();
        self.version();
        loop {
            let out = self.before_node();
            let Some(kind) = self.kind() else { break };
            if kind == Kind::Close {
                let close = self.at;
                self.at += 1;
                let closed = blocks.pop();
                if closed.is_none() {
                    self.error(
                        close,
                        "this `}` closes nothing",
                        "remove it, or open a block with `{` before it",
                    );
                }
                // A node ends behind its children, before other words.
                if self.behind_children(closed.unwrap_or_default(), &mut blocks).is_err() {
                    return;
                }
                continue;
            }
            if self.node(out, &mut blocks).is_err() {
                return;
            }
        }
        for block in blocks.iter().rev().take(3) {
            self.error(
                block.open,
                "this `{` is never closed",
                "put a `}` behind the last node that belongs to it",
            );
        }
    }

    /// `/- kdl-version 1` marks a document of another language.
    fn version(&mut self) {
        let words: Vec<&Token> =
            self.tokens.iter().filter(|token| token.kind != Kind::Space).take(3).collect();
        if let [dash, name, version] = words.as_slice()
            && dash.kind == Kind::SlashDash
            && self.text(name) == "kdl-version"
            && self.text(version) != "2"
        {
            let place = self.place(version.span.clone());
            let message = format!(
                "this is a KDL {} document, but scenes are written in KDL 2",
                self.text(version)
            );
            self.report.add(Diagnostic::error(&place, message).help(
                "write `/- kdl-version 2`, and #true, #false and #null for true, false and null",
            ));
        }
    }

    /// Skips to the next node; the `/-` that takes it out, if there is one.
    fn before_node(&mut self) -> Option<usize> {
        let mut dash = None;
        while let Some(kind) = self.kind() {
            match kind {
                Kind::Space
                | Kind::Newline
                | Kind::LineComment
                | Kind::BlockComment
                | Kind::Continuation => {}
                Kind::SlashDash if dash.is_none() => dash = Some(self.at),
                Kind::SlashDash => {
                    self.error(self.at, "`/-` stands twice", "one `/-` takes the next node out");
                }
                Kind::Semicolon => {
                    self.error(self.at, "this `;` ends no node", "remove it");
                }
                Kind::Bad(slip) if !is_value(slip) => self.slip(slip, None),
                _ => break,
            }
            self.at += 1;
        }
        if let Some(dash) = dash
            && matches!(self.kind(), None | Some(Kind::Close))
        {
            self.error(dash, "there is no node behind this `/-`", "remove the `/-`");
        }
        dash
    }

    /// A node up to its end or the `{` of its children.
    fn node(&mut self, out: Option<usize>, blocks: &mut Vec<Block>) -> Result<(), ()> {
        match self.kind() {
            Some(Kind::Identifier | Kind::Text) => self.at += 1,
            Some(Kind::Bad(slip)) => {
                self.slip(slip, None);
                self.at += 1;
            }
            Some(Kind::Open) => {
                self.error(
                    self.at,
                    "this block belongs to no node",
                    "a node's name stands before its `{`, in the same line: group \"name\" {",
                );
            }
            Some(Kind::OpenType) => self.annotation(),
            _ => {
                let message = format!("`{}` is no name of a node", self.here());
                self.error(self.at, message, "a node begins with a word: gravity, group, input");
                self.at += 1;
            }
        }
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let spaced = self.spaces();
            let dash = self.at;
            let entry_out = self.kind() == Some(Kind::SlashDash);
            if entry_out {
                if !spaced {
                    self.error(dash, "there is no space before this `/-`", "put a space before it");
                }
                self.at += 1;
                self.blank();
            }
            match self.kind() {
                None | Some(Kind::Close | Kind::Semicolon) if entry_out => {
                    self.error(dash, "there is nothing behind this `/-`", "remove the `/-`");
                    break;
                }
                None | Some(Kind::Close) => {
                    self.take_out(out);
                    break;
                }
                Some(Kind::Newline | Kind::LineComment | Kind::Semicolon) => {
                    self.end(out);
                    break;
                }
                Some(Kind::Open) => {
                    self.slips_of(&entries);
                    return self.open(out, entry_out.then_some(dash), blocks);
                }
                Some(Kind::SlashDash) => {
                    self.error(self.at, "`/-` stands twice", "one `/-` takes the next value out");
                    self.at += 1;
                }
                Some(Kind::OpenType) => self.annotation(),
                Some(Kind::Equals) => {
                    self.error(self.at, "there is no name before this `=`", "write name=value");
                    self.at += 1;
                    self.spaces();
                    if self.is_value() {
                        self.at += 1;
                    }
                }
                Some(Kind::CloseType) => {
                    self.error(self.at, "this `)` closes nothing", "remove it");
                    self.at += 1;
                }
                Some(kind) => {
                    let read = |kind: Kind| !matches!(kind, Kind::Bad(slip) if !is_value(slip) || slip == Slip::UnclosedString);
                    if !spaced && read(kind) && read(self.tokens[dash - 1].kind) {
                        self.error(
                            self.at,
                            "there is no space before this",
                            "put a space between values",
                        );
                    }
                    let entry = self.entry(entry_out);
                    entries.extend(entry);
                    self.take_out(entry_out.then_some(dash));
                }
            }
        }
        self.slips_of(&entries);
        Ok(())
    }

    /// A value, or a name with `=` and a value.
    fn entry(&mut self, out: bool) -> Option<Entry> {
        let first = self.at;
        self.at += 1;
        let behind = self.at;
        self.spaces();
        if self.kind() != Some(Kind::Equals) {
            self.at = behind;
            return Some(Entry { value: first, name: None, out });
        }
        if let Kind::Bad(slip) = self.tokens[first].kind {
            self.slip_at(first, slip, None);
        } else if matches!(self.tokens[first].kind, Kind::Number | Kind::Keyword) {
            self.error(first, "this is no name", "a name is a word: radius=0.1");
        }
        self.at += 1;
        self.spaces();
        match self.kind() {
            Some(Kind::Identifier | Kind::Text | Kind::Number | Kind::Keyword | Kind::Bad(_)) => {
                let value = self.at;
                self.at += 1;
                Some(Entry { value, name: Some(first), out })
            }
            Some(Kind::OpenType) => {
                self.annotation();
                None
            }
            _ => {
                let name = self.text(&self.tokens[first]).to_owned();
                let message = format!("there is no value behind `{name}=`");
                self.error(
                    first,
                    message,
                    format!("write {name}=\"2 cm\", with your value in the quotes"),
                );
                None
            }
        }
    }

    /// `(name)` before a value or a node.
    fn annotation(&mut self) {
        let start = self.at;
        while let Some(kind) = self.kind() {
            if matches!(kind, Kind::Newline | Kind::Open | Kind::Close | Kind::LineComment) {
                break;
            }
            self.at += 1;
            if kind == Kind::CloseType {
                break;
            }
        }
        let span = self.tokens[start].span.start..self.tokens[self.at - 1].span.end;
        let place = self.place(span);
        self.report.add(
            Diagnostic::error(&place, "types in parentheses mean nothing in a scene")
                .help("remove it; a unit stands in the quotes of its value: \"5 cm\""),
        );
        // Whatever it annotates follows without a space.
        if matches!(
            self.kind(),
            Some(Kind::Identifier | Kind::Text | Kind::Number | Kind::Keyword | Kind::Bad(_))
        ) {
            self.at += 1;
        }
    }

    /// Steps into the children of a node.
    fn open(
        &mut self,
        node_out: Option<usize>,
        block_out: Option<usize>,
        blocks: &mut Vec<Block>,
    ) -> Result<(), ()> {
        if blocks.len() == MAX_DEPTH {
            let message = format!("nodes are nested more than {MAX_DEPTH} deep");
            self.error(
                self.at,
                message,
                "use fewer Groups inside Groups, or close a `{` that was left open",
            );
            return Err(());
        }
        blocks.push(Block { open: self.at, node_out, block_out });
        self.at += 1;
        Ok(())
    }

    /// Behind `}`: the end of the node, or another block where `/-` takes one of them out.
    fn behind_children(&mut self, closed: Block, blocks: &mut Vec<Block>) -> Result<(), ()> {
        self.take_out(closed.block_out);
        self.spaces();
        if closed.block_out.is_some() && self.kind() == Some(Kind::Open) {
            return self.open(closed.node_out, None, blocks);
        }
        if self.kind() == Some(Kind::SlashDash) {
            let dash = self.at;
            self.at += 1;
            self.blank();
            if self.kind() == Some(Kind::Open) {
                return self.open(closed.node_out, Some(dash), blocks);
            }
            self.at = dash;
        }
        match self.kind() {
            Some(Kind::Newline | Kind::LineComment | Kind::Semicolon) => self.end(closed.node_out),
            None | Some(Kind::Close) => self.take_out(closed.node_out),
            Some(Kind::Bad(slip)) if !is_value(slip) => {}
            Some(_) => {
                self.error(
                    self.at,
                    "this stands behind the `}` of a node",
                    "begin a new line for the next node; values of a node stand before its `{`",
                );
                // Go on in the next line, with what it says there.
                while !matches!(
                    self.kind(),
                    None | Some(Kind::Newline | Kind::Open | Kind::Close | Kind::LineComment)
                ) {
                    self.at += 1;
                }
                if self.kind() == Some(Kind::Open) {
                    return self.open(None, None, blocks);
                }
            }
        }
        Ok(())
    }

    /// The end of a node, with what ends it.
    fn end(&mut self, out: Option<usize>) {
        self.at += 1;
        self.take_out(out);
    }

    /// Takes out all from a `/-` to here.
    fn take_out(&mut self, dash: Option<usize>) {
        if let Some(dash) = dash {
            self.out.push(self.tokens[dash].span.start..self.tokens[self.at - 1].span.end);
        }
    }

    /// The slips of a node's entries, and those that several of them make together.
    fn slips_of(&mut self, entries: &[Entry]) {
        let tokens = self.tokens;
        let kind = |entry: &Entry| tokens[entry.value].kind;
        let mut n = 0;
        while n < entries.len() {
            let entry = &entries[n];
            // `velocity=4 0 0 m/s`: a number with a name, then what was meant to belong to it.
            let mut end = n + 1;
            if entry.name.is_some() && is_number(kind(entry)) {
                while end < entries.len() && self.goes_on(&entries[end]) {
                    end += 1;
                }
            }
            if end > n + 1 {
                self.unquoted(entry, &entries[end - 1]);
            } else if let Kind::Bad(slip) = kind(entry) {
                self.slip_at(entry.value, slip, entry.name);
            }
            n = end;
        }
        let named: Vec<(&Entry, &str)> = entries
            .iter()
            .filter(|entry| !entry.out)
            .filter_map(|entry| {
                entry.name.map(|name| (entry, self.text(&self.tokens[name]).trim_matches('"')))
            })
            .collect();
        let mut twice = Vec::new();
        let mut first = std::collections::BTreeMap::new();
        for (entry, name) in named {
            if let Some(before) = first.insert(name, entry) {
                twice.push((name.to_owned(), before.name, before.value, entry.name, entry.value));
            }
        }
        for (name, first_name, first_value, again_name, again_value) in twice {
            let whole = |name: Option<usize>, value: usize| {
                self.tokens[name.unwrap_or(value)].span.start..self.tokens[value].span.end
            };
            let first = self.place(whole(first_name, first_value));
            let again = self.place(whole(again_name, again_value));
            self.report.add(
                Diagnostic::error(&again, format!("`{name}` is set twice"))
                    .label("again here")
                    .also(&first, "set here")
                    .help("keep one of them"),
            );
        }
    }

    /// Whether a bare argument reads as more of the number before it: another number, or a unit.
    fn goes_on(&self, entry: &Entry) -> bool {
        let token = &self.tokens[entry.value];
        entry.name.is_none()
            && !entry.out
            && match token.kind {
                kind if is_number(kind) => true,
                Kind::Identifier | Kind::Bad(Slip::NeedsQuotes) => {
                    Unit::parse(self.text(token)).is_ok()
                }
                _ => false,
            }
    }

    /// A value of several words that should stand in quotes.
    fn unquoted(&mut self, first: &Entry, last: &Entry) {
        let span = self.tokens[first.value].span.start..self.tokens[last.value].span.end;
        let place = self.place(span);
        let name = first.name.map_or("", |name| self.text(&self.tokens[name])).to_owned();
        let words = place.text().split_whitespace().collect::<Vec<_>>().join(" ");
        self.report.add(
            Diagnostic::error(&place, format!("a value of several words stands in quotes; `{name}` gets only the first of these"))
                .label(format!("all of this is the value of `{name}`"))
                .help(format!("write {name}=\"{words}\"")),
        );
    }

    fn slip(&mut self, slip: Slip, name: Option<usize>) {
        self.slip_at(self.at, slip, name);
    }

    /// Says what a bad token should have been.
    fn slip_at(&mut self, token: usize, slip: Slip, name: Option<usize>) {
        if slip == Slip::UnclosedString && std::mem::replace(&mut self.open_string, true) {
            return;
        }
        let span = self.tokens[token].span.clone();
        let name = name.map(|name| self.text(&self.tokens[name]));
        let Said { bytes, message, help } =
            slips::said(slip, &self.source.text()[span.clone()], name);
        let end = bytes.map_or(span.end, |bytes| (span.start + bytes).min(span.end));
        self.report.add(Diagnostic::error(&self.place(span.start..end), message).help(help));
    }

    /// Skips white space within a node; whether there was any.
    fn spaces(&mut self) -> bool {
        let start = self.at;
        while matches!(self.kind(), Some(Kind::Space | Kind::BlockComment | Kind::Continuation)) {
            self.at += 1;
        }
        self.at > start
    }

    /// Skips everything that may stand behind `/-`.
    fn blank(&mut self) {
        while matches!(
            self.kind(),
            Some(
                Kind::Space
                    | Kind::BlockComment
                    | Kind::Continuation
                    | Kind::Newline
                    | Kind::LineComment
            )
        ) {
            self.at += 1;
        }
    }

    fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    /// Whether a value is next, or what was meant as one.
    fn is_value(&self) -> bool {
        use Kind::{Bad, Identifier, Keyword, Number, Text};
        matches!(self.kind(), Some(Identifier | Text | Number | Keyword | Bad(_)))
    }

    fn here(&self) -> String {
        self.tokens.get(self.at).map_or(String::new(), |token| slips::shortened(self.text(token)))
    }

    fn text(&self, token: &Token) -> &'a str {
        &self.source.text()[token.span.clone()]
    }

    fn place(&self, span: Range<usize>) -> Place {
        Place { source: self.source.clone(), span }
    }

    fn error(&mut self, token: usize, message: impl Into<String>, help: impl Into<String>) {
        let span = self.tokens.get(token).map_or(0..0, |token| token.span.clone());
        self.report.add(Diagnostic::error(&self.place(span), message).help(help));
    }
}

/// Whether a token is, or was meant as, a number.
fn is_number(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Number
            | Kind::Bad(Slip::NumberWithUnit | Slip::NoDigitBeforePoint | Slip::NoDigitBehindPoint)
    )
}

/// Whether a slip stands where a name or a value would.
fn is_value(slip: Slip) -> bool {
    !matches!(
        slip,
        Slip::UnclosedComment | Slip::DeepComment | Slip::StrayBackslash | Slip::Forbidden
    )
}
