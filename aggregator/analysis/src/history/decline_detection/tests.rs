use super::*;
use crate::{
    random::SplitMix,
    test_fixtures::{SEMANTIC, rubric},
};

fn correctness() -> MetricDefinition {
    MetricDefinition::decisive(&rubric(SEMANTIC))
}

fn watched(values: &[f64], watch: &DeclineWatch) -> DeclineReport {
    let names: Vec<RunId> =
        (0..values.len()).map(|night| RunId::parse(&format!("night-{night}")).unwrap()).collect();
    let points: Vec<SeriesPoint<'_>> = values
        .iter()
        .zip(&names)
        .map(|(value, run)| SeriesPoint { run: Some(run), value: *value, n: 60, from_cache: false })
        .collect();
    watch.watch(&correctness(), &points, 1)
}

/// Runs of 60 items at 0.9 with a deviation of 0.0065 between runs, which fall by this amount with
/// each run after the twentieth.
fn nights(count: u32, fall: f64, seed: u64) -> Vec<f64> {
    let mut random = SplitMix(seed);
    let night = |number: u32| {
        let nights_of_decline = f64::from(number.saturating_sub(19));
        0.9 - fall * nights_of_decline + 0.0065 * random.normal_pair().0
    };
    (0..count).map(night).collect()
}

#[test]
fn slow_decline_of_every_median_is_detected() {
    let watch = DeclineWatch::default();
    // 24 runs of half a point each, 90 to 78 %.
    let report = watched(&nights(44, 0.005, 1), &watch);
    assert_eq!(report.state, DeclineState::Declining, "{report:?}");
    assert!(report.alarm_runs >= 18, "{report:?}");
    assert_eq!(report.anchor_last, Some(RunId::parse("night-19").unwrap()));
    // Thirty runs of a twentieth of a point each.
    let seen = (0..100).filter(|seed| {
        let report = watched(&nights(50, 0.0005, *seed), &watch);
        report.state == DeclineState::Declining
    });
    assert!(seen.count() >= 95);
}

#[test]
fn noise_alone_alarms_in_at_most_one_of_twenty_series() {
    let watch = DeclineWatch::default();
    let is_alarm = |seed: &u64| {
        let values = nights(80, 0.0, 1_000 + *seed);
        (21..=80).any(|count| watched(&values[..count], &watch).state == DeclineState::Declining)
    };
    // A rate of 5 % gives 20 or more of 200 once in 500 times.
    assert!((0..200).filter(is_alarm).count() < 20);
}

#[test]
fn alarm_persists_until_runs_return_to_the_anchor() {
    let watch = DeclineWatch { anchor_runs: 3, ..DeclineWatch::default() };
    let mut values = vec![0.9, 0.91, 0.89];
    values.extend([0.1; 5]);
    assert_eq!(watched(&values, &watch).state, DeclineState::Declining);
    let stood = watched(&values, &watch).alarm_runs;
    values.extend([0.91; 2]);
    assert_eq!(watched(&values, &watch).alarm_runs, stood + 2, "two good nights are not three");
    values.push(0.9);
    let report = watched(&values, &watch);
    assert_eq!((report.state, report.alarm_runs), (DeclineState::Steady, 0));
    assert_eq!(report.cusum, Some(0.0));
}

#[test]
fn anchor_may_start_at_a_named_run() {
    let from = |name: &str| DeclineWatch {
        anchor_runs: 3,
        anchor_from: Some(RunId::parse(name).unwrap()),
        ..DeclineWatch::default()
    };
    let values = [0.9, 0.91, 0.89, 0.5, 0.51, 0.49, 0.5];
    let report = watched(&values, &from("night-3"));
    assert_eq!((report.state, report.anchor_mean), (DeclineState::Steady, Some(0.5)));
    assert_eq!(watched(&values, &from("night-5")).state, DeclineState::AnchorIncomplete);
    assert_eq!(watched(&values, &from("night-9")).state, DeclineState::AnchorMissing);
}

#[test]
fn too_few_runs_or_items_give_no_decision() {
    let watch = DeclineWatch { anchor_runs: 3, ..DeclineWatch::default() };
    let report = watched(&[0.9, 0.1, 0.9], &watch);
    assert_eq!((report.state, report.anchor_runs), (DeclineState::AnchorIncomplete, 3));
    assert_eq!(watched(&[], &watch).state, DeclineState::AnchorIncomplete);
    let point = |value, n| SeriesPoint { run: None, value, n, from_cache: false };
    let mut points = vec![point(0.9, 60), point(0.2, 30), point(0.91, 60), point(0.89, 60)];
    points.push(point(0.9, 58));
    let report = watch.watch(&correctness(), &points, 1);
    assert_eq!((report.state, report.left_out), (DeclineState::Steady, 1));
    points.push(point(0.1, 30));
    let report = watch.watch(&correctness(), &points, 1);
    assert_eq!((report.state, report.left_out), (DeclineState::TooFewItems, 2));
}

#[test]
fn same_verdicts_again_are_left_out_of_the_anchor_and_of_the_sum() {
    let watch = DeclineWatch { anchor_runs: 3, ..DeclineWatch::default() };
    let point = |value, from_cache| SeriesPoint { run: None, value, n: 60, from_cache };
    let judged = [0.9, 0.91, 0.89, 0.885].map(|value| point(value, false));
    let again = [point(0.885, true); 30];
    let (first, rest) = judged.split_at(1);
    let points = [first, &[point(0.9, true); 30], rest, &again].concat();
    let report = watch.watch(&correctness(), &points, 1);
    assert_eq!((report.state, report.runs_since, report.left_out), (DeclineState::Steady, 1, 60));
    assert!(report.anchor_deviation.unwrap() > 0.009, "{report:?}");
    // A stage is measured anew in each run.
    let all = MetricDefinition::all(&rubric(SEMANTIC));
    let compiles = all.iter().find(|metric| metric.path == "generation.compilation_rate");
    assert_eq!(watch.watch(compiles.unwrap(), &points, 1).left_out, 0);
}

#[test]
fn identical_runs_do_not_alarm_over_one_item() {
    let mut values = vec![1.0; 20];
    values.extend([0.999; 5]);
    let report = watched(&values, &DeclineWatch::default());
    assert_eq!(report.state, DeclineState::Steady, "{report:?}");
    values.extend([0.95; 5]);
    assert_eq!(watched(&values, &DeclineWatch::default()).state, DeclineState::Declining);
}

#[test]
fn anchor_starts_at_the_blessed_run_of_the_same_kind() {
    let anchored = |run: &str| {
        let blessed = Some(RunId::new(run));
        let watch = DeclineWatch { anchor_runs: 3, blessed, ..DeclineWatch::default() };
        watched(&[0.2, 0.2, 0.2, 0.9, 0.9, 0.9, 0.3], &watch).anchor_first
    };
    assert_eq!(anchored("night-3"), Some(RunId::new("night-3")));
    assert_eq!(anchored("elsewhere"), Some(RunId::new("night-0")));
    let named = DeclineWatch {
        anchor_from: Some(RunId::new("night-1")),
        blessed: Some(RunId::new("night-3")),
        ..DeclineWatch::default()
    };
    let first = watched(&[0.9; 6], &named).anchor_first;
    assert_eq!(first, Some(RunId::new("night-1")), "a gate's file comes first");
}
