//! Budget of a fleet's run: what is said now, or else what stands.

use crate::error::AppError;
use juror_ledger::{
    admission::{Admission as _, Budget},
    redis::RedisLedger,
};
use juror_types::{id::RunId, usage::Money};

/// The cap of a run that is continued.
#[derive(Clone, Copy)]
pub struct Cap {
    /// The most that it may cost from now on in all; none is unlimited.
    pub now: Option<Money>,
    /// Budget in the ledger; none if that has no record.
    before: Option<Budget>,
}

impl Cap {
    /// The cap that is given. Without a word on it the one stands that is in the ledger, whatever a
    /// record or a settings file says; `otherwise` counts where the ledger has none.
    pub async fn of(
        backend: &RedisLedger,
        run: &RunId,
        given: Option<Money>,
        otherwise: Option<Money>,
    ) -> Result<Self, AppError> {
        let ledger = backend.ledger(run).await.map_err(AppError::from)?;
        let before = ledger.map(|ledger| ledger.budget);
        let tally = match before {
            Some(Budget::Cap(cap)) => Some(cap),
            Some(Budget::Unlimited) => None,
            None => otherwise,
        };
        Ok(Self { now: given.or(tally), before })
    }

    /// The change in a sentence, if the cap has changed.
    pub fn change(&self, run: &RunId) -> Option<String> {
        let before = match self.before? {
            Budget::Cap(cap) => Some(cap),
            Budget::Unlimited => None,
        };
        let [old, new] = [before, self.now].map(phrase);
        let sentence = format!("run {run} may cost {new} from now on in all; before: {old}");
        (before != self.now).then_some(sentence)
    }
}

fn phrase(cap: Option<Money>) -> String {
    cap.map_or("whatever it takes".to_owned(), |cap| format!("${cap}"))
}
