//! A worker without the files of its jobs: others may have them.

use super::worker_fixture::{WorkerFixture, all_scored, semantic, stop};
use crate::harness::RunningCommand;
use juror_services::wait::poll;
use juror_types::{
    item::{ImageReference, Item},
    job::Job,
    outcome::{ErrorKind, Outcome},
};

#[test]
fn worker_without_the_files_requeues_jobs_and_reports_it() {
    let fixture = WorkerFixture::new(6);
    let empty = tempfile::tempdir().unwrap();
    let url = fixture.simulator.base_url();
    let root = empty.path().to_str().unwrap();
    let arguments = ["worker", "--base-url", &url, "--data-root", root, "-j", "1"];
    let mut lost = RunningCommand::start(fixture.servers.command(&fixture.harness, &arguments));
    lost.await_stderr("ready: ");
    fixture.enqueue("mounted");
    lost.await_stderr("files of run mounted are missing on this worker");
    poll("jobs are left to others", || (fixture.servers.held("5s") > 1).then_some(()));
    let ended = lost.stop().stderr_contains(&["no such file in", root]);
    assert_eq!(ended.stderr.matches("are missing on this worker").count(), 1, "once for the run");
    let found = fixture.start(&[]);
    all_scored(&fixture.servers.take_results(6));
    stop(found);
}

#[test]
fn file_missing_on_every_worker_fails_its_job_and_names_the_folders() {
    let fixture = WorkerFixture::new(1);
    let jobs = fixture.announce("nowhere", semantic());
    let shot = ImageReference { reference: "gone.png".to_owned(), sha256: None };
    let images = [("screenshot".to_owned(), shot)].into_iter().collect();
    let gone = Job { item: Item { images, ..jobs[0].item.clone() }, ..jobs[0].clone() };
    fixture.servers.enqueue(&[gone]);
    let worker = fixture.start(&[]);
    let [result] = fixture.servers.take_results(1).try_into().unwrap();
    stop(worker);
    let error = result.error.unwrap();
    assert_eq!((result.outcome, error.kind), (Outcome::Failed, ErrorKind::Image));
    assert!(error.message.contains("gone.png: no such file in ."), "{error:?}");
    assert!(error.message.contains("nor at 3 earlier attempts"), "{error:?}");
}
