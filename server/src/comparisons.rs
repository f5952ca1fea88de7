//! Comparisons of two runs: a few are made at a time, and the last ones are kept.

use crate::view::RunView;
use juror_analysis::{
    compare::{CompareError, Side, compare},
    comparison::{Comparison, Rules},
    items::ItemResults,
    stability::ItemStability,
};
use juror_app::work_limiter::Turns;
use std::{
    collections::VecDeque,
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
    pub(crate) turns: Turns,
    /// The newest one stands last.
    kept: Mutex<VecDeque<Kept>>,
}

/// Why two runs are not compared.
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
struct Kept {
    base: Weak<RunView>,
    head: Weak<RunView>,
    rules: Rules,
    comparison: Arc<Comparison>,
}

impl Default for Comparisons {
    fn default() -> Self {
        Self { turns: Turns::new(AT_ONCE, IN_LINE), kept: Mutex::default() }
    }
}

impl Comparisons {
    /// Comparison of the base with the head.
    pub async fn of(
        &self,
        base: &Arc<RunView>,
        head: &Arc<RunView>,
        rules: Rules,
    ) -> Result<Arc<Comparison>, NotCompared> {
        if let Some(known) = self.known(base, head, rules) {
            return Ok(known);
        }
        let turn = self.turns.take().await.ok_or(NotCompared::Busy)?;
        // Whoever had the turn before may have made the same.
        if let Some(known) = self.known(base, head, rules) {
            return Ok(known);
        }
        let (before, after) = (Arc::clone(base), Arc::clone(head));
        let comparing = spawn_blocking(move || {
            let _turn = turn;
            let rubric = &after.report.rubric;
            let stability =
                ItemStability::of_run(&after.files, rules.flaky_runs, rubric, rules.averaging)?;
            compare(side(&before)?, side(&after)?, rules, &stability)
        });
        let comparison = Arc::new(comparing.await.map_err(|_| NotCompared::Interrupted)??);
        let (base, head) = (Arc::downgrade(base), Arc::downgrade(head));
        let mut kept = self.kept();
        if kept.len() >= CAPACITY {
            kept.pop_front();
        }
        kept.push_back(Kept { base, head, rules, comparison: Arc::clone(&comparison) });
        Ok(comparison)
    }

    fn known(
        &self,
        base: &Arc<RunView>,
        head: &Arc<RunView>,
        rules: Rules,
    ) -> Option<Arc<Comparison>> {
        let is = |weak: &Weak<RunView>, view: &Arc<RunView>| weak.as_ptr() == Arc::as_ptr(view);
        let kept = self.kept();
        let found = kept
            .iter()
            .find(|kept| is(&kept.base, base) && is(&kept.head, head) && kept.rules == rules)?;
        Some(Arc::clone(&found.comparison))
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn side(view: &RunView) -> Result<Side<'_, ItemResults<'_>>, CompareError> {
    Ok(Side { report: &view.report, results: view.report.items.read(&view.files)? })
}
