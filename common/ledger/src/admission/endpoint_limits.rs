//! Rate limits of one endpoint: two continuous buckets, a cooldown, and learned limits. Pure: every
//! operation takes the time in milliseconds.

use super::{Limits, Observation, WaitReason};
use juror_types::usage::Usage;
use std::time::Duration;

/// Parts of a unit: with 60,000ths, a limit per minute is a whole number per millisecond.
const PARTS_PER_UNIT: i64 = 60_000;
/// Capacity of a bucket: what its limit allows in this many milliseconds.
const BURST_MS: i64 = 500;
/// Upper bound of any limit or request; keeps sums of parts within `i64`.
const MAX_UNITS: u64 = 1_000_000_000_000;
/// Cooldown in milliseconds after a refusal that names none.
const DEFAULT_COOLDOWN: i64 = 1_000;
/// Maximum cooldown that is accepted from a provider, in milliseconds.
const MAX_COOLDOWN: i64 = 24 * 60 * 60 * 1_000;
/// Milliseconds within which several refusals halve the limits once.
const HALVING_INTERVAL: i64 = 5_000;
/// The whole limit, in thousandths.
const FULL_LIMIT: i64 = 1_000;
/// Minimum that halving leaves, in thousandths.
const MIN_LIMIT: i64 = 16;
/// Milliseconds in which a thousandth of the limit is restored.
const RECOVERY_MS: i64 = 100;

/// Limits of one endpoint and their use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointState {
    requests: Bucket,
    tokens: Bucket,
    /// True if the provider refunds the unused part of a reservation.
    refunds_unused: bool,
    /// Times in milliseconds: of the last refill of the buckets, of the last halving of the limits
    /// after a refusal, and of the last step of their recovery.
    refreshed_at: i64,
    halved_at: Option<i64>,
    recovered_at: i64,
    cooldown: Option<Cooldown>,
    /// Part of the limits that is used, in thousandths.
    limit_permille: i64,
}

impl EndpointState {
    /// An endpoint without known limits.
    pub fn new(now: i64) -> Self {
        Self {
            requests: Bucket { min_capacity: PARTS_PER_UNIT, ..Bucket::default() },
            tokens: Bucket::default(),
            refunds_unused: false,
            refreshed_at: now,
            cooldown: None,
            limit_permille: FULL_LIMIT,
            halved_at: None,
            recovered_at: now,
        }
    }

    /// Sets the user's limits.
    pub fn set_limits(&mut self, limits: Limits, now: i64) {
        self.refresh(now);
        let Self { requests, tokens, limit_permille, .. } = self;
        requests.set_limits(limits.requests_per_minute, requests.learned, *limit_permille);
        tokens.set_limits(limits.tokens_per_minute, tokens.learned, *limit_permille);
        self.refunds_unused = limits.refund_unused;
    }

    /// Milliseconds until the provider's cooldown ends; `None` without one.
    pub fn cooldown(&mut self, now: i64) -> Option<i64> {
        self.refresh(now);
        self.cooldown.map(|cooldown| cooldown.until - now)
    }

    /// Milliseconds that a call of this many tokens has to wait, and for what; `None` if it may
    /// start now.
    pub fn delay(&mut self, tokens: u64, now: i64) -> Option<(i64, WaitReason)> {
        if let Some(left) = self.cooldown(now) {
            return Some((left, WaitReason::Cooldown));
        }
        let requests = self.requests.delay(PARTS_PER_UNIT, self.limit_permille);
        let tokens = self.tokens.delay(parts(tokens), self.limit_permille);
        match (requests, tokens) {
            (0, 0) => None,
            (requests, tokens) if requests >= tokens => Some((requests, WaitReason::Requests)),
            (_, tokens) => Some((tokens, WaitReason::Tokens)),
        }
    }

    /// Takes a request and its tokens; a bucket may become negative. Calls count even while no limit is
    /// known: a limit that is learned later starts with them.
    pub fn take(&mut self, tokens: u64) {
        self.requests.spent = self.requests.spent.saturating_add(PARTS_PER_UNIT);
        self.tokens.spent = self.tokens.spent.saturating_add(parts(tokens));
    }

    /// Returns the request and the tokens of a call that is not made.
    pub fn return_reservation(&mut self, tokens: u64, now: i64) {
        self.refresh(now);
        self.requests.put_back(PARTS_PER_UNIT);
        self.tokens.put_back(parts(tokens));
    }

    /// Refunds the unused part of a call's reservation, where the provider does so too.
    pub fn refund(&mut self, reserved: u64, used: Usage, now: i64) {
        if !self.refunds_unused {
            return;
        }
        self.refresh(now);
        if self.tokens.is_limited() {
            let used = used.input_tokens.saturating_add(used.output_tokens);
            self.tokens.put_back(parts(reserved) - parts(used));
        }
    }

    /// Updates limits by a provider's reply; returns true if anything changed. A reply without news
    /// changes nothing, so that backends may drop it: even a refresh rounds the refill.
    pub fn observe(&mut self, observation: &Observation, now: i64) -> bool {
        let reported = |limit: Option<u64>| limit.filter(|limit| *limit > 0);
        let known = (self.requests.learned, self.tokens.learned);
        let learned = (
            reported(observation.requests_per_minute).or(known.0),
            reported(observation.tokens_per_minute).or(known.1),
        );
        let is_changed = known != learned;
        if !is_changed && observation.refused.is_none() && observation.counting.rule.is_none() {
            return false;
        }
        self.refresh(now);
        let Self { requests, tokens, limit_permille, .. } = self;
        requests.set_limits(requests.configured, learned.0, *limit_permille);
        tokens.set_limits(tokens.configured, learned.1, *limit_permille);
        // Calls in flight were admitted before the first limit was known: their refusals carry no
        // news. A corrected token count explains the refusal, so the limits stay.
        if known == (None, None) && is_changed || observation.counting.rule.is_some() {
            self.halved_at = Some(now);
        }
        if let Some(pause) = observation.refused {
            self.refuse(pause, now);
        }
        observation.refused.is_some() || is_changed
    }

    fn refuse(&mut self, pause: Duration, now: i64) {
        let pause = i64::try_from(pause.as_millis()).unwrap_or(MAX_COOLDOWN);
        let pause = if pause == 0 { DEFAULT_COOLDOWN } else { pause.min(MAX_COOLDOWN) };
        let until = self.cooldown.map_or(now, |cooldown| cooldown.until).max(now + pause);
        self.cooldown = Some(Cooldown { since: now, until });
        if self.halved_at.is_none_or(|last| now < last || now - last >= HALVING_INTERVAL) {
            self.halved_at = Some(now);
            self.recovered_at = now;
            self.limit_permille = (self.limit_permille / 2).max(MIN_LIMIT);
        }
        self.requests.empty(self.limit_permille);
        self.tokens.empty(self.limit_permille);
    }

    /// Refills the buckets up to now. A clock that was set back counts as standing still.
    fn refresh(&mut self, now: i64) {
        let elapsed = now.saturating_sub(self.refreshed_at).max(0);
        self.refreshed_at = now;
        self.requests.refill(elapsed, self.limit_permille);
        self.tokens.refill(elapsed, self.limit_permille);
        self.cooldown =
            self.cooldown.filter(|cooldown| cooldown.since <= now && now < cooldown.until);
        self.recovered_at = self.recovered_at.min(now);
        let steps = (now - self.recovered_at) / RECOVERY_MS;
        self.recovered_at += steps * RECOVERY_MS;
        self.limit_permille = self.limit_permille.saturating_add(steps).min(FULL_LIMIT);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cooldown {
    since: i64,
    until: i64,
}

/// Bucket of requests or tokens. Without a limit it does not delay, and is not refilled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bucket {
    /// Limit per minute that the user set.
    configured: Option<u64>,
    /// Limit per minute that the provider reported.
    learned: Option<u64>,
    /// Minimum capacity, in parts.
    min_capacity: i64,
    /// Distance from full in parts, so that a full bucket stays full when its limit changes.
    spent: i64,
}

impl Bucket {
    fn is_limited(self) -> bool {
        self.configured.or(self.learned).is_some()
    }

    /// Sets the limits. A bucket that had none was never refilled: it is empty at worst.
    fn set_limits(&mut self, configured: Option<u64>, learned: Option<u64>, permille: i64) {
        let was_limited = self.is_limited();
        (self.configured, self.learned) = (configured, learned);
        if let Some(rate) = self.rate(permille).filter(|_| !was_limited) {
            self.spent = self.spent.min(self.capacity(rate));
        }
    }

    fn refill(&mut self, elapsed: i64, permille: i64) {
        if let Some(rate) = self.rate(permille) {
            self.put_back(rate.saturating_mul(elapsed));
        }
    }

    fn put_back(&mut self, parts: i64) {
        self.spent = self.spent.saturating_sub(parts).max(0);
    }

    /// Empties the bucket: a refusal shows that the provider's holds less.
    fn empty(&mut self, permille: i64) {
        if let Some(rate) = self.rate(permille) {
            self.spent = self.spent.max(self.capacity(rate));
        }
    }

    /// Milliseconds until a call may take this much. A call larger than the bucket starts when the
    /// bucket is full.
    fn delay(self, need: i64, permille: i64) -> i64 {
        let Some(rate) = self.rate(permille) else { return 0 };
        let lacking = (self.spent - (self.capacity(rate) - need).max(0)).max(0);
        lacking / rate + i64::from(lacking % rate != 0)
    }

    /// Units per minute, which is parts per millisecond: the user's limit, or else the learned one,
    /// which never exceeds the user's.
    fn rate(self, permille: i64) -> Option<i64> {
        let limit = match (self.configured, self.learned) {
            (Some(given), Some(learned)) => given.min(learned),
            (one, other) => one.or(other)?,
        };
        let limit = i64::try_from(limit.min(MAX_UNITS)).unwrap_or(i64::MAX);
        Some((limit * permille / FULL_LIMIT).max(1))
    }

    fn capacity(self, rate: i64) -> i64 {
        (rate * BURST_MS).max(self.min_capacity)
    }
}

fn parts(tokens: u64) -> i64 {
    i64::try_from(tokens.min(MAX_UNITS)).unwrap_or(i64::MAX) * PARTS_PER_UNIT
}

#[cfg(test)]
mod tests;
