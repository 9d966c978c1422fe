//! Asks a store as the agent does: a snapshot of its runs, the library over them, and queries.

use crate::block::BLOCK_LEN;
use crate::query::{
    Found, Holding, Library, Question, Request, Rows, SegmentFault, SegmentHandle, Statistics, Step,
    Unreadable,
};
use crate::segment::{BlockMap, Opened, Unsealed};
use crate::series::{NoRegex, Selector, SeriesName};
use crate::store::segment_file::scan;
use crate::store::sim::{SimDevice, SimMedium};
use crate::store::{Device, Medium, RunContent, Store};

/// A store at one moment.
pub(super) struct Asked {
    library: Library,
    devices: Vec<Option<SimDevice>>,
}

impl Asked {
    /// The store as it is now.
    pub(super) fn of(store: &mut Store<SimMedium>) -> Self {
        let runs = store.snapshot(&all(), &NoRegex).expect("a snapshot");
        let (mut library, mut devices) = (Library::new(), Vec::new());
        for run in runs {
            let device =
                run.path.as_deref().map(|path| store.medium.open(path).expect("a file").expect(path));
            library.add(match run.content {
                RunContent::Sealed(sealed) => Opened::Sealed { sealed, blocks: BlockMap::new() },
                RunContent::Live(live) => Opened::Unsealed(live),
                RunContent::Unsealed => {
                    let file = device.as_ref().expect("what is scanned is a file");
                    let scanned = scan(file, run.header, run.block_count, None).expect("a scan");
                    Opened::Unsealed(Box::new(Unsealed::from(scanned)))
                }
            });
            devices.push(device);
        }
        Self { library, devices }
    }

    fn bytes(&self, request: &Request) -> Option<Vec<u8>> {
        self.library.read(request).or_else(|| {
            let mut bytes = vec![0; request.count as usize * BLOCK_LEN];
            self.devices[request.segment.0 as usize].as_ref()?.read(request.block, &mut bytes).ok()?;
            Some(bytes)
        })
    }

    fn found<T>(&mut self, ask: impl Fn(&Library) -> Result<Found<T>, SegmentFault>) -> T {
        loop {
            match ask(&self.library).expect("nothing is damaged") {
                Found::Ready(answer) => return answer,
                Found::Need(requests) => {
                    for request in requests {
                        let bytes = self.bytes(&request).expect("a block of the file");
                        self.library.feed(request.segment, request.block, &bytes);
                    }
                }
            }
        }
    }

    /// What is held of every series.
    pub(super) fn holdings(&mut self) -> Vec<Holding> {
        self.found(|library| library.select(&all(), &NoRegex))
    }

    /// Tells the store what a question read, as the agent does.
    pub(super) fn note(&self, statistics: &Statistics, store: &mut Store<SimMedium>) {
        for (reads, segment) in statistics.reads.iter().zip(0..) {
            let header = self.library.header(SegmentHandle(segment)).expect("a segment");
            store.note_reads(header.partition, reads.blocks, reads.decoded, reads.wasted);
        }
    }

    /// Asks a question about `holdings`; the rows of each, and what it cost.
    pub(super) fn ask(
        &self,
        question: Question,
        holdings: Vec<Holding>,
    ) -> (Vec<(SeriesName, Rows)>, Statistics) {
        let names: Vec<SeriesName> = holdings.iter().map(|holding| holding.name.clone()).collect();
        let mut query = self.library.query(question, holdings).expect("a question");
        let mut rows = Vec::new();
        loop {
            match query.step(64) {
                Step::Need(requests) => {
                    for request in requests {
                        query.feed(&request, self.bytes(&request).as_deref().ok_or(Unreadable));
                    }
                }
                Step::Batch(batch) => rows.push((names[batch.series as usize].clone(), batch.rows)),
                Step::Done(done) => {
                    assert!(!done.statistics.is_partial, "{:?}", done.statistics);
                    return (rows, done.statistics);
                }
            }
        }
    }
}

/// Every series.
fn all() -> Selector {
    Selector::parse("{}").expect("a selector")
}
