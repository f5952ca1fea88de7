//! The gate that a run's record names, and changes of its file since.

use crate::{error::AppError, settings::Settings};
use juror_analysis::gate::{Gate, GateError};
use juror_types::{
    id::Digest,
    run::{DecisionTerms, RunRecord},
};
use std::{fs, path};

/// Digest of a gate's file; `None` for a built-in gate, and for a file that cannot be read.
pub fn file_digest(gate: &str) -> Option<Digest> {
    let path = Some(gate).filter(|gate| !Gate::is_built_in(gate))?;
    Some(Digest::from_content(&fs::read(path).ok()?))
}

/// Terms of a continued run's decision: a gate that was recorded before keeps its digest.
pub(crate) fn with_known_digest(terms: DecisionTerms, known: Option<&RunRecord>) -> DecisionTerms {
    match known.and_then(|known| known.decision.as_ref()) {
        Some(before) if before.gate == terms.gate => {
            DecisionTerms { gate_digest: before.gate_digest, ..terms }
        }
        _ => terms,
    }
}

/// Warning that a run is decided by its recorded gate, whose file has changed.
pub(super) fn change_warning(record: &RunRecord, settings: &Settings) -> Option<String> {
    let terms = record.decision.as_ref()?;
    let (gate, before) = (terms.gate.as_ref()?, terms.gate_digest?);
    let used = path::absolute(settings.run.gate()?).ok()?;
    let now = file_digest(gate).filter(|_| used.to_string_lossy() == *gate)?;
    (now != before).then(|| {
        format!(
            "the gate {gate} has changed since the run began: the decision is by the file as it is \
             now; to decide as before, restore the file and run: juror report {}",
            record.run_id
        )
    })
}

/// Error of a gate that cannot be loaded. Where the record names it, the error says so.
pub(super) fn load_error(error: GateError, named: &str, known: Option<&RunRecord>) -> AppError {
    let terms = known.and_then(|known| Some((known, known.decision.as_ref()?.gate.as_ref()?)));
    match (&error, terms) {
        (GateError::Unreadable(_), Some((known, gate))) if gate == named => {
            AppError::invalid(format!(
                "{error}; run.json of run {} names it: restore the file, decide by another gate with \
                 --gate FILE, or by none with --gate \"\"",
                known.run_id
            ))
        }
        _ => AppError::invalid(error),
    }
}
