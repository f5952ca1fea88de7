use super::*;
use crate::rubric::{Success, builtin_named};
use proptest::prelude::*;

fn semantic() -> Rubric {
    builtin_named("semantic@1").unwrap().parse().unwrap()
}

fn acrue() -> Rubric {
    builtin_named("acrue@1").unwrap().parse().unwrap()
}

/// Reply with these scores for the criteria in the rubric's order.
fn answer(rubric: &Rubric, scores: &[u32]) -> ParsedReply {
    assert_eq!(scores.len(), rubric.criteria.len());
    let scores = rubric.criteria.iter().zip(scores).map(|(criterion, score)| {
        (criterion.key.clone(), (*score, Some(format!("because of {score}"))))
    });
    ParsedReply { scores: scores.collect(), ..ParsedReply::default() }
}

fn percentage_and_grade(scores: &[u32]) -> (f64, String) {
    let rubric = acrue();
    match score(&rubric, answer(&rubric, scores)).unwrap().score {
        Score::Groups { percentage, grade, .. } => (percentage, grade),
        Score::Sum { .. } => panic!("groups were expected"),
    }
}

#[test]
fn semantic_correctness_is_the_total_of_fifty() {
    let rubric = semantic();
    let mut answer = answer(&rubric, &[9, 9, 10, 8, 9]);
    answer.issues = vec!["icon of 16px for 20px".to_owned()];
    let verdict = score(&rubric, answer).unwrap();
    assert_eq!(verdict.rubric, "semantic@1");
    assert_eq!(verdict.issues, ["icon of 16px for 20px"]);
    let Score::Sum { semantic_correctness, scores, total_score, max_score } = verdict.score else {
        panic!("a sum was expected")
    };
    assert_eq!((semantic_correctness, total_score, max_score), (0.9, 45.0, 50.0));
    assert_eq!(scores["feature_completeness"], 8);
}

#[test]
fn weights_and_a_scale_from_one_count_in_a_sum() {
    let mut rubric = semantic();
    rubric.scale.min = 1;
    rubric.scale.max = 5;
    for (criterion, weight) in rubric.criteria.iter_mut().zip([0.1, 0.2, 0.3, 0.0, 0.1]) {
        criterion.weight = weight;
    }
    let verdict = score(&rubric, answer(&rubric, &[1, 1, 1, 5, 1])).unwrap();
    assert_eq!(verdict.correctness(), 0.2);
    let Score::Sum { total_score, max_score, .. } = verdict.score else {
        panic!("a sum was expected")
    };
    assert_eq!((total_score, max_score), (0.7, 3.5));
}

#[test]
fn acrue_is_the_weighted_total_of_twenty_five() {
    let rubric = acrue();
    let mut scores = [3; 20];
    scores[..4].copy_from_slice(&[4, 5, 5, 4]);
    let verdict = score(&rubric, answer(&rubric, &scores)).unwrap();
    let Score::Groups { dimensions, weighted_total, percentage, grade, .. } = verdict.score else {
        panic!("groups were expected")
    };
    assert_eq!(dimensions["accuracy"].score, 4.5);
    assert_eq!(dimensions["exceptional_value"].score, 3.0);
    assert_eq!((weighted_total, percentage, grade.as_str()), (16.5, 66.0, "C"));
    assert_eq!(
        verdict.strengths,
        ["Technical alignment: because of 5", "Subject identity: because of 5"]
    );
    assert_eq!(verdict.issues, [""; 0]);
}

#[test]
fn grades_change_exactly_at_their_thresholds() {
    assert_eq!(percentage_and_grade(&[4; 20]), (80.0, "A".to_owned()));
    // 4.5 + 4.8 + 0.5 × 4 + 0.5 × 4 + 2 × 4.6 = 22.5 of 25, through fifths that binary fractions
    // miss; then one point less in Usefulness.
    let mut scores = [5, 5, 4, 4, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 4, 4];
    assert_eq!(percentage_and_grade(&scores), (90.0, "A+".to_owned()));
    scores[14] = 3;
    assert_eq!(percentage_and_grade(&scores), (89.5, "A".to_owned()));
    assert_eq!(percentage_and_grade(&[1; 20]), (20.0, "F".to_owned()));
    assert_eq!(percentage_and_grade(&[5; 20]), (100.0, "A+".to_owned()));
    assert_eq!(percentage_and_grade(&[3; 20]), (60.0, "C".to_owned()));
}

#[test]
fn low_scores_are_issues_with_their_rationale_or_title() {
    let rubric = acrue();
    let mut scores = [3; 20];
    (scores[3], scores[10], scores[11]) = (2, 1, 5);
    let mut answer = answer(&rubric, &scores);
    answer.scores["theme_mood_match"].1 = Some(String::new());
    answer.scores["intent_alignment"].1 = Some(String::new());
    let verdict = score(&rubric, answer).unwrap();
    assert_eq!(verdict.issues, ["No hallucinations: because of 2", "Theme and mood"]);
    assert_eq!(verdict.strengths, ["Ready to share: because of 5"]);
}

#[test]
fn missing_and_out_of_range_scores_are_refused() {
    let rubric = semantic();
    let mut incomplete = answer(&rubric, &[1, 2, 3, 4, 5]);
    incomplete.scores.shift_remove("variant_accuracy");
    let error = score(&rubric, incomplete).unwrap_err();
    assert_eq!(error, AnswerError::Missing { key: "variant_accuracy".to_owned() });
    let error = score(&rubric, answer(&rubric, &[1, 2, 11, 4, 5])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the score of \"variant_accuracy\" is 11, outside the scale of 0 to 10"
    );
}

#[test]
fn a_failed_job_has_zeros_even_where_the_scale_starts_at_one() {
    for rubric in [semantic(), acrue()] {
        let verdict = zero(&rubric, "the vision API kept failing");
        assert_eq!(verdict.correctness(), 0.0);
        let scores: Vec<u32> = match verdict.score {
            Score::Sum { scores, .. } => scores.into_values().collect(),
            Score::Groups { dimensions, .. } => {
                let sub_scores = dimensions.into_values().flat_map(|group| group.sub_scores);
                sub_scores.map(|(_, sub_score)| sub_score.score).collect()
            }
        };
        assert_eq!(scores, vec![0; rubric.criteria.len()]);
        assert_eq!(verdict.issues, ["not judged: the vision API kept failing"]);
        assert!(verdict.strengths.is_empty());
    }
    let Score::Groups { grade, .. } = zero(&acrue(), "").score else { panic!("groups expected") };
    assert_eq!(grade, "F");
}

#[test]
fn exactly_seventy_percent_passes_and_exactly_eighty_five_does_not() {
    let rubric = acrue();
    let mut scores = [3, 3, 3, 3, 4, 4, 4, 4, 3, 4, 3, 4, 4, 3, 3, 4, 4, 4, 3, 3];
    let correctness =
        |scores: &[u32]| score(&rubric, answer(&rubric, scores)).unwrap().correctness();
    assert_eq!(correctness(&scores), 0.7);
    assert!(rubric.success.passes(correctness(&scores)));
    scores[0] = 2;
    assert!(!rubric.success.passes(correctness(&scores)));
    assert!(!Success::Above(0.85).passes(0.85));
}

proptest! {
    /// Compared with whole numbers: 20 × the weighted total is a whole number, since the groups
    /// have 4, 5, 2, 4 and 5 criteria.
    #[test]
    fn acrue_matches_exact_arithmetic(scores in proptest::collection::vec(1_u32..=5, 20)) {
        let sum = |range: std::ops::Range<usize>| scores[range].iter().sum::<u32>();
        let twenty_times = 5 * sum(0..4) + 4 * sum(4..9) + 5 * sum(9..11)
            + (5 * sum(11..15)).div_euclid(2) + 8 * sum(15..20);
        let half = (5 * sum(11..15)) % 2;
        // 500 twentieths are the maximum of 25; fortieths allow for Usefulness' halves.
        let fortieths = 2 * twenty_times + half;
        let (percentage, grade) = percentage_and_grade(&scores);
        let exact = f64::from(fortieths) / 10.0;
        prop_assert!((percentage - exact).abs() < 1e-8);
        let expected = match fortieths {
            900.. => "A+",
            800.. => "A",
            700.. => "B",
            600.. => "C",
            _ => "F",
        };
        prop_assert_eq!(grade, expected);
    }
}
