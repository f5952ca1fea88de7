//! Record and results of a large run, without judging.

use juror_types::{
    id::RunId,
    item::Item,
    job::Job,
    outcome::{JobResult, JudgeRecord, Outcome},
    rubric::Rubric,
    run::RunRecord,
    test_record,
    usage::Usage,
    verdict::Verdict,
};

/// Record of the finished run `large`.
pub fn record(rubric: &Rubric, text: &str, planned: u64) -> RunRecord {
    RunRecord {
        rubric: rubric.reference(),
        rubric_text: text.to_owned(),
        planned,
        ..test_record::record("large")
    }
}

/// Result of a judged job: five scores, two issues, a strength.
pub fn result(record: &RunRecord, number: usize) -> JobResult {
    const KEYS: [&str; 5] = [
        "visual_similarity",
        "token_adherence",
        "variant_accuracy",
        "feature_completeness",
        "layout_accuracy",
    ];
    let item = Item { id: format!("item_{number:08}"), ..Item::default() };
    let job = Job::new(&record.run_id, item, 0, record.rubric.clone(), record.judge.clone());
    let mut result = JobResult::empty(&job, Outcome::Scored);
    let score = 6 + (number % 5) as u32;
    let issues = vec![
        format!("The padding of the button is {}px, should be 16px", number % 32),
        format!("The border of the card has the color #{:03x}", number % 4_096),
    ];
    let strengths = vec!["The heading's typeface is that of the screenshot".to_owned()];
    result.reply = Some(format!(
        "{{\"scores\":{{{}}},\"issues\":{issues:?},\"strengths\":{strengths:?}}}",
        KEYS.map(|key| format!("\"{key}\":{score}")).join(",")
    ));
    let scored = test_record::semantic_score([score; 5]);
    result.semantic = Some(Verdict { issues, strengths, ..Verdict::new("semantic@1", scored) });
    result.pipeline_success = Some(score > 8);
    let fingerprint = Some("fp_0123456789".to_owned());
    result.judge = Some(JudgeRecord { fingerprint, ..test_record::judge_record() });
    result.usage = Usage { input_tokens: 1_523, cached_input_tokens: 0, output_tokens: 212 };
    result.cost_usd = "0.0059275".parse().unwrap();
    result.attempts = 1;
    result.total_latency_ms = 2_850;
    result
}
