use super::*;
use crate::test_fixtures::{ACRUE, SEMANTIC, broken, judged, restyled, rubric};
use juror_types::outcome::{CountAs, ErrorKind};

fn tallied(
    results: &[(JobResult, usize)],
    repeat: u32,
    policy: AveragingPolicy,
) -> (Vec<Metric>, Vec<String>) {
    let rubric = rubric(SEMANTIC);
    let mut tally = Tally::new(&rubric, true, repeat, policy);
    results.iter().for_each(|(result, item)| tally.add(result, *item));
    let (metrics, _, warnings) = tally.finish();
    (metrics, warnings)
}

fn metric<'a>(metrics: &'a [Metric], path: &str) -> &'a Metric {
    metrics.iter().find(|metric| metric.definition.path == path).unwrap()
}

const CORRECTNESS: &str = "semantic.avg_semantic_correctness";

#[test]
fn overall_serializes_as_in_the_api() {
    let results = [(judged("a", [9, 9, 10, 8, 9], &[], &[]), 0)];
    let (metrics, _) = tallied(&results, 1, AveragingPolicy::default());
    let overall = overall(&rubric(SEMANTIC), &metrics, None);
    let expected = serde_json::json!({
        "pipeline_success_rate": 1.0,
        "avg_latency_ms": 2850.0,
        "token_extraction": {"accuracy": 0.92},
        "retrieval": {"accuracy": 1.0},
        "generation": {"compilation_rate": 1.0, "avg_quality_score": 0.88},
        "semantic": {
            "avg_semantic_correctness": 0.9,
            "avg_visual_similarity": 9.0,
            "avg_token_adherence": 9.0,
            "avg_layout_accuracy": 9.0,
            "variant_accuracy_rate": 1.0,
            "feature_completeness_rate": 0.0
        }
    });
    assert_eq!(serde_json::Value::Object(overall), expected);
    let (metrics, _) = tallied(&[], 1, AveragingPolicy::default());
    let empty = super::overall(&rubric(SEMANTIC), &metrics, None);
    assert_eq!(empty.len(), 6);
    assert!(empty.values().all(serde_json::Value::is_null), "{empty:?}");
}

#[test]
fn unscored_items_are_excluded_from_averages_unless_counted_as_zeros() {
    let mut failed = judged("b", [0; 5], &["it failed"], &[]);
    failed.outcome = Outcome::Failed;
    failed.pipeline_success = Some(false);
    let results = [
        (judged("a", [10, 10, 10, 8, 10], &[], &[]), 0),
        (failed, 1),
        (broken("c", Outcome::Unscorable, ErrorKind::Reply, "-"), 2),
        (broken("d", Outcome::Skipped, ErrorKind::Budget, "-"), 3),
    ];
    let (without, _) = tallied(&results, 1, AveragingPolicy::default());
    let is_stage = |metric: &Metric| {
        let path = &metric.definition.path;
        ["token_extraction.", "retrieval.", "generation."]
            .iter()
            .any(|stage| path.starts_with(stage))
    };
    for metric in &without {
        let n = if is_stage(metric) { 2 } else { 1 };
        assert_eq!(metric.interval.n, n, "{}", metric.definition.path);
    }
    assert_eq!(metric(&without, CORRECTNESS).value, Some(0.96));
    let spread = ScoreBands { perfect: 0, minor: 1, major: 0 };
    assert_eq!(metric(&without, "semantic.feature_completeness_rate").perfection, Some(spread));
    let (zeros, _) = tallied(
        &results,
        1,
        AveragingPolicy { failed: CountAs::Zero, ..AveragingPolicy::default() },
    );
    assert_eq!(metric(&zeros, CORRECTNESS).value, Some(0.48));
    assert_eq!(metric(&zeros, "pipeline_success_rate").value, Some(0.5));
}

#[test]
fn repeats_of_an_item_are_one_value() {
    let results = [
        (judged("a", [10; 5], &[], &[]), 0),
        (judged("a", [8; 5], &[], &[]), 0),
        (judged("b", [5; 5], &[], &[]), 1),
    ];
    let (metrics, _) = tallied(&results, 2, AveragingPolicy::default());
    let correctness = metric(&metrics, CORRECTNESS);
    assert_eq!((correctness.value, correctness.interval.n), (Some(0.7), 2));
    let variant = metric(&metrics, "semantic.variant_accuracy_rate");
    assert_eq!((variant.value, variant.interval.n), (Some(0.25), 2));
    assert_eq!(variant.perfection.unwrap().perfect, 1);
}

#[test]
fn clusters_widen_intervals_and_few_clusters_are_warned_of() {
    let results = |clustered: bool| -> Vec<(JobResult, usize)> {
        let scores = [9, 9, 9, 5, 5, 5, 8, 8, 8, 6, 6, 6];
        let result = |(item, score): (usize, u32)| {
            let mut result = judged(&format!("i{item}"), [score; 5], &[], &[]);
            result.item.cluster = clustered.then(|| format!("c{}", item / 3));
            (result, item)
        };
        scores.into_iter().enumerate().map(result).collect()
    };
    let width = |interval: Interval| interval.high.unwrap() - interval.low.unwrap();
    let (alone, none) = tallied(&results(false), 1, AveragingPolicy::default());
    let (clustered, warned) = tallied(&results(true), 1, AveragingPolicy::default());
    for path in [CORRECTNESS, "semantic.avg_visual_similarity"] {
        assert!(
            width(metric(&clustered, path).interval) > 1.5 * width(metric(&alone, path).interval)
        );
    }
    assert!(none.is_empty());
    assert!(warned[0].starts_with("the intervals are based on 4 clusters:"), "{warned:?}");
}

#[test]
fn warning_of_few_clusters_names_the_metrics_unless_it_is_about_all() {
    let result = |item: usize| {
        let mut result = judged(&format!("i{item}"), [9; 5], &[], &[]);
        result.item.cluster = Some(format!("c{item}"));
        result.generation.as_mut().unwrap().quality_score = (item < 6).then_some(0.9);
        (result, item)
    };
    let warned = tallied(&(0..12).map(result).collect::<Vec<_>>(), 1, AveragingPolicy::default()).1;
    let [warning] = &warned[..] else { panic!("{warned:?}") };
    assert!(
        warning.starts_with("the intervals of Quality Score are based on 6 clusters:"),
        "{warning}"
    );
}

#[test]
fn a_grading_rubric_has_a_percentage_group_means_and_grades() {
    let rubric = rubric(ACRUE);
    let mut tally = Tally::new(&rubric, true, 1, AveragingPolicy::default());
    tally.add(&restyled("fox", [4, 5, 4, 3, 4], &[]), 0);
    tally.add(&restyled("cat", [5; 5], &[]), 1);
    let (metrics, grades, _) = tally.finish();
    let semantic = &overall(&rubric, &metrics, grades.as_ref())["semantic"];
    let expected = serde_json::json!({
        "avg_percentage": 91.0, "avg_accuracy": 4.5, "avg_completeness": 5.0,
        "avg_relevance": 4.5, "avg_usefulness": 4.0, "avg_exceptional_value": 4.5,
        "grades": {"A+": 1, "A": 1, "B": 0, "C": 0, "F": 0}
    });
    assert_eq!(*semantic, expected);
}

#[test]
fn interval_ends_at_the_worst_score_unless_failures_count_as_zeros() {
    let rubric = rubric(ACRUE);
    let lows = |policy| {
        let mut tally = Tally::new(&rubric, true, 1, policy);
        tally.add(&restyled("fox", [1; 5], &[]), 0);
        tally.add(&restyled("cat", [1, 2, 1, 1, 2], &[]), 1);
        let metrics = tally.finish().0;
        ["semantic.avg_percentage", "semantic.avg_accuracy"]
            .map(|path| metric(&metrics, path).interval.low.unwrap())
    };
    assert_eq!(lows(AveragingPolicy::default()), [20.0, 1.0]);
    let zeros = AveragingPolicy { failed: CountAs::Zero, ..AveragingPolicy::default() };
    assert!(lows(zeros).iter().zip([20.0, 1.0]).all(|(low, worst)| *low < worst));
}

#[test]
fn missing_output_counts_as_zero_unless_it_is_excluded() {
    let results = [
        (judged("a", [10; 5], &[], &[]), 0),
        (broken("b", Outcome::NoOutput, ErrorKind::Output, "-"), 1),
    ];
    let (zeros, _) = tallied(&results, 1, AveragingPolicy::default());
    assert_eq!(metric(&zeros, CORRECTNESS).value, Some(0.5));
    assert_eq!(metric(&zeros, "pipeline_success_rate").value, Some(0.5));
    let features = metric(&zeros, "semantic.feature_completeness_rate");
    assert_eq!(features.value, Some(0.5));
    assert_eq!(features.perfection, Some(ScoreBands { perfect: 1, minor: 0, major: 1 }));
    assert_eq!(metric(&zeros, "generation.compilation_rate").interval.n, 1, "a stage without data");
    assert_eq!(metric(&zeros, "avg_latency_ms").interval.n, 1, "nothing was waited for");

    let excluded = AveragingPolicy { no_output: CountAs::Excluded, ..AveragingPolicy::default() };
    let (without, _) = tallied(&results, 1, excluded);
    assert!(without.iter().all(|metric| metric.interval.n == 1));
    assert_eq!(metric(&without, CORRECTNESS).value, Some(1.0));
}

#[test]
fn deterministic_metrics_count_regardless_of_the_judge() {
    let outcomes = [Outcome::Failed, Outcome::Unscorable, Outcome::Skipped, Outcome::NoOutput];
    let results = outcomes.into_iter().enumerate().map(|(item, outcome)| {
        let mut result = judged(&format!("item-{item}"), [0; 5], &[], &[]);
        result.outcome = outcome;
        result.pipeline_success = Some(false).filter(|_| outcome != Outcome::Skipped);
        (result, item)
    });
    let results: Vec<_> = results.collect();
    let (metrics, _) = tallied(&results, 1, AveragingPolicy::default());
    let n = |path: &str| metric(&metrics, path).interval.n;
    for path in [
        "token_extraction.accuracy",
        "retrieval.accuracy",
        "generation.compilation_rate",
        "generation.avg_quality_score",
    ] {
        assert_eq!(n(path), 4, "{path}");
    }
    assert_eq!(metric(&metrics, "token_extraction.accuracy").value, Some(0.92));
    assert_eq!(n("pipeline_success_rate"), 1, "only missing output is the pipeline's failure");
    assert_eq!(n(CORRECTNESS), 1);
    assert_eq!(n("avg_latency_ms"), 0);
}
