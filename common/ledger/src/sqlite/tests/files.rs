//! Tests of full disks and of locked, damaged and foreign files.

use super::*;

#[tokio::test]
async fn full_disk_is_reported_and_recovered_from() {
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
async fn foreign_files_are_refused_with_the_reason() {
    let folder = Folder::new();
    folder.open().close().await;
    let raw = rusqlite::Connection::open(folder.file()).unwrap();
    raw.pragma_update(None, "user_version", 7).unwrap();
    drop(raw);
    let message = refusal(&folder.file());
    assert!(message.contains("version 7") && message.contains("(1)"), "{message}");

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
async fn damaged_result_is_reported_by_name() {
    let folder = Folder::new();
    let backend = folder.open();
    let key = claim(&backend, "broken").await;
    backend
        .writer
        .perform(|connection, _| {
            let broken = "INSERT INTO results VALUES ('nightly', 'broken', 0, '{}')";
            connection.execute(broken, [])
        })
        .await
        .unwrap();
    let refused = backend.claim(&key, &OwnerId::new("here")).await;
    let Err(LedgerError::Broken(message)) = refused else { panic!("{refused:?}") };
    assert!(message.contains("result of job broken"), "{message}");
    backend.close().await;
}

#[tokio::test]
async fn locked_file_is_reported_and_recovered_from() {
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
fn concurrent_creation_of_the_file_succeeds_in_every_process() {
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
