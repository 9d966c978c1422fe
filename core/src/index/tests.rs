//! The stored and the live index against naive scans of the names; damage; sizes.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::format;
use std::ops::Range;
use std::string::{String, ToString};
use std::vec::Vec;

use proptest::prelude::*;

use super::{Catalog, CatalogEntry, CatalogWriter, Index, Live, Lookup, Source, count, resolve, write_index};
use crate::point::ValueKind;
use crate::series::{NoRegex, Selector, SeriesName};

/// A stream of which only fetched pieces of 256 bytes can be read.
struct Remote {
    bytes: Vec<u8>,
    pieces: RefCell<BTreeSet<u64>>,
    rounds: RefCell<u32>,
}

impl Remote {
    const PIECE: u64 = 256;

    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, pieces: RefCell::default(), rounds: RefCell::default() }
    }

    /// Asks until there is an answer; a question that asks for what it got is a fault.
    fn ask<T, E: std::fmt::Debug>(&self, question: impl Fn(&Self) -> Result<Lookup<T>, E>) -> Result<T, E> {
        loop {
            let need = match question(self)? {
                Lookup::Found(answer) => return Ok(answer),
                Lookup::Need(need) => need,
            };
            *self.rounds.borrow_mut() += 1;
            let before = self.pieces.borrow().len();
            for range in &need {
                assert!(range.start < range.end && range.end <= self.bytes.len() as u64, "{need:?}");
                self.pieces.borrow_mut().extend(range.start / Self::PIECE..range.end.div_ceil(Self::PIECE));
            }
            assert!(need.is_sorted_by_key(|range| range.start));
            assert!(self.pieces.borrow().len() > before, "asked again for {need:?}");
        }
    }

    fn bytes_read(&self) -> u64 {
        self.pieces.borrow().len() as u64 * Self::PIECE
    }
}

impl Source for Remote {
    fn read(&self, begin: u64, out: &mut [u8]) -> bool {
        let end = begin + out.len() as u64;
        let pieces = self.pieces.borrow();
        (begin / Self::PIECE..end.div_ceil(Self::PIECE)).all(|piece| pieces.contains(&piece))
            && self.bytes.as_slice().read(begin, out)
    }
}

/// Kind and unit of a series, made up from its name.
fn entry(position: u32, name: &SeriesName) -> CatalogEntry {
    let len = name.as_str().len();
    let unit = ["", "°C", "kWh"][len / 3 % 3].to_string();
    CatalogEntry { position, name: name.clone(), kind: ValueKind::from_code((len % 4) as u8).unwrap(), unit }
}

/// A stream with some bytes before and behind: catalog, then index.
fn stream(names: &BTreeSet<SeriesName>) -> (Vec<u8>, Range<u64>, Range<u64>) {
    let mut writer = CatalogWriter::new();
    for (position, name) in (0..).zip(names) {
        let entry = entry(position, name);
        writer.push(name.name_ref(), entry.kind, &entry.unit).unwrap();
    }
    let mut bytes = std::vec![0xEE; 77];
    bytes.extend(writer.finish().unwrap());
    let catalog = 77..bytes.len() as u64;
    bytes.extend(write_index(names.iter().map(SeriesName::name_ref)).unwrap());
    let index = catalog.end..bytes.len() as u64;
    bytes.extend([0xEE; 33]);
    (bytes, catalog, index)
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{1,2}", "[a-c\" é]{1,3}", "[a-z]{1,12}"]
}

fn names() -> impl Strategy<Value = BTreeSet<SeriesName>> {
    let tags = proptest::collection::btree_map("[st]|u v", word(), 0..3);
    let name = (word(), tags).prop_map(|(metric, tags): (String, BTreeMap<String, String>)| {
        SeriesName::new(&metric, tags.iter().map(|(tag, value)| (tag.as_str(), value.as_str()))).unwrap()
    });
    proptest::collection::btree_set(name, 0..300)
}

fn selector() -> impl Strategy<Value = String> {
    let condition =
        ("s|t|\"u v\"|__name__", "=|!=|=~|!~", "[ab]{0,2}|[ab]{1,2}\\|[abc]{1,2}|\\.\\+|[a-z]{1,3}")
            .prop_map(|(tag, operator, value)| format!("{tag}{operator}\"{value}\""));
    (proptest::option::of("[ab]{1,2}"), proptest::collection::vec(condition, 0..3)).prop_map(
        |(metric, conditions)| format!("{}{{{}}}", metric.unwrap_or_default(), conditions.join(",")),
    )
}

fn prefixed<'a>(terms: impl Iterator<Item = &'a String>, prefix: &str, limit: usize) -> Vec<String> {
    terms.filter(|term| term.starts_with(prefix)).take(limit).cloned().collect()
}

proptest! {
    #[test]
    fn selectors_find_what_a_scan_finds(names in names(), texts in proptest::collection::vec(selector(), 1..6)) {
        let (bytes, catalog_at, index_at) = stream(&names);
        let remote = Remote::new(bytes);
        let catalog = remote.ask(|source| Catalog::open(source, catalog_at.clone())).unwrap();
        let index = remote.ask(|source| Index::open(source, index_at.clone())).unwrap();
        let mut live = Live::new();
        for name in names.iter().rev().chain(&names) {
            live.add(name).unwrap();
        }
        prop_assert_eq!((catalog.len(), index.len(), live.len()), (names.len() as u32, names.len() as u32, names.len()));
        for text in &texts {
            let Ok(selector) = Selector::parse(text) else { continue };
            let wanted: Vec<CatalogEntry> = (0..)
                .zip(&names)
                .filter(|(_, name)| selector.matches(*name, &NoRegex))
                .map(|(position, name)| entry(position, name))
                .collect();
            let candidates = remote.ask(|source| index.candidates(source, &selector)).unwrap();
            prop_assert!(candidates.windows(2).all(|pair| pair[0].end < pair[1].start));
            for entry in &wanted {
                prop_assert!(candidates.iter().any(|range| range.contains(&entry.position)), "{}", text);
            }
            let found = remote.ask(|source| resolve(source, Some(&index), &catalog, &selector, &NoRegex));
            prop_assert_eq!(found.as_ref(), Ok(&wanted), "{}", text);
            let scanned = remote.ask(|source| resolve(source, None, &catalog, &selector, &NoRegex));
            prop_assert_eq!(scanned.as_ref(), Ok(&wanted));
            let alive: Vec<&SeriesName> =
                live.resolve(&selector, &NoRegex).into_iter().filter_map(|number| live.name(number)).collect();
            prop_assert_eq!(alive, wanted.iter().map(|entry| &entry.name).collect::<Vec<_>>());
        }
    }

    #[test]
    fn prefixes_are_completed(names in names(), prefix in "[a-c]{0,2}", limit in 0_usize..20) {
        let (bytes, _, index_at) = stream(&names);
        let remote = Remote::new(bytes);
        let index = remote.ask(|source| Index::open(source, index_at.clone())).unwrap();
        let mut live = Live::new();
        let mut metrics = BTreeSet::new();
        let mut tags: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for name in &names {
            live.add(name).unwrap();
            metrics.insert(name.metric().into_owned());
            for (tag, value) in name.tags() {
                tags.entry(tag.into_owned()).or_default().insert(value.into_owned());
            }
        }
        let wanted = prefixed(metrics.iter(), &prefix, limit);
        prop_assert_eq!(&remote.ask(|source| index.suggest_metrics(source, &prefix, limit)).unwrap(), &wanted);
        prop_assert_eq!(live.suggest_metrics(&prefix, limit), wanted);
        let wanted = prefixed(tags.keys(), "", limit);
        prop_assert_eq!(&remote.ask(|source| index.suggest_tags(source, "", limit)).unwrap(), &wanted);
        prop_assert_eq!(live.suggest_tags("", limit), wanted);
        for tag in ["s", "t", "u v", "none"] {
            let wanted = prefixed(tags.get(tag).into_iter().flatten(), &prefix, limit);
            let stored = remote.ask(|source| index.suggest_values(source, tag, &prefix, limit)).unwrap();
            prop_assert_eq!(&stored, &wanted);
            prop_assert_eq!(live.suggest_values(tag, &prefix, limit), wanted);
        }
    }

    #[test]
    fn catalogs_are_read_by_name_and_by_position(names in names(), begin in 0_u32..300, len in 0_u32..40, gap in 1_u32..9) {
        let (bytes, catalog_at, _) = stream(&names);
        let remote = Remote::new(bytes);
        let catalog = remote.ask(|source| Catalog::open(source, catalog_at.clone())).unwrap();
        let ranges = [begin..begin + len, begin + len + gap..begin + len + gap + 5];
        let wanted: Vec<CatalogEntry> = (0..)
            .zip(&names)
            .filter(|(position, _)| ranges.iter().any(|range| range.contains(position)))
            .map(|(position, name)| entry(position, name))
            .collect();
        prop_assert_eq!(remote.ask(|source| catalog.entries(source, &ranges)), Ok(wanted));
        for (position, name) in (0..).zip(&names).step_by(17) {
            let found = remote.ask(|source| catalog.find(source, name.name_ref())).unwrap();
            prop_assert_eq!(found, Some(entry(position, name)));
            let other = SeriesName::new(&(name.metric() + "~"), []).unwrap();
            prop_assert_eq!(remote.ask(|source| catalog.find(source, other.name_ref())), Ok(None));
        }
    }

    #[test]
    fn damage_is_an_error_or_a_wrong_answer_and_never_worse(
        names in names(),
        at in any::<prop::sample::Index>(),
        flip in 1_u8..,
        cut in any::<prop::sample::Index>(),
    ) {
        let (mut bytes, catalog_at, index_at) = stream(&names);
        let section = 77..index_at.end as usize;
        let place = section.start + at.index(section.len());
        bytes[place] ^= flip;
        read_everything(&bytes, catalog_at.clone(), index_at.clone());
        bytes[place] ^= flip;
        let cut = |range: &Range<u64>| range.start..range.start + cut.index((range.end - range.start) as usize) as u64;
        prop_assert!(Catalog::open(bytes.as_slice(), cut(&catalog_at)).is_err_or_need());
        prop_assert!(Index::open(bytes.as_slice(), cut(&index_at)).is_err_or_need());
        read_everything(&bytes, index_at, catalog_at);
    }
}

/// Whether something that can't be opened was refused.
trait Refused {
    fn is_err_or_need(&self) -> bool;
}

impl<T, E> Refused for Result<Lookup<T>, E> {
    fn is_err_or_need(&self) -> bool {
        !matches!(self, Ok(Lookup::Found(_)))
    }
}

/// Asks every question; answers don't matter, ending does.
fn read_everything(bytes: &[u8], catalog_at: Range<u64>, index_at: Range<u64>) {
    let catalog = Catalog::open(bytes, catalog_at);
    let index = Index::open(bytes, index_at);
    if let Ok(Lookup::Found(catalog)) = &catalog {
        let _ = catalog.entries(bytes, &[0..10, 20..u32::MAX]);
        let _ = catalog.find(bytes, SeriesName::parse("b{s=\"a\"}").unwrap().name_ref());
    }
    if let Ok(Lookup::Found(index)) = &index {
        for text in ["a", "{s=\"a\"}", "b{t=~\"a|b\"}", "{}"] {
            let selector = Selector::parse(text).unwrap();
            let _ = index.candidates(bytes, &selector);
            if let Ok(Lookup::Found(catalog)) = &catalog {
                let _ = resolve(bytes, Some(index), catalog, &selector, &NoRegex);
            }
        }
        let _ = index.suggest_metrics(bytes, "a", 100);
        let _ = index.suggest_tags(bytes, "", 100);
        let _ = index.suggest_values(bytes, "s", "", 100);
    }
}

/// A fleet: 12,500 devices of 8 fields in 100 sites.
fn fleet() -> BTreeSet<SeriesName> {
    let fields = ["battery", "co2", "humidity", "linkquality", "power", "pressure", "temperature", "voltage"];
    (0..100_000_usize)
        .map(|number| {
            let device = format!("0x{:012x}", (number / 8).wrapping_mul(0x9E37_79B9) % (1 << 40));
            let site = format!("site-{}", number / 8 % 100);
            SeriesName::new(fields[number % 8], [("device", device.as_str()), ("site", site.as_str())])
                .unwrap()
        })
        .collect()
}

#[test]
fn a_hundred_thousand_series_stay_small() {
    let names = fleet();
    let (bytes, catalog_at, index_at) = stream(&names);
    let each = |range: &Range<u64>| (range.end - range.start) as f64 / names.len() as f64;
    let text = names.iter().map(|name| name.as_str().len()).sum::<usize>() as f64 / names.len() as f64;
    std::eprintln!(
        "100,000 series, names of {text:.1} bytes: catalog {:.2}, index {:.2} bytes a series",
        each(&catalog_at),
        each(&index_at)
    );
    assert!(each(&catalog_at) < 18.0 && each(&index_at) < 9.0);
    let catalog = Remote::new(bytes.clone()).ask(|source| Catalog::open(source, catalog_at.clone())).unwrap();
    let Ok(Lookup::Found(all)) =
        catalog.entries(bytes.as_slice(), core::slice::from_ref(&(0..catalog.len())))
    else {
        panic!("every byte is there");
    };
    assert!(all.iter().map(|entry| &entry.name).eq(&names));
    for (selector, series, bytes_max) in [
        ("temperature{device=\"0x000000000000\"}", 1, 48_000),
        ("{device=\"0x000000000000\"}", 8, 64_000),
        ("{device=\"none\"}", 0, 40_000),
    ] {
        let remote = Remote::new(bytes.clone());
        let catalog = remote.ask(|source| Catalog::open(source, catalog_at.clone())).unwrap();
        let index = remote.ask(|source| Index::open(source, index_at.clone())).unwrap();
        let opened = remote.bytes_read();
        let selector = Selector::parse(selector).unwrap();
        let candidates = remote.ask(|source| index.candidates(source, &selector)).unwrap();
        let found =
            remote.ask(|source| resolve(source, Some(&index), &catalog, &selector, &NoRegex)).unwrap();
        std::eprintln!(
            "{selector}: opening {opened} bytes, then {} in {} rounds; {} candidates, {} series",
            remote.bytes_read() - opened,
            remote.rounds.borrow(),
            count(&candidates),
            found.len()
        );
        assert_eq!(found.len(), series);
        assert!(remote.bytes_read() <= bytes_max);
    }
}

#[test]
fn one_series_takes_little() {
    let names = BTreeSet::from([SeriesName::parse("m{device=\"x\"}").unwrap()]);
    let (_, catalog, index) = stream(&names);
    assert!(catalog.end - catalog.start < 48 && index.end - index.start < 128, "{catalog:?} {index:?}");
}

#[test]
fn names_out_of_order_are_refused() {
    let mut writer = CatalogWriter::new();
    let name = SeriesName::parse("b").unwrap();
    writer.push(name.name_ref(), ValueKind::Float, "").unwrap();
    assert!(writer.push(name.name_ref(), ValueKind::Float, "").is_err());
    assert!(writer.push(SeriesName::parse("a").unwrap().name_ref(), ValueKind::Float, "").is_err());
    assert!(
        writer.push(SeriesName::parse("c").unwrap().name_ref(), ValueKind::Float, &"u".repeat(256)).is_err()
    );
}
