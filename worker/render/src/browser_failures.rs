//! Consecutive browser failures, after which a process stops rendering.

use crate::error::{RenderError, RendererError};
use parking_lot::Mutex;

/// Number of failed starts and unexpected ends in a row after which no further browser is started.
const MAX_FAILURES: u32 = 5;

/// Count of failures since a browser last drew a page.
#[derive(Debug, Default)]
pub(crate) struct BrowserFailures(Mutex<FailuresInARow>);

impl BrowserFailures {
    /// Refuses a further page once there were too many failures.
    pub fn check(&self) -> Result<(), RendererError> {
        let failures = self.0.lock();
        if failures.count < MAX_FAILURES {
            return Ok(());
        }
        Err(RendererError::GaveUp { failures: failures.count, last: failures.last.clone() })
    }

    /// Counts a failure of the browser.
    pub fn count(&self, error: &RenderError) {
        // Concurrent pages may fail after the limit is reached; do not count them.
        if let RenderError::Browser(error) = error
            && self.check().is_ok()
        {
            let mut failures = self.0.lock();
            failures.count += 1;
            failures.last = error.to_string();
        }
    }

    /// Resets the count, unless the limit was reached.
    pub fn reset(&self) {
        if self.check().is_ok() {
            *self.0.lock() = FailuresInARow::default();
        }
    }
}

#[derive(Debug, Default)]
struct FailuresInARow {
    count: u32,
    last: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_failures_disable_the_browser() {
        let (failures, ended) =
            (BrowserFailures::default(), RendererError::Ended("gone".to_owned()));
        let ended = RenderError::Browser(ended);
        (1..MAX_FAILURES).for_each(|_| failures.count(&ended));
        failures.count(&RenderError::Empty { replaced: String::new() });
        assert_eq!(failures.check(), Ok(()), "the code's faults are not the browser's");
        failures.reset();
        (1..MAX_FAILURES).for_each(|_| failures.count(&ended));
        assert_eq!(failures.check(), Ok(()), "a page was drawn between them");
        failures.count(&ended);
        failures.reset();
        failures.count(&ended);
        assert_eq!(
            failures.check().unwrap_err().to_string(),
            "the renderer gave up after 5 failures of its browser in a row, the last one: the \
             browser ended: gone; repair or replace the browser (juror doctor tests it)"
        );
    }
}
