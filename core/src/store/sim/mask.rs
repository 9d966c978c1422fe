//! Fates as text, so that a failure can name exactly what became of every operation.
//!
//! One letter an operation: `a` applied, `l` lost, `s` size only, or `t` and eight letters for the sectors of a
//! torn block: `o` old, `n` new, `z` zeros, `f` ones, `r` random. No operation at all is `-`.

use alloc::string::String;
use alloc::vec::Vec;

use super::crash::{Fate, SECTORS, Sector};

/// The text of `fates`.
pub fn mask_of(fates: &[Fate]) -> String {
    let mut mask = String::new();
    for fate in fates {
        match fate {
            Fate::Applied => mask.push('a'),
            Fate::Lost => mask.push('l'),
            Fate::SizeOnly => mask.push('s'),
            Fate::Torn(sectors) => {
                mask.push('t');
                mask.extend(sectors.iter().map(|sector| match sector {
                    Sector::Old => 'o',
                    Sector::New => 'n',
                    Sector::Zero => 'z',
                    Sector::Ones => 'f',
                    Sector::Random => 'r',
                }));
            }
        }
    }
    if mask.is_empty() { String::from("-") } else { mask }
}

/// The fates that a text means; `None` where it is no such text.
pub fn fates_of(mask: &str) -> Option<Vec<Fate>> {
    if mask == "-" {
        return Some(Vec::new());
    }
    let mut fates = Vec::new();
    let mut letters = mask.chars();
    while let Some(letter) = letters.next() {
        fates.push(match letter {
            'a' => Fate::Applied,
            'l' => Fate::Lost,
            's' => Fate::SizeOnly,
            't' => {
                let mut sectors = [Sector::Old; SECTORS];
                for sector in &mut sectors {
                    *sector = match letters.next()? {
                        'o' => Sector::Old,
                        'n' => Sector::New,
                        'z' => Sector::Zero,
                        'f' => Sector::Ones,
                        'r' => Sector::Random,
                        _ => return None,
                    };
                }
                Fate::Torn(sectors)
            }
            _ => return None,
        });
    }
    Some(fates)
}
