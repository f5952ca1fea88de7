//! Checks of jobs and results from a queue, to which others may publish too.

use crate::{
    id::{JobId, RunId},
    job::Job,
    outcome::JobResult,
    usage::Money,
    verdict::{Score, Verdict},
};

/// Maximum round of a job, far above the rounds that retries open.
pub const MAX_ROUND: u32 = 10_000;

/// Maximum rounding error of a share.
const ROUNDING: f64 = 1e-9;

/// A job or a result that no part of Juror published.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ForeignMessage {
    /// The job id is not [`JobId::for_item`] its run, item and repeat.
    #[error(
        "its job id is not the one of item {item:?}, repeat {repeat}, of run {run:?}: it was not published by juror"
    )]
    JobId {
        run: String,
        /// The beginning of the item's id.
        item: String,
        /// Number of the item's repeat.
        repeat: u32,
    },
    /// The round is above [`MAX_ROUND`].
    #[error("round {0} exceeds the maximum of {MAX_ROUND}")]
    Round(u32),
    /// The cost is negative.
    #[error("its cost is negative")]
    Cost,
    /// A score is not a number in its range.
    #[error("{0} is out of range, so no juror worker has published it")]
    Score(&'static str),
}

/// Checks the id and the round of a job.
///
/// # Errors
/// A job that was not planned for its run.
pub fn check_job(job: &Job) -> Result<(), ForeignMessage> {
    check_id(&job.run_id, &job.job_id, &job.item.id, job.repeat)?;
    check_round(job.round)
}

/// Checks the id and the round, the cost and the totals of a result.
///
/// # Errors
/// A result that no worker made of a job of its run.
pub fn check_result(result: &JobResult) -> Result<(), ForeignMessage> {
    check_id(&result.run_id, &result.job_id, &result.screenshot_id, result.repeat)?;
    check_round(result.round)?;
    check_figures(result)
}

/// Checks the cost and the totals of a result.
///
/// # Errors
/// Figures that no worker computed.
pub fn check_figures(result: &JobResult) -> Result<(), ForeignMessage> {
    if result.cost_usd < Money::ZERO {
        return Err(ForeignMessage::Cost);
    }
    result.semantic.as_ref().map_or(Ok(()), check_verdict)
}

fn check_id(run: &RunId, job: &JobId, item: &str, repeat: u32) -> Result<(), ForeignMessage> {
    if *job == JobId::for_item(run, item, repeat) {
        return Ok(());
    }
    let short = |text: &str| text.chars().take(100).collect();
    Err(ForeignMessage::JobId { run: short(run.as_str()), item: short(item), repeat })
}

fn check_round(round: u32) -> Result<(), ForeignMessage> {
    if round > MAX_ROUND { Err(ForeignMessage::Round(round)) } else { Ok(()) }
}

fn check_verdict(verdict: &Verdict) -> Result<(), ForeignMessage> {
    let check = |name, value: f64, max: f64| match (0.0..=max + ROUNDING).contains(&value) {
        true => Ok(()),
        false => Err(ForeignMessage::Score(name)),
    };
    match &verdict.score {
        Score::Sum { semantic_correctness, scores, total_score, max_score } => {
            check("semantic_correctness", *semantic_correctness, 1.0)?;
            check("max_score", *max_score, f64::from(u32::MAX))?;
            check("total_score", *total_score, *max_score)?;
            scores.values().try_for_each(|score| check("score", f64::from(*score), *max_score))
        }
        Score::Groups { dimensions, weighted_total, percentage, .. } => {
            check("percentage", *percentage, 100.0)?;
            check("weighted_total", *weighted_total, f64::from(u32::MAX))?;
            let mut means = dimensions.values().map(|dimension| dimension.score);
            means.try_for_each(|mean| check("mean of a group", mean, f64::from(u32::MAX)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::Digest, item::Item, job::RubricReference, outcome::Outcome};

    fn job() -> Job {
        let digest = Digest::from_content(b"");
        let rubric = RubricReference { id: "semantic".to_owned(), version: 2, digest };
        let item = Item { id: "button".to_owned(), ..Item::default() };
        Job::new(&RunId::new("nightly"), item, 1, rubric, None)
    }

    fn judged(semantic_correctness: f64, total_score: f64) -> JobResult {
        let scores = [("layout".to_owned(), 9)].into();
        let score = Score::Sum { semantic_correctness, scores, total_score, max_score: 10.0 };
        let mut result = JobResult::empty(&job(), Outcome::Scored);
        result.semantic = Some(Verdict::new("semantic@2", score));
        result
    }

    #[test]
    fn job_id_must_match_run_item_and_repeat() {
        assert_eq!(check_job(&job()), Ok(()));
        assert_eq!(check_job(&Job { round: MAX_ROUND, ..job() }), Ok(()));
        let foreign = [
            Job { run_id: RunId::new("other"), ..job() },
            Job { job_id: JobId::new("0".repeat(32)), ..job() },
            Job { repeat: 0, ..job() },
            Job { item: Item { id: "\u{1b}[31m".repeat(100), ..Item::default() }, ..job() },
        ];
        for job in foreign {
            let error = check_job(&job).unwrap_err();
            assert!(matches!(error, ForeignMessage::JobId { .. }), "{error}");
            assert!(error.to_string().len() < 1_200 && !error.to_string().contains('\u{1b}'));
        }
        let round = u32::MAX;
        assert_eq!(check_job(&Job { round, ..job() }), Err(ForeignMessage::Round(round)));
    }

    #[test]
    fn result_figures_must_be_possible() {
        for (correctness, total) in [(0.0, 0.0), (0.9, 9.0), (1.0 + 1e-12, 10.0)] {
            assert_eq!(check_result(&judged(correctness, total)), Ok(()));
        }
        for correctness in [5e300, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            let error = check_result(&judged(correctness, 9.0)).unwrap_err();
            assert_eq!(error, ForeignMessage::Score("semantic_correctness"));
        }
        assert_eq!(check_result(&judged(0.9, 11.0)), Err(ForeignMessage::Score("total_score")));
        let cost_usd = Money::from_pico(-1);
        let result = JobResult { cost_usd, ..judged(0.9, 9.0) };
        assert_eq!(check_result(&result), Err(ForeignMessage::Cost));
        let result = JobResult { round: u32::MAX, ..judged(0.9, 9.0) };
        assert_eq!(check_result(&result), Err(ForeignMessage::Round(u32::MAX)));
    }
}
