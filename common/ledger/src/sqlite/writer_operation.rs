//! Operations for the thread that owns the database.

use super::writer_memory::Memory;
use crate::error::LedgerError;
use rusqlite::Connection;

/// An operation with the reply channel of its caller.
pub trait WriterOrder: Send {
    /// True if its caller waits until it is on disk.
    fn awaits_sync(&self) -> bool;
    /// Runs the operation, inside a transaction that may still be rolled back.
    fn run(&mut self, connection: &Connection, memory: &mut Memory) -> rusqlite::Result<()>;
    /// Sends the outcome of the commit to the caller.
    fn reply(self: Box<Self>, committed: Result<(), LedgerError>);
}
