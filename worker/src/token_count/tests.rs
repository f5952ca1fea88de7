use super::*;

const LIMIT: u64 = 5_000_000;
const INPUT: u64 = 900;
const OUTPUT: u64 = 1_000;
const LATENCY: u64 = 200;

/// Simulates a provider that counts by a rule, called as fast as the counter allows, for this many
/// seconds. Returns the share of the limit used in the last five, and the number of refusals.
fn played(
    truth: CountRule,
    counter: &mut CounterState,
    burst: u64,
    seconds: u64,
    tells_reset: bool,
) -> (f64, u32) {
    let (start, per_ms) = (Instant::now(), LIMIT as f64 / 60_000.0);
    let (capacity, own_capacity) = (per_ms * burst as f64, per_ms * 500.0);
    let (mut level, mut own) = (capacity, own_capacity);
    let (mut used, mut refusals) = (0.0, 0);
    let mut ending = std::collections::VecDeque::new();
    let count = |rule: CountRule| {
        let (input, output) = rule.tokens(INPUT, OUTPUT);
        (input + output) as f64
    };
    for ms in 0..seconds * 1_000 {
        level = (level + per_ms).min(capacity);
        own = (own + per_ms).min(own_capacity);
        let now = start + Duration::from_millis(ms);
        while ending.front().is_some_and(|(at, _)| *at <= ms) {
            let (_, call) = ending.pop_front().unwrap();
            counter.learn(call, now);
        }
        let need = count(counter.rule);
        while own >= need && ending.len() < 400 {
            own -= need;
            let refused = level < count(truth);
            if refused {
                refusals += 1;
            } else {
                level -= count(truth);
                used += if ms >= (seconds - 5) * 1_000 { count(truth) } else { 0.0 };
            }
            let call = CountedCall {
                began: now,
                input: INPUT,
                output_limit: OUTPUT,
                waited: true,
                limit: LIMIT,
                remaining: level as u64,
                reset: tells_reset
                    .then(|| Duration::from_millis(((capacity - level) / per_ms).ceil() as u64)),
                refused,
            };
            ending.push_back((ms + LATENCY, call));
        }
    }
    (used / (per_ms * 5_000.0), refusals)
}

/// Call without waiting calls, with all of the limit left.
fn quiet(began: Instant) -> CountedCall {
    CountedCall {
        began,
        input: INPUT,
        output_limit: OUTPUT,
        waited: false,
        limit: LIMIT,
        remaining: LIMIT,
        reset: None,
        refused: false,
    }
}

fn counter(rule: CountRule) -> CounterState {
    TokenCounter::new(rule, None).state.into_inner()
}

#[test]
fn each_rule_is_detected_despite_the_documented_one() {
    for truth in [CountRule::Input, CountRule::Larger, CountRule::Sum] {
        for documented in [CountRule::Input, CountRule::Larger, CountRule::Sum] {
            for burst in [1_000, 60_000] {
                let mut counter = counter(documented);
                let (used, refusals) = played(truth, &mut counter, burst, 20, false);
                assert!(used > 0.95, "{truth:?} from {documented:?} {burst}: {used}");
                let most = if truth > documented { 20 } else { 0 };
                assert!(refusals <= most, "{truth:?} from {documented:?} {burst}: {refusals}");
            }
        }
    }
}

#[test]
fn rule_is_detected_from_reset_headers_without_a_refusal() {
    for truth in [CountRule::Input, CountRule::Larger, CountRule::Sum] {
        for burst in [1_000, 60_000] {
            let mut counter = counter(CountRule::Sum);
            let (used, refusals) = played(truth, &mut counter, burst, 200, true);
            assert!(used > 0.95, "{truth:?} {burst}: {used}");
            assert_eq!((refusals, counter.rule), (0, truth), "{burst}");
        }
    }
}

#[test]
fn end_of_a_fixed_window_neither_confirms_nor_keeps_a_rule() {
    let mut counter = counter(CountRule::Sum);
    let begun = Instant::now();
    for call in 0..100 {
        let at = begun + Duration::from_millis(call * 10);
        let in_window = CountedCall {
            waited: true,
            remaining: LIMIT / 2,
            reset: Some(Duration::from_secs(30)),
            ..quiet(at)
        };
        counter.learn(in_window, at);
    }
    assert_ne!(counter.rule, CountRule::Sum, "it is tried, as without a reset");
}

#[test]
fn too_low_rule_is_tried_with_growing_intervals() {
    let mut counter = counter(CountRule::Sum);
    let (used, _) = played(CountRule::Sum, &mut counter, 1_000, 600, false);
    assert!(used > 0.95, "{used}");
    assert_eq!(counter.rule, CountRule::Sum);
}

#[test]
fn nothing_is_learned_without_waiting_calls() {
    let mut counter = counter(CountRule::Sum);
    let begun = Instant::now();
    for call in 0..1_000 {
        let at = begun + Duration::from_millis(call * 10);
        counter.learn(quiet(at), at);
    }
    assert_eq!(counter.rule, CountRule::Sum);
}

#[test]
fn user_limit_below_the_provider_limit_is_not_learned_from() {
    let counter = TokenCounter::new(CountRule::Sum, Some(LIMIT / 2));
    let call = CountedCall { waited: true, remaining: 0, refused: true, ..quiet(Instant::now()) };
    assert_eq!(counter.learn(call), TokenCounting::default());
    assert_eq!(counter.rule(), CountRule::Sum);
    assert_eq!(counter.state.lock().limit, 0);
}

#[test]
fn counter_starts_with_a_learned_rule_and_reports_changes() {
    let counter = TokenCounter::new(CountRule::Sum, None);
    let shared = TokenCounting { rule: Some(CountRule::Input), ..TokenCounting::default() };
    counter.apply_shared(shared);
    let refused =
        CountedCall { waited: true, remaining: 0, refused: true, ..quiet(Instant::now()) };
    assert_eq!(counter.learn(refused).rule, Some(CountRule::Larger));
    assert_eq!(counter.learn(refused).rule, None, "it began before the change");
    counter.apply_shared(shared);
    assert_eq!(counter.rule(), CountRule::Larger, "the shared rule is the old one still");
}

#[test]
fn absurd_limits_do_not_overflow() {
    let counter = TokenCounter::new(CountRule::Sum, None);
    for remaining in [u64::MAX, 0] {
        counter.learn(CountedCall {
            began: Instant::now(),
            input: u64::MAX,
            output_limit: u64::MAX,
            waited: true,
            limit: u64::MAX,
            remaining,
            reset: Some(Duration::MAX),
            refused: false,
        });
    }
}
