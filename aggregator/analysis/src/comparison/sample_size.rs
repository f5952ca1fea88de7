//! Sample sizes that would decide an inconclusive comparison.

use super::{
    Difference,
    power::{error_needed, items_needed},
};
use juror_types::usage::Money;
use serde::Serialize;

/// Maximum number of repeats that is reported.
const MAX_REPEATS: f64 = 1_000.0;

/// Sample sizes, in both runs, that decide an inconclusive comparison with a power of 80 %, if the
/// true difference is the observed one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SampleSize {
    /// Number of additional items; `None` if no realistic number suffices, since the difference is
    /// about the margin.
    pub more_items: Option<u64>,
    /// Cost of judging them in both runs, by the cost of a job so far.
    pub more_items_usd: Option<Money>,
    /// True if the judge's own noise is known, because a run has repeats; otherwise repeats are not
    /// computed.
    pub noise_is_known: bool,
    /// Required number of judgments of each item in each run; `None` if no realistic number
    /// suffices: the items themselves differ too much.
    pub repeats: Option<u64>,
    /// Cost of the additional judgments.
    pub repeats_usd: Option<Money>,
}

/// Facts about a run's judgments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JudgingFacts {
    /// Judgments of each item.
    pub(crate) repeat: u32,
    /// Variance of a judgment around its item's mean, if items were judged several times.
    pub(crate) noise: Option<f64>,
    /// Cost of a judged job; `None` without any.
    pub(crate) job_pico_usd: Option<u64>,
}

/// Sample size that decides a comparison; `None` with too few pairs to estimate their deviation.
pub(crate) fn deciding_sample_size(
    difference: &Difference,
    margin: f64,
    base: JudgingFacts,
    head: JudgingFacts,
) -> Option<SampleSize> {
    let deviation = difference.deviation.filter(|deviation| *deviation > 0.0)?;
    let distance = (difference.difference?.abs() - margin).abs();
    let more_items =
        items_needed(deviation, distance).map(|items| items.saturating_sub(difference.n).max(1));
    let noise = base.noise.or(head.noise).zip(head.noise.or(base.noise));
    let repeats =
        noise.and_then(|noise| repeats(difference.n, deviation, distance, noise, base, head));
    let cost = |items: u64, base_jobs: u64, head_jobs: u64| {
        let pico = |judging: JudgingFacts, jobs: u64| {
            let each = judging.job_pico_usd.or(base.job_pico_usd).or(head.job_pico_usd);
            each.map(|each| Money::times(each, jobs.saturating_mul(items)))
        };
        Some(pico(base, base_jobs)? + pico(head, head_jobs)?)
    };
    let further =
        |repeats: u64, judging: JudgingFacts| repeats.saturating_sub(judging.repeat.into());
    Some(SampleSize {
        more_items,
        more_items_usd: more_items
            .and_then(|items| cost(items, base.repeat.into(), head.repeat.into())),
        noise_is_known: noise.is_some(),
        repeats,
        repeats_usd: repeats
            .and_then(|repeats| cost(difference.n, further(repeats, base), further(repeats, head))),
    })
}

/// A pair's variance is that of the items' true differences and each run's noise over its repeats;
/// repeats lower the latter alone.
fn repeats(
    n: u64,
    deviation: f64,
    distance: f64,
    (base_noise, head_noise): (f64, f64),
    base: JudgingFacts,
    head: JudgingFacts,
) -> Option<u64> {
    let have = f64::from(base.repeat.max(head.repeat));
    let noise =
        base_noise / f64::from(base.repeat.max(1)) + head_noise / f64::from(head.repeat.max(1));
    let real = (deviation * deviation - noise).max(0.0);
    let noise_allowance = n as f64 * error_needed(distance).powi(2) - real;
    if noise_allowance <= 0.0 {
        return None;
    }
    let repeats = ((base_noise + head_noise) / noise_allowance).ceil().max(have + 1.0);
    (repeats <= MAX_REPEATS).then_some(repeats as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(mean: f64, deviation: f64, n: u64) -> Difference {
        Difference {
            n,
            difference: Some(mean),
            deviation: Some(deviation),
            ..Difference::default()
        }
    }

    #[test]
    fn required_items_and_repeats_are_reported_with_their_cost() {
        let once = JudgingFacts { repeat: 1, noise: None, job_pico_usd: Some(5_000_000_000) };
        // (2.8016 · 0.08 / 0.02)² = 125.6
        let reported =
            deciding_sample_size(&difference(-0.03, 0.08, 100), 0.01, once, once).unwrap();
        assert_eq!(reported.more_items, Some(26));
        assert_eq!(reported.more_items_usd, Some("0.26".parse().unwrap()));
        assert!(!reported.noise_is_known && reported.repeats.is_none());

        // All of the variance is the judge's: 0.0064 = 2 · 0.0064 / 2.
        let twice = JudgingFacts { repeat: 2, noise: Some(0.0064), ..once };
        let reported =
            deciding_sample_size(&difference(-0.03, 0.08, 100), 0.01, twice, twice).unwrap();
        assert_eq!(reported.repeats, Some(3));
        assert_eq!(reported.repeats_usd, Some("1".parse().unwrap()));

        // None of it is: no number of repeats helps.
        let quiet = JudgingFacts { repeat: 2, noise: Some(0.0), ..once };
        let reported =
            deciding_sample_size(&difference(-0.03, 0.08, 100), 0.01, quiet, quiet).unwrap();
        assert!(reported.noise_is_known && reported.repeats.is_none());
    }

    #[test]
    fn unreachable_sample_size_is_absent() {
        let once = JudgingFacts { repeat: 1, ..JudgingFacts::default() };
        let reported =
            deciding_sample_size(&difference(-0.01, 0.08, 100), 0.01, once, once).unwrap();
        assert_eq!((reported.more_items, reported.more_items_usd), (None, None));
        assert_eq!(deciding_sample_size(&Difference::default(), 0.01, once, once), None);
    }
}
