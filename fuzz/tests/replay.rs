//! Every input of the corpus under its target, and a fixed number of changes of each.
//!
//! One test, because memory is counted for the whole process.

use siltstone_fuzz::corpus;
use siltstone_fuzz::mutator::Random;
use siltstone_fuzz::targets::TARGETS;
use siltstone_fuzz::trial::trial;

#[test]
fn the_corpus_and_changes_of_it_end_in_answers_or_errors() {
    for target in TARGETS {
        let inputs = corpus::inputs(target.name).expect("a corpus for every target");
        assert!(!inputs.is_empty(), "{}: no input", target.name);
        for (name, input) in &inputs {
            if let Err(sentence) = trial(target, input) {
                panic!("{name}: {sentence}");
            }
        }
        for seed in 0..target.replays {
            let mut random = Random::new(seed);
            let (_, input) = &inputs[random.below(inputs.len())];
            let (_, other) = &inputs[random.below(inputs.len())];
            let changed = target.mutate(input, other, &mut random);
            if let Err(sentence) = trial(target, &changed) {
                panic!("seed {seed}: {sentence}; input {changed:02x?}");
            }
        }
    }
}

/// A target that allocates by a number it read, and one that panics, are found out.
#[test]
#[ignore = "counts memory for the whole process: run alone, by the next line of the soak"]
fn the_harness_finds_what_it_looks_for() {
    let greedy = siltstone_fuzz::targets::Target {
        name: "greedy",
        run: |bytes| drop(vec![1u8; usize::from(bytes[0]) << 20]),
        base_bytes: 1 << 20,
        bytes_a_byte: 64,
        is_of_blocks: false,
        replays: 0,
    };
    assert!(trial(&greedy, &[0]).is_ok());
    assert!(trial(&greedy, &[9]).is_err_and(|sentence| sentence.contains("bytes of memory")));
    assert!(trial(&greedy, &[]).is_err_and(|sentence| sentence.contains("index out of bounds")));
}
