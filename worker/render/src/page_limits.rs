//! Limits of a page: the processor time, the time by the clock and the memory of its browser.

use crate::{
    error::RenderError,
    process_group::{GroupUsage, ProcessGroup},
};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Maximum memory of a page, in megabytes.
const MAX_MEGABYTES: u64 = 512;
/// Clock time allowed for each second of processor time, since a busy machine is no fault of the
/// code.
const CLOCK_FACTOR: u32 = 3;
/// Interval of measuring the browser's memory and time.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Limits of one page. Only Linux reports memory and processor time; elsewhere the clock counts,
/// and the limit of the browser's own heap.
#[derive(Clone, Debug)]
pub(crate) struct PageLimits {
    group: ProcessGroup,
    timeout: Duration,
    /// Usage of the browser before the page was opened; none if the system does not report it.
    before: Option<GroupUsage>,
    /// Clock time for which the page was worked on.
    elapsed: Duration,
}

impl PageLimits {
    /// Limits of a page that is opened now.
    pub fn new(group: ProcessGroup, timeout: Duration) -> Self {
        Self { group, timeout, before: group.usage(), elapsed: Duration::ZERO }
    }

    /// Works on the page as long as it keeps its limits.
    pub async fn hold<T>(
        &mut self,
        work: impl Future<Output = Result<T, RenderError>>,
    ) -> Result<T, RenderError> {
        let begun = Instant::now();
        let worked = tokio::select! {
            worked = work => worked,
            error = self.exceeded(begun) => Err(error),
        };
        self.elapsed += begun.elapsed();
        worked
    }

    /// Waits until the page is beyond a limit.
    async fn exceeded(&self, begun: Instant) -> RenderError {
        let clock = self.timeout * if self.before.is_some() { CLOCK_FACTOR } else { 1 };
        loop {
            let left = clock.saturating_sub(self.elapsed + begun.elapsed());
            sleep(left.min(LOOK_INTERVAL)).await;
            if left.is_zero() {
                return RenderError::Unsettled(self.timeout);
            }
            let Some((before, now)) = self.before.zip(self.group.usage()) else { continue };
            if now.kilobytes.saturating_sub(before.kilobytes) > MAX_MEGABYTES * 1024 {
                return RenderError::TooMuchMemory(MAX_MEGABYTES);
            }
            if now.processor_time.saturating_sub(before.processor_time) > self.timeout {
                return RenderError::Unsettled(self.timeout);
            }
        }
    }
}
