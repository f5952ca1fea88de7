//! State shared by all clones, subscriptions and deliveries of one local queue.

use super::super::{DeadLetter, Message, Priority};
use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};
use tokio::{
    sync::{Notify, Semaphore},
    time::Instant,
};

#[derive(Debug)]
pub(super) struct QueueState<M> {
    state: Mutex<State<M>>,
    capacity: usize,
    pub(super) free_slots: Semaphore,
    pub(super) ready: Semaphore,
    /// Wakes sleepers when another delayed message may be due earlier.
    pub(super) rescheduled: Notify,
    /// Signal that the queue is closed and holds nothing.
    pub(super) drained: Notify,
}

#[derive(Debug)]
pub(super) struct State<M> {
    high: VecDeque<Entry<M>>,
    normal: VecDeque<Entry<M>>,
    /// By due time; the number orders equal times.
    delayed: BTreeMap<(Instant, u64), Entry<M>>,
    delays: u64,
    pub(super) dead: Vec<DeadLetter<M>>,
    /// Waiting, delayed or unacknowledged messages.
    pub(super) held: usize,
    pub(super) closed: bool,
    /// Number of those that may put messages back.
    pub(super) returns: usize,
}

#[derive(Debug)]
pub(super) struct Entry<M> {
    pub(super) message: Arc<M>,
    pub(super) priority: Priority,
    pub(super) delivered_before: bool,
}

impl<M> QueueState<M> {
    pub(super) fn new(capacity: usize) -> Self {
        let capacity = capacity.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            state: Mutex::new(State {
                high: VecDeque::new(),
                normal: VecDeque::new(),
                delayed: BTreeMap::new(),
                delays: 0,
                dead: Vec::new(),
                held: 0,
                closed: false,
                returns: 0,
            }),
            capacity,
            free_slots: Semaphore::new(capacity),
            ready: Semaphore::new(0),
            rescheduled: Notify::new(),
            drained: Notify::new(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock()
    }

    /// Adds a message that is not held yet to its priority.
    pub(super) fn add(&self, state: &mut State<M>, entry: Entry<M>) {
        state.held += 1;
        self.append(state, entry);
    }

    /// Moves due messages into their priorities; returns the due time of the next one.
    pub(super) fn promote_due(&self) -> Option<Instant> {
        let mut state = self.lock();
        while let Some(first) = state.delayed.first_entry() {
            let (due, _) = *first.key();
            if due > Instant::now() {
                return Some(due);
            }
            let entry = first.remove();
            self.append(&mut state, entry);
        }
        None
    }

    /// Moves every delayed message into its priority; returns their number.
    pub(super) fn promote_all(&self) -> usize {
        let mut state = self.lock();
        let delayed = std::mem::take(&mut state.delayed);
        let count = delayed.len();
        for entry in delayed.into_values() {
            self.append(&mut state, entry);
        }
        count
    }

    /// Removes a held message, for good or to the dead letters.
    pub(super) fn end_message(&self, dead: Option<DeadLetter<M>>) {
        let mut state = self.lock();
        state.dead.extend(dead);
        state.held -= 1;
        // There are more where some came back to a full queue.
        if state.held < self.capacity {
            self.free_slots.add_permits(1);
        }
        self.end_if_done(&state);
    }

    pub(super) fn requeue(&self, mut entry: Entry<M>) {
        entry.delivered_before = true;
        self.lock().priority(entry.priority).push_front(entry);
        self.ready.add_permits(1);
    }

    pub(super) fn delay(&self, mut entry: Entry<M>, due: Instant) {
        entry.delivered_before = true;
        let mut state = self.lock();
        let number = state.delays;
        state.delays += 1;
        state.delayed.insert((due, number), entry);
        self.rescheduled.notify_waiters();
    }

    fn append(&self, state: &mut State<M>, entry: Entry<M>) {
        state.priority(entry.priority).push_back(entry);
        self.ready.add_permits(1);
    }

    pub(super) fn end_if_done(&self, state: &State<M>) {
        if !state.is_drained() {
            return;
        }
        self.drained.notify_waiters();
        if state.returns == 0 {
            self.ready.close();
        }
    }
}

impl<M> State<M> {
    pub(super) fn priority(&mut self, priority: Priority) -> &mut VecDeque<Entry<M>> {
        match priority {
            Priority::High => &mut self.high,
            Priority::Normal => &mut self.normal,
        }
    }

    pub(super) fn take(&mut self) -> Option<Entry<M>> {
        self.high.pop_front().or_else(|| self.normal.pop_front())
    }

    /// True if the queue is closed and holds nothing.
    pub(super) fn is_drained(&self) -> bool {
        self.closed && self.held == 0
    }
}

impl<M: Message> State<M> {
    pub(super) fn dead_position(&self, message_ids: &BTreeSet<String>) -> Option<usize> {
        self.dead.iter().position(|dead| message_ids.contains(&dead.message.message_id()))
    }
}
