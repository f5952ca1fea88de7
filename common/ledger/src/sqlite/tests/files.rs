//! Tests of files that are full, locked, damaged, or another program's.

use super::*;

#[tokio::test]
async fn a_full_disk_is_reported_and_survived() {
    let folder = Folder::new();
    let backend = folder.open();
    backend.open_run(&run(), Budget::Unlimited).await.unwrap();
    let limit = |pages: i64| {
        backend.writer.perform(move |connection, _| {
            connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
            Ok(())
        })
    };
    limit(1).await.unwrap();
    let mut refused = None;
    for number in 0..200 {
        let answer = backend.try_admit(&request(&format!("{number:0>400}"), "here", 1)).await;
        if let Err(error) = answer {
            refused = Some(error);
            break;
        }
    }
    let Some(LedgerError::Unavailable(message)) = refused else { panic!("{refused:?}") };
    assert!(message.contains("full") && message.contains("juror.db"), "{message}");
    limit(1_000_000).await.unwrap();
    assert_eq!(
        backend.try_admit(&request("after", "here", 1)).await.unwrap(),
        AdmissionDecision::Admitted
    );
    backend.close().await;
}

fn refusal(file: &Path) -> String {
    match SqliteLedger::open(file) {
        Err(LedgerError::Broken(message)) => message,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it opened"),
    }
}

#[tokio::test]
async fn files_of_earlier_versions_are_upgraded() {
    for version in [1, 3, 4] {
        let folder = Folder::new();
        let backend = folder.open();
        backend.open_run(&run(), Budget::Unlimited).await.unwrap();
        backend.try_admit(&request("a", "one", 80)).await.unwrap();
        backend.close().await;
        let raw = rusqlite::Connection::open(folder.file()).unwrap();
        raw.execute_batch("ALTER TABLE replies DROP COLUMN used_day").unwrap();
        raw.execute_batch("ALTER TABLE leases DROP COLUMN labels; DROP TABLE run_labels").unwrap();
        raw.execute_batch(
            "DROP TABLE batch_numbers; DROP TABLE batch_owners; DROP INDEX closed_rows_of_shards;
             ALTER TABLE batch_shards DROP COLUMN owner;
             INSERT INTO batch_shards VALUES ('nightly', 2, '{\"step\":\"planned\"}');
             INSERT INTO batch_rows VALUES ('nightly', 'loose', 0, NULL, 'lease', 1, '')",
        )
        .unwrap();
        if version < 4 {
            raw.execute_batch("ALTER TABLE leases DROP COLUMN day; DROP TABLE ledger_settings")
                .unwrap();
        }
        if version == 1 {
            raw.execute_batch("ALTER TABLE claims DROP COLUMN carried_unmetered").unwrap();
            raw.execute_batch("DROP TABLE batch_rows; DROP TABLE batch_shards").unwrap();
        }
        raw.pragma_update(None, "user_version", version).unwrap();
        drop(raw);
        for _ in 0..2 {
            let backend = folder.open();
            claim(&backend, "job").await;
            let shards = backend.take_over(&run(), &OwnerId::new("local")).await.unwrap();
            if version == 1 {
                assert_eq!(shards, []);
            } else {
                assert_eq!(shards, [(0, ShardStep::Filling), (2, ShardStep::Planned)]);
                let rows = backend.rows(&run(), 0, true, None, 9).await.unwrap();
                assert_eq!(rows.len(), 1, "what stood in no shard stands in one");
            }
            backend.close().await;
        }
        let backend = folder.open();
        let next = backend.open_shard(&run(), &OwnerId::new("local")).await.unwrap();
        assert_eq!(next, if version == 1 { 1 } else { 3 });
        backend.close().await;
        // Days were those of UTC.
        let backend = folder.open();
        backend.presume_spent(&LeaseId::new("a")).await.unwrap();
        let day = admission::Scope::of_day(admission::BudgetCalendar::UTC.day_of(folder.now()));
        let [day] = backend.spending(&[day]).await.unwrap().try_into().unwrap();
        assert_eq!(day.account.committed, Money::from_pico(80));
        backend.close().await;
    }
}

#[tokio::test]
async fn files_that_are_not_ours_are_refused_with_the_reason() {
    let folder = Folder::new();
    folder.open().close().await;
    let raw = rusqlite::Connection::open(folder.file()).unwrap();
    raw.pragma_update(None, "user_version", 7).unwrap();
    drop(raw);
    let message = refusal(&folder.file());
    assert!(message.contains("version 7") && message.contains("(5)"), "{message}");

    let path = |name| folder.folder.path().join(name);
    std::fs::write(path("text.db"), "not a database, ".repeat(100)).unwrap();
    assert!(refusal(&path("text.db")).contains("damaged or not a database"));
    let other = rusqlite::Connection::open(path("other.db")).unwrap();
    other.execute_batch("CREATE TABLE theirs (a)").unwrap();
    drop(other);
    assert!(refusal(&path("other.db")).contains("another program"));
    let message = refusal(&path("missing/juror.db"));
    assert!(message.contains("--state"), "{message}");
}

#[tokio::test]
async fn a_damaged_result_is_reported_by_name() {
    let folder = Folder::new();
    let backend = folder.open();
    let key = claim(&backend, "broken").await;
    backend
        .writer
        .perform(|connection, _| {
            let broken = "INSERT INTO results VALUES ('nightly', 'broken', 0, '{}')";
            Ok(connection.execute(broken, [])?)
        })
        .await
        .unwrap();
    let refused = backend.claim(&key, &OwnerId::new("here")).await;
    let Err(LedgerError::Broken(message)) = refused else { panic!("{refused:?}") };
    assert!(message.contains("result of job broken"), "{message}");
    backend.close().await;
}

#[tokio::test]
async fn a_locked_file_is_reported_and_survived() {
    let folder = Folder::new();
    let backend = folder.open();
    backend.open_run(&run(), Budget::Unlimited).await.unwrap();
    let impatient = backend.writer.perform(|connection, _| {
        connection.busy_timeout(std::time::Duration::from_millis(1))?;
        Ok(())
    });
    impatient.await.unwrap();
    let other = rusqlite::Connection::open(folder.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = backend.try_admit(&request("a", "here", 1)).await;
    let Err(LedgerError::Unavailable(message)) = refused else { panic!("{refused:?}") };
    assert!(message.contains("locked") && message.contains("juror.db"), "{message}");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(
        backend.try_admit(&request("a", "here", 1)).await.unwrap(),
        AdmissionDecision::Admitted
    );
    backend.close().await;
}

#[test]
fn processes_that_create_the_file_at_once_all_get_it() {
    let folder = Folder::new();
    let start = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                start.wait();
                folder.open()
            });
        }
    });
}
