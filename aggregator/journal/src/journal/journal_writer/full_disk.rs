//! Simulation of a full disk for tests.

use super::JournalWriter;
use std::{fs::OpenOptions, io};

impl JournalWriter {
    /// Makes later writes fail as on a full disk.
    pub fn simulate_full_disk(&mut self) -> io::Result<()> {
        self.journal = OpenOptions::new().write(true).open("/dev/full")?;
        Ok(())
    }
}
