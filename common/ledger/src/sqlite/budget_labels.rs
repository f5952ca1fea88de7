//! Labels of runs and leases in SQLite: comma-separated texts.

use super::failure::{SqliteFailure, unreadable};
use juror_types::{budget_label::BudgetLabel, id::RunId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

/// Labels of a run; none if it has no record of them.
pub(crate) fn labels_of_run(
    connection: &Connection,
    run: &RunId,
) -> Result<Vec<BudgetLabel>, SqliteFailure> {
    let mut statement =
        connection.prepare_cached("SELECT labels FROM run_labels WHERE run = ?1")?;
    let labels = statement.query_row([run.as_str()], |row| from_column(row, 0)).optional()?;
    Ok(labels.unwrap_or_default())
}

/// Writes the labels of a run.
pub(crate) fn write(
    connection: &Connection,
    run: &RunId,
    labels: &[BudgetLabel],
) -> Result<(), SqliteFailure> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO run_labels (run, labels) VALUES (?1, ?2)")?
        .execute(params![run.as_str(), BudgetLabel::join(labels)])?;
    Ok(())
}

/// Labels of a column.
pub(crate) fn from_column(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<BudgetLabel>> {
    BudgetLabel::split(&row.get::<_, String>(column)?).map_err(|error| unreadable(column, error))
}
