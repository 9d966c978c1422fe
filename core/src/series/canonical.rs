//! The canonical spelling of a series name: one printer, and the check that a text is so spelled.
//!
//! ```text
//! temperature                               a classic metric without tags
//! temperature{device="x",room="a \"b\""}    tags sorted by the bytes of their names
//! {"soil moisture",device="x"}              a metric outside [a-zA-Z_:][a-zA-Z0-9_:]*
//! m{"tag name"="v"}                         a tag outside [a-zA-Z_][a-zA-Z0-9_]*
//! ```
//!
//! No white space; the only escapes are `\\`, `\"` and `\n`; a tag with an empty value is the same as
//! no tag and is left out; at most [`NAME_BYTES_MAX`] bytes. The check prints the name again and
//! compares, so printer and check can't disagree; it needs no heap.

use core::cmp::Ordering;
use core::fmt::{self, Write};

use super::error::{NameError, NameReason};
use super::grammar::{Key, Operator, Terms, is_metric_letter, is_tag_letter};
use super::text::Text;

/// Bytes of the longest canonical name.
pub const NAME_BYTES_MAX: usize = 2048;

/// Writes a name part by part: the metric, the tags in ascending order, the end.
pub(super) struct Printer<W> {
    out: W,
    in_braces: bool,
}

impl<W: Write> Printer<W> {
    /// Writes the metric.
    pub(super) fn begin(mut out: W, metric: Text<'_>) -> Result<Self, fmt::Error> {
        let in_braces = !is_bare(metric, is_metric_letter);
        if in_braces {
            out.write_char('{')?;
            write_quoted(&mut out, metric)?;
        } else {
            write_bare(&mut out, metric)?;
        }
        Ok(Self { out, in_braces })
    }

    /// Writes one tag.
    pub(super) fn tag(&mut self, name: Text<'_>, value: Text<'_>) -> fmt::Result {
        self.out.write_char(if self.in_braces { ',' } else { '{' })?;
        self.in_braces = true;
        if is_bare(name, is_tag_letter) {
            write_bare(&mut self.out, name)?;
        } else {
            write_quoted(&mut self.out, name)?;
        }
        self.out.write_char('=')?;
        write_quoted(&mut self.out, value)
    }

    /// Closes the braces and gives the sink back.
    pub(super) fn finish(mut self) -> Result<W, fmt::Error> {
        if self.in_braces {
            self.out.write_char('}')?;
        }
        Ok(self.out)
    }
}

/// Whether a text can stand without quotes.
fn is_bare(text: Text<'_>, is_letter: fn(char, bool) -> bool) -> bool {
    let mut first = true;
    !text.is_empty() && text.chars().all(|letter| is_letter(letter, core::mem::take(&mut first)))
}

fn write_bare(out: &mut impl Write, text: Text<'_>) -> fmt::Result {
    text.chars().try_for_each(|letter| out.write_char(letter))
}

pub(super) fn write_quoted(out: &mut impl Write, text: Text<'_>) -> fmt::Result {
    out.write_char('"')?;
    for letter in text.chars() {
        match letter {
            '\\' => out.write_str("\\\\")?,
            '"' => out.write_str("\\\"")?,
            '\n' => out.write_str("\\n")?,
            _ => out.write_char(letter)?,
        }
    }
    out.write_char('"')
}

/// A sink that accepts only the characters of one text.
struct Compare<'a> {
    text: &'a str,
    at: usize,
}

impl Write for Compare<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let rest = self.text.get(self.at..).unwrap_or("");
        if !rest.starts_with(piece) {
            return Err(fmt::Error);
        }
        self.at = self.at.saturating_add(piece.len());
        Ok(())
    }
}

/// Checks that `text` is a series name in its canonical spelling, without a heap.
///
/// # Errors
///
/// The first byte and the reason where it is none.
pub fn is_canonical(text: &str) -> Result<(), NameError> {
    if text.len() > NAME_BYTES_MAX {
        return Err(NameError { at: NAME_BYTES_MAX, reason: NameReason::TooLong });
    }
    let mut terms = Terms::new(text);
    let first = terms.next().transpose()?.ok_or(NameError { at: 0, reason: NameReason::NoMetric })?;
    let off = |at| NameError { at, reason: NameReason::NotCanonical };
    if !matches!(first.key, Key::Metric) {
        return Err(off(first.at));
    }
    check_operator(first.at, first.operator)?;
    if first.value.is_empty() {
        return Err(NameError { at: first.at, reason: NameReason::EmptyName });
    }
    let mut printer = Printer::begin(Compare { text, at: 0 }, first.value).map_err(|_| off(first.at))?;
    let mut last: Option<Text<'_>> = None;
    for term in terms {
        let term = term?;
        check_operator(term.at, term.operator)?;
        let Key::Tag(name) = term.key else {
            return Err(NameError { at: term.at, reason: NameReason::SecondMetric });
        };
        match last.map(|last| last.compare(name)) {
            Some(Ordering::Equal) => {
                return Err(NameError { at: term.at, reason: NameReason::DuplicateTag });
            }
            Some(Ordering::Greater) => return Err(off(term.at)),
            Some(Ordering::Less) | None => {}
        }
        last = Some(name);
        if term.value.is_empty() {
            return Err(off(term.at));
        }
        printer.tag(name, term.value).map_err(|_| off(term.at))?;
    }
    let compare = printer.finish().map_err(|_| off(text.len()))?;
    if compare.at == text.len() { Ok(()) } else { Err(off(compare.at)) }
}

/// A series name compares with `=` only.
pub(super) const fn check_operator(at: usize, operator: Operator) -> Result<(), NameError> {
    match operator {
        Operator::Equal => Ok(()),
        _ => Err(NameError { at, reason: NameReason::OperatorInName }),
    }
}
