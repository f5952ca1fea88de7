//! Reports without a gate, a calibration or a baseline.

use super::super::ReportWriter;
use juror_analysis::{
    compute_report::{ReportInput, compute_report},
    fold::Counted,
    metrics::AveragingPolicy,
    run_report::Report,
};
use juror_journal::journal::RunFiles;
use juror_ledger::admission::RunAccount;
use juror_report::{NoAttachments, write_output};
use juror_types::rubric::Rubric;

#[derive(Debug)]
pub(super) struct PlainReports;

impl ReportWriter for PlainReports {
    fn write(
        &self,
        files: &RunFiles,
        counted: &Counted,
        ledger: Option<RunAccount>,
        _is_complete: bool,
    ) -> Result<Report, String> {
        let rubric = Rubric::parse(&files.record().rubric_text, "run.json");
        let rubric = rubric.map_err(|error| error.to_string())?;
        let input = ReportInput::new(&rubric, AveragingPolicy::default());
        let input = ReportInput { counted: Some(counted), ledger, ..input };
        let report = compute_report(files, &input).map_err(|error| error.to_string())?;
        let path = files.path_of("report.json");
        write_output(&path, &report, files, &NoAttachments).map_err(|error| error.to_string())?;
        Ok(report)
    }
}
