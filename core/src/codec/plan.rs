//! How a chunk is coded: the plan an encoder follows, and the two bytes that say so to a decoder.
//!
//! ```text
//! byte 0  codec     7: runs | 6..5: value kind | 4..0: value codec (0 is never valid)
//! byte 1  columns   7..6: predictor | 5: gaps | 4..3: coder | 2..0: timestamp codec
//! ```

use super::{CodecError, Defect, Predictor, Rational};
use crate::point::ValueKind;

const RUNS: u8 = 0x80;
const GAPS: u8 = 0x20;

/// How the values of a chunk become numbers, and these bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Model {
    /// Floats or integers as they are, eight bytes each.
    Raw,
    /// One value for all rows.
    Constant,
    /// Floats as integers / 10^decimals.
    Decimal {
        /// Digits behind the point, at most 15.
        decimals: u8,
    },
    /// The same through binary32.
    Single {
        /// Digits behind the point, at most 15.
        decimals: u8,
    },
    /// Floats as integers of a rational grid, and corrections of their last places.
    Rational(Rational),
    /// Floats as codes of a sorted list of the distinct ones.
    Dictionary {
        /// How that list is coded.
        entries: Entries,
    },
    /// Floats by their bits, in the order of their values.
    #[default]
    Bits,
    /// Floats on no grid, by a table of steps.
    Dfcm,
    /// Integers, common divisor taken out.
    Integers,
    /// Booleans, a bit each.
    Bitmap,
    /// Booleans as runs that alternate.
    Alternating,
    /// States: texts, and a code for each row.
    Codes,
}

/// How the entries of a dictionary are coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Entries {
    /// As integers / 10^decimals.
    Decimal {
        /// Digits behind the point, at most 15.
        decimals: u8,
    },
    /// The same through binary32.
    Single {
        /// Digits behind the point, at most 15.
        decimals: u8,
    },
    /// By their bits.
    Bits,
}

impl Entries {
    const SINGLE: u8 = 16;
    const BITS: u8 = 32;

    /// The stored byte.
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Decimal { decimals } => decimals & 15,
            Self::Single { decimals } => Self::SINGLE | decimals & 15,
            Self::Bits => Self::BITS,
        }
    }

    /// What is stored as `code`.
    pub(super) const fn from_code(code: u8) -> Option<Self> {
        match code {
            0..Self::SINGLE => Some(Self::Decimal { decimals: code }),
            Self::SINGLE..Self::BITS => Some(Self::Single { decimals: code - Self::SINGLE }),
            Self::BITS => Some(Self::Bits),
            _ => None,
        }
    }

    /// The model that codes such a column.
    pub(super) const fn model(self) -> Model {
        match self {
            Self::Decimal { decimals } => Model::Decimal { decimals },
            Self::Single { decimals } => Model::Single { decimals },
            Self::Bits => Model::Bits,
        }
    }
}

impl Model {
    /// The kind of values that the model is for; `None` for those that serve floats and others.
    const fn serves(self, kind: ValueKind) -> bool {
        match self {
            Self::Raw => matches!(kind, ValueKind::Float | ValueKind::Integer),
            Self::Constant => !matches!(kind, ValueKind::State),
            Self::Decimal { .. }
            | Self::Single { .. }
            | Self::Rational(_)
            | Self::Dictionary { .. }
            | Self::Bits
            | Self::Dfcm => matches!(kind, ValueKind::Float),
            Self::Integers => matches!(kind, ValueKind::Integer),
            Self::Bitmap | Self::Alternating => matches!(kind, ValueKind::Boolean),
            Self::Codes => matches!(kind, ValueKind::State),
        }
    }

    /// The low five bits of the codec byte.
    const fn code(self) -> u8 {
        match self {
            Self::Raw => 1,
            Self::Constant => 2,
            Self::Decimal { .. } | Self::Integers | Self::Bitmap | Self::Codes => 3,
            Self::Single { .. } | Self::Alternating => 4,
            Self::Rational(_) => 5,
            Self::Dictionary { .. } => 6,
            Self::Bits => 7,
            Self::Dfcm => 8,
        }
    }

    /// Whether residuals of a predictor are coded, so that the predictor bits mean something.
    pub(super) const fn predicts(self) -> bool {
        !matches!(self, Self::Raw | Self::Constant | Self::Dfcm | Self::Bitmap | Self::Alternating)
    }

    /// Whether values may be reduced to one a run before they are coded.
    pub(super) const fn allows_runs(self) -> bool {
        !matches!(self, Self::Constant | Self::Bitmap)
    }
}

/// How the values of a chunk are coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValuePlan {
    /// How values become numbers.
    pub model: Model,
    /// What is expected of each number.
    pub predictor: Predictor,
    /// Whether repeated values are taken out first.
    pub runs: bool,
}

impl ValuePlan {
    /// The plan that any values of `kind` can be coded with.
    pub(super) const fn fallback(kind: ValueKind) -> Self {
        let (model, runs) = match kind {
            ValueKind::Float => (Model::Bits, false),
            ValueKind::Integer => (Model::Integers, false),
            ValueKind::Boolean => (Model::Bitmap, false),
            ValueKind::State => (Model::Codes, false),
        };
        Self { model, predictor: Predictor::Last, runs }
    }

    /// The plan, or the fallback where it is for another kind of value.
    pub(super) const fn for_kind(self, kind: ValueKind) -> Self {
        if self.model.serves(kind) { self } else { Self::fallback(kind) }
    }
}

/// How timestamps are coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum TimestampPlan {
    /// One step for all.
    #[default]
    ConstantStep = 0,
    /// Each step less the first one.
    Steps = 1,
    /// Each step less the one before.
    DeltaOfDelta = 2,
}

impl TimestampPlan {
    /// How steps are predicted.
    pub(super) const fn predictor(self) -> Predictor {
        match self {
            Self::ConstantStep | Self::Steps => Predictor::First,
            Self::DeltaOfDelta => Predictor::Last,
        }
    }
}

/// How a chunk is coded. Remembered for each series as the guess for its next chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Its timestamps.
    pub timestamps: TimestampPlan,
    /// Its values.
    pub values: ValuePlan,
}

/// The first two bytes of a chunk: which codecs its columns use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    /// Kind of the values.
    pub kind: ValueKind,
    /// Name of the value codec.
    code: u8,
    /// Whether repeated values are taken out first.
    pub runs: bool,
    /// How timestamps are coded.
    pub timestamps: TimestampPlan,
    /// How numbers are predicted.
    pub predictor: Predictor,
    /// Whether a list of gaps follows the timestamps.
    pub gaps: bool,
}

/// A value codec as its byte names it, without the parameters that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueCodec {
    Raw,
    Constant,
    Decimal,
    Single,
    Rational,
    Dictionary,
    Bits,
    Dfcm,
    Integers,
    Bitmap,
    Alternating,
    Codes,
}

impl Codec {
    pub(super) const fn new(kind: ValueKind, plan: Plan, gaps: bool) -> Self {
        let values = plan.values;
        Self {
            kind,
            code: values.model.code(),
            runs: values.runs,
            timestamps: plan.timestamps,
            predictor: if values.model.predicts() { values.predictor } else { Predictor::First },
            gaps,
        }
    }

    /// The stored bytes.
    pub(super) const fn bytes(self) -> [u8; 2] {
        let runs = if self.runs { RUNS } else { 0 };
        let gaps = if self.gaps { GAPS } else { 0 };
        let predictor = (self.predictor as u8) << 6;
        [runs | self.kind.code() << 5 | self.code, predictor | gaps | self.timestamps as u8]
    }

    /// Reads the stored bytes.
    pub(super) fn parse([codec, columns]: [u8; 2]) -> Result<Self, CodecError> {
        let unknown = CodecError::UnknownCodec { byte: codec };
        let kind = ValueKind::from_code(codec >> 5 & 3).ok_or(unknown)?;
        let timestamps = match columns & 0x1f {
            0 => TimestampPlan::ConstantStep,
            1 => TimestampPlan::Steps,
            2 => TimestampPlan::DeltaOfDelta,
            _ => return Err(CodecError::UnknownColumns { byte: columns }),
        };
        let parsed = Self {
            kind,
            code: codec & 0x1f,
            runs: codec & RUNS != 0,
            timestamps,
            predictor: Predictor::from_code(columns >> 6),
            gaps: columns & GAPS != 0,
        };
        let value_codec = parsed.value_codec().ok_or(unknown)?;
        let runs_wrong = match value_codec {
            ValueCodec::Alternating => !parsed.runs,
            ValueCodec::Constant | ValueCodec::Bitmap => parsed.runs,
            _ => false,
        };
        let unpredicted = matches!(
            value_codec,
            ValueCodec::Raw
                | ValueCodec::Constant
                | ValueCodec::Dfcm
                | ValueCodec::Bitmap
                | ValueCodec::Alternating
        );
        if runs_wrong {
            return Err(CodecError::Invalid { at: 0, defect: Defect::Reserved });
        }
        if unpredicted && parsed.predictor != Predictor::First {
            return Err(CodecError::Invalid { at: 1, defect: Defect::Reserved });
        }
        Ok(parsed)
    }

    /// The value codec, if it is known.
    pub(super) const fn value_codec(self) -> Option<ValueCodec> {
        use ValueKind::{Boolean, Float, Integer, State};
        Some(match (self.kind, self.code) {
            (Float | Integer, 1) => ValueCodec::Raw,
            (Float | Integer | Boolean, 2) => ValueCodec::Constant,
            (Float, 3) => ValueCodec::Decimal,
            (Float, 4) => ValueCodec::Single,
            (Float, 5) => ValueCodec::Rational,
            (Float, 6) => ValueCodec::Dictionary,
            (Float, 7) => ValueCodec::Bits,
            (Float, 8) => ValueCodec::Dfcm,
            (Integer, 3) => ValueCodec::Integers,
            (Boolean, 3) => ValueCodec::Bitmap,
            (Boolean, 4) => ValueCodec::Alternating,
            (State, 3) => ValueCodec::Codes,
            _ => return None,
        })
    }

    /// The name of the value codec in documents and tools.
    pub fn name(self) -> &'static str {
        match self.value_codec() {
            Some(ValueCodec::Raw) => "raw",
            Some(ValueCodec::Constant) => "constant",
            Some(ValueCodec::Decimal) => "decimal",
            Some(ValueCodec::Single) => "single",
            Some(ValueCodec::Rational) => "rational",
            Some(ValueCodec::Dictionary) => "dictionary",
            Some(ValueCodec::Bits) => "bits",
            Some(ValueCodec::Dfcm) => "dfcm",
            Some(ValueCodec::Integers) => "integers",
            Some(ValueCodec::Bitmap) => "bitmap",
            Some(ValueCodec::Alternating) => "alternating",
            Some(ValueCodec::Codes) => "codes",
            None => "unknown",
        }
    }
}
