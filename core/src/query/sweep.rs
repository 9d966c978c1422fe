//! One series, swept in the order of time over all its runs at once.
//!
//! At every moment the run that begins first is looked at. A subtree that no other run meets, and of which
//! the question needs no more than the summary, is taken whole; otherwise it is opened. Decoded rows are
//! taken up to where another run begins; of rows with one timestamp the highest rank wins. The same
//! judgement (`judge`) says what to take and, ahead of the sweep, which blocks will be needed.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use super::blocks::{Blocks, Key, Presence};
use super::damage::{Damage, SegmentReads, Statistics, Warning};
use super::filter::{Filter, Passes};
use super::part::Part;
use super::question::Order;
use super::runs::{OpenRows, Overlap, Run, RunState, place};
use super::sink::Sink;
use super::slots::Slot;
use crate::point::TimeRange;
use crate::tree::Reference;

/// One series on its way.
#[derive(Debug)]
pub(super) struct Sweep {
    runs: Vec<RunState>,
    /// What has to be looked at: the range asked for, and around it what may be held into it.
    pub(super) range: TimeRange,
    order: Order,
    filter: Option<Filter>,
    /// Spans that could not be read and of which the sink doesn't know yet.
    damaged: Vec<TimeRange>,
}

/// What a reference is good for.
#[derive(Debug)]
enum Verdict {
    /// Nothing below it counts.
    Skip,
    /// Its summary is enough.
    Take(Slot, Box<Part>),
    /// It has to be opened.
    Open,
    /// Nodes of other runs have to be opened first.
    Wait,
}

/// How far a sweep came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Blocks are missing.
    Blocked,
    /// The sink wants to be emptied.
    Full,
    /// The series is answered.
    Finished,
}

impl Sweep {
    /// A sweep over `runs`; references that can't be are reported.
    pub(super) fn new(
        runs: Vec<Run>,
        range: TimeRange,
        (order, filter): (Order, Option<Filter>),
        statistics: &mut Statistics,
    ) -> Self {
        let (mut states, mut damaged) = (Vec::new(), Vec::new());
        for run in runs {
            let segment = run.segment;
            let (state, refused) = RunState::new(run, range);
            for reference in refused {
                statistics.warn(Warning { segment, block: reference.block, damage: Damage::Inconsistent });
                damaged.push(reference.summary.span());
            }
            states.push(state);
        }
        Self { runs: states, range, order, filter, damaged }
    }

    /// Forgets all runs: the series needs no more.
    pub(super) fn clear(&mut self) {
        self.runs.clear();
    }

    /// References and rows in memory.
    pub(super) fn references(&self) -> usize {
        self.runs.iter().map(|run| run.queue.len()).sum()
    }

    /// What other runs hold in the time of a reference.
    fn overlap(&self, of_run: usize, span: TimeRange) -> Overlap {
        let mut overlap = Overlap::None;
        for (number, run) in self.runs.iter().enumerate() {
            if number == of_run {
                continue;
            }
            match run.overlap(span) {
                Overlap::Chunks => return Overlap::Chunks,
                Overlap::Nodes => overlap = Overlap::Nodes,
                Overlap::None => {}
            }
        }
        overlap
    }

    fn judge(&self, of_run: usize, reference: &Reference, sink: &Sink) -> Verdict {
        match self.overlap(of_run, reference.summary.span()) {
            Overlap::Nodes if reference.level == 0 => return Verdict::Wait,
            Overlap::Nodes | Overlap::Chunks => return Verdict::Open,
            Overlap::None => {}
        }
        if self.runs.get(of_run).is_some_and(|run| run.is_shadowed(reference.summary.span())) {
            return Verdict::Open;
        }
        self.judge_alone(reference, sink)
    }

    /// What a reference would be good for if no other run met its time.
    fn judge_alone(&self, reference: &Reference, sink: &Sink) -> Verdict {
        match self.filter.map(|filter| filter.of_summary(&reference.summary)) {
            Some(Passes::None) => return Verdict::Skip,
            Some(Passes::Some) => return Verdict::Open,
            Some(Passes::All) | None => {}
        }
        match sink.part_of(&reference.summary) {
            Some((slot, part)) => Verdict::Take(slot, Box::new(part)),
            None => Verdict::Open,
        }
    }

    /// The run that begins first; where several do, one whose front is still a reference, and among
    /// rows the one of the highest rank.
    fn first(&self) -> Option<(usize, i64)> {
        let begins =
            self.runs.iter().enumerate().filter_map(|(number, run)| Some((number, run.begin(self.order)?)));
        begins.min_by_key(|(number, begin)| {
            let run = self.runs.get(*number);
            (
                *begin,
                run.is_some_and(|run| run.next_row(self.order).is_some()),
                Reverse(run.map(|run| run.rank)),
            )
        })
    }

    /// Goes on as far as the blocks at hand allow and the sink takes rows.
    pub(super) fn advance(
        &mut self,
        blocks: &Blocks,
        sink: &mut Sink,
        statistics: &mut Statistics,
    ) -> Progress {
        loop {
            if sink.is_full() {
                return Progress::Full;
            }
            self.damaged.drain(..).for_each(|span| sink.note_damage(span));
            let Some((number, begin)) = self.first().filter(|_| !sink.is_satisfied()) else {
                return Progress::Finished;
            };
            if sink.is_over(begin) {
                return Progress::Finished;
            }
            let Some(run) = self.runs.get(number) else { return Progress::Finished };
            if run.next_row(self.order).is_some() {
                self.take_rows(number, begin, sink, statistics);
                continue;
            }
            let Some(reference) = run.front(self.order) else { return Progress::Finished };
            match self.judge(number, reference, sink) {
                Verdict::Skip => {
                    if let Some(run) = self.runs.get_mut(number) {
                        run.pop(self.order);
                    }
                }
                Verdict::Take(slot, part) => {
                    sink.push(slot, *part);
                    statistics.subtrees_used = statistics.subtrees_used.saturating_add(1);
                    if let Some(run) = self.runs.get_mut(number) {
                        run.pop(self.order);
                    }
                }
                Verdict::Wait => return Progress::Blocked,
                Verdict::Open => {
                    let is_wasted = !matches!(self.judge_alone(reference, sink), Verdict::Open);
                    if reference.level > 0 || !self.open_chunk(number, blocks, is_wasted, statistics) {
                        return Progress::Blocked;
                    }
                }
            }
        }
    }

    /// Decodes the chunk at the front of a run; `false` where its block is missing. One that `is_wasted` is decoded only
    /// because other runs meet its time.
    fn open_chunk(
        &mut self,
        number: usize,
        blocks: &Blocks,
        is_wasted: bool,
        statistics: &mut Statistics,
    ) -> bool {
        let Some(run) = self.runs.get_mut(number) else { return false };
        let Some(reference) = run.front(self.order).copied() else { return false };
        let key = (run.segment, reference.block);
        let rows = match blocks.presence(key) {
            Presence::Missing => return false,
            Presence::Damaged(damage) => Err(damage),
            Presence::Here => blocks.rows(key, &reference),
        };
        run.pop(self.order);
        match rows {
            Ok(OpenRows { mut chunk, .. }) => {
                let decoded = chunk.len() as u64;
                statistics.points_decoded = statistics.points_decoded.saturating_add(decoded);
                run.remove_hidden(&mut chunk);
                let hidden = decoded.saturating_sub(chunk.len() as u64);
                let wasted = if is_wasted { decoded } else { hidden };
                statistics.note_read(run.segment, SegmentReads { blocks: 0, decoded, wasted });
                let row = |at_ns: i64| chunk.timestamps.partition_point(|at| *at < at_ns);
                let left = row(self.range.begin)..row(self.range.end);
                run.rows = Some(OpenRows { chunk, left });
            }
            Err(damage) => {
                statistics.warn(Warning { segment: key.0, block: key.1, damage });
                self.damaged.push(reference.summary.span());
            }
        }
        true
    }

    /// Takes the rows of a run that lie before all other runs, or one row that several have.
    fn take_rows(&mut self, number: usize, begin: i64, sink: &mut Sink, statistics: &mut Statistics) {
        let order = self.order;
        let others = self.runs.iter().enumerate().filter(|(other, _)| *other != number);
        let limit = others.filter_map(|(_, run)| run.begin(order)).min();
        let Some(OpenRows { chunk, left }) = self.runs.get_mut(number).and_then(|run| run.rows.as_mut())
        else {
            return;
        };
        let rows = rows_before(&chunk.timestamps, left.clone(), limit, order);
        if !rows.is_empty() {
            let taken = sink.push_rows(chunk, rows, self.filter.as_ref());
            shorten(left, taken, order);
            return;
        }
        // Another run has a row with this timestamp; `first` gave the one of the highest rank.
        let row = if order == Order::Forward { left.start } else { left.end.saturating_sub(1) };
        if sink.push_rows(chunk, row..row.saturating_add(1), self.filter.as_ref()) == 0 {
            return;
        }
        for (other, run) in self.runs.iter_mut().enumerate() {
            if run.begin(order) == Some(begin)
                && let Some(OpenRows { left, .. }) = &mut run.rows
            {
                shorten(left, 1, order);
                let wasted = u64::from(other != number);
                statistics.note_read(run.segment, SegmentReads { wasted, ..SegmentReads::default() });
            }
        }
    }

    /// Opens every node that is at hand and needed; `true` where one was.
    pub(super) fn open_nodes(&mut self, blocks: &Blocks, sink: &Sink, statistics: &mut Statistics) -> bool {
        let mut needed = Vec::new();
        for (number, run) in self.runs.iter().enumerate() {
            for (at, reference) in run.queue.iter().enumerate() {
                let key = (run.segment, reference.block);
                if reference.level > 0
                    && blocks.presence(key) != Presence::Missing
                    && matches!(self.judge(number, reference, sink), Verdict::Open)
                {
                    needed.push((number, at, key, *reference));
                }
            }
        }
        // From the back, so that positions stay true.
        for (number, at, key, reference) in needed.iter().rev() {
            let children = match blocks.presence(*key) {
                Presence::Damaged(damage) => Err(damage),
                _ => blocks.node(*key, reference),
            };
            let children = children.unwrap_or_else(|damage| {
                statistics.warn(Warning { segment: key.0, block: key.1, damage });
                self.damaged.push(reference.summary.span());
                Vec::new()
            });
            if let Some(run) = self.runs.get_mut(*number) {
                run.replace(*at, children, self.range);
            }
        }
        !needed.is_empty()
    }

    /// The nodes that will have to be opened, the earliest first, at most `count_max`.
    pub(super) fn wanted_nodes(&self, sink: &Sink, wanted: &mut BTreeSet<Key>, count_max: usize) {
        let mut nodes = Vec::new();
        for (number, run) in self.runs.iter().enumerate() {
            let mut count = 0;
            let mut see = |reference: &Reference| {
                if reference.level > 0 && matches!(self.judge(number, reference, sink), Verdict::Open) {
                    nodes.push((self.place_of(reference), (run.segment, reference.block)));
                    count += 1;
                }
                count < count_max
            };
            match self.order {
                Order::Forward => run.queue.iter().all(&mut see),
                Order::Backward => run.queue.iter().rev().all(&mut see),
            };
        }
        nodes.sort_unstable();
        wanted.extend(nodes.into_iter().take(count_max).map(|(_, key)| key));
    }

    /// The leaves that will be needed, the earliest first, until `wanted` holds `budget` blocks, or a node
    /// comes that has to be opened first, or `rows_left` rows are sure. `false` where a bound was met.
    pub(super) fn wanted_leaves(
        &self,
        sink: &Sink,
        wanted: &mut BTreeSet<Key>,
        budget: usize,
        rows_left: &mut u64,
    ) -> bool {
        let mut heads: Vec<usize> = self.runs.iter().map(|_| 0).collect();
        loop {
            let next = self.runs.iter().zip(&heads).enumerate().filter_map(|(number, (run, head))| {
                let at = match self.order {
                    Order::Forward => *head,
                    Order::Backward => run.queue.len().checked_sub(head.saturating_add(1))?,
                };
                let reference = run.queue.get(at)?;
                // As `first` has it: the sweep must not wait for a block that is behind the budget.
                Some(((self.place_of(reference), Reverse(run.rank)), number, reference))
            });
            let Some((_, number, reference)) = next.min_by_key(|(key, ..)| *key) else { return true };
            let Some(run) = self.runs.get(number) else { return true };
            match self.judge(number, reference, sink) {
                Verdict::Skip | Verdict::Take(..) => {}
                Verdict::Wait => return false,
                Verdict::Open if reference.level > 0 => return false,
                Verdict::Open => {
                    let key = (run.segment, reference.block);
                    if !wanted.contains(&key) && wanted.len() >= budget {
                        return false;
                    }
                    wanted.insert(key);
                    let span = reference.summary.span();
                    // Only rows that no other run can hide or precede are sure.
                    let is_alone = self.overlap(number, span) == Overlap::None && !run.is_shadowed(span);
                    if is_alone && self.filter.is_none() && self.range.covers(span) {
                        *rows_left = rows_left.saturating_sub(reference.summary.rows());
                    }
                    if *rows_left == 0 {
                        return false;
                    }
                }
            }
            if let Some(head) = heads.get_mut(number) {
                *head = head.saturating_add(1);
            }
        }
    }

    fn place_of(&self, reference: &Reference) -> i64 {
        let summary = &reference.summary;
        match self.order {
            Order::Forward => summary.begin,
            Order::Backward => place(summary.end.saturating_sub(1), self.order),
        }
    }
}

/// The rows of `left` whose place is before `limit`, counted from where the order begins.
fn rows_before(timestamps: &[i64], left: Range<usize>, limit: Option<i64>, order: Order) -> Range<usize> {
    let Some(limit) = limit else { return left };
    let inside = timestamps.get(left.clone()).unwrap_or_default();
    match order {
        Order::Forward => {
            let rows = inside.partition_point(|at| *at < limit);
            left.start..left.start.saturating_add(rows)
        }
        Order::Backward => {
            // Places turn the order around: a row is before the limit where its time is after it.
            let behind = inside.partition_point(|at| place(*at, order) >= limit);
            left.start.saturating_add(behind)..left.end
        }
    }
}

fn shorten(left: &mut Range<usize>, rows: usize, order: Order) {
    match order {
        Order::Forward => left.start = left.start.saturating_add(rows).min(left.end),
        Order::Backward => left.end = left.end.saturating_sub(rows).max(left.start),
    }
}
