//! SPDX licence expressions, as far as packages use them: `OR`, `AND`, `WITH`, parentheses, and the old `/` for `OR`.
//!
//! Follows SPDX 2.3, annex D: `WITH` binds tighter than `AND`, `AND` tighter than `OR`.

/// A parsed expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// A licence, with its exception if it has one: `MIT`, `Apache-2.0 WITH LLVM-exception`.
    Licence(String),
    /// Either will do.
    Or(Box<Expression>, Box<Expression>),
    /// Both hold.
    And(Box<Expression>, Box<Expression>),
}

impl Expression {
    /// Reads an expression, or says where it went wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let spaced = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let mut words = Words { words: spaced.split_whitespace().collect(), at: 0 };
        let expression = words.or()?;
        match words.peek() {
            None => Ok(expression),
            Some(word) => Err(format!("`{word}` stands where it should end")),
        }
    }

    /// True when one may choose licences that all pass `allowed`.
    pub fn satisfied_by(&self, allowed: &impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Licence(name) => allowed(name),
            Self::Or(left, right) => left.satisfied_by(allowed) || right.satisfied_by(allowed),
            Self::And(left, right) => left.satisfied_by(allowed) && right.satisfied_by(allowed),
        }
    }
}

struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        self.at += 1;
        self.words.get(self.at - 1).copied()
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.peek().is_some_and(|next| next.eq_ignore_ascii_case(word));
        self.at += usize::from(found);
        found
    }

    fn or(&mut self) -> Result<Expression, String> {
        let mut left = self.and()?;
        while self.take("OR") {
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expression, String> {
        let mut left = self.licence()?;
        while self.take("AND") {
            left = Expression::And(Box::new(left), Box::new(self.licence()?));
        }
        Ok(left)
    }

    fn licence(&mut self) -> Result<Expression, String> {
        if self.take("(") {
            let inner = self.or()?;
            return if self.take(")") { Ok(inner) } else { Err("a `(` is not closed".to_string()) };
        }
        let name = self.name()?;
        if self.take("WITH") {
            return Ok(Expression::Licence(format!("{name} WITH {}", self.name()?)));
        }
        Ok(Expression::Licence(name.to_string()))
    }

    fn name(&mut self) -> Result<&'a str, String> {
        match self.next() {
            None => Err("it ends where a licence is wanted".to_string()),
            Some(word @ ("(" | ")" | "OR" | "AND" | "WITH")) => {
                Err(format!("`{word}` stands where a licence is wanted"))
            }
            Some(name) => Ok(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn satisfied(text: &str) -> bool {
        let allowed = ["MIT", "Apache-2.0", "Zlib", "Apache-2.0 WITH LLVM-exception"];
        Expression::parse(text)
            .expect("the expression is valid")
            .satisfied_by(&|name| allowed.contains(&name))
    }

    #[test]
    fn or_takes_either_and_needs_both() {
        assert!(satisfied("MIT"));
        assert!(!satisfied("GPL-3.0-only"));
        assert!(satisfied("GPL-3.0-only OR MIT"));
        assert!(!satisfied("GPL-3.0-only AND MIT"));
        assert!(satisfied("Zlib OR Apache-2.0 OR MIT"));
    }

    #[test]
    fn and_binds_tighter_than_or_and_parentheses_tighter_than_both() {
        assert!(satisfied("MIT OR GPL-3.0-only AND LGPL-3.0-only"));
        assert!(!satisfied("(MIT OR GPL-3.0-only) AND LGPL-3.0-only"));
        assert!(satisfied("(MIT OR GPL-3.0-only) AND (Zlib)"));
    }

    #[test]
    fn an_exception_belongs_to_its_licence() {
        assert!(satisfied("Apache-2.0 WITH LLVM-exception AND MIT"));
        assert!(!satisfied("MIT WITH LLVM-exception"));
        assert!(!satisfied("GPL-2.0-only WITH Classpath-exception-2.0"));
    }

    #[test]
    fn the_old_slash_means_or() {
        assert!(satisfied("MIT/GPL-3.0"));
        assert!(satisfied("Unlicense / MIT"));
    }

    #[test]
    fn broken_expressions_are_refused() {
        for text in ["", "MIT OR", "AND MIT", "(MIT", "MIT)", "MIT Apache-2.0", "MIT WITH", "()"] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
    }
}
