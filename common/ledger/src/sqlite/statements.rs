//! Statements on the writer's connection, each prepared once.

use rusqlite::{Connection, Params, Result, Row};

/// Executes a statement; returns the number of changed rows.
pub(crate) fn execute(connection: &Connection, sql: &str, values: impl Params) -> Result<usize> {
    connection.prepare_cached(sql)?.execute(values)
}

/// Reads the first row of a query.
///
/// # Errors
/// `QueryReturnedNoRows` if there is none, besides those of the database.
pub(crate) fn query_one<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<T> {
    connection.prepare_cached(sql)?.query_row(values, read)
}

/// Reads all rows of a query.
pub(crate) fn query_all<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(values, read)?.collect()
}
