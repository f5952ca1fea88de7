//! Rule by which a provider counts a request against its tokens per minute, learned from the
//! remaining tokens that it reports.
//!
//! A count that is too high leaves a part of the limit unused: while calls wait for it, the
//! provider's own bucket stays full. Then the next lower rule is tried. A count that is too low
//! empties that bucket: then the next higher rule holds, and the lower one is not tried for a
//! while.
//!
//! A provider that reports when its bucket is full again makes the trial unnecessary: the tokens
//! missing from a bucket after a call are at least those that the call counted. A few calls that
//! miss less than their count prove a lower rule; without such calls, the present rule holds.

use juror_ledger::admission::{CountRule, TokenCounting};
use parking_lot::Mutex;
use std::time::Duration;
use tokio::time::Instant;

/// Time and calls over which the provider's bucket must stay full before a lower rule is tried.
const WINDOW: Duration = Duration::from_millis(750);
const MIN_CALLS: u32 = 6;
/// Number of calls in a window that counted less than by the present rule, which proves the next
/// lower one.
const MIN_PROOFS: u32 = 2;
/// Minimum increase of the fullest known bucket that is shared with other processes, as a divisor
/// of the limit.
const FULLEST_STEP: u64 = 1_000;
/// Missing tokens below which a bucket is full, in milliseconds of the limit.
const FULL_WITHIN: u64 = 200;
/// Missing tokens above which a bucket is being emptied, in milliseconds of the limit.
const LOW_BEYOND: u64 = 700;
/// The same during a trial of a lower rule, which starts with a full bucket: low enough that the
/// trial ends before the provider refuses a call.
const LOW_BEYOND_IN_TRIAL: u64 = 350;
const TRIAL: Duration = Duration::from_secs(3);
/// Time before a rule that proved too low is tried again; doubled each time.
const FIRST_BACKOFF: Duration = Duration::from_secs(60);
const MAX_BACKOFF: Duration = Duration::from_secs(60 * 60);

/// The counting rule of one endpoint, as far as it is learned.
#[derive(Debug)]
pub struct TokenCounter {
    /// The user's own limit of tokens per minute.
    given: Option<u64>,
    state: Mutex<CounterState>,
}

/// Figures of a call from which the counting rule is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedCall {
    /// Start of the call.
    pub began: Instant,
    /// Input tokens.
    pub input: u64,
    /// Output limit.
    pub output_limit: u64,
    /// True if the call had to wait for admission.
    pub waited: bool,
    /// The limit of tokens per minute that the provider reported.
    pub limit: u64,
    /// The remaining tokens that it reported.
    pub remaining: u64,
    /// The reported time after which the bucket is full again.
    pub reset: Option<Duration>,
    /// True if the provider refused the call by rate.
    pub refused: bool,
}

impl CountedCall {
    /// The maximum number of tokens missing from the provider's bucket after the call: a bucket
    /// holds the limit of a minute at most, and fills at its rate. `None` if the provider did not
    /// report it.
    fn lacking(&self) -> Option<u64> {
        let refilled = self.reset?.as_millis().saturating_mul(u128::from(self.limit)) / 60_000;
        let refilled = u64::try_from(refilled).unwrap_or(u64::MAX);
        Some(refilled.min(self.limit.saturating_sub(self.remaining)))
    }

    /// The tokens that a rule counts for the call.
    fn tokens(&self, rule: CountRule) -> u64 {
        let (input, output) = rule.tokens(self.input, self.output_limit);
        input.saturating_add(output)
    }
}

impl TokenCounter {
    /// A counter with the documented rule. `given` is the user's limit: if it is below the
    /// provider's, the provider's bucket shows nothing.
    pub fn new(documented: CountRule, given: Option<u64>) -> Self {
        let state = CounterState {
            rule: documented,
            shared: None,
            limit: 0,
            fullest: 0,
            shared_fullest: 0,
            window: None,
            changed_at: None,
            retry_at: None,
            backoff: FIRST_BACKOFF,
            trial_until: None,
        };
        Self { given, state: Mutex::new(state) }
    }

    /// The present rule.
    pub fn rule(&self) -> CountRule {
        self.state.lock().rule
    }

    /// Adopts the shared state: the rule, if another process has changed it, and the fullest
    /// bucket.
    pub fn apply_shared(&self, shared: TokenCounting) {
        let mut state = self.state.lock();
        state.fullest = state.fullest.max(shared.fullest.unwrap_or(0));
        state.shared_fullest = shared.fullest.unwrap_or(0);
        let Some(rule) = shared.rule else { return };
        if state.shared.replace(rule) != Some(rule) && state.rule != rule {
            state.change_to(rule, Instant::now());
        }
    }

    /// Learns from a call that has just ended; returns the state that other processes should know:
    /// the rule if it changed, and the fullest bucket if it grew notably.
    pub fn learn(&self, call: CountedCall) -> TokenCounting {
        if call.limit == 0 || self.given.is_some_and(|given| given < call.limit) {
            return TokenCounting::default();
        }
        let mut state = self.state.lock();
        let before = state.rule;
        state.learn(call, Instant::now());
        let notable = state.limit / FULLEST_STEP;
        let is_fuller = state.fullest > state.shared_fullest.saturating_add(notable);
        TokenCounting {
            rule: (state.rule != before).then_some(state.rule),
            fullest: is_fuller.then_some(state.fullest),
            input_scale: None,
        }
    }
}

#[derive(Debug)]
struct CounterState {
    rule: CountRule,
    /// The rule that processes share, as last reported.
    shared: Option<CountRule>,
    /// The limit that the provider reported, and the highest remaining tokens that it reported.
    limit: u64,
    fullest: u64,
    /// The same, as shared by other processes.
    shared_fullest: u64,
    window: Option<Window>,
    /// Time of the last change of the rule: calls that began before it belong to the earlier one.
    changed_at: Option<Instant>,
    retry_at: Option<Instant>,
    backoff: Duration,
    trial_until: Option<Instant>,
}

/// Calls since a start time, all with a full bucket.
#[derive(Clone, Copy, Debug)]
struct Window {
    began: Instant,
    calls: u32,
    waited: u32,
    proofs: u32,
    unreported: u32,
}

impl CounterState {
    fn learn(&mut self, call: CountedCall, now: Instant) {
        if self.changed_at.is_some_and(|changed_at| call.began < changed_at) {
            return;
        }
        if call.limit != self.limit {
            (self.limit, self.fullest, self.window) = (call.limit, 0, None);
        }
        self.fullest = self.fullest.max(call.remaining);
        let lacking = self.fullest - call.remaining;
        let largest = call.input.saturating_add(call.output_limit);
        let tokens_in = |milliseconds: u64| self.limit.saturating_mul(milliseconds) / 60_000;
        let full = tokens_in(FULL_WITHIN).max(largest.saturating_mul(3) / 2);
        let is_trial = self.trial_until.is_some_and(|until| now < until);
        let low = if is_trial { LOW_BEYOND_IN_TRIAL } else { LOW_BEYOND };
        let low = tokens_in(low).max(largest.saturating_mul(4));
        if call.refused || lacking > low {
            self.raise(call.remaining, now);
        } else if lacking > full {
            self.window = None;
        } else {
            // A reset of a fixed window is unrelated to missing tokens, so larger values are
            // dropped.
            self.count(call, call.lacking().filter(|lacking| *lacking <= full), now);
        }
    }

    /// Counts a call that left the bucket full, with at most the reported number of tokens missing.
    fn count(&mut self, call: CountedCall, missing: Option<u64>, now: Instant) {
        let Some(lower) = self.rule.lower() else { return };
        // Inputs are estimates, so a proof must be nearer to the lower rule than to the present
        // one.
        let middle = call.tokens(lower).midpoint(call.tokens(self.rule));
        let empty = Window { began: now, calls: 0, waited: 0, proofs: 0, unreported: 0 };
        let window = self.window.get_or_insert(empty);
        window.calls += 1;
        window.waited += u32::from(call.waited);
        window.proofs += u32::from(missing.is_some_and(|lacking| lacking < middle));
        window.unreported += u32::from(missing.is_none());
        let is_proven = window.proofs >= MIN_PROOFS;
        if !is_proven && (now - window.began < WINDOW || window.calls < MIN_CALLS) {
            return;
        }
        let is_unused = window.waited * 2 > window.calls && window.unreported * 2 > window.calls;
        self.window = None;
        if (is_proven || is_unused) && self.retry_at.is_none_or(|retry_at| now >= retry_at) {
            self.change_to(lower, now);
        }
    }

    /// Raises the present rule, which counts too little and has left this many tokens.
    fn raise(&mut self, remaining: u64, now: Instant) {
        self.window = None;
        if let Some(higher) = self.rule.higher() {
            // Under a correct rule the bucket stays at this level.
            self.fullest = remaining;
            self.change_to(higher, now);
        }
    }

    /// Changes the rule. A higher one has shown that lower ones need time before the next trial.
    fn change_to(&mut self, rule: CountRule, now: Instant) {
        if rule > self.rule {
            self.retry_at = Some(now + self.backoff);
            self.backoff = (self.backoff * 2).min(MAX_BACKOFF);
        }
        self.trial_until = (rule < self.rule).then_some(now + TRIAL);
        self.rule = rule;
        self.changed_at = Some(now);
        self.window = None;
    }
}

#[cfg(test)]
mod tests;
