//! One question, page by page, in the form that was asked for.

use super::arguments::{Format, QueryOptions};
use super::dispatch::{Failure, note, print};
use super::input;
use crate::api::{Answer, Order, Question};
use crate::shelf::ParsedSelector;

/// Rows of a page.
const PAGE_ROWS: u64 = 50_000;
/// Rows that are held for a table or a document, whose form needs all of them.
const HELD_ROWS_MAX: u64 = 1_000_000;

pub(super) fn run(options: &QueryOptions) -> Result<(), Failure> {
    let selector = ParsedSelector::parse(&options.select)?;
    let mut question = Question {
        begin_ns: options.span.begin_ns(),
        end_ns: options.span.end_ns(),
        step_ns: options.step,
        functions: options.functions.clone(),
        snap: options.snap,
        condition: options.condition,
        order: if options.descending { Order::Descending } else { Order::Ascending },
        ..Question::all(&options.select)
    };
    question.check(options.span.from.is_some() && options.span.to.is_some())?;
    let mut input = input::open(&options.input, &selector)?;
    let mut left = options.limit.unwrap_or(u64::MAX);
    if options.format != Format::Csv {
        left = left.min(HELD_ROWS_MAX);
    }
    let mut whole: Option<Answer> = None;
    loop {
        question.limit = u32::try_from(left.min(PAGE_ROWS)).unwrap_or(u32::MAX);
        let mut page = input.shelf.ask(&question)?;
        left = left.saturating_sub(page.rows.len() as u64);
        let next = page.next.take().filter(|_| left > 0);
        if options.format == Format::Csv {
            if whole.is_none() {
                print(&page.csv_head())?;
            }
            print(&page.csv_rows())?;
            page.rows.clear();
        }
        match &mut whole {
            None => whole = Some(page),
            Some(whole) => whole.append(page),
        }
        match next {
            Some(next) => question.cursor = Some(next),
            None => break,
        }
    }
    let whole = whole.unwrap_or_default();
    match options.format {
        Format::Table => print(&whole.to_table())?,
        Format::Json => print(&(whole.to_json() + "\n"))?,
        Format::Csv => {}
    }
    if left == 0 && options.limit.is_none() {
        note(&format!("the answer is cut after {HELD_ROWS_MAX} rows; --format csv has no such limit"));
    }
    for warning in input.shelf.warnings() {
        note(warning);
    }
    if options.format == Format::Table {
        let cost = &whole.cost;
        note(&format!(
            "{} of {} blocks read, {} points decoded, {} subtrees answered from summaries",
            cost.blocks_read, cost.blocks_total, cost.points_decoded, cost.subtrees_used
        ));
    }
    Ok(())
}
