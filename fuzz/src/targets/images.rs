//! Whole files, changed anywhere, with every checksum mended, so that what lies behind it is reached.

use std::sync::Arc;

use siltstone::api::Question;
use siltstone::shelf::{BlockSource, Member, Shelf};
use siltstone_core::block::{BLOCK_LEN, Block, Crc, DeviceId};
use siltstone_core::point::{Point, Timestamp, Value, ValueKind};
use siltstone_core::segment::{Check, CheckStep, Salvage, SalvageStep};
use siltstone_core::series::SeriesName;
use siltstone_core::store::sim::SimMedium;
use siltstone_core::store::{
    Device, Flushed, JournalCheck, Medium, Reading, Store, StoreConfig, device_of_store,
};

/// The device id of the corpus.
pub const DEVICE: DeviceId = *b"a device's id 16";

/// Gives every block that is not empty the checksum that its bytes have.
pub fn mend(image: &mut [u8], device: &DeviceId) {
    for block in image.chunks_exact_mut(BLOCK_LEN).filter(|block| block.iter().any(|byte| *byte != 0)) {
        let crc = Crc::new().with(&block[..28]).with(&block[32..]).with(device).value();
        block[28..32].copy_from_slice(&crc.to_le_bytes());
    }
}

/// The image as a file.
struct Image {
    bytes: Vec<u8>,
}

impl BlockSource for Image {
    fn label(&self) -> &str {
        "image"
    }

    fn block_count(&self) -> u32 {
        (self.bytes.len() / BLOCK_LEN) as u32
    }

    fn odd_bytes(&self) -> u32 {
        (self.bytes.len() % BLOCK_LEN) as u32
    }

    fn read(&self, first: u32, count: u32) -> Result<Vec<u8>, String> {
        let end = first.saturating_add(count).min(self.block_count());
        let range = first as usize * BLOCK_LEN..end as usize * BLOCK_LEN;
        self.bytes.get(range).map(<[u8]>::to_vec).ok_or_else(|| "beyond the end".to_owned())
    }
}

/// Verified, salvaged, opened and asked.
pub(super) fn segment(input: &[u8]) {
    let mut bytes = input.to_vec();
    mend(&mut bytes, &DEVICE);
    let image = Image { bytes };
    let blocks = u64::from(image.block_count());
    verify(&image, 200 + 80 * blocks);
    let copy = salvage(&image, 200 + 80 * blocks);
    if let Some(copy) = copy {
        let faults = verify(&Image { bytes: copy }, u64::MAX);
        assert_eq!(faults, Vec::<String>::new(), "a salvaged copy is whole");
    }
    let Ok(member) = Member::open(Arc::new(image)) else { return };
    let mut shelf = Shelf::new();
    shelf.add(member);
    for functions in [&[][..], &["count", "mean", "increase", "integral"]] {
        let question = Question {
            functions: functions
                .iter()
                .filter_map(|name| siltstone::api::parse_function(name).ok())
                .collect(),
            limit: 10_000,
            ..Question::all("{}")
        };
        let _ = shelf.ask(&question);
    }
}

/// The faults of an image, found within so many reads of blocks.
fn verify(image: &Image, reads_max: u64) -> Vec<String> {
    let mut check = Check::new(image.block_count(), image.odd_bytes());
    let (mut faults, mut reads) = (Vec::new(), 0);
    loop {
        match check.step() {
            CheckStep::Done => return faults,
            CheckStep::Fault(fault) => faults.push(fault.to_string()),
            CheckStep::Need(range) => {
                reads += u64::from(range.end - range.start);
                assert!(reads <= reads_max, "verifying reads {reads} blocks of {}", image.block_count());
                check.feed(range.start, &image.read(range.start, range.end - range.start).expect("inside"));
            }
        }
    }
}

fn salvage(image: &Image, reads_max: u64) -> Option<Vec<u8>> {
    let mut salvage = Salvage::new(image.block_count(), None);
    let (mut copy, mut reads) = (Vec::new(), 0);
    loop {
        match salvage.step() {
            SalvageStep::Need(range) => {
                reads += u64::from(range.end - range.start);
                assert!(reads <= reads_max, "salvaging reads {reads} blocks of {}", image.block_count());
                salvage.feed(range.start, &image.read(range.start, range.end - range.start).expect("inside"));
            }
            SalvageStep::Write(blocks) => {
                blocks.iter().for_each(|block| copy.extend_from_slice(&block.bytes[..]))
            }
            SalvageStep::Done => return Some(copy),
            SalvageStep::Failed(_) => return None,
        }
    }
}

/// A journal file in the ring of a store that is opened, written to and opened again.
pub(super) fn journal(input: &[u8]) {
    let mut bytes = input.to_vec();
    mend(&mut bytes, &DEVICE);
    let mut check = JournalCheck::new(1, DEVICE);
    bytes.chunks(BLOCK_LEN).for_each(|block| check.push(Some(block)));
    let flushed = Flushed::of([&check]);
    check.finish(&flushed);
    let config = StoreConfig { journal_files: 3, journal_file_blocks: 16, ..StoreConfig::default() };
    let mut medium = SimMedium::new();
    drop(Store::open(medium.clone(), config.clone(), DEVICE).expect("a new store"));
    let (blocks, _) = bytes.as_chunks::<BLOCK_LEN>();
    let mut file = medium.create("journal/01.journal").expect("a file");
    for (number, block) in (0..16).zip(blocks.iter().copied().chain(std::iter::repeat([0; BLOCK_LEN]))) {
        let block: Block = block;
        file.write(number, &block).expect("written");
    }
    // Damage is never a reason not to start; what has run out of numbers may say so.
    for _ in 0..2 {
        let Ok((mut store, _)) = Store::open(medium.clone(), config.clone(), DEVICE) else { return };
        let name = SeriesName::parse("t{device=\"z\"}").expect("a name");
        let Ok(series) = store.series(&name, ValueKind::Float, "") else { return };
        let point = Point { timestamp: Timestamp(1_796_022_845_000_000_000), value: Value::Float(1.5) };
        if store.append(&[Reading { series, point }], None).is_ok() {
            store.commit().expect("the medium is good");
        }
    }
}

pub(super) fn store_id(input: &[u8]) {
    let mut bytes = input.to_vec();
    let before = device_of_store(&bytes);
    mend(&mut bytes, &[0; 16]);
    let after = device_of_store(&bytes);
    assert!(before.is_none() || before == after);
}
