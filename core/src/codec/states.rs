//! Columns of states: the texts that are used, in the order of their first row, and a code for each row.
//!
//! ```text
//! states   count of texts (varint, ≥ 1), for each its length (varint) and UTF-8 bytes,
//!          then the codes as a predicted column
//! ```
//!
//! The encoder numbers the texts anew, so that a prefix of the rows needs a prefix of the texts.

use super::{
    CodecError, Defect, Predictor,
    bytes::{Sink, Source},
    limits::TEXTS_MAX,
    numbers,
};

/// Replaces `codes` by numbers in order of first use and writes the texts that are used.
///
/// `renamed` has a slot for each of `texts`; codes beyond them must have been refused before.
pub(super) fn write_texts(codes: &mut [i64], texts: &[&str], renamed: &mut [i64], sink: &mut Sink) {
    const UNUSED: i64 = -1;
    renamed.fill(UNUSED);
    let mut used = 0;
    for code in codes.iter() {
        if let Some(name) = renamed.get_mut(*code as usize)
            && *name == UNUSED
        {
            *name = used;
            used += 1;
        }
    }
    sink.varint(used as u64);
    let mut named = 0;
    for code in codes.iter_mut() {
        let name = renamed.get(*code as usize).copied().unwrap_or_default();
        if name == named {
            let text = texts.get(*code as usize).copied().unwrap_or_default();
            sink.varint(text.len() as u64);
            sink.put(text.as_bytes());
            named += 1;
        }
        *code = name;
    }
}

/// Writes the codes.
pub(super) fn write_codes(codes: &[i64], predictor: Predictor, sink: &mut Sink) {
    numbers::write_predicted(codes, predictor, sink);
}

/// The texts of a chunk of states, checked, in the order of their codes.
#[derive(Clone, Debug)]
pub struct Texts<'a> {
    left: usize,
    source: Source<'a>,
}

impl<'a> Texts<'a> {
    /// No texts: the chunk holds another kind of value.
    pub(super) fn none() -> Self {
        Self { left: 0, source: Source::new(&[]) }
    }

    /// Checks all texts, and leaves `source` behind them.
    pub(super) fn read(source: &mut Source<'a>) -> Result<Self, CodecError> {
        let left = source.varint_in(1, TEXTS_MAX, Defect::Count)?;
        let texts = Self { left, source: source.clone() };
        for _ in 0..left {
            text(source)?;
        }
        Ok(texts)
    }
}

impl<'a> Iterator for Texts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.left = self.left.checked_sub(1)?;
        text(&mut self.source).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left))
    }
}

fn text<'a>(source: &mut Source<'a>) -> Result<&'a str, CodecError> {
    let len = source.varint()?;
    let bytes = source.take(usize::try_from(len).unwrap_or(usize::MAX))?;
    core::str::from_utf8(bytes).map_err(|_| source.defect(Defect::Text))
}

/// Reads a column of `out.len()` codes below `texts`.
pub(super) fn read_codes(
    source: &mut Source,
    predictor: Predictor,
    texts: &Texts,
    out: &mut [u16],
) -> Result<(), CodecError> {
    let wrong = source.defect(Defect::Code);
    numbers::read_predicted(source, predictor, out, |code| u16::try_from(code).unwrap_or(u16::MAX))?;
    // A code of u16::MAX is never valid, since at most that many texts are numbered from 0.
    if out.iter().all(|&code| usize::from(code) < texts.left) { Ok(()) } else { Err(wrong) }
}
