//! Estimate whether the preferred priority has further messages at the broker. Only if it has none,
//! messages of the other priority are taken.
//!
//! The broker sends as many messages of the preferred priority as its prefetch allows, which is
//! slightly more than may be in progress: the rest waits here until a place is free. While fewer
//! are unacknowledged than the prefetch, the broker has no more, unless it has not yet processed
//! the latest ends of deliveries.

use parking_lot::Mutex;
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Number of preferred deliveries that are buffered here, unavailable to other consumers, while all
/// slots are taken.
const PREFETCH: u16 = 2;
/// Maximum time between the end of a delivery and the arrival of the one that follows from it.
const ROUND_TRIP: Duration = Duration::from_millis(500);

/// The preferred priority of one channel.
pub(super) struct PriorityWindow {
    prefetch: u16,
    deliveries: Mutex<Deliveries>,
}

/// Counts a delivery as outstanding until it is dropped.
pub(super) struct OutstandingDelivery(Arc<PriorityWindow>);

impl PriorityWindow {
    /// The window of a subscription with this many slots.
    pub(super) fn new(places: u16) -> Self {
        Self { prefetch: places.saturating_add(PREFETCH), deliveries: Mutex::default() }
    }

    /// Number of deliveries that the broker may send before they are ended.
    pub(super) fn prefetch(&self) -> u16 {
        self.prefetch
    }

    /// Counts one more outstanding delivery.
    pub(super) fn count(self: &Arc<Self>) -> OutstandingDelivery {
        self.deliveries.lock().out += 1;
        OutstandingDelivery(Arc::clone(self))
    }

    /// Time until which the broker may still have more of this priority to send; `None` if it has
    /// none.
    pub(super) fn stale_since(&self) -> Option<Instant> {
        let prefetch = usize::from(self.prefetch);
        let mut deliveries = self.deliveries.lock();
        deliveries.ended.retain(|ended| ended.elapsed() < ROUND_TRIP);
        let Deliveries { out, ended } = &*deliveries;
        let unheard = (out + ended.len()).checked_sub(prefetch)?;
        // An end among that many was followed by a delivery, if the broker had one.
        ended.get(unheard).map(|ended| *ended + ROUND_TRIP)
    }
}

impl Drop for OutstandingDelivery {
    fn drop(&mut self) {
        let mut deliveries = self.0.deliveries.lock();
        deliveries.out = deliveries.out.saturating_sub(1);
        deliveries.ended.push_back(Instant::now());
        // Older ends are no longer needed.
        while deliveries.ended.len() > usize::from(self.0.prefetch) {
            deliveries.ended.pop_front();
        }
    }
}

#[derive(Default)]
struct Deliveries {
    out: usize,
    /// Times of the last ends, oldest first.
    ended: VecDeque<Instant>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn priority_is_ambiguous_while_all_its_prefetched_messages_are_out_or_just_settled() {
        let preference = Arc::new(PriorityWindow::new(2));
        let mut out = VecDeque::from([preference.count(), preference.count()]);
        assert_eq!((preference.prefetch(), preference.stale_since()), (4, None));
        for _ in 0..2 {
            out.pop_front();
            out.push_back(preference.count());
        }
        let heard = Instant::now() + ROUND_TRIP;
        assert_eq!(preference.stale_since(), Some(heard));
        advance(ROUND_TRIP / 2).await;
        out.pop_front();
        assert_eq!(
            preference.stale_since(),
            Some(heard),
            "as soon as the first of them is heard of"
        );
        advance(ROUND_TRIP / 2).await;
        assert_eq!(preference.stale_since(), None);
    }
}
