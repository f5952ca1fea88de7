//! Forgetting runs whose files are gone, so that `juror.db` does not grow for ever.

use super::{SqliteLedger, schema};
use crate::error::LedgerError;
use juror_types::id::RunId;
use rusqlite::Connection;
use std::path::Path;

/// Queries that find something of a run under way: calls, and rows of batches.
const UNDER_WAY: [&str; 2] = [
    "SELECT EXISTS (SELECT 1 FROM leases WHERE run = ?1 AND standing = 'outstanding')",
    "SELECT EXISTS (SELECT 1 FROM batch_rows WHERE run = ?1 AND open)",
];

/// Statements that take everything of a run away but what it spent of days and months.
const FORGET: [&str; 5] = [
    "DELETE FROM results WHERE run = ?1",
    "DELETE FROM claims WHERE run = ?1",
    "DELETE FROM leases WHERE run = ?1",
    "DELETE FROM batch_rows WHERE run = ?1",
    "DELETE FROM batch_shards WHERE run = ?1",
];

/// Statements that take the run's own budget and account away.
const FORGET_MONEY: [&str; 2] =
    ["DELETE FROM budgets WHERE scope = ?1", "DELETE FROM accounts WHERE scope = ?1"];

impl SqliteLedger {
    /// Forgets a run: its results, claims, batches, budget and account. What it spent stays in the
    /// accounts of its days and months. Answers whether it did: a run with calls or batches under way
    /// is left as it is.
    pub async fn forget_run(&self, run: &RunId) -> Result<bool, LedgerError> {
        let run = run.clone();
        self.writer
            .perform_durably(move |connection, _| {
                for query in UNDER_WAY {
                    let mut statement = connection.prepare_cached(query)?;
                    if statement.query_row([run.as_str()], |row| row.get(0))? {
                        return Ok(false);
                    }
                }
                for statement in FORGET {
                    connection.prepare_cached(statement)?.execute([run.as_str()])?;
                }
                for statement in FORGET_MONEY {
                    connection.prepare_cached(statement)?.execute([format!("run:{run}")])?;
                }
                Ok(true)
            })
            .await
    }

    /// Gives the room of forgotten runs back to the disk. Call it when the file is closed; one that
    /// another process writes is refused after a while, which loses nothing.
    ///
    /// # Errors
    /// Those of [`SqliteLedger::open`].
    pub fn shrink(file: &Path) -> Result<(), LedgerError> {
        let connection: Connection = schema::open(file)?;
        connection.execute_batch("VACUUM").map_err(|error| {
            LedgerError::Unavailable(format!("{} cannot be made smaller: {error}", file.display()))
        })
    }
}
