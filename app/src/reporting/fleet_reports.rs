//! Reports of a fleet's runs, in the aggregator.

use super::{Reporting, add_comparison, baseline::Baseline, calibration, save, without_comparison};
use crate::{
    error::AppError,
    recorded_settings::shared_layer,
    rubrics,
    settings::{BaseLayers, Layer},
};
use juror_aggregator::aggregator_role::ReportWriter;
use juror_analysis::{
    calibration::stored_calibration::KnownCalibration, fold::Counted, gate::Gate,
    run_report::Report,
};
use juror_journal::journal::RunFiles;
use juror_ledger::admission::RunAccount;

/// Report writer with the aggregator's settings, and with the gates and baselines of the runs'
/// records, which are searched on its machine and in its runs directory.
#[derive(Debug)]
pub struct FleetReports {
    base: BaseLayers,
    flags: Layer,
    calibration: Option<KnownCalibration>,
}

impl FleetReports {
    /// A writer with these settings.
    ///
    /// # Errors
    /// An invalid value; an unreadable calibration.
    pub fn new(base: BaseLayers, flags: Layer) -> Result<Self, AppError> {
        let calibration = calibration(&base.resolve(flags.clone())?)?;
        Ok(Self { base, flags, calibration })
    }

    fn written(
        &self,
        files: &RunFiles,
        counted: &Counted,
        ledger: Option<RunAccount>,
        is_complete: bool,
    ) -> Result<Report, AppError> {
        let (rubric, _) = rubrics::recorded(files.record())?;
        let flags = shared_layer(files.record()).overlaid_with(self.flags.clone());
        let settings = self.base.resolve(flags)?;
        let gate = settings.run.gate().map(|name| Gate::load(name, &rubric)).transpose();
        let gate = gate.map(|gate| Some(gate?.anchored_at_blessed(&settings.run.runs_dir)));
        let named = files.record().baseline.as_deref().filter(|_| is_complete);
        let baseline = named.map(|named| Baseline::open(named, &settings)).transpose();
        let reporting = Reporting {
            rubric: &rubric,
            gate: gate.as_ref().ok().and_then(Option::as_ref),
            baseline: baseline.as_ref().ok().and_then(Option::as_ref),
            settings: &settings,
            calibration: self.calibration.as_ref(),
        };
        let (mut report, stability) = without_comparison(files, Some(counted), ledger, &reporting)?;
        let added = add_comparison(&mut report, files, &reporting, &stability);
        // The results are complete regardless, so the report has the reason for a missing decision.
        if let Err(cause) = &gate {
            report.warnings.push(format!("not decided by its gate: {cause}"));
        }
        if let Err(cause) = baseline.as_ref().map(drop).and(added.as_ref().map(drop)) {
            report.warnings.push(format!("not compared with its baseline: {cause}"));
        }
        save(&report, files)?;
        Ok(report)
    }
}

impl ReportWriter for FleetReports {
    fn write(
        &self,
        files: &RunFiles,
        counted: &Counted,
        ledger: Option<RunAccount>,
        is_complete: bool,
    ) -> Result<Report, String> {
        self.written(files, counted, ledger, is_complete).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporting::recorded_gate::file_digest;
    use juror_analysis::{
        calibration::stored_calibration,
        fold::Fold,
        gate::GateDecision,
        test_fixtures::{
            SEMANTIC, calibrations::calibration_of_two_items, comparisons::shown, record,
        },
    };
    use juror_journal::journal::JournalWriter;
    use juror_types::{
        id::RunId,
        run::{DecisionTerms, RunRecord},
    };
    use std::{fs, path::Path};

    /// A run of one item for each letter: `p` passes, `f` fails.
    fn run(runs_dir: &Path, day: u32, letters: &str) -> RunFiles {
        let record = RunRecord {
            run_id: RunId::new(format!("night-{day}")),
            created_at: format!("2026-11-{day:02}T02:00:00Z"),
            ..record(SEMANTIC, letters.len() as u64)
        };
        let results = letters.chars().enumerate().map(|(number, letter)| {
            let mut result = shown(number, if letter == 'p' { [9; 5] } else { [4; 5] }, b"input");
            result.pipeline_success = Some(letter == 'p');
            result
        });
        let mut writer = JournalWriter::create(runs_dir, &record).unwrap();
        writer.append(&results.collect::<Vec<_>>()).unwrap();
        fs::write(writer.files().path_of("report.json"), "{}").unwrap();
        writer.files().clone()
    }

    fn written(files: &RunFiles, settings: &str) -> Report {
        let runs_dir = files.directory().parent().unwrap().to_str().unwrap();
        let file = Layer::parse(settings, "juror.toml").unwrap();
        let flags = file.with("run.runs_dir", Some(runs_dir));
        let reports = FleetReports::new(BaseLayers::default(), flags).unwrap();
        let counted = Fold::from_journal(files).unwrap().counted();
        reports.write(files, &counted, None, true).unwrap()
    }

    #[test]
    fn the_gate_is_evaluated_without_flaky_items_where_that_is_set() {
        let folder = tempfile::tempdir().unwrap();
        let nights = ["pppp", "pfpp", "pppp", "pfpp"].iter().zip(1..);
        let nights: Vec<_> =
            nights.map(|(letters, day)| run(folder.path(), day, letters)).collect();
        let gate = folder.path().join("gate.toml");
        let rule = "[[rule]]\nmetric = \"pipeline_success_rate\"\nat_least = 1.0\n";
        fs::write(&gate, format!("schema = 1\n{rule}")).unwrap();
        let gate = format!("[run]\ngate = {gate:?}\n");
        let all = written(&nights[3], &gate);
        assert_eq!(all.gate.unwrap().decision, GateDecision::Missed);
        let steady = written(&nights[3], &format!("{gate}[compare]\nflaky = \"leave_out\"\n"));
        assert_eq!(steady.gate.unwrap().decision, GateDecision::Met);
        assert!(steady.warnings.iter().any(|warning| warning.contains("without 1 flaky item")));
    }

    #[test]
    fn a_gate_file_that_has_changed_since_the_run_began_is_warned_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.toml");
        let rule = "schema = 1\n[[rule]]\nmetric = \"pipeline_success_rate\"\nat_least = 0.5\n";
        fs::write(&path, rule).unwrap();
        let gate = path.to_str().unwrap().to_owned();
        let terms = DecisionTerms {
            gate_digest: file_digest(&gate),
            gate: Some(gate.clone()),
            margin: 0.05,
            strict: false,
            max_lost: 0.0,
            failed_jobs: None,
            missing_output: None,
        };
        let decided = RunRecord { decision: Some(terms), ..record(SEMANTIC, 0) };
        let writer = JournalWriter::create(folder.path(), &decided).unwrap();
        let is_warned = || {
            let report = written(writer.files(), &format!("[run]\ngate = {gate:?}\n"));
            report.warnings.iter().any(|warning| warning.contains("gate.toml has changed since"))
        };
        assert!(!is_warned());
        fs::write(&path, rule.replace("0.5", "0.9")).unwrap();
        assert!(is_warned());
    }

    #[test]
    fn calibration_next_to_the_run_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let files = run(folder.path(), 1, "pp");
        let labeled = folder.path().join("labeled");
        fs::create_dir(&labeled).unwrap();
        stored_calibration::write(
            &labeled.join(stored_calibration::FILE_NAME),
            &calibration_of_two_items(),
        )
        .unwrap();
        let calibration = serde_json::to_value(written(&files, "").calibration).unwrap();
        assert_eq!((&calibration["status"], &calibration["n"]), (&"not_enough".into(), &2.into()));
    }

    #[test]
    fn a_missing_baseline_is_a_warning_and_the_report_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let record = RunRecord { baseline: Some("main".to_owned()), ..record(SEMANTIC, 0) };
        let writer = JournalWriter::create(folder.path(), &record).unwrap();
        let report = written(writer.files(), "");
        let expected = "not compared with its baseline: ";
        assert!(report.warnings.iter().any(|warning| warning.starts_with(expected)), "{report:?}");
        assert!(writer.files().path_of("report.json").exists());
    }
}
