//! Time that the pages of one item may take together.

use crate::error::RenderError;
use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};

/// Clock time allowed for each second of processor time, since a busy machine is no fault of the
/// code.
pub(crate) const CLOCK_FACTOR: u32 = if cfg!(target_os = "linux") { 3 } else { 1 };
/// The same on a machine that has no processor for the page: time of waiting for one does not count
/// until then.
const MAX_CLOCK_FACTOR: u32 = 10;

/// Time that the pages of one item have taken, against the renderer's time limit. The pages are
/// open one after the other. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct RenderTime(Arc<Mutex<SpentTime>>);

/// Time of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpentTime {
    /// Processor time; zero where the system does not report it.
    pub processor: Duration,
    /// Time by the clock during which pages were worked on.
    pub clock: Duration,
    /// Time for which their processes waited for a processor; zero where the system does not report
    /// it.
    pub waiting: Duration,
}

impl RenderTime {
    pub(crate) fn spent(&self) -> SpentTime {
        *self.0.lock()
    }

    pub(crate) fn record(&self, spent: SpentTime) {
        *self.0.lock() = spent;
    }
}

impl SpentTime {
    /// The error of pages that have taken more than this time: of the code, or of a machine that
    /// had no processor for them. None within the limits.
    pub fn limit_error(self, timeout: Duration) -> Option<RenderError> {
        let max_clock = timeout * MAX_CLOCK_FACTOR;
        if self.processor > timeout
            || self.clock.saturating_sub(self.waiting) >= timeout * CLOCK_FACTOR
        {
            return Some(RenderError::Unsettled(timeout));
        }
        (self.clock >= max_clock).then_some(RenderError::Overloaded(max_clock))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_of_the_code_and_waiting_for_a_processor_is_not() {
        let seconds = |[processor, clock, waiting]: [u64; 3]| {
            let [processor, clock, waiting] = [processor, clock, waiting].map(Duration::from_secs);
            SpentTime { processor, clock, waiting }.limit_error(Duration::from_secs(10))
        };
        let unsettled = Some(RenderError::Unsettled(Duration::from_secs(10)));
        let (clock, max_clock) = (u64::from(10 * CLOCK_FACTOR), u64::from(10 * MAX_CLOCK_FACTOR));
        assert_eq!(seconds([9, clock - 1, 0]), None);
        assert_eq!(seconds([11, 12, 0]), unsettled);
        assert_eq!(seconds([1, clock, 0]), unsettled, "the page waits for something else");
        assert_eq!(seconds([4, clock + 10, 20]), None, "it waits for a processor");
        assert_eq!(seconds([11, clock + 10, 20]), unsettled, "which it then had");
        let busy = Some(RenderError::Overloaded(Duration::from_secs(max_clock)));
        assert_eq!(seconds([4, max_clock, max_clock]), busy);
    }
}
