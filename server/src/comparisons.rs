//! Comparisons of two runs, with limited concurrency and a cache.

use crate::view::RunView;
use jiff::{Timestamp, Zoned, civil::Date};
use juror_analysis::{
    compare_runs::{CompareError, Side, compare},
    comparison::{Comparison, Rules},
    stability::ItemStability,
};
use juror_app::{
    reporting::baseline_warnings::{WarningTerms, warnings},
    work_limiter::WorkLimiter,
};
use juror_journal::blessed::{BlessedRun, BlessedRuns};
use parking_lot::Mutex;
use std::{
    collections::VecDeque,
    path::Path,
    sync::{Arc, Weak},
};
use tokio::task::spawn_blocking;

/// Maximum number of concurrent comparisons, each of which takes a processor, and of waiting ones.
const MAX_CONCURRENT: usize = 2;
const MAX_WAITING: usize = 8;
/// Maximum number of cached comparisons.
const CACHE_CAPACITY: usize = 16;

/// Comparer of runs, with a cache.
#[derive(Debug)]
pub struct Comparisons {
    pub(crate) limiter: WorkLimiter,
    blessed: BlessedRuns,
    /// Days after which a blessed run is old; 0 for never.
    max_baseline_age_days: u32,
    /// Cached comparisons, the newest last.
    kept: Mutex<VecDeque<KeptComparison>>,
}

/// Reason why two runs are not compared.
#[derive(Debug, thiserror::Error)]
pub enum NotCompared {
    /// Too many comparisons; retry in some seconds.
    #[error("too many comparisons are in progress; retry later")]
    Busy,
    /// The runs cannot be compared.
    #[error(transparent)]
    Impossible(#[from] CompareError),
    /// The task failed.
    #[error("the comparison was interrupted; retry")]
    Interrupted,
}

impl Comparisons {
    /// A comparer of the runs in a directory. It warns of a baseline that was blessed more than
    /// `max_baseline_age_days` ago; 0 for never.
    pub fn new(runs_dir: &Path, max_baseline_age_days: u32) -> Self {
        let blessed = BlessedRuns::new(runs_dir);
        let limiter = WorkLimiter::new(MAX_CONCURRENT, MAX_WAITING);
        Self { limiter, blessed, max_baseline_age_days, kept: Mutex::default() }
    }

    /// Comparison of the base with the head.
    pub async fn get(
        &self,
        base: &Arc<RunView>,
        head: &Arc<RunView>,
        rules: Rules,
    ) -> Result<Arc<Comparison>, NotCompared> {
        let terms = self.terms(base, rules).await?;
        if let Some(known) = self.known(base, head, &terms) {
            return Ok(known);
        }
        let permit = self.limiter.take().await.ok_or(NotCompared::Busy)?;
        // The previous holder of the permit may have made the same comparison.
        if let Some(known) = self.known(base, head, &terms) {
            return Ok(known);
        }
        let (blessed, max_age_days) = (terms.blessed.clone(), self.max_baseline_age_days);
        let (before, after) = (Arc::clone(base), Arc::clone(head));
        let comparing = spawn_blocking(move || {
            let _permit = permit;
            let rubric = &after.report.rubric;
            let stability =
                ItemStability::from_run(&after.files, rules.flaky_runs, rubric, rules.averaging)?;
            let [base, head] =
                [&before, &after].map(|view| Side { report: &view.report, files: &view.files });
            let mut comparison = compare(base, head, rules, &stability)?;
            let warning_terms = WarningTerms { max_age_days, now: Timestamp::now() };
            let further =
                warnings(&before.files, blessed.as_ref(), after.files.record(), warning_terms)?;
            comparison.warnings.extend(further);
            Ok::<_, CompareError>(comparison)
        });
        let comparison = Arc::new(comparing.await.map_err(|_| NotCompared::Interrupted)??);
        let (base, head) = (Arc::downgrade(base), Arc::downgrade(head));
        let mut kept = self.kept.lock();
        if kept.len() >= CACHE_CAPACITY {
            kept.pop_front();
        }
        kept.push_back(KeptComparison { base, head, terms, comparison: Arc::clone(&comparison) });
        Ok(comparison)
    }

    fn known(
        &self,
        base: &Arc<RunView>,
        head: &Arc<RunView>,
        terms: &ComparisonTerms,
    ) -> Option<Arc<Comparison>> {
        let is = |weak: &Weak<RunView>, view: &Arc<RunView>| weak.as_ptr() == Arc::as_ptr(view);
        let kept = self.kept.lock();
        let found = kept
            .iter()
            .find(|kept| is(&kept.base, base) && is(&kept.head, head) && kept.terms == *terms)?;
        Some(Arc::clone(&found.comparison))
    }

    /// Terms of a comparison with this base today.
    async fn terms(&self, base: &RunView, rules: Rules) -> Result<ComparisonTerms, NotCompared> {
        let (blessed, run) = (self.blessed.clone(), base.report.run.id.clone());
        let listing = spawn_blocking(move || blessed.list());
        let listed = listing.await.map_err(|_| NotCompared::Interrupted)?;
        let listed =
            listed.inspect_err(|error| tracing::warn!(%error, "blessed runs cannot be read"));
        let blessed = listed.unwrap_or_default().into_iter().find(|blessed| blessed.run_id == run);
        Ok(ComparisonTerms { rules, blessed, today: Zoned::now().date() })
    }
}

/// A cached comparison of two views; a run that is read again has another view.
#[derive(Debug)]
struct KeptComparison {
    base: Weak<RunView>,
    head: Weak<RunView>,
    terms: ComparisonTerms,
    comparison: Arc<Comparison>,
}

/// Terms of a comparison. It warns of a baseline older than `max_baseline_age_days`, so that a
/// cached one is valid for one date and one blessing.
#[derive(Clone, Debug, PartialEq)]
struct ComparisonTerms {
    rules: Rules,
    blessed: Option<BlessedRun>,
    today: Date,
}
