//! Current results in full, one per line, in item order.

use juror_journal::journal::JournalError;
use juror_types::outcome::JobResult;
use std::io::{self, Write};

/// Writes the results as the journal has them, without superseded rounds.
pub(crate) fn write(
    results: impl Iterator<Item = Result<JobResult, JournalError>>,
    out: &mut impl Write,
) -> io::Result<()> {
    for result in results {
        serde_json::to_writer(&mut *out, &result.map_err(io::Error::other)?)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
