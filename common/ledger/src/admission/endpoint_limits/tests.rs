use super::*;
use crate::admission::{CountRule, TokenCounting};
use proptest::prelude::*;

const TOKENS: u64 = 100;

fn limited(requests: Option<u64>, tokens: Option<u64>) -> EndpointState {
    let mut endpoint = EndpointState::new(0);
    let limits =
        Limits { requests_per_minute: requests, tokens_per_minute: tokens, refund_unused: true };
    endpoint.set_limits(limits, 0);
    endpoint
}

/// Number of calls admitted from `from` to `to` with one request per millisecond.
fn calls(endpoint: &mut EndpointState, from: i64, to: i64) -> usize {
    (from..to)
        .filter(|now| {
            let goes = endpoint.delay(TOKENS, *now).is_none();
            if goes {
                endpoint.take(TOKENS);
            }
            goes
        })
        .count()
}

fn refusal(pause: u64) -> Observation {
    Observation { refused: Some(Duration::from_millis(pause)), ..Observation::default() }
}

#[test]
fn one_minute_allows_the_limit_and_half_a_second_more() {
    assert_eq!(calls(&mut limited(Some(600), None), 0, 60_000), 604);
    assert_eq!(calls(&mut limited(None, Some(60_000)), 0, 60_000), 604);
    assert_eq!(calls(&mut limited(Some(6), None), 0, 60_000), 6);
}

#[test]
fn call_larger_than_the_bucket_passes_when_full_and_overdraws_it() {
    let mut endpoint = limited(None, Some(6_000));
    let large = 200;
    assert_eq!(endpoint.delay(large, 0), None);
    endpoint.take(large);
    assert_eq!(endpoint.delay(large, 0), Some((2_000, WaitReason::Tokens)));
    assert_eq!(endpoint.delay(1, 0), Some((1_510, WaitReason::Tokens)));
    assert_eq!(endpoint.delay(large, 2_000), None);
}

#[test]
fn returned_tokens_are_available_to_the_next_call() {
    let mut endpoint = limited(Some(60), Some(6_000));
    endpoint.take(TOKENS);
    assert_eq!(endpoint.delay(TOKENS, 0), Some((1_000, WaitReason::Requests)));
    endpoint.return_reservation(TOKENS, 0);
    assert_eq!(endpoint.delay(TOKENS, 0), None);
}

#[test]
fn unused_tokens_are_refunded_only_where_the_provider_refunds_them() {
    let used = Usage { input_tokens: 10, cached_input_tokens: 0, output_tokens: 10 };
    for (refund_unused, waits) in [(true, 200), (false, 1_000)] {
        let mut endpoint = limited(None, None);
        let tokens_per_minute = Some(6_000);
        endpoint.set_limits(Limits { tokens_per_minute, refund_unused, ..Limits::default() }, 0);
        endpoint.take(TOKENS);
        endpoint.refund(TOKENS, used, 0);
        assert_eq!(endpoint.delay(TOKENS, 0), Some((waits, WaitReason::Tokens)));
    }
}

#[test]
fn learned_limits_apply_without_configured_ones_and_never_exceed_them() {
    let reported = Observation { requests_per_minute: Some(60), ..Observation::default() };
    let first_delay = |mut endpoint: EndpointState| {
        endpoint.observe(&reported, 0);
        endpoint.take(TOKENS);
        endpoint.delay(TOKENS, 0).map(|(delay, _)| delay)
    };
    assert_eq!(first_delay(limited(None, None)), Some(1_000));
    assert_eq!(first_delay(limited(Some(30), None)), Some(2_000));
    assert_eq!(first_delay(limited(Some(600), None)), Some(1_000));
    let mut endpoint = limited(None, None);
    endpoint.observe(&Observation { tokens_per_minute: Some(0), ..Observation::default() }, 0);
    assert_eq!(calls(&mut endpoint, 0, 10), 10, "a reported limit of zero is no limit");
}

#[test]
fn learned_limit_starts_with_recent_usage() {
    let reported = Observation { requests_per_minute: Some(600), ..Observation::default() };
    for (gone_out, then_at_once) in [(0, 5), (2, 3), (5, 0), (1_000, 0)] {
        let mut endpoint = limited(None, None);
        (0..gone_out).for_each(|_| endpoint.take(TOKENS));
        endpoint.observe(&reported, 0);
        assert_eq!(calls(&mut endpoint, 0, 50), then_at_once, "{gone_out}");
        assert_eq!(calls(&mut endpoint, 50, 1_050), 10, "{gone_out}");
    }
}

#[test]
fn refusal_cools_down_halves_once_and_recovers_slowly() {
    let mut endpoint = limited(Some(6_000), None);
    endpoint.observe(&refusal(2_000), 0);
    endpoint.observe(&refusal(1_000), 10);
    assert_eq!(endpoint.delay(TOKENS, 10), Some((1_990, WaitReason::Cooldown)));
    let halved = calls(&mut endpoint, 2_000, 3_000);
    assert!((50..=80).contains(&halved), "{halved} calls in the first second after the cooldown");
    let later = calls(&mut endpoint, 30_000, 31_000);
    assert!((halved + 10..=130).contains(&later), "{later} calls half a minute later");
    calls(&mut endpoint, 31_000, 60_000);
    assert_eq!(calls(&mut endpoint, 60_000, 61_000), 100, "recovered");
}

#[test]
fn refusal_explained_by_a_low_count_does_not_halve() {
    let mut endpoint = limited(Some(6_000), None);
    calls(&mut endpoint, 0, 1_000);
    let counting = TokenCounting { rule: Some(CountRule::Sum), ..TokenCounting::default() };
    endpoint.observe(&Observation { counting, ..refusal(1_000) }, 1_000);
    endpoint.observe(&refusal(1_000), 1_100);
    let whole = calls(&mut endpoint, 2_100, 3_100);
    assert!(whole >= 95, "{whole} calls in the first second after the cooldown");
}

#[test]
fn unknown_limit_is_not_halved_by_refusals() {
    let mut endpoint = EndpointState::new(0);
    let reported = Observation { requests_per_minute: Some(6_000), ..refusal(100) };
    assert!(endpoint.observe(&reported, 0));
    endpoint.observe(&reported, 50);
    let calls_in_a_second = calls(&mut endpoint, 1_000, 2_000);
    assert!((100..=151).contains(&calls_in_a_second), "{calls_in_a_second}");
    endpoint.observe(&reported, 6_000);
    assert!(calls(&mut endpoint, 7_000, 8_000) < 80, "now it was known");
}

#[test]
fn clock_set_back_neither_blocks_nor_admits() {
    let mut endpoint = limited(Some(60), None);
    endpoint.observe(&refusal(5_000), 1_000_000);
    endpoint.take(TOKENS);
    let (delay, reason) = endpoint.delay(TOKENS, 500_000).unwrap();
    assert_eq!(reason, WaitReason::Requests, "the cooldown of a future is none");
    assert!(delay > 0);
    assert_eq!(endpoint.delay(TOKENS, 500_000 + delay), None);
}

proptest! {
    #[test]
    fn no_interval_exceeds_its_limit_and_one_burst(
        limit in 1_u64..100_000,
        asks in prop::collection::vec((0_i64..3_000, 0_u64..5_000), 1..60),
    ) {
        let mut endpoint = limited(None, Some(limit));
        let (mut now, mut taken, mut largest) = (0, 0, 0);
        for (pause, tokens) in asks {
            now += pause;
            if endpoint.delay(tokens, now).is_none() {
                endpoint.take(tokens);
                taken += tokens;
                largest = largest.max(tokens);
            }
            let allowed = limit * (now.unsigned_abs() + 500) / 60_000;
            prop_assert!(taken <= allowed + largest, "{taken} tokens by {now} ms");
        }
    }

    #[test]
    fn announced_wait_is_sufficient(
        limit in 1_u64..1_000_000,
        ahead in prop::collection::vec(0_u64..5_000, 0..8),
        tokens in 0_u64..5_000,
    ) {
        let mut endpoint = limited(None, Some(limit));
        endpoint.take(3_000);
        let mut now = 0;
        for tokens in ahead.into_iter().chain([tokens]) {
            if let Some((delay, _)) = endpoint.delay(tokens, now) {
                prop_assert!(delay > 0);
                now += delay;
            }
            prop_assert_eq!(endpoint.delay(tokens, now), None);
            endpoint.take(tokens);
        }
    }
}
