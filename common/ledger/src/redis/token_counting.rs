//! Token counting of endpoints as this process knows it, and the limits that it reported to Redis.

use crate::admission::{CountRule, Observation, TokenCounting};
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// Interval at which unchanged limits are reported again: Redis may have been emptied.
const LIMITS_INTERVAL: Duration = Duration::from_secs(15);

/// By endpoint: the counting that the last decision returned, and the limits reported last.
#[derive(Debug, Default)]
pub(crate) struct CountingCache(Mutex<HashMap<String, EndpointKnowledge>>);

impl CountingCache {
    /// The counting of an endpoint.
    pub(crate) fn known(&self, endpoint: &str) -> TokenCounting {
        self.0.lock().get(endpoint).map(|known| known.counting).unwrap_or_default()
    }

    /// Stores the rule by its name, the scale and the fullest bucket; empty texts are unknown
    /// values. Other than three texts are ignored.
    pub(crate) fn update(&self, endpoint: &str, reported: &[&str]) {
        let [rule, scale, fullest] = *reported else { return };
        let counting = TokenCounting {
            rule: CountRule::from_name(rule),
            input_scale: scale.parse().ok(),
            fullest: fullest.parse().ok(),
        };
        self.0.lock().entry(endpoint.to_owned()).or_default().counting = counting;
    }

    /// True if the same was reported to Redis within the interval, so that a report changes
    /// nothing.
    pub(crate) fn was_reported(&self, observation: &Observation) -> bool {
        let is_changed =
            observation.refused.is_some() || observation.counting != TokenCounting::default();
        let known = self.0.lock();
        let reported = known.get(&observation.endpoint).and_then(|known| known.reported.as_ref());
        !is_changed
            && reported.is_some_and(|(at, reported)| {
                reported == observation && at.elapsed() < LIMITS_INTERVAL
            })
    }

    /// Records that an observation was reported.
    pub(crate) fn record_reported(&self, observation: &Observation) {
        let counting = TokenCounting::default();
        let limits = Observation { refused: None, counting, ..observation.clone() };
        self.0.lock().entry(observation.endpoint.clone()).or_default().reported =
            Some((Instant::now(), limits));
    }
}

#[derive(Debug, Default)]
struct EndpointKnowledge {
    counting: TokenCounting,
    reported: Option<(Instant, Observation)>,
}
