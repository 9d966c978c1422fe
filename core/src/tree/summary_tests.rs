//! Every field of a summary against recomputation from the points, over random splits and trees.

use super::{Hold, Laws, Numbers, Summary, square_root, text_key};
use crate::codec::{Rows, Values};
use crate::point::Value;
use crate::tree::{Number, Sums, summarize, table};
use proptest::{collection::vec, prelude::*};

const LAWS: Laws = Laws { max_hold_ns: 1_000_000_000 };

/// Owned values, so that cases can be generated.
#[derive(Clone, Debug)]
enum Owned {
    Float(f64),
    Integer(i64),
    Boolean(bool),
    State(&'static str),
    Gap,
}

impl Owned {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Float(float) => Value::Float(*float),
            Self::Integer(integer) => Value::Integer(*integer),
            Self::Boolean(boolean) => Value::Boolean(*boolean),
            Self::State(text) => Value::State(text),
            Self::Gap => Value::Gap,
        }
    }
}

type Points = Vec<(i64, Owned)>;

/// Rising times with regular stretches, outages longer than the hold, and values of `kind`.
fn points(value: impl Strategy<Value = Owned> + Clone + 'static) -> impl Strategy<Value = Points> {
    let step = prop_oneof![6 => Just(10_000_000i64), 2 => 1..900_000_000i64, 1 => Just(5_000_000_000i64)];
    let value = prop_oneof![12 => value, 1 => Just(Owned::Gap)];
    vec((step, value), 1..60).prop_map(|rows| {
        let mut at = 1_700_000_000_000_000_000;
        rows.into_iter()
            .map(|(step, value)| {
                at += step;
                (at, value)
            })
            .collect()
    })
}

fn decimal() -> impl Strategy<Value = Owned> + Clone {
    (-5000i32..5000, 0u8..3).prop_map(|(d, k)| Owned::Float(f64::from(d) / 10f64.powi(i32::from(k))))
}

fn any_float() -> impl Strategy<Value = Owned> + Clone {
    prop_oneof![
        4 => (-1e6..1e6).prop_map(Owned::Float),
        1 => Just(Owned::Float(f64::NAN)),
        1 => Just(Owned::Float(-0.0)),
        1 => (-100i32..100).prop_map(|d| Owned::Float(f64::from(d))),
    ]
}

fn integer() -> impl Strategy<Value = Owned> + Clone {
    prop_oneof![any::<i64>().prop_map(Owned::Integer), (0i64..99).prop_map(Owned::Integer)]
}

fn word() -> impl Strategy<Value = Owned> + Clone {
    prop_oneof![Just("on"), Just("off"), Just("heating")].prop_map(Owned::State)
}

/// The sums, fields and laws, straight from the definition and nothing shared with the code under test.
fn naive(points: &Points) -> Naive {
    let mut naive = Naive::default();
    let mut before: Option<(i64, f64)> = None;
    let mut held = true;
    for (at, value) in points {
        let x = match value {
            Owned::Gap => {
                naive.gaps += 1;
                held = false;
                continue;
            }
            Owned::State(_) => continue,
            Owned::Float(x) if x.is_nan() => {
                naive.nans += 1;
                continue;
            }
            Owned::Float(x) => *x,
            Owned::Integer(i) => *i as f64,
            Owned::Boolean(b) => f64::from(u8::from(*b)),
        };
        if let Some((then, y)) = before {
            naive.resets += u64::from(x < y);
            naive.fallen += if x < y { y } else { 0.0 };
            naive.changes += u64::from(x != y);
            let seconds = (at - then) as f64 / 1e9;
            if held && at - then <= LAWS.max_hold_ns {
                naive.stepwise += y * seconds;
                naive.linear += (x + y) / 2.0 * seconds;
            }
        }
        before = Some((*at, x));
        held = true;
        naive.xs.push((*at, x));
    }
    naive
}

#[derive(Default)]
struct Naive {
    xs: Vec<(i64, f64)>,
    gaps: u64,
    nans: u64,
    resets: u64,
    fallen: f64,
    changes: u64,
    stepwise: f64,
    linear: f64,
}

fn close(a: f64, b: f64, scale: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * scale.max(1.0)
}

fn check(points: &Points, summary: &Summary) {
    let naive = naive(points);
    let first = points.first().expect("not empty").0;
    let last = points.last().expect("not empty").0;
    assert_eq!((summary.begin, summary.end), (first, last + 1));
    assert_eq!((summary.gaps, summary.nans), (naive.gaps, naive.nans));
    let words: Vec<_> = points
        .iter()
        .filter_map(|(at, v)| if let Owned::State(t) = v { Some((*at, *t)) } else { None })
        .collect();
    assert_eq!(summary.rows(), points.len() as u64);
    if let Some((at, text)) = words.first() {
        let found = summary.words.expect("words");
        assert_eq!((found.count, found.first_at, found.first), (words.len() as u64, *at, text_key(text)));
        let changes = words.windows(2).filter(|w| w[0].1 != w[1].1).count();
        assert_eq!(found.changes, changes as u64);
        assert_eq!(found.last_at, words.last().expect("words").0);
    }
    let Some(numbers) = &summary.numbers else {
        assert!(naive.xs.is_empty());
        return;
    };
    check_numbers(numbers, &naive);
}

fn check_numbers(numbers: &Numbers, naive: &Naive) {
    let xs = &naive.xs;
    let count = xs.len() as u64;
    assert_eq!(numbers.count, count);
    assert_eq!((numbers.first_at, numbers.last_at), (xs[0].0, xs[xs.len() - 1].0));
    assert_eq!(numbers.first.as_f64().to_bits(), xs[0].1.to_bits());
    assert_eq!(numbers.last.as_f64().to_bits(), xs[xs.len() - 1].1.to_bits());
    let min = xs.iter().map(|x| x.1).fold(f64::INFINITY, f64::min);
    let max = xs.iter().map(|x| x.1).fold(f64::NEG_INFINITY, f64::max);
    assert_eq!((numbers.min.as_f64(), numbers.max.as_f64()), (min, max));
    let when = |m: f64| xs.iter().find(|x| x.1 == m).expect("there").0;
    // Integers beyond binary64 may share a float; the exact order then decides.
    if min.abs() < 9e15 && max.abs() < 9e15 {
        assert_eq!((numbers.min_at, numbers.max_at), (when(min), when(max)));
    }
    let scale: f64 = xs.iter().map(|x| x.1.abs()).sum();
    let mean = xs.iter().map(|x| x.1).sum::<f64>() / count as f64;
    let m2: f64 = xs.iter().map(|x| (x.1 - mean) * (x.1 - mean)).sum();
    assert!(close(numbers.sums.sum(), mean * count as f64, scale), "{numbers:?}");
    assert!(close(numbers.sums.m2(count), m2, scale * scale), "{} {m2}", numbers.sums.m2(count));
    assert!(close(numbers.stddev(), square_root(m2 / count as f64), scale));
    if numbers.resets.is_some() {
        assert_eq!(numbers.resets, Some(naive.resets));
        assert!(close(numbers.sums.fallen(), naive.fallen, scale));
        let increase = xs[xs.len() - 1].1 - xs[0].1 + naive.fallen;
        assert!(close(numbers.increase().expect("kept"), increase, scale));
    }
    if let Some(changes) = numbers.changes {
        assert_eq!(changes, naive.changes);
    }
    let (stepwise, linear) = numbers.integrals();
    assert!(close(stepwise, naive.stepwise, scale * 60.0), "{stepwise} {}", naive.stepwise);
    assert!(close(linear, naive.linear, scale * 60.0), "{linear} {}", naive.linear);
}

/// A tree over the points whose shape the seed decides.
fn tree(points: &[(i64, Owned)], seed: u64) -> Summary {
    if let [(at, value)] = points {
        return Summary::of_row(*at, &value.value());
    }
    let next = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let split = 1 + (next >> 33) as usize % (points.len() - 1);
    let (a, b) = points.split_at(split);
    tree(a, next).combine(&tree(b, next ^ 0xABCD), &LAWS)
}

/// The one-pass summary of a chunk of these points, all of one kind.
fn chunk(points: &Points) -> Summary {
    let timestamps: Vec<i64> = points.iter().map(|p| p.0).collect();
    let gaps: Vec<u16> = points
        .iter()
        .enumerate()
        .filter(|(_, p)| matches!(p.1, Owned::Gap))
        .map(|(row, _)| row as u16)
        .collect();
    let (mut floats, mut integers, mut booleans, mut codes) = (vec![], vec![], vec![], vec![]);
    let texts = ["on", "off", "heating"];
    let mut kind = 0;
    for (_, value) in points {
        match value {
            Owned::Integer(_) => kind = 1,
            Owned::Boolean(_) => kind = 2,
            Owned::State(_) => kind = 3,
            _ => {}
        }
        floats.push(if let Owned::Float(x) = value { *x } else { 0.0 });
        integers.push(if let Owned::Integer(x) = value { *x } else { 0 });
        booleans.push(matches!(value, Owned::Boolean(true)));
        codes.push(if let Owned::State(text) = value {
            texts.iter().position(|t| t == text).unwrap_or(0) as u16
        } else {
            0
        });
    }
    let values = match kind {
        0 => Values::Float(&floats),
        1 => Values::Integer(&integers),
        2 => Values::Boolean(&booleans),
        _ => Values::State { codes: &codes, texts: &texts },
    };
    summarize(&Rows { timestamps: &timestamps, values, gaps: &gaps }, &LAWS)
}

fn same_exact_sums(a: &Summary, b: &Summary) {
    if let (Some(a), Some(b)) = (&a.numbers, &b.numbers)
        && let (
            Sums::Exact { decimals, sum, squares, fallen },
            Sums::Exact { decimals: decimals_b, sum: sum_b, squares: squares_b, fallen: fallen_b },
        ) = (a.sums, b.sums)
    {
        assert_eq!((decimals, sum, squares), (decimals_b, sum_b, squares_b), "not of the tree's shape");
        // What fell away is kept together with the resets only.
        if a.resets.is_some() && b.resets.is_some() {
            assert_eq!(fallen, fallen_b);
        }
    }
}

fn everything(points: &Points, seed: u64) {
    let (built, fold) = (tree(points, seed), tree(points, seed ^ 77));
    check(points, &built);
    same_exact_sums(&built, &fold);
    let whole = chunk(points);
    check(points, &whole);
    same_exact_sums(&built, &whole);
    if let (Some(a), Some(b)) = (built.numbers, whole.numbers) {
        assert_eq!(matches!(a.hold, Hold::Step(_)), matches!(b.hold, Hold::Step(_)));
    }
    stored(points, seed);
}

/// What a table gives back is as true as what went in.
fn stored(points: &Points, seed: u64) {
    let cut = points.len().div_ceil(5);
    let references: Vec<_> = points
        .chunks(cut)
        .enumerate()
        .map(|(i, part)| crate::tree::Reference {
            series: 3,
            block: 10 + i as u32,
            slot: i as u16,
            level: 0,
            summary: tree(part, seed),
        })
        .collect();
    let mut bytes = vec![0; 8192];
    let len = table::encode(&references, true, &mut [0; 16], &mut bytes).expect("fits");
    assert_eq!(table::encoded_len(&references, true, &mut [0; 16]), Some(len));
    let mut cursor = crate::block::Cursor::new(&bytes[..len]);
    let back = table::decode(&mut cursor, 0, 9).expect("valid");
    assert!(cursor.rest().is_empty());
    assert_eq!(back.len(), references.len());
    for ((part, before), after) in points.chunks(cut).zip(&references).zip(&back) {
        assert_eq!(
            (before.series, before.block, before.slot, before.level),
            (3, after.block, after.slot, after.level)
        );
        check(&part.to_vec(), &after.summary);
        same_exact_sums(&before.summary, &after.summary);
        assert_eq!(before.summary.gap_before, after.summary.gap_before);
        assert_eq!(before.summary.gap_behind, after.summary.gap_behind);
        if let (Some(a), Some(b)) = (before.summary.numbers, after.summary.numbers) {
            assert_eq!((a.first, a.last, a.min, a.max), (b.first, b.last, b.min, b.max));
            assert_eq!(a.hold, b.hold);
        }
    }
    let all = back.iter().fold(Summary::EMPTY, |all, r| all.combine(&r.summary, &LAWS));
    check(points, &all);
}

proptest! {
    #[test]
    fn decimals(points in points(decimal()), seed: u64) {
        everything(&points, seed);
    }

    #[test]
    fn floats_off_the_grid(points in points(any_float()), seed: u64) {
        everything(&points, seed);
    }

    #[test]
    fn integers(points in points(integer()), seed: u64) {
        everything(&points, seed);
    }

    #[test]
    fn booleans(points in points(any::<bool>().prop_map(Owned::Boolean)), seed: u64) {
        everything(&points, seed);
    }

    #[test]
    fn states(points in points(word()), seed: u64) {
        everything(&points, seed);
    }

    #[test]
    fn kinds_mixed_in_one_series(
        points in points(prop_oneof![decimal(), word(), any::<bool>().prop_map(Owned::Boolean)]),
        seed: u64,
    ) {
        check(&points, &tree(&points, seed));
        stored(&points, seed);
    }

    #[test]
    fn any_bytes_end_in_an_answer(bytes in vec(any::<u8>(), 0..400)) {
        let _ = table::decode(&mut crate::block::Cursor::new(&bytes), 0, 0);
        let _ = crate::tree::node::decode(&bytes, 0);
        let _ = crate::tree::node::all(&bytes).count();
    }
}

#[test]
fn a_gauge_loses_its_resets_in_a_node_and_a_counter_keeps_them() {
    let zigzag: Points = (0..64).map(|i| (i, Owned::Float((i % 2) as f64))).collect();
    assert_eq!(chunk(&zigzag).numbers.expect("numbers").trimmed().resets, None);
    let counter: Points = (0..64).map(|i| (i, Owned::Float((i % 40) as f64))).collect();
    let kept = chunk(&counter).numbers.expect("numbers").trimmed();
    assert_eq!((kept.resets, kept.increase()), (Some(1), Some(62.0)));
    assert_eq!(Number::Float(39.0), kept.max);
}

#[test]
fn numbers_of_more_than_15_digits_do_not_make_sums_depend_on_the_tree() {
    let points: Points = [-331_385.039_087_519_2, 873_810.730_316_539, -331_385.039_087_519_2]
        .into_iter()
        .enumerate()
        .map(|(at, x)| (at as i64, Owned::Float(x)))
        .collect();
    for seed in 0..8 {
        everything(&points, seed);
    }
}

#[test]
fn the_documented_table() {
    let rows = [(1_000, 1.5), (2_000, 2.5), (3_000, 2.0)];
    let points: Points = rows.iter().map(|(at, x)| (*at, Owned::Float(*x))).collect();
    let reference =
        crate::tree::Reference { series: 0, block: 5, slot: 1, level: 0, summary: chunk(&points) };
    let mut bytes = [0; 128];
    let len = table::encode(&[reference], false, &mut [0; 1], &mut bytes).expect("fits");
    let hex: Vec<String> = bytes[..len].iter().map(|byte| format!("{byte:02X}")).collect();
    let head = "01 04 D0 0F E8 07 01 00 0A 00 02 00 06 00 00 00 00";
    let columns = "00 00 00 00 00 00 00 02 00 02 00 1E 00 0A 00 00 00 0A 00 00 00 64 00 04";
    assert_eq!(hex.join(" "), format!("{head} {columns}"));
}
