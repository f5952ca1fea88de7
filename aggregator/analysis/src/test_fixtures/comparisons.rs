//! Comparisons of runs for tests.
use super::{SEMANTIC, broken, judged, record, report_of};
use crate::{
    compare_runs::{CompareError, Side, compare},
    comparison::{Comparison, Rules},
    metrics::AveragingPolicy,
    stability::ItemStability,
};
use juror_types::{
    id::{Digest, RunId},
    outcome::{CountAs, ErrorKind, InputRecord, JobResult, Outcome},
    run::RunRecord,
};

pub const RULES: Rules = Rules {
    margin: 0.01,
    strict: false,
    max_lost: 0.02,
    fallen_by: 0.3,
    fallen_share: 0.01,
    use_likely_clusters: true,
    flaky_runs: 0,
    leave_out_flaky: false,
    averaging: AveragingPolicy { failed: CountAs::Excluded, no_output: CountAs::Zero },
};

pub fn run_of(rubric: &str, repeat: u32, results: &[JobResult]) -> RunRecord {
    RunRecord { repeat, ..record(rubric, results.len() as u64) }
}

pub fn compared_as(
    base: (RunRecord, Vec<JobResult>),
    head: (RunRecord, Vec<JobResult>),
    rules: Rules,
) -> Result<Comparison, CompareError> {
    compared_after(&ItemStability::default(), base, head, rules)
}

/// Comparison with this stability of the head's items.
pub fn compared_after(
    stability: &ItemStability,
    (base_record, base): (RunRecord, Vec<JobResult>),
    (head_record, head): (RunRecord, Vec<JobResult>),
    rules: Rules,
) -> Result<Comparison, CompareError> {
    let (before, base_directory, _base) = report_of(&base_record, &base, None, None);
    let (after, head_directory, _head) = report_of(&head_record, &head, None, None);
    compare(
        Side { report: &before, files: base_directory.files() },
        Side { report: &after, files: head_directory.files() },
        rules,
        stability,
    )
}

pub fn compared(base: Vec<JobResult>, head: Vec<JobResult>, rules: Rules) -> Comparison {
    let records = [&base, &head].map(|results| run_of(SEMANTIC, 1, results));
    let [before, after] = records;
    compared_as((before, base), (after, head), rules).unwrap()
}

pub fn shown(id: usize, scores: [u32; 5], image: &[u8]) -> JobResult {
    let mut result = judged(&format!("shot_{id:03}"), scores, &[], &[]);
    result.item.inputs = vec![InputRecord {
        name: "screenshot".into(),
        reference: format!("{id}.png"),
        digest: Some(Digest::from_content(image)),
        note: None,
        signature: None,
    }];
    result
}

/// Twenty items whose layout is worse by about this many points.
pub fn twenty(fall: u32) -> Vec<JobResult> {
    let scores = |id: usize| {
        let layout = 9 - fall.min(9) + u32::from(fall > 0 && id.is_multiple_of(2));
        [9, 8 + (id % 3) as u32, 9, 10, layout]
    };
    (0..20).map(|id| shown(id, scores(id), b"one")).collect()
}

/// Comparison with content in every section.
pub fn rich() -> Comparison {
    const ICON: &str = "Missing icon in the button";
    let issues = |issues: &[&str]| issues.iter().map(|&text| text.to_owned()).collect();
    let mut base = twenty(0);
    let mut head = twenty(2);
    for (id, result) in base.iter_mut().enumerate() {
        let stated: &[&str] = if id < 3 { &["Border is 1px, should be 2px"] } else { &[] };
        result.semantic.as_mut().unwrap().issues = issues(stated);
    }
    for (id, result) in head.iter_mut().enumerate() {
        let stated: &[&str] = if id < 9 { &[ICON, "Card | shadow <b>missing</b>"] } else { &[] };
        result.semantic.as_mut().unwrap().issues = issues(stated);
        result.total_latency_ms += 100 * id as u64;
    }
    base[4].semantic.as_mut().unwrap().issues = issues(&[ICON]);
    base.push(shown(30, [9; 5], b"one"));
    head.push(shown(31, [9; 5], b"one"));
    base.push(shown(32, [9; 5], b"one"));
    head.push(shown(32, [9; 5], b"two"));
    base.push(shown(33, [9; 5], b"one"));
    head.push(broken("shot_033", Outcome::Failed, ErrorKind::Api, "gone"));
    head[2] = shown(2, [1, 2, 9, 9, 9], b"one");
    head[3] = shown(3, [10; 5], b"one");
    let mut record = run_of(SEMANTIC, 1, &head);
    record.run_id = RunId::new("nightly-2026-11-22");
    record.judge.as_mut().unwrap().model = "gpt-4.1".into();
    let base = (run_of(SEMANTIC, 1, &base), base);
    compared_as(base, (record, head), Rules { max_lost: 0.2, ..RULES }).unwrap()
}
