//! A small lenient JSON reader that keeps the text of numbers.
//!
//! It differs from the standard in one thing only: the bare words `nan`, `inf` and `infinity`, in
//! any case and with a sign, are values, since sensors print them. Numbers stay text, so that a
//! 64-bit integer loses nothing. Depth and the number of values are bounded; every input gives a
//! document or a fault with its byte.

use std::borrow::Cow;

/// Levels of nesting that are read at all.
const DEPTH_MAX: usize = 64;
/// Values in one document: bounds the memory that a payload can ask for.
const VALUES_MAX: usize = 65_536;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json<'a> {
    /// `null`.
    Null,
    /// A bare `nan` or infinity.
    NotANumber,
    /// `true` or `false`.
    Boolean(bool),
    /// The text of a number.
    Number(&'a str),
    /// A string, its escapes resolved.
    Text(Cow<'a, str>),
    /// An array.
    Array(Vec<Self>),
    /// An object, keys in the order of the text, duplicates kept.
    Object(Vec<(Cow<'a, str>, Self)>),
}

/// Why a text is no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonFault {
    /// Not JSON, from this byte on.
    Syntax(usize),
    /// More values or levels than are read.
    TooBig,
}

/// Reads the whole of `text`.
pub(super) fn parse(text: &str) -> Result<Json<'_>, JsonFault> {
    let mut reader = Reader { text, at: 0, values: 0 };
    reader.skip_space();
    let value = reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() { Err(JsonFault::Syntax(reader.at)) } else { Ok(value) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    values: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault<T>(&self) -> Result<T, JsonFault> {
        Err(JsonFault::Syntax(self.at))
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Takes `byte` and the space behind it.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
            self.skip_space();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json<'a>, JsonFault> {
        self.values += 1;
        if self.values > VALUES_MAX || depth > DEPTH_MAX {
            return Err(JsonFault::TooBig);
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'0'..=b'9') => self.number(self.at),
            Some(b'-' | b'+' | b'a'..=b'z' | b'A'..=b'Z') => self.signed_or_word(),
            _ => self.fault(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json<'a>, JsonFault> {
        let mut fields = Vec::new();
        self.take(b'{');
        if self.take(b'}') {
            return Ok(Json::Object(fields));
        }
        loop {
            if self.peek() != Some(b'"') {
                return self.fault();
            }
            let key = self.string()?;
            self.skip_space();
            if !self.take(b':') {
                return self.fault();
            }
            fields.push((key, self.value(depth + 1)?));
            self.skip_space();
            if self.take(b'}') {
                return Ok(Json::Object(fields));
            }
            if !self.take(b',') {
                return self.fault();
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json<'a>, JsonFault> {
        let mut items = Vec::new();
        self.take(b'[');
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.take(b']') {
                return Ok(Json::Array(items));
            }
            if !self.take(b',') {
                return self.fault();
            }
        }
    }

    /// A negative number, or a word that stands for a value.
    fn signed_or_word(&mut self) -> Result<Json<'a>, JsonFault> {
        let begin = self.at;
        let signed = matches!(self.peek(), Some(b'-' | b'+'));
        if signed {
            self.at += 1;
            if self.text.as_bytes().get(begin) == Some(&b'-') && matches!(self.peek(), Some(b'0'..=b'9')) {
                return self.number(begin);
            }
        }
        let word_begin = self.at;
        while matches!(self.peek(), Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        let word = self.text.get(word_begin..self.at).unwrap_or("");
        if ["nan", "inf", "infinity"].iter().any(|known| known.eq_ignore_ascii_case(word)) {
            return Ok(Json::NotANumber);
        }
        match word {
            "null" if !signed => Ok(Json::Null),
            "true" if !signed => Ok(Json::Boolean(true)),
            "false" if !signed => Ok(Json::Boolean(false)),
            _ => Err(JsonFault::Syntax(begin)),
        }
    }

    /// The rest of a number that began at `begin`; the cursor is on its first digit.
    fn number(&mut self, begin: usize) -> Result<Json<'a>, JsonFault> {
        let first = self.peek();
        let whole = self.digits();
        if first == Some(b'0') && whole > 1 {
            return Err(JsonFault::Syntax(begin));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return self.fault();
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return self.fault();
            }
        }
        Ok(Json::Number(self.text.get(begin..self.at).unwrap_or("")))
    }

    fn digits(&mut self) -> usize {
        let begin = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - begin
    }

    /// A string; the cursor is on its opening quote.
    fn string(&mut self) -> Result<Cow<'a, str>, JsonFault> {
        self.at += 1;
        let begin = self.at;
        let mut owned: Option<String> = None;
        let mut run = begin;
        loop {
            match self.peek() {
                Some(b'"') => {
                    let tail = self.text.get(run..self.at).unwrap_or("");
                    self.at += 1;
                    return Ok(match owned {
                        None => Cow::Borrowed(tail),
                        Some(mut text) => {
                            text.push_str(tail);
                            Cow::Owned(text)
                        }
                    });
                }
                Some(b'\\') => {
                    let text = owned.get_or_insert_default();
                    text.push_str(self.text.get(run..self.at).unwrap_or(""));
                    self.at += 1;
                    let character = self.escape()?;
                    if let Some(text) = owned.as_mut() {
                        text.push(character);
                    }
                    run = self.at;
                }
                Some(0..=0x1f) | None => return self.fault(),
                Some(_) => self.at += 1,
            }
        }
    }

    /// The character of an escape; the cursor is behind the backslash.
    fn escape(&mut self) -> Result<char, JsonFault> {
        let byte = self.peek();
        self.at += 1;
        Ok(match byte {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => {
                self.at -= 1;
                return self.fault();
            }
        })
    }

    /// `\uXXXX`, or a pair of them; half a pair becomes the replacement character.
    fn unicode(&mut self) -> Result<char, JsonFault> {
        let first = self.hex4()?;
        if (0xd800..0xdc00).contains(&first) && self.text.get(self.at..self.at + 2) == Some("\\u") {
            let back = self.at;
            self.at += 2;
            let second = self.hex4()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = back;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex4(&mut self) -> Result<u32, JsonFault> {
        let digits = self
            .text
            .get(self.at..self.at + 4)
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(code) => {
                self.at += 4;
                Ok(code)
            }
            None => self.fault(),
        }
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
