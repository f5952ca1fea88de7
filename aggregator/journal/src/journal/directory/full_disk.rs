//! Directories on a full disk, for tests.

use super::RunDirectory;
use std::{fs::OpenOptions, io};

impl RunDirectory {
    /// Makes every further write fail as on a full disk.
    pub fn fill_the_disk(&mut self) -> io::Result<()> {
        self.journal = OpenOptions::new().write(true).open("/dev/full")?;
        Ok(())
    }
}
