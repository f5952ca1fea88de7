//! Workers that are stopped, restarted or killed.

use super::*;
use rustix::process::Signal;

#[test]
fn stopping_worker_finishes_its_jobs_and_leaves_the_rest() {
    let fixture = WorkerFixture::gated(Servers::shared(), 6);
    let mut worker = fixture.start(&["-j", "2"]);
    fixture.enqueue("drained");
    fixture.simulator.await_count("billed_calls", 2);
    worker.signal(Signal::TERM);
    worker.await_stderr("stopping");
    assert_eq!(fixture.servers.meet_jobs(4).len(), 4);
    fixture.gate.allow(2);
    worker.finish().exits(0);
    all_scored(&fixture.servers.take_results(2));
    fixture.gate.open();
    let next = fixture.start(&[]);
    all_scored(&fixture.servers.take_results(4));
    stop(next);
    assert_eq!(fixture.simulator.count("billed_calls"), 6, "no call is repeated");
    let ledger = fixture.servers.ledger(&RunId::new("drained"));
    assert_eq!((ledger.presumed.pico(), ledger.outstanding.pico()), (0, 0));
}

#[test]
fn worker_past_its_drain_timeout_requeues_its_jobs() {
    let fixture = WorkerFixture::gated(Servers::shared(), 2);
    let worker = fixture.start(&["-j", "2", "--drain-timeout", "0"]);
    fixture.enqueue("hasty");
    fixture.simulator.await_count("billed_calls", 2);
    worker.stop().stderr_contains(&["drain timeout reached"]);
    let ledger = fixture.servers.ledger(&RunId::new("hasty"));
    assert!(ledger.presumed.pico() >= fixture.simulator.bill(), "the calls may have been billed");
    fixture.gate.open();
    let next = fixture.start(&[]);
    all_scored(&fixture.servers.take_results(2));
    stop(next);
}

#[test]
fn draining_worker_dead_letters_no_job() {
    let fixture = WorkerFixture::gated(Servers::shared(), 24);
    let mut worker = fixture.start(&["-j", "8"]);
    fixture.enqueue("condemned");
    fixture.simulator.await_count("billed_calls", 8);
    worker.signal(Signal::TERM);
    worker.await_stderr("stopping");
    // There is no other worker: requeued jobs wait in the queue, and are not redelivered here.
    let returned = || {
        assert!(
            fixture.servers.jobs_aside().is_empty(),
            "a job that never started was dead-lettered"
        );
        (fixture.servers.ready("work") >= 15).then_some(())
    };
    poll("jobs of the worker are ready for others", returned);
    fixture.gate.open();
    worker.finish().exits(0);
    let next = fixture.start(&[]);
    all_scored(&fixture.servers.take_results(24));
    stop(next);
    assert_eq!(fixture.simulator.count("billed_calls"), 24, "no call is repeated");
    assert!(fixture.servers.jobs_aside().is_empty());
}

#[test]
fn second_worker_finishes_jobs_of_a_killed_one() {
    let fixture = WorkerFixture::gated(Servers::shared(), 4);
    let first = fixture.start(&["-j", "2"]);
    fixture.enqueue("killed");
    fixture.simulator.await_count("billed_calls", 2);
    first.kill();
    fixture.gate.open();
    let second = fixture.start(&["-j", "2"]);
    let results = fixture.servers.take_results(4);
    all_scored(&results);
    stop(second);
    assert!(fixture.simulator.count("billed_calls") <= 6);
    assert_eq!(fixture.servers.held("30s"), 0, "no job waits for a dead worker");
    let ledger = fixture.servers.ledger(&RunId::new("killed"));
    let reported: i64 = results.iter().map(|result| result.cost_usd.pico()).sum();
    assert_eq!(ledger.committed.pico() - ledger.presumed.pico(), reported);
    let counted = ledger.committed.pico() + ledger.outstanding.pico();
    assert!(counted >= fixture.simulator.bill(), "what died with the worker counts");
}

#[test]
fn restarting_all_workers_dead_letters_no_job() {
    let fixture = WorkerFixture::gated(Servers::shared(), 4);
    fixture.enqueue("rolled");
    for restart in 1..=5 {
        let workers = [fixture.start(&["-j", "2"]), fixture.start(&["-j", "2"])];
        fixture.simulator.await_count("billed_calls", restart * 4);
        for worker in workers {
            // Alternately gracefully and as after a crash.
            if restart % 2 == 0 {
                worker.kill();
            } else {
                worker.signal(Signal::TERM);
                worker.signal(Signal::INT);
                worker.finish().exits(0);
            }
        }
    }
    fixture.gate.open();
    let last = fixture.start(&[]);
    all_scored(&fixture.servers.take_results(4));
    stop(last);
    assert!(fixture.servers.jobs_aside().is_empty());
}
