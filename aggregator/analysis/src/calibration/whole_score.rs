//! Total score of ratings, which may be fractional, by the rubric's formula.

use juror_types::rubric::{Formula, Rubric};

/// Total score as a share from 0 to 1, of a rating of every criterion in the rubric's order; `None`
/// if one is missing. The formulas are those of [`juror_types::rubric::score`].
pub(super) fn whole_score(rubric: &Rubric, ratings: &[Option<f64>]) -> Option<f64> {
    let ratings: Vec<f64> = ratings.iter().copied().collect::<Option<_>>()?;
    let most = f64::from(rubric.scale.max);
    let rated = || rubric.criteria.iter().zip(&ratings);
    let (total, most) = match rubric.formula {
        Formula::SumOverMax => rated().fold((0.0, 0.0), |(total, sum), (criterion, rating)| {
            (total + criterion.weight * rating, sum + criterion.weight * most)
        }),
        Formula::WeightedGroups => rubric.groups.iter().fold((0.0, 0.0), |(total, sum), group| {
            let own = rated().filter(|(each, _)| each.group.as_ref() == Some(&group.key));
            let (points, count) =
                own.fold((0.0, 0.0), |(points, count), (_, rating)| (points + rating, count + 1.0));
            (total + group.weight * points / f64::max(count, 1.0), sum + group.weight * most)
        }),
    };
    (ratings.len() == rubric.criteria.len() && most > 0.0).then(|| total / most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fixtures::{ACRUE, SEMANTIC, judged, restyled, rubric};

    #[test]
    fn integer_ratings_score_like_a_verdict_of_the_same_scores() {
        for scores in [[9, 8, 10, 0, 7], [1, 5, 3, 2, 4], [5, 5, 5, 5, 5]] {
            let ratings = scores.map(|score| Some(f64::from(score)));
            let verdict = judged("a", scores, &[], &[]).semantic.unwrap();
            let found = whole_score(&rubric(SEMANTIC), &ratings).unwrap();
            assert!((found - verdict.correctness()).abs() < 1e-9, "{found}");
        }
        let verdict = restyled("a", [4, 5, 3, 2, 1], &[]).semantic.unwrap();
        let ratings = [4.0, 5.0, 3.0, 2.0, 1.0].map(Some);
        let found = whole_score(&rubric(ACRUE), &ratings).unwrap();
        assert!((found - verdict.correctness()).abs() < 1e-9, "{found}");
        assert_eq!(whole_score(&rubric(SEMANTIC), &[Some(1.0), None]), None);
        assert_eq!(whole_score(&rubric(SEMANTIC), &[Some(1.0)]), None);
    }
}
