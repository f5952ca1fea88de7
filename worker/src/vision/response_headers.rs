//! Response headers about rate limits. Pure.

use super::ProviderLimits;
use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};
use juror_types::usage::Money;
use reqwest::header::HeaderMap;
use std::time::Duration;

/// Maximum wait that is accepted from a header, equal to the maximum cooldown. A run pauses before
/// such a long wait, unless its refusals have no bound.
pub const MAX_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The limits of an account by `x-ratelimit-limit-*`; 0 and -1 mean unknown. A remaining amount of
/// 0 is no refusal.
pub fn limits(headers: &HeaderMap) -> ProviderLimits {
    ProviderLimits {
        requests_per_minute: limit(headers, "x-ratelimit-limit-requests"),
        tokens_per_minute: limit(headers, "x-ratelimit-limit-tokens"),
        remaining_tokens: text(headers, "x-ratelimit-remaining-tokens")
            .and_then(|count| count.parse().ok()),
        tokens_reset: text(headers, "x-ratelimit-reset-tokens").and_then(interval),
        refused: None,
    }
}

/// The cost in dollars that LiteLLM reports of a call.
pub fn reported_cost(headers: &HeaderMap) -> Option<Money> {
    text(headers, "x-litellm-response-cost").and_then(Money::rounded_up)
}

/// Wait requested by a refusing provider, at most [`MAX_WAIT`]: by `retry-after-ms`, else
/// `retry-after` (seconds or an HTTP date), else the reset of the exhausted limit, else the longer
/// reset.
pub fn wait(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let milliseconds = || text(headers, "retry-after-ms").and_then(|value| seconds(value, 1_000.0));
    let retry_after = || {
        let value = text(headers, "retry-after")?;
        seconds(value, 1.0).or_else(|| until_date(value, now))
    };
    milliseconds().or_else(retry_after).or_else(|| reset(headers)).map(|wait| wait.min(MAX_WAIT))
}

/// Reads `6m0s`, `1h2m`, `12ms`, `1.5s` or plain seconds.
pub(super) fn interval(value: &str) -> Option<Duration> {
    if let Some(plain) = seconds(value, 1.0) {
        return Some(plain);
    }
    if value.is_empty() {
        return None;
    }
    let mut total = Duration::ZERO;
    let mut rest = value;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| c.is_ascii_alphabetic())?);
        let (unit, next) =
            after.split_at(after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len()));
        let units_per_second = match unit {
            "d" => 1.0 / 86_400.0,
            "h" => 1.0 / 3_600.0,
            "m" => 1.0 / 60.0,
            "s" => 1.0,
            "ms" => 1_000.0,
            "us" => 1_000_000.0,
            _ => return None,
        };
        total = total.saturating_add(seconds(number, units_per_second)?);
        rest = next;
    }
    Some(total)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn limit(headers: &HeaderMap, name: &str) -> Option<u64> {
    let count: f64 = text(headers, name)?.parse().ok()?;
    (count.is_finite() && count >= 1.0).then_some(count as u64)
}

fn seconds(value: &str, units_per_second: f64) -> Option<Duration> {
    let number: f64 = value.parse().ok().filter(|number: &f64| !number.is_nan())?;
    // Clamped before it becomes a duration, which holds fewer seconds than a float.
    let clamped = (number / units_per_second).min(MAX_WAIT.as_secs_f64());
    Duration::try_from_secs_f64(clamped).ok()
}

fn until_date(value: &str, now: Timestamp) -> Option<Duration> {
    let date = DateTimeParser::new().relaxed_weekday(true).parse_timestamp(value).ok()?;
    Some(Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO))
}

fn reset(headers: &HeaderMap) -> Option<Duration> {
    let kinds = [
        ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
        ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ];
    let longest = |is_counted: fn(Option<&str>) -> bool| {
        let counted = kinds.iter().filter(|(remaining, _)| is_counted(text(headers, remaining)));
        counted.filter_map(|(_, reset)| interval(text(headers, reset)?)).max()
    };
    longest(|remaining| remaining == Some("0")).or_else(|| longest(|_| true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    fn waits(pairs: &[(&'static str, &'static str)]) -> Option<Duration> {
        wait(&headers(pairs), "1994-11-06T08:49:07Z".parse().unwrap())
    }

    #[test]
    fn all_retry_after_formats_are_parsed() {
        let milliseconds = |count| Some(Duration::from_millis(count));
        for (pairs, expected) in [
            (&[("retry-after-ms", "250"), ("retry-after", "9")] as &[_], milliseconds(250)),
            (&[("retry-after", "2")], milliseconds(2_000)),
            (&[("retry-after", " 0.5 ")], milliseconds(500)),
            (&[("retry-after", "0")], milliseconds(0)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")], milliseconds(30_000)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], milliseconds(0)),
            (&[("x-ratelimit-reset-requests", "6m0s")], milliseconds(360_000)),
            (&[("x-ratelimit-reset-tokens", "12ms")], milliseconds(12)),
            (&[("x-ratelimit-reset-tokens", "1s")], milliseconds(1_000)),
            (&[("x-ratelimit-reset-tokens", "1m1.5s")], milliseconds(61_500)),
            (&[("x-ratelimit-reset-tokens", "7")], milliseconds(7_000)),
            (&[("retry-after", "soon"), ("x-ratelimit-reset-tokens", "3s")], milliseconds(3_000)),
        ] {
            assert_eq!(waits(pairs), expected, "{pairs:?}");
        }
    }

    #[test]
    fn exhausted_limit_determines_the_wait() {
        let both = [
            ("x-ratelimit-remaining-requests", "17"),
            ("x-ratelimit-reset-requests", "6m0s"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "2s"),
        ];
        assert_eq!(waits(&both), Some(Duration::from_secs(2)));
    }

    #[test]
    fn absurd_values_are_clamped_or_ignored() {
        for value in ["1e300", "inf", "99999999999", "Tue, 06 Nov 2094 08:49:37 GMT"] {
            let asked = HeaderMap::from_iter([(
                HeaderName::from_static("retry-after"),
                HeaderValue::from_str(value).unwrap(),
            )]);
            let now = "1994-11-06T08:49:07Z".parse().unwrap();
            assert_eq!(wait(&asked, now), Some(MAX_WAIT), "{value}");
        }
        for value in ["-5", "NaN", "", "m", "5x", "5m-1s"] {
            assert_eq!(waits(&[("retry-after", value)]), None, "{value}");
            assert_eq!(waits(&[("x-ratelimit-reset-tokens", value)]), None, "{value}");
        }
        assert_eq!(waits(&[]), None);
    }

    #[test]
    fn limits_are_learned_from_known_headers() {
        let known = limits(&headers(&[
            ("x-ratelimit-limit-requests", "500"),
            ("x-ratelimit-limit-tokens", "30000"),
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-tokens", "1.5s"),
        ]));
        assert_eq!(known.tokens_reset, Some(Duration::from_millis(1_500)));
        assert_eq!((known.requests_per_minute, known.tokens_per_minute), (Some(500), Some(30_000)));
        assert_eq!(known.refused, None);
        for unknown in ["-1", "0", "many", "NaN", "inf"] {
            let read = limits(&HeaderMap::from_iter([(
                HeaderName::from_static("x-ratelimit-limit-requests"),
                HeaderValue::from_str(unknown).unwrap(),
            )]));
            assert_eq!(read, ProviderLimits::default(), "{unknown}");
        }
    }
}
