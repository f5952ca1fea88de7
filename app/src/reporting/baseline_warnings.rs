//! Warnings about a baseline that is old, has changed since its blessing, or was judged under other
//! settings.

use jiff::Timestamp;
use juror_journal::{
    blessed::{BlessedRun, results_digest},
    journal::{JournalError, RunFiles},
};
use juror_types::run::{RunRecord, SettingDifference};

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Terms of the warnings.
#[derive(Clone, Copy, Debug)]
pub struct WarningTerms {
    /// Days after which a blessed run is old; 0 for never.
    pub max_age_days: u32,
    /// Current time.
    pub now: Timestamp,
}

/// Warnings about a base in a comparison with a head.
///
/// # Errors
/// An unreadable journal of the base.
pub fn warnings(
    base: &RunFiles,
    blessed: Option<&BlessedRun>,
    head: &RunRecord,
    terms: WarningTerms,
) -> Result<Vec<String>, JournalError> {
    let mut warnings: Vec<String> = same_run(base.record(), head).into_iter().collect();
    warnings.extend(other_evidence(base.record(), head));
    warnings.extend(other_settings(base.record(), head));
    if let Some(blessed) = blessed {
        warnings.extend(age(blessed, terms));
        warnings.extend(other_results(base, blessed)?);
    }
    Ok(warnings)
}

fn same_run(base: &RunRecord, head: &RunRecord) -> Option<String> {
    (base.run_id == head.run_id).then(|| {
        format!("base and head are one run, {}: nothing can differ; name two runs", head.run_id)
    })
}

fn other_evidence(base: &RunRecord, head: &RunRecord) -> Option<String> {
    (base.evidence != head.evidence).then(|| {
        format!(
            "evidence mode: {} in the base, {} in the head: figures and judges do not rest on the same input",
            base.evidence.name(),
            head.evidence.name()
        )
    })
}

fn other_settings(base: &RunRecord, head: &RunRecord) -> impl Iterator<Item = String> {
    base.differing_terms(head).into_iter().map(|SettingDifference { setting, known, requested }| {
        format!("{setting}: {known} in the base, {requested} in the head")
    })
}

fn age(blessed: &BlessedRun, terms: WarningTerms) -> Option<String> {
    let since: Timestamp = blessed.blessed_at.parse().ok()?;
    let days = terms.now.duration_since(since).as_secs() / DAY_SECONDS;
    let is_old = terms.max_age_days > 0 && days > i64::from(terms.max_age_days);
    let BlessedRun { name, run_id, .. } = blessed;
    is_old.then(|| {
        format!(
            "baseline {name} (run {run_id}) was blessed {days} days ago: bless a newer run with: juror \
             bless RUN --name {name}, or raise compare.max_baseline_age_days"
        )
    })
}

fn other_results(base: &RunFiles, blessed: &BlessedRun) -> Result<Option<String>, JournalError> {
    let BlessedRun { name, run_id, results_digest: known, .. } = blessed;
    Ok((results_digest(base)? != *known).then(|| {
        format!(
            "the results of run {run_id} have changed since it was blessed as {name}: check its report, \
             and bless it again with: juror bless {run_id} --name {name}"
        )
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bless::bless;
    use juror_journal::{
        journal::JournalWriter,
        test_fixtures::{SEMANTIC, bare, record},
    };
    use juror_types::{evidence::EvidenceMode, id::RunId, outcome::Outcome};

    #[test]
    fn old_changed_or_differently_measured_baseline_is_warned_of() {
        let runs = tempfile::tempdir().unwrap();
        let base = record(SEMANTIC, 1);
        let mut writer = JournalWriter::create(runs.path(), &base).unwrap();
        writer.append(&[bare("a", Outcome::Scored)]).unwrap();
        let files = writer.files().clone();
        drop(writer);
        let blessed = bless(runs.path(), &base.run_id, "main", false).unwrap().blessed;
        let itself = warnings(
            &files,
            None,
            &base,
            WarningTerms { max_age_days: 0, now: Timestamp::UNIX_EPOCH },
        );
        assert!(itself.unwrap()[0].starts_with("base and head are one run"));
        let record = RunRecord { run_id: RunId::new("head"), ..base.clone() };
        let since: Timestamp = blessed.blessed_at.parse().unwrap();
        let after = |days: i64, max_age_days, head: &RunRecord| {
            let now = since + jiff::SignedDuration::from_hours(24 * days);
            warnings(&files, Some(&blessed), head, WarningTerms { max_age_days, now }).unwrap()
        };
        assert_eq!(after(30, 30, &record), Vec::<String>::new());
        assert_eq!(after(400, 0, &record), Vec::<String>::new());
        let old = after(31, 30, &record);
        assert!(old[0].contains("was blessed 31 days ago"), "{old:?}");
        let facts = RunRecord { evidence: EvidenceMode::Facts, ..record.clone() };
        let other = after(0, 30, &facts);
        assert!(other[0].contains("none in the base, facts in the head"), "{other:?}");
        let smaller = RunRecord { max_side: Some(8), ..record.clone() };
        let output = "image.max_side: not set in the base, 8 pixels in the head";
        assert_eq!(after(0, 30, &smaller), [output]);

        let mut writer = JournalWriter::open(runs.path(), &base.run_id).unwrap();
        writer.append(&[bare("b", Outcome::Scored)]).unwrap();
        let changed = after(0, 30, &record);
        assert!(changed[0].contains("have changed since it was blessed"), "{changed:?}");
    }
}
