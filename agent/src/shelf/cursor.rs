//! Where the next page begins: a series by its name, and an instant in it.
//!
//! The name, not a position: series may come into being between two pages.

use siltstone_core::query::Resume;
use siltstone_core::series::SeriesName;

use crate::api::ApiError;

/// The cursor for `resume` in the list of `names`.
pub(super) fn print(resume: Resume, names: &[SeriesName]) -> Option<String> {
    let name = names.get(resume.series as usize)?;
    Some(format!("{}:{name}", resume.at_ns))
}

/// Where `cursor` points into the list of `names`, which are in order; behind the last where the
/// rest is gone.
pub(super) fn parse(cursor: &str, names: &[SeriesName]) -> Result<Resume, ApiError> {
    let wrong = || ApiError::bad("`cursor` must be what an answer gave as `next`");
    let (at_ns, name) = cursor.split_once(':').ok_or_else(wrong)?;
    let at_ns = at_ns.parse().map_err(|_| wrong())?;
    let name = SeriesName::parse(name).map_err(|_| wrong())?;
    let position = names.partition_point(|other| *other < name);
    let same = names.get(position) == Some(&name);
    let series = u32::try_from(position).map_err(|_| wrong())?;
    Ok(Resume { series, at_ns: if same { at_ns } else { i64::MIN } })
}

#[cfg(test)]
mod tests {
    use siltstone_core::query::Resume;
    use siltstone_core::series::SeriesName;

    use super::{parse, print};

    #[test]
    fn points_at_the_series_wherever_it_stands_now() {
        let name = |text: &str| SeriesName::parse(text).unwrap();
        let names = [name("a"), name("c{x=\"y:z\"}")];
        let resume = Resume { series: 1, at_ns: -7 };
        let cursor = print(resume, &names).unwrap();
        assert_eq!(parse(&cursor, &names).unwrap(), resume);
        let more = [name("a"), name("b"), name("c{x=\"y:z\"}")];
        assert_eq!(parse(&cursor, &more).unwrap(), Resume { series: 2, at_ns: -7 });
        assert_eq!(parse(&cursor, &names[..1]).unwrap().series, 1);
        for wrong in ["", "7", "x:a", "7:{"] {
            assert!(parse(wrong, &names).is_err(), "{wrong}");
        }
    }
}
