//! Names of exchanges, queues and routing keys under one namespace.

use super::super::{Priority, QueueError};
use lapin::types::ShortString;
use std::time::Duration;

/// Delays of the hold queues, shortest first, with their names.
const HOLDS: [(Duration, &str); 5] = [
    (Duration::from_secs(1), "hold.1s"),
    (Duration::from_secs(5), "hold.5s"),
    (Duration::from_secs(30), "hold.30s"),
    (Duration::from_secs(120), "hold.2m"),
    (Duration::from_secs(600), "hold.10m"),
];

/// Kinds of jobs, each with a separate queue, in order of preference: priority, and whether
/// rendering is needed.
pub(super) const JOB_KINDS: [(Priority, bool); 4] = [
    (Priority::High, false),
    (Priority::High, true),
    (Priority::Normal, false),
    (Priority::Normal, true),
];

/// Prefix of every name.
#[derive(Clone, Debug)]
pub(super) struct Namespace(String);

/// Route of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// To the workers.
    Jobs,
    /// To the aggregator.
    Results,
    /// Dead letters, to the aggregator.
    Poison,
}

impl Route {
    /// Value of the `type` property of its messages.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Jobs | Self::Poison => "job",
            Self::Results => "result",
        }
    }
}

impl Namespace {
    /// Parses a namespace: 1 to 100 ASCII letters, digits, `.`, `_`, `-`, so that every name with
    /// it fits the protocol's 255 bytes.
    pub(super) fn parse(text: &str) -> Result<Self, QueueError> {
        let fits = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
        if (1..=100).contains(&text.len()) && text.chars().all(fits) {
            return Ok(Self(text.to_owned()));
        }
        let rule = "take 1 to 100 ASCII letters, digits, '.', '_' or '-'";
        Err(QueueError::Refused(format!("namespace {text:?} is invalid: {rule}")))
    }

    pub(super) fn jobs(&self) -> ShortString {
        self.name("jobs")
    }

    pub(super) fn results(&self) -> ShortString {
        self.name("results")
    }

    pub(super) fn dead(&self) -> ShortString {
        self.name("dead")
    }

    pub(super) fn poison(&self) -> ShortString {
        self.name("poison")
    }

    /// The queue of a kind of jobs.
    pub(super) fn work(&self, priority: Priority, needs_rendering: bool) -> ShortString {
        self.name(key(priority, needs_rendering))
    }

    /// All hold queues, each with an exchange of the same name, and their delays.
    pub(super) fn holds(&self) -> impl Iterator<Item = (Duration, ShortString)> {
        HOLDS.iter().map(|(time, name)| (*time, self.name(name)))
    }

    /// The hold exchange with the shortest delay of at least `delay`, or the longest one.
    pub(super) fn hold(&self, delay: Duration) -> ShortString {
        let longest = self.name("hold.10m");
        self.holds().find(|(time, _)| *time >= delay).map_or(longest, |(_, name)| name)
    }

    /// The queues of a route, those of the preferred priority first; those of jobs that need
    /// rendering only for a receiver that renders.
    pub(super) fn queues(&self, route: Route, renders: bool) -> Vec<(Priority, ShortString)> {
        match route {
            Route::Jobs => JOB_KINDS
                .into_iter()
                .filter(|(_, needs_rendering)| renders || !needs_rendering)
                .map(|(priority, needs_rendering)| (priority, self.work(priority, needs_rendering)))
                .collect(),
            Route::Results => vec![(Priority::Normal, self.results())],
            Route::Poison => vec![(Priority::Normal, self.poison())],
        }
    }

    /// All queues, with the suffix of their name, which is the same in all namespaces.
    pub(super) fn every_queue(&self) -> impl Iterator<Item = (&'static str, ShortString)> {
        let holds = HOLDS.iter().map(|(_, end)| *end);
        let work = JOB_KINDS.map(|(priority, needs_rendering)| key(priority, needs_rendering));
        let others = ["results", "dead", "poison"];
        work.into_iter().chain(others).chain(holds).map(|end| (end, self.name(end)))
    }

    fn name(&self, end: &str) -> ShortString {
        format!("{}.{end}", self.0).into()
    }
}

/// The routing key of a message.
pub(super) fn key(priority: Priority, needs_rendering: bool) -> &'static str {
    match (priority, needs_rendering) {
        (Priority::High, false) => "work.hi",
        (Priority::High, true) => "draw.hi",
        (Priority::Normal, false) => "work",
        (Priority::Normal, true) => "draw",
    }
}

/// The priority of a routing key.
pub(super) fn priority_of(key: &str) -> Priority {
    if key.ends_with(".hi") { Priority::High } else { Priority::Normal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_is_at_least_the_requested_time_up_to_the_maximum() {
        let namespace = Namespace::parse("juror").unwrap();
        for (milliseconds, name) in [
            (0, "juror.hold.1s"),
            (1_000, "juror.hold.1s"),
            (1_001, "juror.hold.5s"),
            (30_001, "juror.hold.2m"),
            (600_000, "juror.hold.10m"),
            (u64::MAX, "juror.hold.10m"),
        ] {
            let delay = Duration::from_millis(milliseconds);
            assert_eq!(namespace.hold(delay).as_str(), name);
        }
    }

    #[test]
    fn every_queue_is_part_of_the_topology() {
        let namespace = Namespace::parse("juror").unwrap();
        let topology = super::super::topology::Topology::new(&namespace, None);
        let mut declared: Vec<_> = topology.queues.into_iter().map(|queue| queue.name).collect();
        let mut named: Vec<_> = namespace.every_queue().map(|(_, name)| name).collect();
        declared.sort();
        named.sort();
        assert_eq!(named, declared);
    }

    #[test]
    fn invalid_namespace_is_refused() {
        for text in ["", "a b", "jürör", &"x".repeat(101)] {
            assert!(matches!(Namespace::parse(text), Err(QueueError::Refused(_))), "{text}");
        }
    }
}
