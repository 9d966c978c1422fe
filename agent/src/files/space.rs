//! How much room the segments may take: what the configuration says, or a share of what was free at the first start.

use std::fs;
use std::io;

use super::atomic::replace_file;
use super::error::FileError;
use crate::config::DataConfig;

/// Percent of the free space that a store takes of its own accord.
const SHARE_PERCENT: u64 = 80;
/// What the journal takes: four files of 16 MiB.
const JOURNAL_BYTES: u64 = 4 * (16 << 20);

/// Bytes that the segments of the store may have; where the configuration leaves it open, the answer of the first start
/// is kept in `state/max_bytes`.
///
/// # Errors
///
/// Where the free space can't be asked, or the answer not kept.
pub(crate) fn limit(config: &DataConfig) -> Result<u64, FileError> {
    if let Some(bytes) = config.max_bytes {
        return Ok(bytes);
    }
    let path = config.dir.join("state").join("max_bytes");
    if let Some(bytes) = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok()) {
        return Ok(bytes);
    }
    let kept = || -> io::Result<u64> {
        fs::create_dir_all(config.dir.join("state"))?;
        let volume = rustix::fs::statvfs(&config.dir)?;
        let mut free = volume.f_bavail.saturating_mul(volume.f_frsize);
        if !config.dir.join("journal").exists() {
            // It is going to be made, and is none of the segments.
            free = free.saturating_sub(JOURNAL_BYTES);
        }
        let bytes = (free / 100 * SHARE_PERCENT).max(config.segment_max_bytes.saturating_mul(4));
        replace_file(&path, format!("{bytes}\n").as_bytes())?;
        Ok(bytes)
    };
    kept().map_err(|source| FileError::new("keep the size of the store in", &path, source))
}

#[cfg(test)]
mod tests {
    use super::limit;
    use crate::config::DataConfig;
    use crate::test_dir::TestDir;

    #[test]
    fn the_first_answer_is_kept() {
        let dir = TestDir::new("space");
        let config = DataConfig { dir: dir.path().join("store"), ..DataConfig::default() };
        let first = limit(&config).unwrap();
        assert!(first >= 4 * config.segment_max_bytes);
        std::fs::write(dir.path().join("store/state/max_bytes"), "777\n").unwrap();
        assert_eq!(limit(&config).unwrap(), 777);
        assert_eq!(limit(&DataConfig { max_bytes: Some(5), ..config }).unwrap(), 5);
    }
}
