//! Limits of an item's pages: the processor time and the time by the clock of all together, and the
//! memory of the one that is open.

use crate::{
    error::RenderError,
    process_group::{GroupUsage, ProcessGroup},
    render_time::{CLOCK_FACTOR, RenderTime, SpentTime},
};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Maximum memory of a page, in megabytes.
const MAX_MEGABYTES: u64 = 512;
/// Interval of measuring the browser's memory and time.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Limits of one page within its item's budget. Only Linux reports memory and processor time;
/// elsewhere the clock counts, and the limit of the browser's own heap.
#[derive(Clone, Debug)]
pub(crate) struct PageLimits {
    group: ProcessGroup,
    timeout: Duration,
    budget: RenderTime,
    /// Time of the item's earlier pages.
    earlier: SpentTime,
    /// Usage of the browser before the page was opened; `None` if the system does not report it.
    before: Option<GroupUsage>,
    /// Clock time for which the page was worked on.
    elapsed: Duration,
}

impl PageLimits {
    /// Limits of a page that is opened now.
    pub fn new(group: ProcessGroup, timeout: Duration, budget: RenderTime) -> Self {
        let (earlier, before) = (budget.spent(), group.usage());
        Self { group, timeout, budget, earlier, before, elapsed: Duration::ZERO }
    }

    /// Refuses a further page of an item that has used up its time.
    pub fn check(budget: &RenderTime, timeout: Duration) -> Result<(), RenderError> {
        budget.spent().limit_error(timeout).map_or(Ok(()), Err)
    }

    /// Works on the page as long as it keeps its limits.
    pub async fn enforce<T>(
        &mut self,
        work: impl Future<Output = Result<T, RenderError>>,
    ) -> Result<T, RenderError> {
        let begun = Instant::now();
        let worked = tokio::select! {
            worked = work => worked,
            error = self.exceeded(begun) => Err(error),
        };
        self.elapsed += begun.elapsed();
        self.budget.record(self.spent(self.elapsed, self.group.usage()));
        worked
    }

    /// Waits until the page is beyond a limit.
    async fn exceeded(&self, begun: Instant) -> RenderError {
        let clock = self.timeout * CLOCK_FACTOR;
        loop {
            let elapsed = self.elapsed + begun.elapsed();
            let remaining = clock.saturating_sub(self.earlier.clock + elapsed);
            sleep(if remaining.is_zero() { LOOK_INTERVAL } else { remaining.min(LOOK_INTERVAL) })
                .await;
            let now = self.group.usage();
            let taken = self.kilobytes(now);
            if taken > MAX_MEGABYTES * 1024 {
                return RenderError::TooMuchMemory(MAX_MEGABYTES);
            }
            let spent = self.spent(self.elapsed + begun.elapsed(), now);
            if let Some(error) = spent.limit_error(self.timeout) {
                return error;
            }
        }
    }

    /// Memory beyond that of the browser without the page.
    fn kilobytes(&self, now: Option<GroupUsage>) -> u64 {
        let usage = self.before.zip(now);
        usage.map_or(0, |(before, now)| now.kilobytes.saturating_sub(before.kilobytes))
    }

    /// Time of all pages of the item, if this one was worked on for `elapsed`.
    fn spent(&self, elapsed: Duration, now: Option<GroupUsage>) -> SpentTime {
        let own = |of: fn(GroupUsage) -> Duration| {
            let usage = self.before.zip(now);
            usage.map_or(Duration::ZERO, |(before, now)| of(now).saturating_sub(of(before)))
        };
        SpentTime {
            processor: self.earlier.processor + own(|usage| usage.processor_time),
            clock: self.earlier.clock + elapsed,
            waiting: self.earlier.waiting + own(|usage| usage.waiting_time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;
    use tokio::process::Command;

    /// Holds a page of this item open for this time.
    async fn page(budget: &RenderTime, seconds: u64) -> Result<(), RenderError> {
        let child = Command::new("true").stdin(Stdio::null()).spawn().unwrap();
        let group = ProcessGroup::for_child(&child);
        let timeout = Duration::from_secs(10);
        PageLimits::check(budget, timeout)?;
        let mut limits = PageLimits::new(group, timeout, budget.clone());
        let work = async {
            sleep(Duration::from_secs(seconds)).await;
            Ok(())
        };
        limits.enforce(work).await
    }

    #[tokio::test(start_paused = true)]
    async fn pages_of_an_item_share_its_time_limit() {
        let seconds = u64::from(10 * CLOCK_FACTOR);
        let unsettled = Err(RenderError::Unsettled(Duration::from_secs(10)));
        let item = RenderTime::default();
        assert_eq!(page(&item, seconds * 2 / 5).await, Ok(()));
        assert_eq!(page(&item, seconds * 2 / 5).await, Ok(()));
        assert_eq!(page(&item, seconds * 2 / 5).await, unsettled);
        assert_eq!(page(&item, 0).await, unsettled, "nothing is left");
        assert_eq!(page(&RenderTime::default(), seconds * 2 / 5).await, Ok(()), "another item");
    }
}
