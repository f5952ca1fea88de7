//! Fleet results go to one runs directory, and no run is split between two.

use super::{
    aggregate::{record, scored},
    servers::{ACTIVE, Servers},
};
use crate::harness::CommandHarness;
use juror_ledger::redis::test_server::TestRedis;

#[test]
fn aggregator_of_another_folder_is_refused_until_takeover() {
    let (here, there) = (CommandHarness::new(), CommandHarness::new());
    let servers = Servers::with(TestRedis::own(&[]));
    let first = servers.start_aggregator(&here);
    let [ours, theirs] = [&here, &there].map(|harness| {
        let path = harness.path("runs");
        let folder = std::fs::canonicalize(path.parent().unwrap()).unwrap().join("runs");
        folder.display().to_string()
    });
    let holder = || {
        let key = format!("{}:runs_directory", servers.redis.namespace);
        Some(servers.redis.command(&["HGET", &key, "path"])).filter(|path| !path.is_empty())
    };
    assert_eq!(servers.await_value("runs_directory", holder), ours);
    let refused = |harness: &CommandHarness| servers.juror(harness, &["aggregate"]).exits(2);
    let reported = refused(&there);
    assert!(!reported.stderr.contains("active"), "{}", reported.stderr);
    reported.stderr_contains(&[&ours, &theirs, "--runs-dir", "juror aggregate --take-over"]);

    // An emptied Redis accepts the id again.
    servers.redis.command(&["FLUSHALL"]);
    assert_eq!(servers.await_value("runs_directory", holder), ours);
    refused(&there).stderr_contains(&[&ours]);

    let mut second = servers.start(&there, &["aggregate", "--take-over"]);
    second.await_stderr(ACTIVE);
    first.finish().exits(2).stderr_contains(&["the results of this fleet are stored in", &theirs]);
    refused(&here).stderr_contains(&[&theirs, &ours]);
    let record = record(&servers, "moved", 2);
    servers.announce(&record);
    servers.publish(&[scored(&record, 0), scored(&record, 1)]);
    servers.close(&record.run_id, 2);
    servers.await_report(&record.run_id, 2);
    assert_eq!(there.journal("moved").len(), 2);
    second.stop();
    // The flag is not needed again.
    servers.start_aggregator(&there).kill();
}
