//! Units of series: a few texts, shared by all that have them.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;

/// The units seen so far.
#[derive(Debug, Default)]
pub(crate) struct Units(BTreeSet<Arc<str>>);

impl Units {
    /// The one copy of `unit`.
    pub(crate) fn share(&mut self, unit: &str) -> Arc<str> {
        if let Some(known) = self.0.get(unit) {
            return Arc::clone(known);
        }
        let shared: Arc<str> = unit.into();
        self.0.insert(Arc::clone(&shared));
        shared
    }
}
