//! Where the money of runs is written down: `juror.db` for those of this machine, Redis for those
//! of a fleet. Each is opened when a run asks for it.

use crate::{execute, exit::Failure, fleet, screen};
use juror_common::{
    admission::{Admission, Ledger},
    redis::RedisHome,
    run::RunRecord,
    settings::Settings,
    sqlite::LocalHome,
};
use std::{collections::BTreeMap, sync::Arc};

/// The ledgers of several runs.
pub struct Ledgers<'a> {
    settings: &'a Settings,
    local: Option<LocalHome>,
    /// By namespace; none where it cannot be reached, which was said.
    fleets: BTreeMap<String, Option<Arc<RedisHome>>>,
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
            let home = match self.local.take() {
                Some(home) => home,
                None => execute::open_home(self.settings)?,
            };
            let ledger = home.ledger(&record.run_id).await;
            self.local = Some(home);
            return ledger.map_err(Failure::error);
        };
        let home = match self.fleets.get(namespace) {
            Some(home) => home.clone(),
            None => {
                let home = self.open(namespace).await;
                self.fleets.insert(namespace.clone(), home.clone());
                home
            }
        };
        let Some(home) = home else { return Ok(None) };
        let ledger = home.ledger(&record.run_id).await;
        Ok(ledger.map_err(|error| unread(namespace, &error)).unwrap_or_default())
    }

    async fn open(&self, namespace: &str) -> Option<Arc<RedisHome>> {
        let mut settings = self.settings.clone();
        namespace.clone_into(&mut settings.fleet.namespace);
        fleet::open_home(&settings).await.map_err(|failure| unread(namespace, &failure)).ok()
    }

    /// Closes those that are open.
    pub async fn close(self) {
        if let Some(home) = self.local {
            home.close().await;
        }
        for home in self.fleets.into_values().flatten() {
            home.close().await;
        }
    }
}

fn unread(namespace: &str, problem: &dyn std::fmt::Display) {
    screen::tell(&format!(
        "the ledger of the fleet {namespace} cannot be read, so costs are those of the results \
         alone: {problem}"
    ));
}
