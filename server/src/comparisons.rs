//! Comparisons of two runs: a few are made at a time, and the last ones are kept.

use crate::view::RunView;
use jiff::{Timestamp, Zoned, civil::Date};
use juror_analysis::{
    compare::{CompareError, Side, compare},
    comparison::{Comparison, Rules},
    items::ItemResults,
    stability::ItemStability,
};
use juror_app::{
    reporting::baseline_warnings::{WarningTerms, warnings},
    work_limiter::WorkLimiter,
};
use juror_journal::blessed::{BlessedRun, BlessedRuns};
use std::{
    collections::VecDeque,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};
use tokio::task::spawn_blocking;

/// So many are made at once, each of which takes one processor, and so many wait for that.
const AT_ONCE: usize = 2;
const IN_LINE: usize = 8;
/// So many are kept.
const CAPACITY: usize = 16;

/// Makes comparisons.
#[derive(Debug)]
pub struct Comparisons {
    pub(crate) turns: WorkLimiter,
    blessed: BlessedRuns,
    /// Days after which a blessed run is old; 0 for never.
    max_baseline_age_days: u32,
    /// The newest one stands last.
    kept: Mutex<VecDeque<KeptComparison>>,
}

/// Reason why two runs are not compared.
#[derive(Debug, thiserror::Error)]
pub enum NotCompared {
    /// It may work in some seconds.
    #[error("too many runs are being compared already; try again when fewer are")]
    Busy,
    /// They cannot be.
    #[error(transparent)]
    Impossible(#[from] CompareError),
    /// The task that did it was broken off.
    #[error("comparing the runs was broken off; ask again")]
    Interrupted,
}

/// A comparison of two runs as they were read: one that is read again is another view.
#[derive(Debug)]
struct KeptComparison {
    base: Weak<RunView>,
    head: Weak<RunView>,
    terms: ComparisonTerms,
    comparison: Arc<Comparison>,
}

/// Terms of a comparison: another day or another blessing may bring other warnings.
#[derive(Clone, Debug, PartialEq)]
struct ComparisonTerms {
    rules: Rules,
    blessed: Option<BlessedRun>,
    today: Date,
}

impl Comparisons {
    /// Comparisons of the runs in this directory, where blessed ones are old after so many days.
    pub fn new(runs_dir: &Path, max_baseline_age_days: u32) -> Self {
        let blessed = BlessedRuns::new(runs_dir);
        let turns = WorkLimiter::new(AT_ONCE, IN_LINE);
        Self { turns, blessed, max_baseline_age_days, kept: Mutex::default() }
    }

    /// Comparison of the base with the head.
    pub async fn of(
        &self,
        base: &Arc<RunView>,
        head: &Arc<RunView>,
        rules: Rules,
    ) -> Result<Arc<Comparison>, NotCompared> {
        let terms = self.terms(base, rules).await?;
        if let Some(known) = self.known(base, head, &terms) {
            return Ok(known);
        }
        let turn = self.turns.take().await.ok_or(NotCompared::Busy)?;
        // Whoever had the turn before may have made the same.
        if let Some(known) = self.known(base, head, &terms) {
            return Ok(known);
        }
        let (blessed, max_age_days) = (terms.blessed.clone(), self.max_baseline_age_days);
        let (before, after) = (Arc::clone(base), Arc::clone(head));
        let comparing = spawn_blocking(move || {
            let _turn = turn;
            let rubric = &after.report.rubric;
            let stability =
                ItemStability::of_run(&after.files, rules.flaky_runs, rubric, rules.averaging)?;
            let mut comparison = compare(side(&before)?, side(&after)?, rules, &stability)?;
            let of_age = WarningTerms { max_age_days, now: Timestamp::now() };
            let further = warnings(&before.files, blessed.as_ref(), after.files.record(), of_age)?;
            comparison.warnings.extend(further);
            Ok::<_, CompareError>(comparison)
        });
        let comparison = Arc::new(comparing.await.map_err(|_| NotCompared::Interrupted)??);
        let (base, head) = (Arc::downgrade(base), Arc::downgrade(head));
        let mut kept = self.kept();
        if kept.len() >= CAPACITY {
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
        let kept = self.kept();
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
        let listed = listed.inspect_err(|error| tracing::warn!(%error, "no blessed runs"));
        let blessed = listed.unwrap_or_default().into_iter().find(|blessed| blessed.run_id == run);
        Ok(ComparisonTerms { rules, blessed, today: Zoned::now().date() })
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<KeptComparison>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn side(view: &RunView) -> Result<Side<'_, ItemResults<'_>>, CompareError> {
    Ok(Side { report: &view.report, results: view.report.items.read(&view.files)? })
}
