//! A finished bucket, and what each function says of it.

use alloc::string::String;

use super::function::Function;
use super::part::Part;
use crate::point::TimeRange;
use crate::tree::{Number, Summary};

/// What a function says.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// There is nothing to say: no value, or too few.
    Null,
    /// A number; may be infinite.
    Float(f64),
    /// A number that binary64 can't hold.
    Integer(i64),
    /// How many.
    Count(u64),
    /// An instant, nanoseconds.
    Time(i64),
    /// A state.
    Text(String),
}

impl From<Number> for Answer {
    fn from(number: Number) -> Self {
        match number {
            Number::Float(float) => Self::Float(float),
            Number::Integer(integer) => Self::Integer(integer),
        }
    }
}

/// Pieces of integrals that reach over the edges of a bucket, clipped to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Edge {
    pub(super) stepwise: f64,
    pub(super) linear: f64,
    pub(super) held_ns: u64,
}

/// The points of one bucket of one series, summed up.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// The bucket, clipped to the range asked for; the span of its points where it was snapped.
    pub span: TimeRange,
    /// Whether points of its time could not be read.
    pub is_partial: bool,
    pub(super) part: Part,
    pub(super) edge: Edge,
}

impl Bucket {
    /// The summary of its points; resets, changes and states' texts only as far as they were asked for.
    pub const fn summary(&self) -> &Summary {
        &self.part.summary
    }

    /// What `function` says; meant for the functions that the question named.
    pub fn answer(&self, function: Function) -> Answer {
        let summary = &self.part.summary;
        match function {
            Function::Count => return Answer::Count(summary.values()),
            Function::Gaps => return Answer::Count(summary.gaps),
            Function::Nans => return Answer::Count(summary.nans),
            Function::Changes => return Answer::Count(self.part.changes),
            Function::Integral | Function::IntegralStepwise | Function::TimeWeightedMean => {
                return self.over_time(function);
            }
            Function::First | Function::FirstAt => return self.first(function == Function::FirstAt),
            Function::Last | Function::LastAt => return self.last(function == Function::LastAt),
            _ => {}
        }
        let Some(numbers) = &summary.numbers else { return Answer::Null };
        let float = |float: Option<f64>| float.map_or(Answer::Null, Answer::Float);
        match function {
            Function::Min => numbers.min.into(),
            Function::MinAt => Answer::Time(numbers.min_at),
            Function::Max => numbers.max.into(),
            Function::MaxAt => Answer::Time(numbers.max_at),
            Function::Sum => Answer::Float(numbers.sums.sum()),
            Function::Mean => Answer::Float(numbers.mean()),
            Function::Stddev => Answer::Float(numbers.stddev()),
            Function::Resets => numbers.resets.map_or(Answer::Null, Answer::Count),
            Function::Increase => float(numbers.increase()),
            Function::Rate => {
                let seconds = numbers.last_at.abs_diff(numbers.first_at) as f64 / 1e9;
                float(numbers.increase().filter(|_| seconds > 0.0).map(|increase| increase / seconds))
            }
            _ => Answer::Null,
        }
    }

    fn over_time(&self, function: Function) -> Answer {
        let (stepwise, linear) = self.part.summary.numbers.map_or((0.0, 0.0), |numbers| numbers.integrals());
        let (stepwise, linear) = (stepwise + self.edge.stepwise, linear + self.edge.linear);
        let held_s = self.part.held_ns.saturating_add(self.edge.held_ns) as f64 / 1e9;
        match function {
            Function::TimeWeightedMean if held_s > 0.0 => Answer::Float(stepwise / held_s),
            Function::TimeWeightedMean => Answer::Null,
            _ if self.part.summary.numbers.is_none() && self.edge.held_ns == 0 => Answer::Null,
            Function::IntegralStepwise => Answer::Float(stepwise),
            _ => Answer::Float(linear),
        }
    }

    fn first(&self, is_time: bool) -> Answer {
        let number = self.part.summary.numbers.map(|numbers| (numbers.first_at, numbers.first));
        let word = self.part.summary.words.map(|words| words.first_at);
        match (number, word) {
            (None, None) => Answer::Null,
            (Some((at, number)), word) if word.is_none_or(|word_at| at < word_at) => {
                if is_time {
                    Answer::Time(at)
                } else {
                    number.into()
                }
            }
            (_, Some(at)) if is_time => Answer::Time(at),
            _ => self.part.first_text.clone().map_or(Answer::Null, Answer::Text),
        }
    }

    fn last(&self, is_time: bool) -> Answer {
        let number = self.part.summary.numbers.map(|numbers| (numbers.last_at, numbers.last));
        let word = self.part.summary.words.map(|words| words.last_at);
        match (number, word) {
            (None, None) => Answer::Null,
            (Some((at, number)), word) if word.is_none_or(|word_at| at > word_at) => {
                if is_time {
                    Answer::Time(at)
                } else {
                    number.into()
                }
            }
            (_, Some(at)) if is_time => Answer::Time(at),
            _ => self.part.last_text.clone().map_or(Answer::Null, Answer::Text),
        }
    }
}
