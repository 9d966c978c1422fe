//! Files: the rim where bytes meet the disk.
//!
//! | file | idea |
//! | --- | --- |
//! | `atomic` | small files replaced whole: temporary file, flush, rename, flush of the directory |

mod atomic;

pub use atomic::{flush_directory, replace_file};
