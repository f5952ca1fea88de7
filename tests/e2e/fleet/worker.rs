//! `juror worker`: jobs of any run.

mod stops;

use super::{
    servers::Servers,
    worker_fixture::{WorkerFixture, all_scored, semantic, stop},
};
use crate::harness::{CallGate, CommandHarness, RunningCommand, TestSimulator};
use juror_services::wait::poll;
use juror_simulator::SimulatorConfig;
use juror_types::{
    id::{JobId, RunId},
    item::{ImageReference, Item},
    job::Job,
    outcome::{ErrorKind, Outcome},
};

#[test]
fn each_run_is_judged_by_its_own_rubric() {
    let fixture = WorkerFixture::new(6);
    let own_text = semantic().replacen("id = \"semantic\"", "id = \"own\"", 1);
    let (first, own) = (fixture.announce("first", semantic()), fixture.announce("own", &own_text));
    for (one, other) in first.into_iter().zip(own) {
        fixture.servers.enqueue(&[one, other]);
    }
    let workers = [fixture.start(&["-j", "2"]), fixture.start(&["-j", "2"])];
    let results = fixture.servers.take_results(12);
    all_scored(&results);
    for result in &results {
        let rubric = &result.semantic.as_ref().unwrap().rubric;
        let expected = if result.run_id.as_str() == "own" { "own@2" } else { "semantic@2" };
        assert_eq!(rubric, expected);
    }
    workers.into_iter().for_each(stop);
    assert_eq!(fixture.simulator.count("billed_calls"), 12);
    let costs =
        ["first", "own"].map(|run| fixture.servers.ledger(&RunId::new(run)).committed.pico());
    assert_eq!(costs[0] + costs[1], fixture.simulator.bill());
}

#[test]
fn poison_job_is_dead_lettered_and_its_neighbors_are_judged() {
    let fixture = WorkerFixture::new(4);
    let killer =
        r#"case "$(cat)" in *item_0002*) kill -9 $PPID;; *) echo '{"quality_score": 1}';; esac"#;
    let settings = format!("[stages]\npipeline_command = [\"sh\", \"-c\", '''{killer}''']\n");
    fixture.harness.write("juror.toml", settings);
    fixture.enqueue("poisoned");
    let mut worker = fixture.start(&["-j", "2"]);
    for kill in 1..=5 {
        assert_eq!(worker.finish().code, -1, "kill {kill}");
        worker = fixture.start_unready(&["-j", "2"]);
    }
    let results = fixture.servers.take_results(4);
    stop(worker);
    let (condemned, judged): (Vec<_>, Vec<_>) =
        results.into_iter().partition(|result| result.screenshot_id == "item_0002");
    all_scored(&judged);
    let error = condemned[0].error.as_ref().unwrap();
    assert_eq!(error.kind, ErrorKind::Poison);
    assert_eq!(fixture.servers.jobs_aside(), [("item_0002".to_owned(), error.message.clone())]);
}

#[test]
fn wrong_key_pauses_its_run_keeps_jobs_and_stops_no_other_run() {
    let harness = CommandHarness::with_items(8);
    let key = Some("another-key".to_owned());
    let simulator = TestSimulator::start(SimulatorConfig { key, ..SimulatorConfig::default() });
    let servers = Servers::shared();
    let fixture = WorkerFixture { servers, harness, simulator, gate: CallGate::closed() };
    let mut worker = fixture.start(&["-j", "2"]);
    let jobs = fixture.enqueue("locked");
    worker.await_stderr("run locked is paused and keeps its jobs");
    fixture.servers.await_held("10m", 8);
    assert!(fixture.simulator.requests() <= 2, "no more than were in flight at the first refusal");
    let status = fixture.servers.status(&jobs[0].run_id).unwrap();
    assert!(status.paused.unwrap().contains("authentication failed"));

    // Runs without a judge need no key.
    let mut free = fixture.record("free", semantic());
    free.judge = None;
    fixture.servers.announce(&free);
    fixture.servers.enqueue(&fixture.jobs(&free));
    all_scored(&fixture.servers.take_results(8));

    // As `juror retry` does once the key is right.
    let key = Some("test-key".to_owned());
    let simulator = fixture.simulator.restart_with(SimulatorConfig { key, ..Default::default() });
    let fixture = WorkerFixture { simulator, ..fixture };
    fixture.enqueue("locked");
    all_scored(&fixture.servers.take_results(8));
    stop(worker);
    assert_eq!(fixture.simulator.requests(), 8);
}

#[test]
fn unsupported_run_is_paused_with_the_reason() {
    let fixture = WorkerFixture::new(2);
    let worker = fixture.start(&[]);
    let mut record = fixture.record("unpriced", semantic());
    record.judge.as_mut().unwrap().model = "nobody-sells-this".to_owned();
    fixture.servers.announce(&record);
    fixture.servers.enqueue(&fixture.jobs(&record));
    let reason = fixture.servers.await_pause(&record.run_id);
    assert!(reason.contains("nobody-sells-this") && reason.contains("prices"), "{reason}");
    stop(worker);
    assert_eq!(fixture.simulator.requests(), 0);
}

#[test]
fn unplanned_job_is_dead_lettered_and_costs_nothing() {
    let fixture = WorkerFixture::new(2);
    let mut jobs = fixture.announce("planned", semantic());
    jobs[0].job_id = JobId::new("0".repeat(32));
    jobs[1].round = u32::MAX;
    fixture.servers.enqueue(&jobs);
    let mut worker = fixture.start(&[]);
    worker.await_stderr("a job of run planned is among the dead letters");
    let aside = || Some(fixture.servers.jobs_aside()).filter(|aside| aside.len() == 2);
    let mut reasons: Vec<_> =
        poll("two dead letters", aside).into_iter().map(|letter| letter.1).collect();
    reasons.sort();
    assert!(reasons[0].contains("it was not published by juror"), "{reasons:?}");
    assert!(reasons[1].contains("round 4294967295"), "{reasons:?}");
    let WorkerFixture { servers, harness, .. } = &fixture;
    let replay = ["dead-letters", "replay", "--all", "--run", "planned"];
    let replayed = servers.juror(harness, &replay).exits(0).stdout_contains(&["0 replayed"]);
    replayed.stderr_contains(&["is not replayed: not a job of the run"]);
    assert!(servers.jobs_aside().is_empty(), "no dead letter is left");
    stop(worker);
    assert_eq!(fixture.simulator.requests(), 0);
}

#[test]
fn cancelled_run_ends_and_an_unknown_one_is_kept() {
    let fixture = WorkerFixture::new(3);
    let jobs = fixture.announce("cancelled", semantic());
    assert!(fixture.servers.run(fixture.servers.backend.cancel_run(&jobs[0].run_id)).unwrap());
    let forgotten = fixture.jobs(&fixture.record("forgotten", semantic()));
    fixture.servers.enqueue(&[&jobs[..], &forgotten].concat());
    let mut worker = fixture.start(&[]);
    for result in fixture.servers.take_results(3) {
        assert_eq!(result.run_id, jobs[0].run_id);
        assert_eq!(result.outcome, Outcome::Skipped);
        assert_eq!(result.error.unwrap().kind, ErrorKind::Cancelled);
    }
    worker.await_stderr("jobs of run forgotten are kept");
    fixture.servers.await_held("10m", 3);
    stop(worker);
    assert_eq!(fixture.simulator.requests(), 0);
}

#[test]
fn only_files_in_the_data_roots_of_the_worker_are_opened() {
    let fixture = WorkerFixture::new(1);
    let jobs = fixture.announce("strayed", semantic());
    let stray = |id: &str, path: &str| {
        let shot = ImageReference { reference: path.to_owned(), sha256: None };
        let item = Item { id: id.to_owned(), ..jobs[0].item.clone() };
        let item = Item { images: [("screenshot".to_owned(), shot)].into_iter().collect(), ..item };
        Job::new(&jobs[0].run_id, item, 0, jobs[0].rubric.clone(), jobs[0].judge.clone())
    };
    fixture.servers.enqueue(&[stray("absolute", "/etc/passwd"), stray("upwards", "../secret.png")]);
    fixture.servers.enqueue(&jobs);
    let worker = fixture.start(&[]);
    let results = fixture.servers.take_results(3);
    stop(worker);
    let (strayed, scored): (Vec<_>, Vec<_>) =
        results.into_iter().partition(|result| result.error.is_some());
    for (item, reason) in
        [("absolute", "is outside the allowed folders"), ("upwards", "'..' is not allowed")]
    {
        let result = strayed.iter().find(|result| result.screenshot_id == item).unwrap();
        let error = result.error.as_ref().unwrap();
        assert_eq!(error.kind, ErrorKind::Image);
        assert!(error.message.contains(reason), "{error:?}");
    }
    assert_eq!((strayed.len(), scored.len()), (2, 1));
    all_scored(&scored);
    assert_eq!(fixture.simulator.requests(), 1);
}

#[test]
fn missing_settings_are_reported_before_any_job_is_taken() {
    let harness = CommandHarness::new();
    let servers = Servers::shared();
    let ends = |flags: &[&str]| {
        let command = servers.command(&harness, &[&["worker"], flags].concat());
        RunningCommand::start(command).finish()
    };
    ends(&[]).exits(2).stderr_contains(&["--data-root DIR"]);
    ends(&["--data-root", "nowhere"])
        .exits(2)
        .stderr_contains(&["folder nowhere", "cannot be read"]);
    harness.juror(&["worker", "--data-root", "."]).exits(2).stderr_contains(&["--redis URL"]);
    let broker = servers.broker().replace("guest@", "secret-of-mine@");
    let refused = ends(&["--data-root", ".", "--broker", &broker]).exits(2);
    let refused = refused.stderr_contains(&["refused the login"]);
    assert!(!refused.stderr.contains("secret-of-mine"), "{}", refused.stderr);
}
