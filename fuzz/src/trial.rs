//! One input under one target: does it panic, does it take more memory than its input explains?

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use peak_alloc::PeakAlloc;
use rustix::time::{ClockId, clock_gettime};

use crate::targets::Target;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Runs `input`; says what is wrong.
///
/// # Errors
/// A sentence: the panic's, or how much memory was taken.
pub fn trial(target: &Target, input: &[u8]) -> Result<(), String> {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let ran = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let taken = MEMORY.peak_usage().saturating_sub(before);
    if let Err(panic) = ran {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        return Err(format!("{}: {words}", target.name));
    }
    let allowed = target.base_bytes + target.bytes_a_byte * input.len();
    if taken > allowed {
        return Err(format!("{}: {taken} bytes of memory for {} of input", target.name, input.len()));
    }
    Ok(())
}

/// How long this thread has had a processor.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
