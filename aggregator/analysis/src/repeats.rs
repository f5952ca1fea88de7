//! Agreement of a judge with itself over repeats of items. Pure.

mod agreement;

pub use agreement::{Judgments, RepeatAgreement};

use crate::{
    format::counted,
    metrics::{Moments, round_stable, score_key, score_of, title_of},
    results_by_item::results_by_item,
};
use juror_journal::journal::JournalError;
use juror_types::{id::Digest, outcome::JobResult, rubric::Rubric, verdict::Verdict};
use serde::Serialize;

/// Repeats of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeats {
    /// The verdict as one share from 0 to 1.
    pub score: CriterionAgreement,
    /// Each criterion, in points.
    pub criteria: Vec<CriterionAgreement>,
    /// Every item with at least two scores, the widest spread first.
    pub items: Vec<ItemSpread>,
    /// Items whose images or texts changed between their repeats, which are left out.
    #[serde(skip)]
    pub changed: Vec<String>,
}

impl Repeats {
    /// Warning about items that changed between their repeats.
    pub fn warning(&self) -> Option<String> {
        let first = self.changed.first()?;
        Some(format!(
            "the inputs of {} changed during the run (the first is {first}): their repeats are left \
             out of the judge's agreement with itself",
            counted(self.changed.len() as u64, "item")
        ))
    }
}

/// Agreement of the judge with itself on one criterion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CriterionAgreement {
    /// Key of the criterion in its rubric.
    pub key: String,
    /// Title in reports.
    pub title: String,
    /// Agreement over all items with repeats.
    #[serde(flatten)]
    pub agreement: RepeatAgreement,
}

/// The verdicts of one item, as shares from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemSpread {
    /// Id of the item.
    pub id: String,
    /// Number of verdicts.
    pub n: u64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, as of a sample.
    pub deviation: f64,
    /// Lowest share.
    pub low: f64,
    /// Highest share.
    pub high: f64,
}

/// Computes the repeats from results sorted by item; results that are not scored are ignored.
pub fn repeats(
    rubric: &Rubric,
    results: impl Iterator<Item = Result<JobResult, JournalError>>,
) -> Result<Repeats, JournalError> {
    let mut score = Judgments::default();
    let mut criteria = vec![Judgments::default(); rubric.criteria.len()];
    let (mut items, mut changed) = (Vec::new(), Vec::new());
    for item in results_by_item(results) {
        let item = item?;
        let scored = item.iter().filter_map(|result| Some((result, result.verdict()?)));
        let (scored, verdicts): (Vec<&JobResult>, Vec<&Verdict>) = scored.unzip();
        let Some((first, others)) = scored.split_first() else { continue };
        if others.iter().any(|other| digests(other).ne(digests(first))) {
            changed.push(first.screenshot_id.clone());
            continue;
        }
        let scores: Vec<f64> = verdicts.iter().map(|verdict| verdict.correctness()).collect();
        score.add(&scores);
        for (criterion, judgments) in rubric.criteria.iter().zip(&mut criteria) {
            let points = verdicts.iter().filter_map(|verdict| score_of(verdict, &criterion.key));
            judgments.add(&points.map(f64::from).collect::<Vec<_>>());
        }
        items.extend(spread(&first.screenshot_id, &scores));
    }
    // A stable sort: ties stay sorted by id.
    items.sort_by(|left: &ItemSpread, right| right.deviation.total_cmp(&left.deviation));
    let agreement = |key: &str, judgments: &Judgments| CriterionAgreement {
        key: key.to_owned(),
        title: title_of(key),
        agreement: judgments.agreement(),
    };
    let criteria = rubric.criteria.iter().zip(&criteria);
    Ok(Repeats {
        score: agreement(score_key(rubric), &score),
        criteria: criteria.map(|(each, found)| agreement(&each.key, found)).collect(),
        items,
        changed,
    })
}

/// Digests of what was judged.
fn digests(result: &JobResult) -> impl Iterator<Item = Option<Digest>> {
    result.item.inputs.iter().map(|input| input.digest)
}

fn spread(id: &str, scores: &[f64]) -> Option<ItemSpread> {
    let moments: Moments = scores.iter().copied().collect();
    Some(ItemSpread {
        id: id.to_owned(),
        n: scores.len() as u64,
        mean: round_stable(moments.mean),
        deviation: round_stable(moments.deviation()?),
        low: round_stable(scores.iter().copied().fold(f64::INFINITY, f64::min)),
        high: round_stable(scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fixtures::{SEMANTIC, broken, judged, rubric};
    use juror_types::outcome::{ErrorKind, InputRecord, Outcome};

    #[test]
    fn items_changed_between_repeats_are_excluded() {
        let with_input = |content: &[u8], scores| {
            let mut result = judged("a", scores, &[], &[]);
            let mut input = InputRecord::unread("screenshot", "1.png");
            input.digest = Some(Digest::from_content(content));
            result.item.inputs = vec![input];
            result
        };
        let results = [
            with_input(b"one", [9; 5]),
            with_input(b"two", [1; 5]),
            judged("b", [4; 5], &[], &[]),
            judged("b", [4; 5], &[], &[]),
        ];
        let found = repeats(&rubric(SEMANTIC), results.into_iter().map(Ok)).unwrap();
        assert_eq!((found.score.agreement.items, found.changed.clone()), (1, vec!["a".to_owned()]));
        assert!(
            found.warning().unwrap().contains("1 item changed during the run (the first is a)")
        );
    }

    #[test]
    fn item_spread_and_judge_self_agreement_are_reported() {
        let results = [
            judged("a", [9; 5], &[], &[]),
            judged("a", [9, 9, 9, 9, 7], &[], &[]),
            broken("a", Outcome::Failed, ErrorKind::Api, "-"),
            judged("b", [4; 5], &[], &[]),
            judged("b", [4; 5], &[], &[]),
            judged("c", [1; 5], &[], &[]),
        ];
        let found = repeats(&rubric(SEMANTIC), results.into_iter().map(Ok)).unwrap();
        let ids: Vec<_> = found.items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, ["a", "b"], "c was judged once");
        let a = &found.items[0];
        assert_eq!((a.n, a.mean, a.low, a.high), (2, 0.88, 0.86, 0.9));
        assert_eq!(found.score.agreement.items, 2);
        let alphas: Vec<_> = found.criteria.iter().map(|each| each.agreement.alpha).collect();
        assert_eq!(alphas[0], Some(1.0));
        assert!(alphas[4].unwrap() < 0.95 && found.score.agreement.alpha.unwrap() > 0.95);
        assert_eq!(found.criteria[0].agreement.noise_share, Some(0.0));
        let none = repeats(&rubric(SEMANTIC), std::iter::empty()).unwrap();
        assert!(none.items.is_empty() && none.score.agreement == RepeatAgreement::default());
    }
}
