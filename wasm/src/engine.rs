//! The class that JavaScript sees: open segments, and jobs by number that run in steps.
//!
//! A step gives a list of numbers: empty when the job is done, `[0]` when it has come further and wants
//! to be asked again, else the blocks it needs as triples of device, first block and count.

use std::collections::BTreeMap;

use siltstone_core::point::TimeRange;
use siltstone_core::segment::Answer;
use wasm_bindgen::prelude::*;

use crate::asking::{Asking, AskingStep, Wish};
use crate::fault::Fault;
use crate::listing::Listing;
use crate::opening::Opening;
use crate::shelf::Shelf;
use crate::table::Table;

enum Job {
    Opening(Box<Opening>),
    Listing(Box<Listing>),
    Asking(Box<Asking>),
}

/// The engine over all open segments.
#[wasm_bindgen]
#[derive(Default)]
pub struct Engine {
    shelf: Shelf,
    jobs: BTreeMap<u32, Job>,
    last_job: u32,
}

/// Series in the order of names. Each `take_` method gives its column away.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Series {
    names: Vec<String>,
    kinds: Vec<u8>,
    units: Vec<String>,
}

#[wasm_bindgen]
impl Series {
    /// The names.
    pub fn take_names(&mut self) -> Vec<String> {
        std::mem::take(&mut self.names)
    }

    /// The kinds as stored: 0 float, 1 integer, 2 boolean, 3 state.
    pub fn take_kinds(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.kinds)
    }

    /// The units; empty where none is known.
    pub fn take_units(&mut self) -> Vec<String> {
        std::mem::take(&mut self.units)
    }
}

#[wasm_bindgen]
impl Engine {
    /// An engine without segments.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins to open the segment on a device; the segment gets the device's number.
    ///
    /// # Errors
    ///
    /// `cause: sentence`, as everywhere in this class.
    pub fn open(&mut self, device: u32, size_bytes: f64, may_scan: bool) -> Result<u32, JsValue> {
        let opening = Opening::new(device, size_bytes, may_scan).map_err(thrown)?;
        Ok(self.start(Job::Opening(Box::new(opening))))
    }

    /// Begins to list the series that `select` means.
    ///
    /// # Errors
    ///
    /// A selector that is none.
    pub fn list(&mut self, select: &str) -> Result<u32, JsValue> {
        let listing = Listing::new(select).map_err(thrown)?;
        Ok(self.start(Job::Listing(Box::new(listing))))
    }

    /// Begins to answer a question: points without functions, else one row a bucket.
    ///
    /// # Errors
    ///
    /// A selector or function that is none, a step that makes no sense.
    #[expect(clippy::too_many_arguments, reason = "JavaScript has no named arguments; the driver names them")]
    pub fn ask(
        &mut self,
        select: String,
        is_exact: bool,
        begin_ns: i64,
        end_ns: i64,
        functions: Vec<String>,
        step_ns: i64,
        is_snapped: bool,
        limit: u32,
    ) -> Result<u32, JsValue> {
        let range = TimeRange::new(begin_ns, end_ns);
        let limit = u64::from(limit);
        let wish = Wish { select, is_exact, range, functions, step_ns, is_snapped, limit };
        let asking = Asking::new(&wish).map_err(thrown)?;
        Ok(self.start(Job::Asking(Box::new(asking))))
    }

    /// Goes on with a job.
    ///
    /// # Errors
    ///
    /// What ended the job; it is to be dropped.
    pub fn step(&mut self, job: u32, budget_blocks: u32) -> Result<Vec<u32>, JsValue> {
        self.step_on(job, budget_blocks).map_err(thrown)
    }

    /// Hands a block to a job.
    pub fn feed(&mut self, job: u32, device: u32, block: u32, bytes: &[u8]) {
        let is_taken = match self.jobs.get_mut(&job) {
            Some(Job::Opening(opening)) => {
                opening.feed(block, bytes);
                true
            }
            Some(Job::Asking(asking)) => asking.feed(&self.shelf, device, block, bytes),
            Some(Job::Listing(_)) => false,
            None => true,
        };
        if !is_taken && let Some(segment) = self.shelf.handle(device) {
            self.shelf.library.feed(segment, block, bytes);
        }
    }

    /// Ends a job, whatever its state.
    pub fn drop_job(&mut self, job: u32) {
        self.jobs.remove(&job);
    }

    /// Ends a finished list and gives it.
    pub fn take_list(&mut self, job: u32) -> Series {
        let mut series = Series::default();
        if let Some(Job::Listing(listing)) = self.jobs.remove(&job) {
            for holding in listing.finish() {
                series.names.push(holding.name.as_str().to_owned());
                series.kinds.push(holding.kind.code());
                series.units.push(holding.unit);
            }
        }
        series
    }

    /// Ends a finished question and gives its answer.
    pub fn take_table(&mut self, job: u32) -> Table {
        match self.jobs.remove(&job) {
            Some(Job::Asking(asking)) => asking.finish(),
            _ => Table::new(&[]),
        }
    }

    /// First instant of the segment on a device and the one behind its last: two numbers, or none.
    pub fn span(&self, device: u32) -> Vec<i64> {
        self.shelf.span(device).map(|span| vec![span.begin, span.end]).unwrap_or_default()
    }

    /// What is wrong with the segment on a device, though it opened.
    pub fn warning(&self, device: u32) -> Option<String> {
        self.shelf.warning(device)
    }

    /// Forgets the segment on a device.
    pub fn close(&mut self, device: u32) {
        self.shelf.close(device);
    }
}

impl Engine {
    fn start(&mut self, job: Job) -> u32 {
        self.last_job = self.last_job.wrapping_add(1);
        self.jobs.insert(self.last_job, job);
        self.last_job
    }

    fn step_on(&mut self, job: u32, budget_blocks: u32) -> Result<Vec<u32>, Fault> {
        let need = match self.jobs.get_mut(&job) {
            None => return Err(Fault::internal("a job that is not there")),
            Some(Job::Listing(listing)) => listing.step(&self.shelf)?,
            Some(Job::Asking(asking)) => match asking.step(&self.shelf, budget_blocks)? {
                AskingStep::Need(need) => need,
                AskingStep::More => return Ok(vec![0]),
                AskingStep::Done => Vec::new(),
            },
            Some(Job::Opening(opening)) => {
                let device = opening.device;
                match opening.step(budget_blocks)? {
                    Answer::Need(need) => need
                        .into_iter()
                        .map(|range| (device, range.start, range.end.saturating_sub(range.start)))
                        .collect(),
                    Answer::Ready(opened) => {
                        self.shelf.add(device, opened)?;
                        Vec::new()
                    }
                }
            }
        };
        Ok(need.into_iter().flat_map(|(device, first, count)| [device, first, count]).collect())
    }
}

fn thrown(fault: Fault) -> JsValue {
    JsValue::from_str(&fault.to_string())
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
