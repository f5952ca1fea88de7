//! `juror dead-letters`: dead-lettered jobs are listed and replayed.

use super::servers::Servers;
use crate::harness::{CommandHarness, Finished, write_items};
use juror_ledger::job_store::{Claim, ClaimKey, FinishedJob, JobStore as _};
use juror_queue::{DeadLetters as _, Disposition, Priority, Queue as _};
use juror_types::{
    id::{JobId, RunId},
    job::Job,
    outcome::{JobResult, Outcome},
};
use serde_json::{Value, json};

/// Run whose jobs were all published and dead-lettered, each for its own reason.
fn poisoned(harness: &CommandHarness, servers: &Servers, run: &str, items: u32) -> Vec<Job> {
    write_items(harness, items);
    servers.juror(harness, &["enqueue", "manifest.jsonl", "--run-id", run]).exits(0);
    let mut jobs: Vec<_> =
        servers.take_jobs(items as usize).into_iter().map(|taken| taken.job).collect();
    jobs.sort_by(|one, other| one.item.id.cmp(&other.item.id));
    for job in &jobs {
        servers.poison(job.clone(), &format!("{} killed five workers", job.item.id));
    }
    jobs
}

fn listed(finished: Finished) -> Vec<Value> {
    serde_json::from_str(&finished.exits(0).stdout).unwrap()
}

/// Stores the outcome of a job as a worker does.
fn end(servers: &Servers, job: &Job, outcome: Outcome) {
    let key =
        ClaimKey { run: job.run_id.clone(), job: job.job_id.clone(), round: job.round, fence: 0 };
    servers.run(async {
        let claim = servers.backend.claim(&key, &juror_types::id::OwnerId::random()).await.unwrap();
        let Claim::Granted { fence, .. } = claim else { return };
        let claim = ClaimKey { fence, ..key };
        let result = JobResult::empty(job, outcome);
        servers.backend.finish(FinishedJob { claim, result, reply_to_cache: None }).await.unwrap();
    });
}

#[test]
fn dead_letters_are_listed_shown_and_replayed() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let dead = |words: &[&str]| servers.juror(&harness, &[&["dead-letters"], words].concat());
    dead(&["list"]).exits(0).stdout_contains(&["no dead letters"]);
    let jobs = poisoned(&harness, &servers, "night", 3);
    let ids: Vec<&str> = jobs.iter().map(|job| job.job_id.as_str()).collect();
    let aside = JobResult::empty(&jobs[0], Outcome::Scored);
    servers.publish(std::slice::from_ref(&aside));
    servers.run(async {
        let mut results = servers.queues().results().subscribe(1).await.unwrap();
        let delivery = results.next().await.unwrap().unwrap();
        delivery.end(Disposition::DeadLetter("of no run".to_owned())).await.unwrap();
    });

    dead(&["list"]).exits(0).stdout_contains(&[
        &format!("{}  job of run night, item item_0001, round 0", ids[1]),
        "item_0001 killed five workers",
        &format!("{}.0  result of run night, item item_0000", ids[0]),
        "of no run",
    ]);
    let all = listed(dead(&["list", "--json", "--run", "night"]));
    let kinds: Vec<_> = all.iter().map(|letter| &letter["kind"]).collect();
    assert_eq!(kinds, ["job", "job", "job", "result"]);
    assert!(listed(dead(&["list", "--json", "--run", "day"])).is_empty());
    let shown = dead(&["show", ids[2]]).exits(0).json();
    assert_eq!(shown, serde_json::to_value(&jobs[2]).unwrap());
    dead(&["show", "none"])
        .exits(2)
        .stderr_contains(&["no dead letter with id \"none\"", "juror dead-letters list"]);

    dead(&["replay", ids[1], "none"]).exits(2).stderr_contains(&["\"none\""]);
    assert_eq!(listed(dead(&["list", "--json"])).len(), 4, "nothing was done by halves");
    dead(&["replay", ids[1]]).exits(0).stdout_contains(&["1 replayed"]);
    let taken = servers.take_jobs(1);
    assert_eq!((taken[0].job.item.id.as_str(), taken[0].job.round), ("item_0001", 1));
    let expected = || servers.status(&RunId::new("night")).unwrap().expected;
    assert_eq!(expected(), Some(4), "one result more");
    dead(&["replay", ids[1]]).exits(2);

    dead(&["replay", "--all", "--run", "night"]).exits(0).stdout_contains(&["3 replayed"]);
    assert!(listed(dead(&["list", "--json"])).is_empty());
    dead(&["replay", "--all", "--run", "night"]).exits(0).stdout_contains(&["0 replayed"]);
    dead(&["replay", "--all", "--run", "nosuch"])
        .exits(2)
        .stderr_contains(&["run nosuch is unknown", "dead-letters list"]);
    assert_eq!(expected(), Some(6), "two jobs, and an unchanged result");
    assert_eq!(servers.take_jobs(2).len(), 2);
    let again = servers.run(async {
        let mut results = servers.queues().results().subscribe(1).await.unwrap();
        let delivery = results.next().await.unwrap().unwrap();
        let again = (*delivery.message).clone();
        delivery.acknowledge().await.unwrap();
        again
    });
    assert_eq!(again, aside);
}

#[test]
fn control_sequences_in_dead_letters_are_escaped() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let mut jobs = poisoned(&harness, &servers, "night", 1);
    let mut strange = jobs.remove(0);
    strange.job_id = JobId::new("\u{1b}[2Jnobody\nsaid");
    servers.poison(strange, "\u{1b}[31mred\nlines");
    let shown = servers.juror(&harness, &["dead-letters", "list"]).exits(0);
    let shown = shown
        .stdout_contains(&[" [2Jnobody said  job of run night, item item_0000", " [31mred lines"]);
    let is_obeyed = |character: char| character.is_control() && character != '\n';
    assert!(!shown.stdout.contains(is_obeyed), "{:?}", shown.stdout);
    assert_eq!(shown.stdout.lines().count(), 4, "{}", shown.stdout);
    let all = servers.juror(&harness, &["dead-letters", "list", "--json"]);
    assert!(listed(all).iter().any(|letter| letter["id"] == "\u{1b}[2Jnobody\nsaid"));
}

#[test]
fn replay_is_refused_for_jobs_it_cannot_help() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let jobs = poisoned(&harness, &servers, "night", 4);
    let [scored, failed, under_way, fresh] = jobs.as_slice() else { panic!("four jobs") };
    end(&servers, scored, Outcome::Failed);
    end(&servers, &Job { round: 1, ..scored.clone() }, Outcome::Scored);
    end(&servers, failed, Outcome::Failed);
    end(&servers, &Job { round: 1, ..failed.clone() }, Outcome::Failed);
    let key = ClaimKey {
        run: under_way.run_id.clone(),
        job: under_way.job_id.clone(),
        round: 1,
        fence: 0,
    };
    servers.run(async {
        servers.backend.claim(&key, &juror_types::id::OwnerId::random()).await.unwrap();
    });
    // A dead letter of an earlier round does not count beside a later one.
    servers.poison(Job { round: 2, ..fresh.clone() }, "again");

    let flags = ["dead-letters", "replay", "--all", "--run", "night", "--json"];
    let reported = servers.juror(&harness, &flags).exits(3).json();
    assert_eq!(reported["sent"], json!(2));
    let reason = |job: &Job| reported["not_sent"][job.job_id.as_str()].as_str().unwrap().to_owned();
    assert!(reason(scored).contains("already scored in round 1"), "{reported}");
    assert!(reason(under_way).contains("already requeued in round 1"), "{reported}");
    let rounds: Vec<_> = servers
        .take_jobs(2)
        .into_iter()
        .map(|taken| (taken.job.item.id, taken.job.round, taken.priority))
        .collect();
    for sent in [(&failed.item.id, 2), (&fresh.item.id, 3)] {
        let sent = (sent.0.clone(), sent.1, Priority::Normal);
        assert!(rounds.contains(&sent), "{sent:?} in {rounds:?}");
    }
    let left = servers.run(servers.queues().jobs().list()).unwrap();
    let left: Vec<_> = left.iter().map(|letter| &letter.message.job_id).collect();
    assert_eq!(left, [&under_way.job_id], "only the undecided letter stays");

    servers.juror(&harness, &["cancel", "night"]).exits(0);
    let id = under_way.job_id.as_str();
    let cancelled = servers.juror(&harness, &["dead-letters", "replay", id]).exits(3);
    cancelled.stderr_contains(&["its run was cancelled", "juror retry night"]);
    servers.redis.command(&["DEL", &format!("{}:run:night", servers.redis.namespace)]);
    let forgotten = servers.juror(&harness, &["dead-letters", "replay", id]).exits(3);
    forgotten.stderr_contains(&["no longer in Redis", "juror retry night"]);
}
