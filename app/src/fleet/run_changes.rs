//! Changes by a command of a fleet's run that is continued or retried.

use crate::error::AppError;
use juror_ledger::{admission::Admission as _, redis::RedisLedger};
use juror_types::{id::RunId, lane::Lane, run::RunRecord, usage::Money};

/// The cap of a continued run, none for unlimited: the given one, else the ledger's, else the
/// record's; with the message of its change, if it changes.
pub async fn continued_cap(
    backend: &RedisLedger,
    run: &RunId,
    given: Option<Money>,
    recorded: Option<Money>,
) -> Result<(Option<Money>, Option<String>), AppError> {
    let before = backend.ledger(run).await?.map(|ledger| ledger.budget.cap());
    let now = given.or(before.unwrap_or(recorded));
    let change = before.filter(|before| *before != now).map(|before| {
        let [old, new] = [before, now]
            .map(|cap| cap.map_or_else(|| "unlimited".to_owned(), |cap| format!("${cap}")));
        format!("the budget of run {run} is now {new}; before: {old}")
    });
    Ok((now, change))
}

/// Messages of the deadline, lane and gate in which two records of a run differ.
pub fn describe_record_changes(known: &RunRecord, now: &RunRecord) -> impl Iterator<Item = String> {
    [deadline_change(known, now), lane_change(known, now), gate_change(known, now)]
        .into_iter()
        .flatten()
}

fn deadline_change(known: &RunRecord, now: &RunRecord) -> Option<String> {
    let deadline = now.deadline.filter(|_| now.deadline != known.deadline)?;
    let before = known.deadline.map(|before| format!("; before: {before}")).unwrap_or_default();
    Some(format!("the deadline of run {} is {deadline} from now on{before}", known.run_id))
}

fn lane_change(known: &RunRecord, now: &RunRecord) -> Option<String> {
    let [before, now] = [known.lane, now.lane].map(Lane::name);
    let run = &known.run_id;
    (before != now).then(|| {
        format!("calls of run {run} are bought in the lane {now} from now on; before: {before}")
    })
}

fn gate_change(known: &RunRecord, now: &RunRecord) -> Option<String> {
    let gate = |record: &RunRecord| record.decision.as_ref()?.gate.clone();
    let [before, now] = [known, now].map(gate);
    let [old, new] = [&before, &now].map(|gate| gate.as_deref().unwrap_or("none"));
    let sentence = format!("the gate of run {} is now {new}; before: {old}", known.run_id);
    (before != now).then_some(sentence)
}
