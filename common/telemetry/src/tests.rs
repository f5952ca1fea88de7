//! Tests of metrics and their documentation.

use super::{metric_definitions::NAMES, *};
use juror_types::wait_reason::WaitReason;
use juror_types::{
    id::RunId,
    item::Item,
    job::{Job, RubricReference},
    outcome::{ErrorKind, JobError, JobResult, Outcome},
    usage::{Money, Usage},
};
use std::{collections::BTreeMap, time::Duration};

const DOCUMENT: &str = include_str!("../../../docs/metrics.md");

fn failed() -> JobResult {
    let digest = juror_types::id::Digest::from_content(b"rubric");
    let rubric = RubricReference { id: "semantic".to_owned(), version: 1, digest };
    let job = Job::new(&RunId::new("nightly"), Item::default(), 0, rubric, None);
    let error = JobError { kind: ErrorKind::Api, message: "away".to_owned() };
    let failed = JobResult::empty(&job, Outcome::Failed);
    JobResult { error: Some(error), total_latency_ms: 1_500, ..failed }
}

fn billed() -> CallCost {
    let usage = Usage { input_tokens: 1_523, cached_input_tokens: 23, output_tokens: 212 };
    CallCost::Billed(usage, "0.0059275".parse::<Money>().unwrap())
}

/// Metrics after every kind of event.
fn eventful() -> Metrics {
    let metrics = Metrics::recording();
    drop((metrics.job_in_progress(), metrics.call_in_flight(), metrics.admission_waiting()));
    metrics.job_finished(&failed());
    metrics.call_ended("gpt-4o", CallResult::Answered, Duration::from_millis(900), billed());
    metrics.row_ended("gpt-4o", Some(CallResult::Answered), billed());
    metrics.shard(ShardEvent::Created);
    metrics.admission_waited(Some(WaitReason::Tokens), Duration::from_secs(2));
    metrics.evidence_ended(EvidenceFinding::Regions, Duration::from_secs(1));
    metrics.result_committed(Outcome::Failed);
    metrics.redelivered(MessageKind::Job);
    metrics.duplicate(MessageKind::Result);
    metrics.set_queue_depths(&[("work", 7)]);
    metrics.set_budget_remaining(BudgetScope::Day, Some(Money::from_pico(2_500_000_000_000)));
    metrics
}

/// The samples of a text in Prometheus's format.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let sample = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), value.parse().unwrap())
    };
    lines.map(sample).collect()
}

#[test]
fn events_are_counted_under_their_labels() {
    let metrics = eventful();
    metrics.call_ended("gpt-4o", CallResult::Answered, Duration::from_secs(1), billed());
    metrics.row_ended("gpt-4o", None, CallCost::Nothing);
    metrics.evidence_ended(EvidenceFinding::Regions, Duration::from_secs(2));
    let lost = CallCost::Presumed("0.02".parse().unwrap());
    metrics.call_ended("gpt-4o", CallResult::Lost, Duration::from_secs(60), lost);
    let samples = samples(&metrics.render());
    for (name, value) in [
        ("juror_jobs_total{error=\"api\",outcome=\"failed\"}", 1.0),
        ("juror_job_duration_seconds_sum{outcome=\"failed\"}", 1.5),
        ("juror_calls_total{model=\"gpt-4o\",result=\"answered\"}", 2.0),
        ("juror_calls_total{model=\"gpt-4o\",result=\"lost\"}", 1.0),
        ("juror_call_seconds_bucket{model=\"gpt-4o\",result=\"answered\",le=\"1\"}", 2.0),
        ("juror_tokens_total{kind=\"cached_input\",model=\"gpt-4o\"}", 69.0),
        ("juror_tokens_total{kind=\"output\",model=\"gpt-4o\"}", 636.0),
        ("juror_cost_usd_total{certainty=\"billed\",model=\"gpt-4o\"}", 0.017_782_5),
        ("juror_cost_usd_total{certainty=\"presumed\",model=\"gpt-4o\"}", 0.02),
        ("juror_batch_rows_total{end=\"answered\",model=\"gpt-4o\"}", 1.0),
        ("juror_batch_rows_total{end=\"not_run\",model=\"gpt-4o\"}", 1.0),
        ("juror_batch_shards_total{event=\"created\"}", 1.0),
        ("juror_admission_wait_seconds_count{reason=\"tokens\"}", 1.0),
        ("juror_evidence_seconds_count{found=\"regions\"}", 2.0),
        ("juror_evidence_seconds_sum{found=\"regions\"}", 3.0),
        ("juror_queue_depth{queue=\"work\"}", 7.0),
        ("juror_budget_remaining_usd{scope=\"day\"}", 2.5),
    ] {
        let counted = samples.get(name).copied().unwrap_or(f64::NAN);
        assert!((counted - value).abs() < 1e-9, "{name}: {counted}, not {value}");
    }
}

#[test]
fn activities_in_progress_are_counted_until_they_end() {
    let metrics = Metrics::recording();
    let in_flight = || samples(&metrics.render())["juror_calls_in_flight"];
    let (one, two) = (metrics.call_in_flight(), metrics.call_in_flight());
    assert!((in_flight() - 2.0).abs() < f64::EPSILON);
    drop((one, two));
    assert!(in_flight().abs() < f64::EPSILON);
}

#[test]
fn stale_gauge_is_absent() {
    let metrics = eventful();
    metrics.set_queue_depths(&[]);
    metrics.set_budget_remaining(BudgetScope::Day, None);
    metrics.set_budget_remaining(BudgetScope::Month, None);
    let text = metrics.render();
    assert!(!text.contains("juror_queue_depth{") && !text.contains("juror_budget_remaining_usd{"));
}

#[test]
fn disabled_metrics_are_empty() {
    let metrics = Metrics::silent();
    metrics.job_finished(&failed());
    drop(metrics.job_in_progress());
    assert_eq!(metrics.render(), "");
}

#[test]
fn model_names_add_a_bounded_number_of_series() {
    let metrics = Metrics::recording();
    for number in 0..1_000 {
        let model = format!("model-{number}\"\n");
        metrics.call_ended(&model, CallResult::Answered, Duration::ZERO, CallCost::Nothing);
    }
    let text = metrics.render();
    let series = text.lines().filter(|line| line.starts_with("juror_calls_total{"));
    assert_eq!(series.count(), 33);
    assert!(text.contains("juror_calls_total{model=\"other\",result=\"answered\"} 968\n"));
}

/// Name, type, labels and meaning of a metric.
type Row = (String, String, Vec<String>, String);

/// The rows of the document's table.
fn documented() -> Vec<Row> {
    let rows = DOCUMENT.lines().filter(|line| line.starts_with("| `juror_"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, kind, labels, meaning] = cells[..] else { panic!("four cells: {line}") };
        let labels = labels.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        (name.trim_matches('`').to_owned(), kind.to_owned(), labels, meaning.to_owned())
    };
    rows.map(row).collect()
}

#[test]
fn every_metric_is_documented_and_no_other() {
    let text = eventful().render();
    let known = text.lines().filter_map(|line| line.strip_prefix("# HELP "));
    let mut registered: Vec<Row> = known
        .map(|line| {
            let (name, meaning) = line.split_once(' ').unwrap();
            let kind = text.lines().find_map(|line| line.strip_prefix(&format!("# TYPE {name} ")));
            let (_, labels) = NAMES.iter().find(|(known, _)| *known == name).unwrap();
            let labels = labels.iter().map(ToString::to_string).collect();
            (name.to_owned(), kind.unwrap().to_owned(), labels, meaning.to_owned())
        })
        .collect();
    assert_eq!(registered.len(), NAMES.len(), "each is touched above");
    let mut documented = documented();
    registered.sort();
    documented.sort();
    assert_eq!(documented, registered);
}

#[test]
fn every_value_of_a_label_is_documented() {
    let text = eventful().render();
    for (place, _) in text.match_indices("=\"") {
        let value = text[place + 2..].split('"').next().unwrap();
        let is_number = value.parse::<f64>().is_ok();
        assert!(
            is_number || value == "gpt-4o" || DOCUMENT.contains(&format!("`{value}`")),
            "{value}"
        );
    }
}
