//! Endpoints' counting as this process knows it, and what it has told of their limits.

use crate::admission::{CountRule, Observation, TokenCounting};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Limits that did not change are told again after this time: Redis may have been emptied.
const LIMITS_INTERVAL: Duration = Duration::from_secs(15);

/// By endpoint: the counting that the last decision told, and the limits that were told last.
#[derive(Debug, Default)]
pub(crate) struct CountingCache(Mutex<HashMap<String, EndpointKnowledge>>);

#[derive(Debug, Default)]
struct EndpointKnowledge {
    counting: TokenCounting,
    told: Option<(Instant, Observation)>,
}

impl CountingCache {
    /// The counting of an endpoint.
    pub(crate) fn known(&self, endpoint: &str) -> TokenCounting {
        self.lock().get(endpoint).map(|known| known.counting).unwrap_or_default()
    }

    /// Keeps the rule by its name, the scale and the fullest bucket; an empty text is nothing
    /// known, and without these three nothing is kept.
    pub(crate) fn keep(&self, endpoint: &str, told: &[&str]) {
        let [rule, scale, fullest] = *told else { return };
        let counting = TokenCounting {
            rule: CountRule::from_name(rule),
            input_scale: scale.parse().ok(),
            fullest: fullest.parse().ok(),
        };
        if let Some(known) = self.lock().get_mut(endpoint) {
            known.counting = counting;
            return;
        }
        let knowledge = EndpointKnowledge { counting, told: None };
        self.lock().insert(endpoint.to_owned(), knowledge);
    }

    /// True if Redis has been told the same just now, so that telling it again changes nothing.
    pub(crate) fn was_told(&self, observation: &Observation) -> bool {
        let is_news =
            observation.refused.is_some() || observation.counting != TokenCounting::default();
        let known = self.lock();
        let told = known.get(&observation.endpoint).and_then(|known| known.told.as_ref());
        !is_news
            && told.is_some_and(|(at, told)| told == observation && at.elapsed() < LIMITS_INTERVAL)
    }

    /// Remembers that Redis was told.
    pub(crate) fn tell(&self, observation: &Observation) {
        let counting = TokenCounting::default();
        let limits = Observation { refused: None, counting, ..observation.clone() };
        self.lock().entry(observation.endpoint.clone()).or_default().told =
            Some((Instant::now(), limits));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, EndpointKnowledge>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
