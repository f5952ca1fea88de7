//! What it takes to aggregate a large run of a fleet: results from RabbitMQ into journal and
//! report.
//!
//! `cargo bench --bench aggregate -- RESULTS` (1,000,000). Needs RabbitMQ and Redis, as the tests
//! do; everything lies in a namespace of its own, which is deleted at the end. The results are all
//! published before the aggregator starts, so that its rate is its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement prints, and may break off"
)]

mod workbench;

use futures_util::{StreamExt as _, stream};
use juror_common::{
    SCHEMA,
    admission::{Admission as _, Budget},
    event::Events,
    id::{Digest, RunId},
    item::Item,
    job::{Detail, Job, Judge, Provider},
    outcome::{JobResult, JudgeRecord, Outcome},
    queue::{
        Lane, Queue as _,
        rabbitmq::{RabbitQueues, RabbitSettings, test_namespace::TestNamespace},
    },
    redis::{RedisHome, test_server::TestRedis},
    rubric::{Rubric, builtin},
    run::{DatasetRecord, RunRecord},
    store::RunProgress,
    usage::Usage,
    verdict::{Score, Verdict},
};
use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};
use workbench::{Mark, Table, juror, measure_beside};

/// Publishes that wait for their confirms.
const WINDOW: usize = 1_000;
/// How often the run's progress is looked at; the aggregator notes it once a second.
const LOOK: Duration = Duration::from_millis(50);

fn main() {
    let Some([count]) = workbench::sizes([1_000_000]) else { return };
    let redis = TestRedis::shared();
    let broker =
        format!("amqp://guest:guest@127.0.0.1:{}", juror_services::rabbitmq::shared_port());
    let _namespace = TestNamespace::named(&redis.namespace, &broker);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let home = runtime.block_on(RedisHome::open(redis.settings())).unwrap();
    let rubric = builtin().iter().find(|rubric| rubric.id == "semantic").unwrap();
    let record = record(&rubric.parse().unwrap(), rubric.text, &redis.namespace, count as u64);

    let began = Instant::now();
    runtime.block_on(publish(&record, &home, &broker, count));
    let published = count as f64 / began.elapsed().as_secs_f64();

    let folder = tempfile::tempdir().unwrap();
    let mut aggregate = juror(folder.path(), &["aggregate", "--quiet"]);
    aggregate
        .env("JUROR_FLEET_BROKER", &broker)
        .env("JUROR_FLEET_REDIS", &redis.url)
        .env("JUROR_FLEET_NAMESPACE", &redis.namespace);
    let run = &record.run_id;
    let wait = |process: u32, holds: &dyn Fn(&RunProgress) -> bool| {
        loop {
            assert!(Path::new(&format!("/proc/{process}")).exists(), "the aggregator has ended");
            let status = runtime.block_on(home.run_status(run)).unwrap();
            if status.and_then(|status| status.progress).is_some_and(|progress| holds(&progress)) {
                return Instant::now();
            }
            std::thread::sleep(LOOK);
        }
    };
    let (measured, (first, all, reported)) = measure_beside(&mut aggregate, &[0], |process| {
        let first = wait(process, &|progress| progress.results > 0);
        let all = wait(process, &|progress| progress.results == count as u64);
        let reported = wait(process, &|progress| progress.reported_at.is_some());
        let stop = Command::new("kill").args(["-TERM", &process.to_string()]).status();
        assert!(stop.unwrap().success());
        (first, all, reported)
    });
    let journal = std::fs::metadata(folder.path().join("runs/large/results.jsonl")).unwrap().len();

    let table = Table::new(&format!(
        "juror aggregate over {count} results of {:.1} KB, which wait in RabbitMQ",
        journal as f64 / count as f64 / 1e3
    ));
    let begun = first.min(all);
    let began_at = measured.began;
    let rate = count as f64 / (all - began_at).as_secs_f64();
    table.marked("results a second, from its start", rate, "/s", Mark::AtLeast(10_000.0));
    table.row("start to the first note of progress", (begun - began_at).as_secs_f64(), "s");
    table.row("last result to last report", (reported - all).as_secs_f64(), "s");
    table.marked("peak memory", measured.peak_mb, "MB", Mark::AtMost(150.0));
    table.row("CPU per result", measured.cpu_ms_each(count) * 1_000.0, "µs");
    table.row("published before, results a second", published, "/s");
    runtime.block_on(home.close());
}

async fn publish(record: &RunRecord, home: &RedisHome, broker: &str, count: usize) {
    let namespace = record.fleet.clone().unwrap();
    let patience = Duration::from_secs(30);
    let settings = RabbitSettings { url: broker.to_owned(), namespace, max_length: None, patience };
    let queues = RabbitQueues::connect(&settings, Events::silent()).await.unwrap();
    home.open_run(&record.run_id, Budget::Unlimited).await.unwrap();
    home.announce_run(record).await.unwrap();
    let results = queues.results();
    let publishing =
        stream::iter(0..count).map(|number| results.publish(result(record, number), Lane::Work));
    let mut publishing = publishing.buffer_unordered(WINDOW);
    while let Some(published) = publishing.next().await {
        published.unwrap();
    }
    drop(publishing);
    home.close_run(&record.run_id, count as u64).await.unwrap();
    queues.close().await;
}

fn record(rubric: &Rubric, text: &str, namespace: &str, planned: u64) -> RunRecord {
    RunRecord {
        schema: SCHEMA,
        run_id: RunId::new("large"),
        created_at: "2026-11-21T02:00:03Z".to_owned(),
        program_version: "bench".to_owned(),
        dataset: DatasetRecord {
            path: "large.jsonl".to_owned(),
            digest: Digest::of(b"large"),
            limit: None,
            filters: Vec::new(),
        },
        data_roots: Vec::new(),
        rubric: rubric.reference(),
        rubric_text: text.to_owned(),
        judge: Some(Judge {
            provider: Provider::OpenAi,
            model: "gpt-4o".to_owned(),
            temperature: Some(0.1),
            detail: Detail::High,
            max_output_tokens: 1_000,
        }),
        max_side: None,
        base_url: None,
        budget_usd: None,
        repeat: 1,
        planned,
        published: None,
        fleet: Some(namespace.to_owned()),
        upload: None,
    }
}

/// A result as a judge's answers make it: five scores, two issues, a strength.
fn result(record: &RunRecord, number: usize) -> JobResult {
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
        format!("The border of the card has the colour #{:03x}", number % 4_096),
    ];
    let strengths = vec!["The heading's typeface is that of the screenshot".to_owned()];
    let scores = KEYS.map(|key| (key.to_owned(), score)).into_iter().collect();
    let (total_score, max_score) = (f64::from(score * 5), 50.0);
    let semantic_correctness = total_score / max_score;
    result.reply = Some(format!(
        "{{\"scores\":{{{}}},\"issues\":{issues:?},\"strengths\":{strengths:?}}}",
        KEYS.map(|key| format!("\"{key}\":{score}")).join(",")
    ));
    result.semantic = Some(Verdict {
        rubric: "semantic@1".to_owned(),
        score: Score::Sum { semantic_correctness, scores, total_score, max_score },
        issues,
        strengths,
    });
    result.pipeline_success = Some(score > 8);
    result.judge = Some(JudgeRecord {
        provider: Provider::OpenAi,
        model: "gpt-4o".to_owned(),
        fingerprint: Some("fp_0123456789".to_owned()),
        simulated: false,
    });
    result.usage = Usage { input_tokens: 1_523, cached_input_tokens: 0, output_tokens: 212 };
    result.cost_usd = "0.0059275".parse().unwrap();
    result.attempts = 1;
    result.total_latency_ms = 2_850;
    result
}
