//! Budget of a continued run of a fleet.

use crate::error::AppError;
use juror_ledger::{
    admission::{Admission as _, Budget},
    redis::RedisLedger,
};
use juror_types::{id::RunId, usage::Money};

/// Old and new cap of a run that is continued.
#[derive(Clone, Copy)]
pub struct RunBudgetUpdate {
    /// New maximum of the run's total cost; none is unlimited.
    pub now: Option<Money>,
    /// Budget in the ledger; none if there is no record.
    before: Option<Budget>,
}

impl RunBudgetUpdate {
    /// The given cap, else the ledger's, else `otherwise`.
    pub async fn from_ledger(
        backend: &RedisLedger,
        run: &RunId,
        given: Option<Money>,
        otherwise: Option<Money>,
    ) -> Result<Self, AppError> {
        let ledger = backend.ledger(run).await?;
        let before = ledger.map(|ledger| ledger.budget);
        let current = before.map_or(otherwise, Budget::cap);
        Ok(Self { now: given.or(current), before })
    }

    /// Message of the change, if the cap changes.
    pub fn change(&self, run: &RunId) -> Option<String> {
        let before = self.before?.cap();
        let [old, new] = [before, self.now].map(phrase);
        let sentence = format!("the budget of run {run} is now {new}; before: {old}");
        (before != self.now).then_some(sentence)
    }
}

fn phrase(cap: Option<Money>) -> String {
    cap.map_or("unlimited".to_owned(), |cap| format!("${cap}"))
}
