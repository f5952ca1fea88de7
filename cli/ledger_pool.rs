//! Where the money of runs is written down: `juror.db` for those of this machine, Redis for those
//! of a fleet. Each is opened when a run asks for it.

use crate::{execute, exit::Failure, fleet, terminal as screen};
use juror_app::settings::Settings;
use juror_ledger::{
    admission::{Admission, Ledger},
    redis::RedisLedger,
    sqlite::SqliteLedger,
};
use juror_types::run::RunRecord;
use std::{collections::BTreeMap, sync::Arc};

/// The ledgers of several runs.
pub struct Ledgers<'a> {
    settings: &'a Settings,
    local: Option<SqliteLedger>,
    /// By namespace; none where it cannot be reached, which was said.
    fleets: BTreeMap<String, Option<Arc<RedisLedger>>>,
}

impl<'a> Ledgers<'a> {
    /// None is open yet.
    pub fn new(settings: &'a Settings) -> Self {
        Self { settings, local: None, fleets: BTreeMap::new() }
    }

    /// What the ledger holds of a run; none if it has no record of it, or belongs to a fleet that
    /// cannot be reached from here, which standard error is told.
    pub async fn of(&mut self, record: &RunRecord) -> Result<Option<Ledger>, Failure> {
        let Some(namespace) = &record.fleet else {
            let backend = match self.local.take() {
                Some(backend) => backend,
                None => execute::open_backend(self.settings)?,
            };
            let ledger = backend.ledger(&record.run_id).await;
            self.local = Some(backend);
            return ledger.map_err(Failure::error);
        };
        let backend = match self.fleets.get(namespace) {
            Some(backend) => backend.clone(),
            None => {
                let backend = self.open(namespace).await;
                self.fleets.insert(namespace.clone(), backend.clone());
                backend
            }
        };
        let Some(backend) = backend else { return Ok(None) };
        let ledger = backend.ledger(&record.run_id).await;
        Ok(ledger.map_err(|error| unread(namespace, &error)).unwrap_or_default())
    }

    async fn open(&self, namespace: &str) -> Option<Arc<RedisLedger>> {
        let mut settings = self.settings.clone();
        namespace.clone_into(&mut settings.fleet.namespace);
        fleet::open_backend(&settings).await.map_err(|failure| unread(namespace, &failure)).ok()
    }

    /// Closes those that are open.
    pub async fn close(self) {
        if let Some(backend) = self.local {
            backend.close().await;
        }
        for backend in self.fleets.into_values().flatten() {
            backend.close().await;
        }
    }
}

fn unread(namespace: &str, problem: &dyn std::fmt::Display) {
    screen::tell(&format!(
        "the ledger of the fleet {namespace} cannot be read, so costs are those of the results \
         alone: {problem}"
    ));
}
