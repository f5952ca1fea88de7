use super::*;
use juror_ledger::{
    admission::{Admission as _, AdmissionRequest, Budget},
    sqlite::SqliteLedger,
};
use juror_types::{
    id::{LeaseId, OwnerId},
    usage::Money,
};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    sync::mpsc,
};

/// Two further attempts without a delay.
const NO_PAUSES: [Duration; 2] = [Duration::ZERO; 2];

/// Ledger of a run with a cap of 100 pico-dollars.
struct Fixture {
    folder: TempDir,
    ledger: SqliteLedger,
    run: RunId,
    events: Events,
    events_received: mpsc::Receiver<Event>,
}

impl Fixture {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger = SqliteLedger::open(&folder.path().join("juror.db")).unwrap();
        let run = RunId::new("nightly");
        ledger.open_run(&run, Budget::Cap(Money::from_pico(100))).await.unwrap();
        let (events, events_received) = Events::channel(16);
        Self { folder, ledger, run, events, events_received }
    }

    async fn spend(&self, lease: &str, pico: i64) {
        let lease = LeaseId::new(lease);
        let ask = AdmissionRequest {
            lease: lease.clone(),
            owner: OwnerId::new("owner"),
            run: self.run.clone(),
            endpoint: "judge".to_owned(),
            input_tokens: 0,
            max_output_tokens: 0,
            worst_cost: Money::from_pico(pico),
        };
        self.ledger.try_admit(&ask).await.unwrap();
        self.ledger.presume_spent(&lease).await.unwrap();
    }

    fn watch<'fixture>(&'fixture self, alerts: &'fixture [AlertSettings]) -> AlertWatch<'fixture> {
        let events = self.events.clone();
        AlertWatch { records: &self.ledger, alerts, retry_pauses: &NO_PAUSES, events }
    }

    async fn check(&self, alerts: &[AlertSettings]) {
        self.watch(alerts).check(std::slice::from_ref(&self.run)).await.unwrap();
    }

    fn warning(&mut self) -> Option<String> {
        match self.events_received.try_recv().ok()? {
            Event::Warning(warning) => Some(warning),
            event => panic!("{event:?}"),
        }
    }
}

fn alerts(text: &str) -> Vec<AlertSettings> {
    let settings: juror_ledger::admission::BudgetSettings = toml::from_str(text).unwrap();
    settings.alerts
}

/// Command that appends its message to a file, one line each.
fn noted(file: &Path, at: f64) -> String {
    let script = format!("cat >> {0}; echo >> {0}", file.display());
    format!("[[alerts]]\nat = {at}\ncommand = [\"sh\", \"-c\", {script:?}]\n")
}

fn messages(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn an_alert_is_sent_once_when_its_share_is_spent() {
    let fixture = Fixture::new().await;
    let file = fixture.folder.path().join("messages");
    let alerts = alerts(&[noted(&file, 0.5), noted(&file, 0.9)].concat());
    fixture.spend("a", 49).await;
    fixture.check(&alerts).await;
    assert!(messages(&file).is_empty());
    fixture.spend("b", 1).await;
    for _ in 0..2 {
        fixture.check(&alerts).await;
    }
    let sent = messages(&file);
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(
        (&sent[0]["budget"], &sent[0]["event"]),
        (&"run:nightly".into(), &"budget_alert".into())
    );
    assert_eq!(sent[0]["at"], 0.5);
    let amount = |name: &str| sent[0][name].as_str().unwrap().parse::<Money>().unwrap().pico();
    assert_eq!((amount("spent_usd"), amount("cap_usd"), amount("left_usd")), (50, 100, 50));
    fixture.spend("c", 45).await;
    fixture.check(&alerts).await;
    assert_eq!(messages(&file).len(), 2);
    fixture.ledger.close().await;
}

#[tokio::test]
async fn the_last_check_comes_after_the_end_of_the_run() {
    let fixture = Fixture::new().await;
    let file = fixture.folder.path().join("messages");
    let alerts = alerts(&noted(&file, 1.0));
    let stop = Shutdown::new();
    fixture.spend("a", 100).await;
    stop.drain.cancel();
    fixture.watch(&alerts).follow(&fixture.run, fixture.ledger.changes(), &stop).await;
    assert_eq!(messages(&file).len(), 1);
    fixture.ledger.close().await;
}

#[tokio::test]
async fn failing_command_is_only_a_warning() {
    let mut fixture = Fixture::new().await;
    fixture.spend("a", 100).await;
    let text = "[[alerts]]\nat = 0.5\ncommand = [\"false\"]\n[[alerts]]\nat = 0.5\ncommand = [\"no-such-program-at-all\"]\n";
    fixture.check(&alerts(text)).await;
    let mut warnings = [fixture.warning().unwrap(), fixture.warning().unwrap()];
    warnings.sort();
    assert!(warnings[0].contains("budget run:nightly") && warnings[0].contains("false ended with"));
    assert!(warnings[1].contains("no-such-program-at-all cannot be started"), "{warnings:?}");
    assert!(warnings.iter().all(|warning| warning.contains("in 3 tries")), "{warnings:?}");
    fixture.check(&alerts(text)).await;
    assert_eq!(fixture.warning(), None, "it is not sent again");
    fixture.ledger.close().await;
}

/// Command that fails twice and then appends its message to a file.
fn third_time(file: &Path) -> String {
    let tries = file.with_extension("tries");
    let script = format!(
        "echo x >> {tries}; test $(wc -l < {tries}) -ge 3 && cat >> {file}",
        tries = tries.display(),
        file = file.display()
    );
    format!("[[alerts]]\nat = 0.5\ncommand = [\"sh\", \"-c\", {script:?}]\n")
}

#[tokio::test]
async fn an_alert_that_fails_is_retried_until_it_is_sent() {
    let mut fixture = Fixture::new().await;
    let file = fixture.folder.path().join("messages");
    fixture.spend("a", 60).await;
    for _ in 0..2 {
        fixture.check(&alerts(&third_time(&file))).await;
    }
    assert_eq!(messages(&file).len(), 1);
    assert_eq!(fixture.warning(), None);
    let tries = std::fs::read_to_string(file.with_extension("tries")).unwrap();
    assert_eq!(tries.lines().count(), 3, "no more tries than it took");
    fixture.ledger.close().await;
}

/// Replies to `times` requests with this status, and returns the last one.
async fn reply(listener: TcpListener, status: &str, times: u32) -> String {
    let mut last = String::new();
    for _ in 0..times {
        last = reply_once(&listener, status).await;
    }
    last
}

async fn reply_once(listener: &TcpListener, status: &str) -> String {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    while !request.ends_with(b"}") {
        assert!(stream.read_buf(&mut request).await.unwrap() > 0);
    }
    let response = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(response.as_bytes()).await.unwrap();
    String::from_utf8(request).unwrap()
}

#[tokio::test]
async fn webhook_receives_the_message_and_its_url_stays_secret() {
    for (status, times, is_reported) in [("204 No Content", 1, false), ("500 Oh", 3, true)] {
        let mut fixture = Fixture::new().await;
        fixture.spend("a", 80).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let text = format!("[[alerts]]\nat = 0.8\nwebhook = \"http://{address}/secret\"\n");
        let alerts = alerts(&text);
        let (request, ()) = tokio::join!(reply(listener, status, times), fixture.check(&alerts));
        assert!(request.starts_with("POST /secret") && request.contains("application/json"));
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["budget"], "run:nightly");
        match fixture.warning() {
            Some(warning) => {
                assert!(is_reported && warning.contains("127.0.0.1 returned 500"), "{warning}");
                assert!(!warning.contains("secret"), "{warning}");
            }
            None => assert!(!is_reported),
        }
        fixture.ledger.close().await;
    }
}
