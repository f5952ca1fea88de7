//! Arguments of reports, comparisons, baselines and calibrations.

use super::FleetFlags;
use clap::Args;
use juror_journal::blessed::DEFAULT_BASELINE;
use std::path::PathBuf;

/// `juror report`
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The run: its id, its directory, or a name that it is blessed by
    pub run: String,
    /// Write the report to a file too (repeatable); the extension picks the format (.json .jsonl
    /// .csv .html .md .junit.xml)
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Exit with 100 unless this gate is met: targets, production, or a gate file
    #[arg(long, value_name = "NAME|FILE")]
    pub gate: Option<String>,
    #[command(flatten)]
    pub baseline: BaselineFlags,
    #[command(flatten)]
    pub calibration: CalibrationFlags,
    #[command(flatten)]
    pub fleet: FleetFlags,
}

/// `juror compare`
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The run to compare against: the name that it is blessed by, its id, or its directory
    pub base: String,
    /// The run that may have got worse: its id, its directory, or a name that it is blessed by
    pub head: String,
    #[command(flatten)]
    pub comparing: ComparingFlags,
    /// Write the comparison to a file too (repeatable); the extension picks the format (.json .md)
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
}

/// `juror bless`
#[derive(Debug, Args)]
pub struct BlessArguments {
    /// The run: its id, or its directory
    #[arg(required_unless_present_any = ["list", "remove"])]
    pub run: Option<String>,
    /// Name of the baseline; a run that has it already loses it
    #[arg(long, value_name = "NAME", default_value = DEFAULT_BASELINE)]
    pub name: String,
    /// Bless the run although jobs of it have no score (unscorable, failed, skipped or without a
    /// result)
    #[arg(long)]
    pub force: bool,
    /// List the blessed runs
    #[arg(long, conflicts_with_all = ["run", "force", "remove"])]
    pub list: bool,
    /// Remove this name; the run itself is kept
    #[arg(long, value_name = "NAME", conflicts_with_all = ["run", "force"])]
    pub remove: Option<String>,
}

/// `juror calibrate`
#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// The run whose judge is calibrated: its id, its directory, or a name that it is blessed by
    pub run: String,
    /// Ratings of people, .jsonl or .csv [default: the labels of the dataset's items]
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Write the calibration to a file too, as .json (repeatable)
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
}

/// Flags of the judge's calibration.
#[derive(Debug, Default, Args)]
pub struct CalibrationFlags {
    /// Calibration of the judge against people, as juror calibrate wrote it [default: the newest of
    /// the same judge in the runs directory]
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
}

/// Flags of comparisons.
#[derive(Debug, Default, Args)]
pub struct ComparingFlags {
    /// Largest change of the score, as a share, that does not matter [default: 0.01]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub margin: Option<f64>,
    /// Let a criterion that got worse decide too, and exit with 4 if the comparison is inconclusive
    #[arg(long)]
    pub strict: bool,
    /// Maximum share of the base's items that may be lost (not scored in the head); above it the
    /// comparison is at best inconclusive [default: 0.02]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub max_lost: Option<f64>,
}

/// Flags of a run's baseline.
#[derive(Debug, Default, Args)]
pub struct BaselineFlags {
    /// Compare with this run: the name that it is blessed by, its id, its directory or its
    /// report.json; exit with 100 if it got worse [default: that of the run, if it
    /// is known; else run.baseline of the settings]
    #[arg(long, value_name = "NAME|RUN|FILE")]
    pub baseline: Option<String>,
    #[command(flatten)]
    pub comparing: ComparingFlags,
}
