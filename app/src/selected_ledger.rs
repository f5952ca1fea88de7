//! The ledger of the settings: the fleet's Redis or this machine's `juror.db`.

use crate::{error::AppError, fleet, local_ledger::open_local_ledger, settings::Settings};
use futures_util::future::BoxFuture;
use juror_ledger::{
    budgets::BudgetRecords, job_store::JobStore, redis::RedisLedger, sqlite::SqliteLedger,
};
use std::sync::Arc;

/// An open ledger: the fleet's if `fleet.redis` is set, otherwise this machine's.
pub enum SelectedLedger {
    /// `juror.db`.
    Local(SqliteLedger),
    /// The fleet's Redis.
    Fleet(Arc<RedisLedger>),
}

impl SelectedLedger {
    /// Opens the ledger.
    ///
    /// # Errors
    /// A ledger that cannot be opened, or is unavailable.
    pub fn open(settings: &Settings) -> BoxFuture<'_, Result<Self, AppError>> {
        Box::pin(async move {
            match settings.fleet.redis {
                Some(_) => fleet::open_backend(settings).await.map(Self::Fleet),
                None => open_local_ledger(settings).map(Self::Local),
            }
        })
    }

    /// Budgets of the ledger.
    pub fn budgets(&self) -> &dyn BudgetRecords {
        match self {
            Self::Local(backend) => backend,
            Self::Fleet(backend) => &**backend,
        }
    }

    /// Replies and results of the ledger.
    pub fn store(&self) -> &dyn JobStore {
        match self {
            Self::Local(backend) => backend,
            Self::Fleet(backend) => &**backend,
        }
    }

    /// Closes the ledger.
    pub async fn close(&self) {
        match self {
            Self::Local(backend) => backend.close().await,
            Self::Fleet(backend) => backend.close().await,
        }
    }
}
