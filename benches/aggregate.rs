//! Cost of aggregating a large run of a fleet: results from RabbitMQ into journal and report.
//!
//! `cargo bench --bench aggregate -- RESULTS` (1,000,000). Needs RabbitMQ and Redis, as the tests
//! do; all data is in a separate namespace, which is deleted at the end. All results are published
//! before the aggregator starts, so that only its own rate is measured.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measurement prints, and may break off"
)]

mod harness;

use futures_util::{StreamExt as _, stream};
use harness::{Mark, MarkTable, journal, juror, measure_beside};
use juror_ledger::{
    admission::{Admission as _, Budget},
    redis::{RedisLedger, RunProgress, test_server::TestRedis},
};
use juror_queue::{
    Priority, Queue as _,
    rabbitmq::{RabbitQueues, RabbitSettings, test_namespace::TestNamespace},
};
use juror_tls::TlsFiles;
use juror_types::{event::Events, rubric::builtin, run::RunRecord};
use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

/// Number of unconfirmed publishes.
const WINDOW: usize = 1_000;
/// Interval of polling the run's progress, which the aggregator records once a second.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

fn main() {
    let Some([count]) = harness::sizes([1_000_000]) else { return };
    let redis = TestRedis::shared();
    let broker =
        format!("amqp://guest:guest@127.0.0.1:{}", juror_services::rabbitmq::shared_port());
    let _namespace = TestNamespace::named(&redis.namespace, &broker);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let backend = runtime.block_on(RedisLedger::open(redis.settings())).unwrap();
    let rubric = builtin().iter().find(|rubric| rubric.id == "semantic").unwrap();
    let mut record = journal::record(&rubric.parse().unwrap(), rubric.text, count as u64);
    record.fleet = Some(redis.namespace.clone());

    let began = Instant::now();
    runtime.block_on(publish(&record, &backend, &broker, count));
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
            let status = runtime.block_on(backend.run_status(run)).unwrap();
            if status.and_then(|status| status.progress).is_some_and(|progress| holds(&progress)) {
                return Instant::now();
            }
            std::thread::sleep(POLL_INTERVAL);
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
    let bytes = std::fs::metadata(folder.path().join("runs/large/results.jsonl")).unwrap().len();

    let table = MarkTable::new(&format!(
        "juror aggregate over {count} results of {:.1} KB, which wait in RabbitMQ",
        bytes as f64 / count as f64 / 1e3
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
    runtime.block_on(backend.close());
}

async fn publish(record: &RunRecord, backend: &RedisLedger, broker: &str, count: usize) {
    let namespace = record.fleet.clone().unwrap();
    let max_wait = Duration::from_secs(30);
    let (url, tls) = (broker.to_owned(), TlsFiles::default());
    let settings = RabbitSettings { url, tls, namespace, max_length: None, max_wait };
    let queues = RabbitQueues::connect(&settings, Events::silent()).await.unwrap();
    backend.open_run(&record.run_id, Budget::Unlimited).await.unwrap();
    backend.announce_run(record).await.unwrap();
    let results = queues.results();
    let publishing = stream::iter(0..count)
        .map(|number| results.publish(journal::result(record, number), Priority::Normal));
    let mut publishing = publishing.buffer_unordered(WINDOW);
    while let Some(published) = publishing.next().await {
        published.unwrap();
    }
    drop(publishing);
    backend.close_run(&record.run_id, count as u64).await.unwrap();
    queues.close().await;
}
