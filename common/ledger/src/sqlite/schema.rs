//! The tables of `juror.db`. Money is in pico-dollars, time in milliseconds
//! since 1970.

use super::failure;
use crate::error::LedgerError;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// "JURO": identifies a database of Juror.
const APPLICATION: i32 = 0x4A55_524F;
/// The version of the tables below.
const VERSION: i32 = 1;
/// Time limit for another process's transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval between two attempts where SQLite does not wait itself.
const BUSY_RETRY_INTERVAL: Duration = Duration::from_millis(5);
/// Number of pages (4 KB) after which the log is copied back into the database: a page that many
/// commits change is copied once for all of them.
const CHECKPOINT_PAGES: u32 = 4_000;
/// Capacity of the cache of prepared statements, above the number of different ones.
const STATEMENT_CACHE_CAPACITY: usize = 64;

const TABLES: &str = "
-- What may be spent, under 'run:ID', 'day', 'month', 'day:LABEL' or 'month:LABEL'. NULL is unlimited,
-- no row is nothing.
CREATE TABLE budgets (
    scope TEXT PRIMARY KEY,
    cap_pico INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO budgets VALUES ('day', NULL), ('month', NULL);

-- What has been spent and held, under 'run:ID', 'day:2026-11-21', 'month:2026-11',
-- 'day:2026-11-21:LABEL' or 'month:2026-11:LABEL'.
CREATE TABLE accounts (
    scope TEXT PRIMARY KEY,
    committed_pico INTEGER NOT NULL,
    presumed_pico INTEGER NOT NULL,
    outstanding_pico INTEGER NOT NULL,
    overrun_pico INTEGER NOT NULL,
    stopped INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Admitted calls. One that has ended is kept for a while, so that settling again records nothing.
CREATE TABLE leases (
    lease TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    run TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    worst_pico INTEGER NOT NULL,
    admitted_ms INTEGER NOT NULL,
    standing TEXT NOT NULL CHECK (standing IN ('outstanding', 'settled', 'presumed')),
    cost_pico INTEGER,
    day TEXT NOT NULL,
    labels TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX outstanding_leases ON leases (run, owner) WHERE standing = 'outstanding';

-- Processes that hold leases, and when they last said that they live.
CREATE TABLE owners (
    owner TEXT PRIMARY KEY,
    beat_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who works on a job. Until its result stands, `starts` counts those of this round without an end,
-- `alone_starts` those of them that broke off without a neighbor, and `alone` says whether the
-- holder has none now; `unattributed_cost` is what settled calls cost that no result tells yet.
CREATE TABLE claims (
    run TEXT NOT NULL,
    job TEXT NOT NULL,
    owner TEXT NOT NULL,
    round INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    starts INTEGER NOT NULL,
    alone_starts INTEGER NOT NULL DEFAULT 0,
    alone INTEGER NOT NULL DEFAULT 0,
    carried_calls INTEGER NOT NULL DEFAULT 0,
    carried_pico INTEGER NOT NULL DEFAULT 0,
    carried_input INTEGER NOT NULL DEFAULT 0,
    carried_cached_input INTEGER NOT NULL DEFAULT 0,
    carried_output INTEGER NOT NULL DEFAULT 0,
    carried_unmetered INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX carrying_claims ON claims (run) WHERE carried_calls > 0;

-- The latest result of every finished job, as JSON.
CREATE TABLE results (
    run TEXT NOT NULL,
    job TEXT NOT NULL,
    round INTEGER NOT NULL,
    result TEXT NOT NULL,
    PRIMARY KEY (run, job)
) STRICT;

-- The verdict cache: digest of everything that was asked, the reply as JSON, and the last day on
-- which it was used, in days since 1970.
CREATE TABLE replies (
    question BLOB PRIMARY KEY,
    reply TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    cost_pico INTEGER NOT NULL,
    used_day INTEGER NOT NULL
) STRICT;

-- Jobs in batches, or on their way into one. A row that is not open has come to nothing, and its job
-- is asked again; once that is sure, it stands in no shard.
CREATE TABLE batch_rows (
    run TEXT NOT NULL,
    job TEXT NOT NULL,
    round INTEGER NOT NULL,
    shard INTEGER,
    lease TEXT NOT NULL,
    open INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (run, job)
) STRICT, WITHOUT ROWID;
CREATE INDEX rows_of_shards ON batch_rows (run, shard, job) WHERE open;
CREATE INDEX closed_rows_of_shards ON batch_rows (run, shard, job)
    WHERE NOT open AND shard IS NOT NULL;
CREATE INDEX leases_of_rows ON batch_rows (lease) WHERE open;

-- Shards that are not collected, and how far each has come, as JSON. `local` is the owner of all
-- shards of one machine.
CREATE TABLE batch_shards (
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    step TEXT NOT NULL,
    owner TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- The last number that was given to a shard of a run.
CREATE TABLE batch_numbers (
    run TEXT PRIMARY KEY,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Owners of shards, and until when they live.
CREATE TABLE batch_owners (
    owner TEXT PRIMARY KEY,
    until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- 'zone': name of the time zone in which days and months begin; no row is UTC.
-- 'alert:SCOPE:SHARE': the alert at a share of a budget was sent.
CREATE TABLE ledger_settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Under which labels the calls of a run count, as in 'dataset:golden,tag:checkout'.
CREATE TABLE run_labels (
    run TEXT PRIMARY KEY,
    labels TEXT NOT NULL
) STRICT, WITHOUT ROWID;
";

/// Opens the database, creating it if there is none. A commit survives the process, and a power
/// failure once the log is synced: SQLite itself syncs it only before it copies it back.
pub fn open(file: &Path) -> Result<Connection, LedgerError> {
    let explain = |error| failure::explain(&error, file);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags).map_err(explain)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(explain)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    check_or_create(&mut connection, file)?;
    let mode = use_write_ahead_log(&connection).map_err(explain)?;
    if mode != "wal" {
        return Err(LedgerError::Broken(format!(
            "the file system of {} cannot share memory between processes (journal mode {mode}): choose a folder on a local disk with --state",
            file.display()
        )));
    }
    connection.pragma_update(None, "synchronous", "NORMAL").map_err(explain)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).map_err(explain)?;
    Ok(connection)
}

/// Switches the journal mode and returns the resulting one. SQLite does not wait here for another
/// process that has the file open, whatever its timeout.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<String> {
    let max_wait = Instant::now() + BUSY_TIMEOUT;
    loop {
        let mode =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode {
            Err(error) if is_busy(&error) && Instant::now() < max_wait => {
                std::thread::sleep(BUSY_RETRY_INTERVAL);
            }
            mode => return mode,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Refuses a file of another program or of another version of Juror before anything is written.
fn check_or_create(connection: &mut Connection, file: &Path) -> Result<(), LedgerError> {
    let explain = |error| failure::explain(&error, file);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(explain)?;
    let number = |sql| transaction.query_row(sql, [], |row| row.get::<_, i32>(0)).map_err(explain);
    let application = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    if application != APPLICATION {
        if application != 0 || version != 0 || number("SELECT count(*) FROM sqlite_schema")? != 0 {
            return Err(LedgerError::Broken(format!(
                "{} is a database of another program: choose another folder with --state",
                file.display()
            )));
        }
        transaction.execute_batch(TABLES).map_err(explain)?;
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(explain)?;
        transaction.pragma_update(None, "user_version", VERSION).map_err(explain)?;
    } else if version != VERSION {
        return Err(LedgerError::Broken(format!(
            "{} has schema version {version}, not this program's ({VERSION}): use the program that wrote it, or choose another folder with --state",
            file.display()
        )));
    }
    transaction.commit().map_err(explain)
}
