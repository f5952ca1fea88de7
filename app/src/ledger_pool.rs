//! Ledgers of several runs, opened on demand: `juror.db` for runs of this machine, Redis for a fleet's.

use crate::{
    error::AppError,
    fleet,
    local_ledger::{ledger_file_of, local_error, open_ledger_of},
    settings::Settings,
};
use juror_ledger::{
    admission::{Admission, RunAccount},
    redis::RedisLedger,
    sqlite::SqliteLedger,
};
use juror_types::run::RunRecord;
use std::{
    collections::{BTreeMap, btree_map::Entry},
    path::PathBuf,
    sync::Arc,
};

/// The ledgers of several runs.
pub struct LedgerPool<'a> {
    settings: &'a Settings,
    /// By file.
    local: BTreeMap<PathBuf, SqliteLedger>,
    /// By namespace; `None` if unavailable, with a warning.
    fleets: BTreeMap<String, Option<Arc<RedisLedger>>>,
    warnings: Vec<String>,
}

impl<'a> LedgerPool<'a> {
    /// A pool without open ledgers.
    pub fn new(settings: &'a Settings) -> Self {
        Self { settings, local: BTreeMap::new(), fleets: BTreeMap::new(), warnings: Vec::new() }
    }

    /// The ledger's account of a run; `None` if there is no record, or, with a warning, if the
    /// ledger of its fleet is unavailable.
    pub async fn ledger_for(&mut self, record: &RunRecord) -> Result<Option<RunAccount>, AppError> {
        let Some(namespace) = &record.fleet else {
            let backend = match self.local.entry(ledger_file_of(record, self.settings)) {
                Entry::Occupied(open) => open.into_mut(),
                Entry::Vacant(place) => place.insert(open_ledger_of(record, self.settings)?),
            };
            return backend.ledger(&record.run_id).await.map_err(local_error);
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
        Ok(ledger.unwrap_or_else(|error| {
            self.warnings.push(unread(namespace, &error));
            None
        }))
    }

    async fn open(&mut self, namespace: &str) -> Option<Arc<RedisLedger>> {
        let opened = fleet::open_backend_of(self.settings, namespace).await;
        opened.map_err(|error| self.warnings.push(unread(namespace, &error))).ok()
    }

    /// Closes the open ledgers; returns the warnings.
    #[must_use]
    pub async fn close(self) -> Vec<String> {
        for backend in self.local.into_values() {
            backend.close().await;
        }
        for backend in self.fleets.into_values().flatten() {
            backend.close().await;
        }
        self.warnings
    }
}

fn unread(namespace: &str, problem: &dyn std::fmt::Display) -> String {
    format!(
        "the ledger of fleet {namespace} cannot be read, so costs are summed from the results \
         only: {problem}"
    )
}
