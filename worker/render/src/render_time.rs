//! Time that the pages of one item may take together.

use crate::error::RenderError;
use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};

/// Clock time allowed for each second of processor time, since a busy machine is no fault of the
/// code.
pub(crate) const CLOCK_FACTOR: u32 = if cfg!(target_os = "linux") { 3 } else { 1 };
/// Share of the clock time for which a page's processes wait for a processor on a machine that is too
/// busy.
const BUSY_SHARE: u32 = 3;

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
        let clock = timeout * CLOCK_FACTOR;
        match self {
            Self { processor, .. } if processor > timeout => Some(RenderError::Unsettled(timeout)),
            Self { clock: elapsed, .. } if elapsed < clock => None,
            Self { waiting, .. } if waiting >= clock / BUSY_SHARE => {
                Some(RenderError::Overloaded(clock))
            }
            _ => Some(RenderError::Unsettled(timeout)),
        }
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
        let clock = u64::from(10 * CLOCK_FACTOR);
        assert_eq!(seconds([9, clock - 1, clock - 1]), None);
        assert_eq!(seconds([11, 12, 0]), unsettled);
        assert_eq!(seconds([11, clock, clock]), unsettled, "the processor was there");
        assert_eq!(seconds([1, clock, 0]), unsettled, "the page waits for something else");
        let busy = Some(RenderError::Overloaded(Duration::from_secs(clock)));
        assert_eq!(seconds([4, clock, clock / 3]), busy);
    }
}
