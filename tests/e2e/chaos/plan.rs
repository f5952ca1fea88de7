//! Plan of faults, drawn from a seed.

use crate::harness::proxy::{BrokerExchange, Moment, ScriptStep};
use rand::{SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use std::fmt;

/// The size of a test.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub jobs: u32,
    /// Repetitions of every fault.
    pub rounds: u32,
}

/// Fault to inject.
#[derive(Clone, Copy, Debug)]
pub enum Mishap {
    /// Kill of a worker right before or after this moment.
    KillWorker(&'static str, Moment),
    /// Kill of the active aggregator, likewise.
    KillAggregator(&'static str, Moment),
    /// Reset of every connection to one of the servers.
    Cut(BackendServer),
    /// Reset of every connection, with new ones refused for a while.
    Refuse(BackendServer),
    /// Kill and restart of the server.
    Restart(BackendServer),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendServer {
    Broker,
    Redis,
}

impl fmt::Display for Mishap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KillWorker(point, _) => write!(formatter, "a worker is killed {point}"),
            Self::KillAggregator(point, _) => write!(formatter, "the aggregator is killed {point}"),
            Self::Cut(server) => write!(formatter, "connections to {server:?} are cut"),
            Self::Refuse(server) => write!(formatter, "connections to {server:?} are refused"),
            Self::Restart(server) => write!(formatter, "{server:?} is killed and started again"),
        }
    }
}

const WORKER: [(&str, Moment); 8] = [
    ("after delivery", Moment::Request(ScriptStep::Claim)),
    ("after claim", Moment::Reply(ScriptStep::Claim)),
    ("after admission", Moment::Reply(ScriptStep::Admit)),
    ("during the call", Moment::Response),
    ("after the answer", Moment::Request(ScriptStep::Settle)),
    ("after settle", Moment::Reply(ScriptStep::Settle)),
    ("after publish, before the confirm", Moment::Confirm(BrokerExchange::Results)),
    ("after the confirm, before the acknowledgement", Moment::Acknowledgement),
];
const AGGREGATOR: [(&str, Moment); 2] = [
    ("before its commit", Moment::Delivery(BrokerExchange::Results)),
    ("after its commit, before the acknowledgement", Moment::Acknowledgement),
];

impl Plan {
    /// All faults in order; each round has every fault once.
    pub fn mishaps(&self) -> Vec<Mishap> {
        let mut random = StdRng::seed_from_u64(self.seed);
        let mut all = Vec::new();
        for _ in 0..self.rounds {
            let mut round: Vec<Mishap> = WORKER
                .map(|(point, moment)| Mishap::KillWorker(point, moment))
                .into_iter()
                .chain(AGGREGATOR.map(|(point, moment)| Mishap::KillAggregator(point, moment)))
                .chain([BackendServer::Broker, BackendServer::Redis].into_iter().flat_map(
                    |server| [Mishap::Cut(server), Mishap::Refuse(server), Mishap::Restart(server)],
                ))
                .collect();
            round.shuffle(&mut random);
            all.extend(round);
        }
        all
    }
}
