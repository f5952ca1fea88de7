//! Limit on calls in flight: additive increase while latency holds, multiplicative decrease on
//! refusals, and one call less for each refusal that names no limit. Pure: times are passed in,
//! measured from any one origin.

use super::Signal;
use std::time::Duration;

/// Initial number of calls in flight.
pub(super) const INITIAL: usize = 16;
/// Minimum and maximum of the limit.
pub(super) const LIMIT_RANGE: (usize, usize) = (1, 512);

/// Growth of the limit after a round without failures.
const STEP: usize = 8;
/// Fraction of the limit that a decrease leaves.
const DECREASE_FACTOR: (usize, usize) = (3, 4);
/// Minimum share of the limit that calls in flight must fill before it grows: permits that wait for
/// admission do not show the provider's capacity.
const MIN_UTILIZATION: f64 = 0.5;
/// Maximum latency of a good round, as a multiple of the baseline.
const MAX_LATENCY_RATIO: f64 = 1.5;
/// Maximum number of good rounds before the limit grows by one again after crowding: one at first,
/// doubled each time that the limit proves too high.
const MAX_ROUNDS_BEFORE_PROBE: u32 = 64;
/// Weight of latencies above the baseline in its moving average.
const BASELINE_SMOOTHING: f64 = 0.1;

/// A call that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallSample {
    pub(super) signal: Signal,
    /// Start of the call.
    pub(super) begun: Duration,
    /// End of the call.
    pub(super) ended: Duration,
}

/// An adaptive limit.
#[derive(Clone, Debug, Default)]
pub(super) struct Controller {
    limit: usize,
    max: usize,
    /// True if only crowding lowers the limit.
    fixed: bool,
    crowding: Option<ConcurrencyProbe>,
    /// Time of the limit's last change: calls that began before it belong to the earlier limit.
    changed_at: Duration,
    /// Mean latency of good rounds, in seconds.
    baseline: Option<f64>,
    round: LimitRound,
}

impl Controller {
    /// A limit that adapts to latency and refusals.
    pub(super) fn adaptive() -> Self {
        Self::new(INITIAL, LIMIT_RANGE.1, false)
    }

    /// A limit that stays, unless the provider refuses this many concurrent calls.
    pub(super) fn fixed(limit: usize) -> Self {
        Self::new(limit, limit, true)
    }

    fn new(limit: usize, max: usize, fixed: bool) -> Self {
        Self { limit, max, fixed, ..Self::default() }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Learns from a call.
    pub(super) fn learn(&mut self, sample: CallSample) {
        if sample.signal == Signal::Crowded {
            return self.lower(sample.ended);
        }
        // Refusals of calls that were in flight at a cut belong to the episode that it ended.
        let is_steady = self.fixed && sample.signal != Signal::Answered;
        if sample.begun < self.changed_at || is_steady {
            return;
        }
        let seconds = sample.ended.saturating_sub(sample.begun).as_secs_f64();
        self.round.begun.get_or_insert(sample.begun);
        self.round.busy_seconds += seconds;
        match sample.signal {
            Signal::Refused | Signal::Crowded => return self.cut(sample.ended),
            Signal::Unavailable => self.round.unavailable += 1,
            Signal::Answered => {
                self.round.answered += 1;
                self.round.seconds += seconds;
            }
        }
        if self.round.answered + self.round.unavailable >= self.limit {
            self.end_round(sample.ended);
        }
    }

    fn end_round(&mut self, now: Duration) {
        let round = std::mem::replace(&mut self.round, LimitRound::starting(now));
        // Single failures happen at any load; a provider that mostly fails has too much of it.
        if round.unavailable > round.answered {
            return self.cut(now);
        }
        let mean = round.seconds / round.answered as f64;
        let baseline = self.baseline.unwrap_or(mean);
        let followed = baseline + (mean - baseline) * BASELINE_SMOOTHING;
        self.baseline = Some(mean.min(followed));
        if round.calls_in_flight(now) >= self.limit as f64 * MIN_UTILIZATION
            && mean <= baseline * MAX_LATENCY_RATIO
        {
            self.limit = (self.limit + self.step()).min(self.max);
        }
    }

    /// Growth of the limit after a good round.
    fn step(&mut self) -> usize {
        let Some(crowding) = &mut self.crowding else { return STEP };
        crowding.good_rounds += 1;
        if crowding.good_rounds < crowding.rounds_before_probe {
            return 0;
        }
        crowding.good_rounds = 0;
        crowding.probed = true;
        1
    }

    /// Lowers the limit after a refusal by crowding.
    fn lower(&mut self, now: Duration) {
        let start = ConcurrencyProbe { good_rounds: 0, rounds_before_probe: 1, probed: false };
        let crowding = self.crowding.get_or_insert(start);
        if crowding.probed {
            let doubled = crowding.rounds_before_probe * 2;
            crowding.rounds_before_probe = doubled.min(MAX_ROUNDS_BEFORE_PROBE);
        }
        *crowding = ConcurrencyProbe { good_rounds: 0, probed: false, ..*crowding };
        self.limit = self.limit.saturating_sub(1).max(LIMIT_RANGE.0);
        self.round = LimitRound::starting(now);
    }

    fn cut(&mut self, now: Duration) {
        let (numerator, denominator) = DECREASE_FACTOR;
        self.limit = (self.limit * numerator / denominator).max(LIMIT_RANGE.0);
        self.changed_at = now;
        self.round = LimitRound::starting(now);
    }
}

/// The search for the number of concurrent calls that a provider accepts, if its refusals name no
/// limit.
#[derive(Clone, Copy, Debug)]
struct ConcurrencyProbe {
    good_rounds: u32,
    rounds_before_probe: u32,
    /// True if the limit has grown since the last refusal.
    probed: bool,
}

/// A round of as many calls as the limit allows at once, so that each limit is tried before it
/// changes.
#[derive(Clone, Debug, Default)]
struct LimitRound {
    /// None before the first call.
    begun: Option<Duration>,
    answered: usize,
    unavailable: usize,
    /// Sum of the latencies of completed calls.
    seconds: f64,
    /// Sum of all calls' latencies.
    busy_seconds: f64,
}

impl LimitRound {
    fn starting(now: Duration) -> Self {
        Self { begun: Some(now), ..Self::default() }
    }

    /// Mean number of calls in flight over the round, by Little's law.
    fn calls_in_flight(&self, now: Duration) -> f64 {
        let elapsed = now.saturating_sub(self.begun.unwrap_or(now));
        self.busy_seconds / elapsed.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A simulated load on a controller; its clock advances by the latency of each round.
    struct Load {
        controller: Controller,
        now: Duration,
    }

    impl Load {
        fn new() -> Self {
            Self { controller: Controller::adaptive(), now: Duration::ZERO }
        }

        /// `calls` calls that begin together and take `seconds`; every `failing`-th gets `signal`.
        fn round(&mut self, calls: usize, seconds: f64, failing: usize, signal: Signal) {
            let begun = self.now;
            self.now += Duration::from_secs_f64(seconds);
            for number in 1..=calls {
                let signal = if number % failing == 0 { signal } else { Signal::Answered };
                self.controller.learn(CallSample { signal, begun, ended: self.now });
            }
        }

        fn full_rounds(&mut self, count: usize, seconds: f64) -> usize {
            for _ in 0..count {
                self.round(self.controller.limit(), seconds, usize::MAX, Signal::Refused);
            }
            self.controller.limit()
        }
    }

    #[test]
    fn limit_grows_stepwise_at_stable_latency_up_to_its_bound() {
        let mut load = Load::new();
        assert_eq!(load.full_rounds(1, 5.0), INITIAL + STEP);
        assert_eq!(load.full_rounds(1, 5.0), INITIAL + 2 * STEP);
        assert_eq!(load.full_rounds(1, 7.0), INITIAL + 3 * STEP);
        assert_eq!(load.full_rounds(200, 5.0), LIMIT_RANGE.1);
    }

    #[test]
    fn limit_stays_at_rising_latency_until_the_baseline_adapts() {
        let mut load = Load::new();
        let before = load.full_rounds(4, 1.0);
        assert_eq!(load.full_rounds(3, 2.0), before);
        assert!(load.full_rounds(40, 2.0) > before);
    }

    #[test]
    fn limit_does_not_grow_beyond_demand() {
        let mut load = Load::new();
        for _ in 0..100 {
            load.round(4, 1.0, usize::MAX, Signal::Refused);
        }
        assert_eq!(load.controller.limit(), INITIAL);
    }

    #[test]
    fn refusals_of_one_episode_decrease_once() {
        let mut load = Load::new();
        // All sixteen are in flight when the first is refused.
        load.round(16, 1.0, 1, Signal::Refused);
        assert_eq!(load.controller.limit(), 12);
        // The next ones were sent after the cut.
        load.round(12, 1.0, 1, Signal::Refused);
        assert_eq!(load.controller.limit(), 9);
        assert_eq!(load.full_rounds(1, 1.0), 9 + STEP);
    }

    /// Rounds of full load, replies and refusals with a provider that accepts `bound` concurrent
    /// calls and refuses others without a limit.
    fn crowded_rounds(controller: Controller, bound: usize, rounds: usize) -> (usize, usize) {
        let mut load = Load { controller, now: Duration::ZERO };
        let (mut answered, mut refused) = (0, 0);
        for _ in 0..rounds {
            let begun = load.now;
            load.now += Duration::from_secs(1);
            let (calls, taken) = (load.controller.limit(), load.controller.limit().min(bound));
            for number in 0..calls {
                let signal = if number < taken { Signal::Answered } else { Signal::Crowded };
                load.controller.learn(CallSample { signal, begun, ended: load.now });
            }
            (answered, refused) = (answered + taken, refused + calls - taken);
        }
        (answered, refused)
    }

    #[test]
    fn provider_with_low_concurrency_is_fully_used_with_few_refusals() {
        for controller in [Controller::adaptive(), Controller::fixed(64)] {
            let at_first = controller.limit();
            let (answered, refused) = crowded_rounds(controller, 4, 200);
            assert_eq!(answered, 800, "from the first round on, as many as it takes");
            assert!(refused <= at_first - 4 + 10, "{refused} refusals of {answered}");
        }
    }

    #[test]
    fn fixed_limit_recovers_after_crowding() {
        let mut controller = Controller::fixed(8);
        let ended = Duration::from_secs(1);
        for _ in 0..20 {
            controller.learn(CallSample { signal: Signal::Crowded, begun: Duration::ZERO, ended });
        }
        assert_eq!(controller.limit(), 1);
        let mut load = Load { controller, now: ended };
        assert_eq!(load.full_rounds(20, 1.0), 8);
        load.round(8, 1.0, 1, Signal::Refused);
        load.round(8, 1.0, 1, Signal::Unavailable);
        assert_eq!(load.controller.limit(), 8);
    }

    #[test]
    fn limit_never_falls_below_one() {
        let mut load = Load::new();
        for _ in 0..50 {
            load.round(1, 1.0, 1, Signal::Refused);
        }
        assert_eq!(load.controller.limit(), LIMIT_RANGE.0);
        assert_eq!(load.full_rounds(1, 1.0), LIMIT_RANGE.0 + STEP);
    }

    #[test]
    fn single_failures_have_no_effect_and_an_outage_has() {
        let mut load = Load::new();
        load.round(16, 1.0, 5, Signal::Unavailable);
        assert_eq!(load.controller.limit(), INITIAL + STEP);
        load.round(24, 1.0, 1, Signal::Unavailable);
        assert_eq!(load.controller.limit(), 18);
    }
}
