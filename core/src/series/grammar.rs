//! The grammar that series names and selectors share, as an iterator of terms without a heap.
//!
//! ```text
//! text  := [ word ] [ "{" [ term { "," term } [ "," ] ] "}" ]
//! term  := quoted | key operator quoted        a quoted text alone is the metric
//! key   := word | quoted
//! ```
//!
//! White space may stand between any two of these. Quotes are `"` or `'` with escapes, or `` ` ``
//! without. What a term may mean (which operators, how many metrics) is decided by whoever reads
//! the terms; the iterator ends after its first error.

use super::error::{NameError, NameReason};
use super::text::{Text, unescape};

/// The tag name under which the metric can be spelled.
pub(super) const METRIC_KEY: &str = "__name__";

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `=`: the same text.
    Equal,
    /// `!=`: another text.
    NotEqual,
    /// `=~`: the whole text matches the pattern.
    Match,
    /// `!~`: the whole text does not match the pattern.
    NotMatch,
}

/// One term and the byte at which it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term<'a> {
    pub(super) at: usize,
    pub(super) key: Key<'a>,
    pub(super) operator: Operator,
    pub(super) value: Text<'a>,
}

/// What a term speaks of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key<'a> {
    Metric,
    Tag(Text<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Begin,
    AfterWord,
    InBraces,
    Done,
}

/// The terms of a text in the order they stand.
#[derive(Clone, Debug)]
pub(super) struct Terms<'a> {
    text: &'a str,
    at: usize,
    state: State,
}

/// Whether `letter` may stand in an unquoted metric name (`first`: as its first character).
pub(super) const fn is_metric_letter(letter: char, first: bool) -> bool {
    letter == ':' || is_tag_letter(letter, first)
}

/// Whether `letter` may stand in an unquoted tag name (`first`: as its first character).
pub(super) const fn is_tag_letter(letter: char, first: bool) -> bool {
    letter == '_' || letter.is_ascii_alphabetic() || (!first && letter.is_ascii_digit())
}

impl<'a> Terms<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0, state: State::Begin }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn advance(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.text.len());
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.advance(rest.len().saturating_sub(rest.trim_start_matches([' ', '\t', '\r', '\n']).len()));
    }

    fn eat(&mut self, letter: char) -> bool {
        let found = self.peek() == Some(letter);
        if found {
            self.advance(letter.len_utf8());
        }
        found
    }

    const fn error(&self, reason: NameReason) -> NameError {
        NameError { at: self.at, reason }
    }

    /// The longest run of unquoted letters; `None` where there is none.
    fn word(&mut self, is_letter: fn(char, bool) -> bool) -> Option<Text<'a>> {
        let rest = self.rest();
        let mut first = true;
        let end = rest.find(|letter| !is_letter(letter, core::mem::take(&mut first))).unwrap_or(rest.len());
        let body = rest.get(..end).filter(|body| !body.is_empty())?;
        self.advance(end);
        Some(Text::plain(body))
    }

    /// A quoted text; `None` where no quote begins here.
    fn quoted(&mut self) -> Option<Result<Text<'a>, NameError>> {
        let quote = self.peek().filter(|letter| matches!(letter, '"' | '\'' | '`'))?;
        Some(self.quoted_by(quote))
    }

    fn quoted_by(&mut self, quote: char) -> Result<Text<'a>, NameError> {
        let opened = self.error(NameReason::UnclosedQuote);
        self.advance(1);
        let body = self.rest();
        let mut letters = body.char_indices();
        while let Some((offset, letter)) = letters.next() {
            if letter == quote {
                let body = body.get(..offset).ok_or(opened)?;
                self.advance(offset.saturating_add(1));
                return Ok(if quote == '`' { Text::plain(body) } else { Text::escaped(body) });
            }
            if letter == '\\' && quote != '`' {
                let (_, escaped) = letters.next().ok_or(opened)?;
                if unescape(escaped).is_none() {
                    self.advance(offset);
                    return Err(self.error(NameReason::BadEscape));
                }
            }
        }
        Err(opened)
    }

    fn operator(&mut self) -> Result<Operator, NameError> {
        let begun = self.error(NameReason::ExpectedOperator);
        let (first, second) = {
            let mut letters = self.rest().chars();
            (letters.next(), letters.next())
        };
        let (operator, bytes) = match (first, second) {
            (Some('='), Some('~')) => (Operator::Match, 2),
            (Some('='), _) => (Operator::Equal, 1),
            (Some('!'), Some('=')) => (Operator::NotEqual, 2),
            (Some('!'), Some('~')) => (Operator::NotMatch, 2),
            _ => return Err(begun),
        };
        self.advance(bytes);
        Ok(operator)
    }

    /// `[ word ]` before the braces.
    fn begin(&mut self) -> Result<Option<Term<'a>>, NameError> {
        self.skip_space();
        let at = self.at;
        if let Some(value) = self.word(is_metric_letter) {
            self.state = State::AfterWord;
            return Ok(Some(Term { at, key: Key::Metric, operator: Operator::Equal, value }));
        }
        match self.peek() {
            Some('{') => {
                self.state = State::AfterWord;
                self.after_word()
            }
            Some(_) => Err(self.error(NameReason::ExpectedName)),
            None => Err(self.error(NameReason::Empty)),
        }
    }

    fn after_word(&mut self) -> Result<Option<Term<'a>>, NameError> {
        self.skip_space();
        if self.eat('{') {
            self.state = State::InBraces;
            return self.term_or_end();
        }
        self.finish()
    }

    fn finish(&mut self) -> Result<Option<Term<'a>>, NameError> {
        self.skip_space();
        self.state = State::Done;
        if self.rest().is_empty() { Ok(None) } else { Err(self.error(NameReason::TrailingText)) }
    }

    /// One term with the comma behind it, or the closing brace.
    fn term_or_end(&mut self) -> Result<Option<Term<'a>>, NameError> {
        self.skip_space();
        if self.eat('}') {
            return self.finish();
        }
        let at = self.at;
        let (name, is_quoted) = match self.quoted() {
            Some(name) => (name?, true),
            None => (self.word(is_tag_letter).ok_or_else(|| self.error(NameReason::ExpectedName))?, false),
        };
        self.skip_space();
        let alone = is_quoted && matches!(self.peek(), Some(',' | '}') | None);
        let term = if alone {
            Term { at, key: Key::Metric, operator: Operator::Equal, value: name }
        } else {
            let operator = self.operator()?;
            self.skip_space();
            let value = self.quoted().unwrap_or_else(|| Err(self.error(NameReason::ExpectedQuoted)))?;
            let key = if name.is(METRIC_KEY) { Key::Metric } else { Key::Tag(name) };
            Term { at, key, operator, value }
        };
        self.skip_space();
        if !self.eat(',') && self.peek() != Some('}') {
            return Err(self.error(NameReason::ExpectedCommaOrBrace));
        }
        if name.is_empty() {
            return Err(NameError { at, reason: NameReason::EmptyName });
        }
        Ok(Some(term))
    }
}

impl<'a> Iterator for Terms<'a> {
    type Item = Result<Term<'a>, NameError>;

    fn next(&mut self) -> Option<Self::Item> {
        let term = match self.state {
            State::Begin => self.begin(),
            State::AfterWord => self.after_word(),
            State::InBraces => self.term_or_end(),
            State::Done => return None,
        };
        if term.is_err() {
            self.state = State::Done;
        }
        term.transpose()
    }
}
