//! Requests and tokens per minute, as continuous buckets.

use crate::refusal::{RATE_LIMIT, Refusal};
use hyper::{HeaderMap, header::HeaderValue};
use std::time::Duration;
use tokio::time::Instant;

/// The limits of an account; none is no limit.
#[derive(Debug)]
pub(crate) struct AccountLimits {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
}

impl AccountLimits {
    /// Buckets that are full now and hold the allowance of `burst`.
    pub(crate) fn new(
        requests_per_minute: Option<u64>,
        tokens_per_minute: Option<u64>,
        burst: Duration,
        now: Instant,
    ) -> Self {
        let bucket = |per_minute: Option<u64>| Some(Bucket::new(per_minute?, burst, now));
        Self { requests: bucket(requests_per_minute), tokens: bucket(tokens_per_minute) }
    }

    /// Takes one request with `tokens` tokens from both buckets, or nothing.
    pub(crate) fn admit(&mut self, tokens: u64, now: Instant) -> Result<(), Refusal> {
        let mut parts = [
            (self.requests.as_mut(), "requests", 1.0),
            (self.tokens.as_mut(), "tokens", tokens as f64),
        ];
        for (bucket, kind, count) in &mut parts {
            if let Some(wait) = bucket.as_mut().and_then(|bucket| bucket.wait(*count, now)) {
                let message = format!("{kind} per minute are used up");
                let refusal = Refusal::new(429, kind, RATE_LIMIT, message);
                return Err(Refusal { retry_after: Some(wait), ..refusal });
            }
        }
        for (bucket, _, count) in parts {
            if let Some(bucket) = bucket {
                bucket.level -= count;
            }
        }
        Ok(())
    }

    /// Writes the limits, their remaining amounts and reset times.
    pub(crate) fn write_headers(&self, headers: &mut HeaderMap) {
        for (bucket, names) in [(&self.requests, REQUEST_HEADERS), (&self.tokens, TOKEN_HEADERS)] {
            let Some(bucket) = bucket else {
                continue;
            };
            let [limit, remaining, reset] = names;
            headers.insert(limit, HeaderValue::from(bucket.per_minute));
            headers.insert(remaining, HeaderValue::from(bucket.level.max(0.0) as u64));
            if let Ok(value) = HeaderValue::try_from(interval(bucket.until_full())) {
                headers.insert(reset, value);
            }
        }
    }
}

const REQUEST_HEADERS: [&str; 3] =
    ["x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"];
const TOKEN_HEADERS: [&str; 3] =
    ["x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"];

#[derive(Debug)]
struct Bucket {
    per_minute: u64,
    capacity: f64,
    level: f64,
    filled_at: Instant,
}

impl Bucket {
    fn new(per_minute: u64, burst: Duration, now: Instant) -> Self {
        let capacity = (per_minute as f64 * burst.as_secs_f64() / 60.0).max(1.0);
        Self { per_minute, capacity, level: capacity, filled_at: now }
    }

    /// Time until `count` can be taken; `None` if now. More than the bucket holds is taken from a
    /// full one and leaves it negative.
    fn wait(&mut self, count: f64, now: Instant) -> Option<Duration> {
        let passed = now.saturating_duration_since(self.filled_at);
        self.level = (self.level + passed.as_secs_f64() * self.per_second()).min(self.capacity);
        self.filled_at = now;
        let missing = count.min(self.capacity) - self.level;
        // Sums of many small refills miss a whole number by a hair.
        (missing > 1e-6).then(|| self.refill_time(missing))
    }

    fn until_full(&self) -> Duration {
        self.refill_time(self.capacity - self.level)
    }

    fn per_second(&self) -> f64 {
        self.per_minute as f64 / 60.0
    }

    fn refill_time(&self, count: f64) -> Duration {
        let longest = Duration::from_secs(86_400);
        Duration::try_from_secs_f64(count / self.per_second())
            .map_or(longest, |time| time.min(longest))
    }
}

/// As OpenAI writes it: `6m0s`, `1.5s`, `12ms`.
fn interval(duration: Duration) -> String {
    let milliseconds = duration.as_micros().div_ceil(1000);
    let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000);
    match (minutes, rest) {
        (0, 0..1_000) => format!("{rest}ms"),
        (0, _) => format!("{}s", rest as f64 / 1_000.0),
        _ => format!("{minutes}m{}s", rest as f64 / 1_000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_pass_up_to_the_rate() {
        let start = Instant::now();
        let mut limits = AccountLimits::new(Some(600), None, Duration::from_secs(1), start);
        let mut passed = 0;
        for millisecond in 0..10_000 {
            let now = start + Duration::from_millis(millisecond);
            passed += u64::from(limits.admit(1, now).is_ok());
        }
        assert_eq!(passed, 10 + 99, "a burst of one second and ten a second after it");
    }

    #[test]
    fn refusal_consumes_nothing_and_reports_the_wait() {
        let start = Instant::now();
        let mut limits = AccountLimits::new(Some(600), Some(60_000), Duration::from_secs(1), start);
        limits.admit(700, start).unwrap();
        let refusal = limits.admit(700, start).unwrap_err();
        assert_eq!((refusal.code, refusal.kind), ("rate_limit_exceeded", "tokens"));
        let wait = refusal.retry_after.unwrap();
        assert!(wait.abs_diff(Duration::from_millis(400)) < Duration::from_millis(1), "{wait:?}");
        assert!(limits.admit(300, start).is_ok());
        assert!(limits.admit(700, start + Duration::from_millis(700)).is_ok());
    }

    #[test]
    fn request_larger_than_the_bucket_passes_when_it_is_full() {
        let start = Instant::now();
        let mut limits = AccountLimits::new(None, Some(60_000), Duration::from_secs(1), start);
        limits.admit(3_000, start).unwrap();
        assert!(limits.admit(1, start + Duration::from_millis(1_900)).is_err());
        assert!(limits.admit(1, start + Duration::from_millis(2_002)).is_ok());
        assert!(limits.admit(3_000, start + Duration::from_millis(2_500)).is_err());
        assert!(limits.admit(3_000, start + Duration::from_millis(3_100)).is_ok());
    }

    #[test]
    fn headers_report_limit_remaining_and_reset() {
        let start = Instant::now();
        let mut limits =
            AccountLimits::new(Some(120), Some(60_000), Duration::from_secs(60), start);
        limits.admit(1_500, start).unwrap();
        let mut headers = HeaderMap::new();
        limits.write_headers(&mut headers);
        for (name, value) in [
            ("x-ratelimit-limit-requests", "120"),
            ("x-ratelimit-remaining-requests", "119"),
            ("x-ratelimit-reset-requests", "500ms"),
            ("x-ratelimit-limit-tokens", "60000"),
            ("x-ratelimit-remaining-tokens", "58500"),
            ("x-ratelimit-reset-tokens", "1.5s"),
        ] {
            assert_eq!(headers.get(name).unwrap(), value, "{name}");
        }
    }

    #[test]
    fn intervals_use_the_openai_notation() {
        for (milliseconds, text) in
            [(0, "0ms"), (12, "12ms"), (1_000, "1s"), (1_500, "1.5s"), (360_000, "6m0s")]
        {
            assert_eq!(interval(Duration::from_millis(milliseconds)), text);
        }
    }
}
