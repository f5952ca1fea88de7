//! What a run of the fleet may cost: what is said now, or else what stands.

use crate::{exit::Failure, fleet::backend_failure, terminal as screen};
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
    /// What stands in the ledger; none if that has no record.
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
    ) -> Result<Self, Failure> {
        let ledger = backend.ledger(run).await.map_err(backend_failure)?;
        let before = ledger.map(|ledger| ledger.budget);
        let tally = match before {
            Some(Budget::Cap(cap)) => Some(cap),
            Some(Budget::Unlimited) => None,
            None => otherwise,
        };
        Ok(Self { now: given.or(tally), before })
    }

    /// Says that it has changed, if it has.
    pub fn tell(&self, run: &RunId, quiet: bool) {
        let Some(before) = self.before.filter(|_| !quiet) else { return };
        let before = match before {
            Budget::Cap(cap) => Some(cap),
            Budget::Unlimited => None,
        };
        if before != self.now {
            let [before, now] = [before, self.now].map(words);
            screen::tell(&format!("run {run} may cost {now} from now on in all; before: {before}"));
        }
    }
}

fn words(cap: Option<Money>) -> String {
    cap.map_or("whatever it takes".to_owned(), |cap| format!("${cap}"))
}
