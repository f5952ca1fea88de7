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
    configured: Limits,
    /// Limits per minute that the provider reported.
    learned_requests: Option<u64>,
    learned_tokens: Option<u64>,
    requests: BucketDeficit,
    tokens: BucketDeficit,
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
            configured: Limits::default(),
            learned_requests: None,
            learned_tokens: None,
            requests: BucketDeficit::default(),
            tokens: BucketDeficit::default(),
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
        let limited = self.limited();
        self.configured = limits;
        self.begin_to_limit(limited);
    }

    /// Milliseconds until the provider's cooldown ends; none without one.
    pub fn cooldown(&mut self, now: i64) -> Option<i64> {
        self.refresh(now);
        self.cooldown.map(|cooldown| cooldown.until - now)
    }

    /// Milliseconds that a call of this many tokens has to wait, and for what; none if it may start
    /// now.
    pub fn delay(&mut self, tokens: u64, now: i64) -> Option<(i64, WaitReason)> {
        if let Some(left) = self.cooldown(now) {
            return Some((left, WaitReason::Cooldown));
        }
        let requests = self.request_rate().map_or(0, |rate| {
            self.requests.delay(rate, rate.capacity().max(PARTS_PER_UNIT), PARTS_PER_UNIT)
        });
        let tokens = self
            .token_rate()
            .map_or(0, |rate| self.tokens.delay(rate, rate.capacity(), parts(tokens)));
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
        self.requests.spent = self.requests.spent.saturating_sub(PARTS_PER_UNIT).max(0);
        self.tokens.spent = self.tokens.spent.saturating_sub(parts(tokens)).max(0);
    }

    /// Refunds the unused part of a call's reservation, where the provider does so too.
    pub fn refund(&mut self, reserved: u64, used: Usage, now: i64) {
        if !self.configured.refund_unused {
            return;
        }
        self.refresh(now);
        if self.token_rate().is_some() {
            let used = used.input_tokens.saturating_add(used.output_tokens);
            let unused = parts(reserved) - parts(used);
            self.tokens.spent = self.tokens.spent.saturating_sub(unused).max(0);
        }
    }

    /// Updates limits by a provider's reply; returns true if anything changed. A reply without news
    /// changes nothing, so that backends may drop it: even a refresh rounds the refill.
    pub fn observe(&mut self, observation: &Observation, now: i64) -> bool {
        let reported = |limit: Option<u64>| limit.filter(|limit| *limit > 0);
        let known = (self.learned_requests, self.learned_tokens);
        let learned = (
            reported(observation.requests_per_minute).or(self.learned_requests),
            reported(observation.tokens_per_minute).or(self.learned_tokens),
        );
        let is_changed = known != learned;
        if !is_changed && observation.refused.is_none() && observation.counting.rule.is_none() {
            return false;
        }
        self.refresh(now);
        let limited = self.limited();
        (self.learned_requests, self.learned_tokens) = learned;
        self.begin_to_limit(limited);
        if known == (None, None) && is_changed {
            // Calls in flight were admitted before the refusal: theirs carry no news.
            self.halved_at = Some(now);
        }
        if observation.counting.rule.is_some() {
            // The corrected token count explains the refusal, so the limits stay.
            self.halved_at = Some(now);
        }
        if let Some(pause) = observation.refused {
            self.refuse(pause, now);
        }
        observation.refused.is_some() || is_changed
    }

    /// True if a limit of requests, and of tokens, is known.
    fn limited(&self) -> (bool, bool) {
        (self.request_rate().is_some(), self.token_rate().is_some())
    }

    /// Starts a bucket that had no limit and was never refilled: it is empty at worst.
    fn begin_to_limit(&mut self, (requests, tokens): (bool, bool)) {
        if let Some(rate) = self.request_rate().filter(|_| !requests) {
            self.requests.spent = self.requests.spent.min(rate.capacity().max(PARTS_PER_UNIT));
        }
        if let Some(rate) = self.token_rate().filter(|_| !tokens) {
            self.tokens.spent = self.tokens.spent.min(rate.capacity());
        }
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
        self.empty();
    }

    /// Empties the buckets: a refusal shows that the provider's hold less.
    fn empty(&mut self) {
        if let Some(rate) = self.request_rate() {
            self.requests.spent = self.requests.spent.max(rate.capacity().max(PARTS_PER_UNIT));
        }
        if let Some(rate) = self.token_rate() {
            self.tokens.spent = self.tokens.spent.max(rate.capacity());
        }
    }

    /// Refills the buckets up to now. A clock that was set back counts as standing still.
    fn refresh(&mut self, now: i64) {
        let elapsed = now.saturating_sub(self.refreshed_at).max(0);
        self.refreshed_at = now;
        if let Some(rate) = self.request_rate() {
            self.requests.refill(rate, elapsed);
        }
        if let Some(rate) = self.token_rate() {
            self.tokens.refill(rate, elapsed);
        }
        self.cooldown =
            self.cooldown.filter(|cooldown| cooldown.since <= now && now < cooldown.until);
        self.recovered_at = self.recovered_at.min(now);
        let steps = (now - self.recovered_at) / RECOVERY_MS;
        self.recovered_at += steps * RECOVERY_MS;
        self.limit_permille = self.limit_permille.saturating_add(steps).min(FULL_LIMIT);
    }

    fn request_rate(&self) -> Option<Rate> {
        self.rate(self.configured.requests_per_minute, self.learned_requests)
    }

    fn token_rate(&self) -> Option<Rate> {
        self.rate(self.configured.tokens_per_minute, self.learned_tokens)
    }

    /// The user's limit, or else the learned one, which never exceeds the user's.
    fn rate(&self, configured: Option<u64>, learned: Option<u64>) -> Option<Rate> {
        let limit = match (configured, learned) {
            (Some(given), Some(learned)) => given.min(learned),
            (one, other) => one.or(other)?,
        };
        let limit = i64::try_from(limit.min(MAX_UNITS)).unwrap_or(i64::MAX);
        Some(Rate((limit * self.limit_permille / FULL_LIMIT).max(1)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cooldown {
    since: i64,
    until: i64,
}

/// Units per minute, which is parts per millisecond.
#[derive(Clone, Copy)]
struct Rate(i64);

impl Rate {
    fn capacity(self) -> i64 {
        self.0 * BURST_MS
    }
}

/// Distance of a bucket from full, so that a full bucket stays full when its limit changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct BucketDeficit {
    spent: i64,
}

impl BucketDeficit {
    fn refill(&mut self, rate: Rate, elapsed: i64) {
        self.spent = self.spent.saturating_sub(rate.0.saturating_mul(elapsed)).max(0);
    }

    /// Milliseconds until a call may take this much. A call larger than the bucket starts when the
    /// bucket is full.
    fn delay(self, rate: Rate, capacity: i64, need: i64) -> i64 {
        let lacking = (self.spent - (capacity - need).max(0)).max(0);
        lacking / rate.0 + i64::from(lacking % rate.0 != 0)
    }
}

fn parts(tokens: u64) -> i64 {
    i64::try_from(tokens.min(MAX_UNITS)).unwrap_or(i64::MAX) * PARTS_PER_UNIT
}

#[cfg(test)]
mod tests;
