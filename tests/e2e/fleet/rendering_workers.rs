//! Measured runs of fleets with and without rendering workers.

use super::{servers::Servers, worker_fixture::stop};
use crate::harness::{CommandHarness, Finished, RunningCommand, write_items};
use juror_services::{install, wait::poll};
use juror_types::outcome::{JobResult, Outcome};

const BROWSER: &str = "JUROR_RENDER_BROWSER";
const ABSENT: &str = "no-such-browser";
const KEEP_DIR: &str = "JUROR_RENDER_KEEP_DIR";
const SHARED: &str = "shared-renders";

/// Dataset of pages, and a fleet without a judge.
struct Pages {
    servers: Servers,
    harness: CommandHarness,
}

impl Pages {
    fn new(count: u32) -> Self {
        install::ensure("/usr/bin/chromium", "chromium");
        let (servers, harness) = (Servers::shared(), CommandHarness::new());
        write_items(&harness, count);
        Self { servers, harness }
    }

    /// Publishes a run from a machine without a browser.
    fn enqueue(&self, run: &str, flags: &[&str]) -> Finished {
        let enqueue = ["enqueue", "manifest.jsonl", "--run-id", run];
        let mut command = self.servers.command(&self.harness, &[&enqueue[..], flags].concat());
        command.env(BROWSER, ABSENT);
        RunningCommand::start(command).finish()
    }

    fn worker_with_browser(&self) -> RunningCommand {
        self.worker("/usr/bin/chromium", "renders with Chromium")
    }

    fn worker_without_browser(&self) -> RunningCommand {
        self.worker(ABSENT, "cannot render (no-such-browser: there is no such program")
    }

    fn worker(&self, browser: &str, words: &str) -> RunningCommand {
        let arguments = ["worker", "--data-root", ".", "-j", "2"];
        let mut command = self.servers.command(&self.harness, &arguments);
        // No repair turns a component into an image of one color.
        command.env(BROWSER, browser).env("JUROR_EVIDENCE_TRIALS", "0");
        command.env("JUROR_RUN_STATE_DIR", "state-of-worker").env(KEEP_DIR, SHARED);
        let mut running = RunningCommand::start(command);
        running.await_stderr(words);
        running
    }
}

fn all_measured(results: &[JobResult], run: &str) {
    let of_run = results.iter().filter(|result| result.run_id.as_str() == run);
    for result in of_run {
        assert_eq!(result.outcome, Outcome::Scored);
        assert!(result.evidence.is_some(), "{result:?}");
    }
}

#[test]
fn measured_jobs_go_to_rendering_workers_and_others_to_any() {
    let pages = Pages::new(6);
    let without = pages.worker_without_browser();
    let with = pages.worker_with_browser();
    let enqueued = pages.enqueue("measured", &["--evidence", "facts"]).exits(0);
    assert!(!enqueued.stderr.contains("no worker of the fleet can render"), "{}", enqueued.stderr);
    pages.enqueue("plain", &[]).exits(0);
    let results = pages.servers.take_results(12);
    all_measured(&results, "measured");
    stop(with);
    stop(without);
}

#[test]
fn jobs_wait_without_a_rendering_worker_and_every_command_reports_it() {
    let pages = Pages::new(3);
    let without = pages.worker_without_browser();
    let enqueued = pages.enqueue("measured", &["--evidence", "facts"]).exits(0);
    enqueued.stderr_contains(&[
        "no worker of the fleet can render",
        "run measured wait",
        "with a browser",
    ]);
    pages.enqueue("plain", &[]).exits(0);
    let plain = pages.servers.take_results(3);
    assert!(plain.iter().all(|result| result.run_id.as_str() == "plain"), "{plain:?}");
    let asked = ["doctor", "--evidence", "facts"];
    let reported = pages.servers.juror(&pages.harness, &asked);
    reported.stdout_contains(&[
        "1 is connected, of which 0 can render",
        "wait for a worker with a browser",
    ]);

    let with = pages.worker_with_browser();
    all_measured(&pages.servers.take_results(3), "measured");
    let seen = || {
        let reported = pages.servers.juror(&pages.harness, &["doctor"]);
        reported.stdout.contains("2 are connected, of which 1 can render").then_some(())
    };
    poll("both workers are connected", seen);
    stop(with);
    stop(without);
}

#[test]
fn items_with_a_rendered_image_need_no_browser() {
    let pages = Pages::new(1);
    let line = serde_json::json!({"id": "given", "screenshot": "shots/0000.png",
                                  "rendered": "shots/0000.png",
                                  "generated_code": "<p>text</p>\n", "language": "html"});
    pages.harness.write("manifest.jsonl", format!("{line}\n"));
    let without = pages.worker_without_browser();
    let enqueued = pages.enqueue("given", &["--evidence", "facts"]).exits(0);
    assert!(!enqueued.stderr.contains("can render"), "{}", enqueued.stderr);
    all_measured(&pages.servers.take_results(1), "given");
    stop(without);
}

#[test]
fn shared_folder_images_are_shown_by_another_process() {
    let pages = Pages::new(2);
    let with = pages.worker_with_browser();
    let aggregator = pages.servers.start_aggregator(&pages.harness);
    pages.enqueue("shown", &["--evidence", "facts", "--wait"]).exits(0);
    let report = |name: &str, shared: &str| {
        let mut command = pages.harness.command(&["report", "shown", "-o", name]);
        command.env(KEEP_DIR, shared);
        RunningCommand::start(command).finish().exits(0);
        std::fs::read_to_string(pages.harness.path(name)).unwrap()
    };
    let not_kept = "it was rendered while the item was judged, and is not kept here";
    assert!(!report("shared.html", SHARED).contains(not_kept));
    assert!(report("apart.html", "another-folder").contains(not_kept));
    assert!(!pages.harness.path("state-of-worker/.renders").exists());
    aggregator.stop();
    stop(with);
}
