//! Cost of serving a large run, and many readers of a running one.
//!
//! `cargo bench --bench serving -- ITEMS READERS` (10,000 and 200). One client requests pages and
//! API responses in sequence; their figures are the server's processor time. Then a run is active,
//! with results from this process, and all readers follow it: first alone, then with additional
//! stalled readers.
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

use harness::{Mark, MarkTable, journal, juror};
use juror_journal::journal::JournalWriter;
use juror_types::{id::RunId, rubric::builtin, run::RunRecord};
use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

/// Requests of each kind.
const REQUESTS: u32 = 100;
/// Stalled readers.
const SLOW: usize = 20;
/// Results per batch, number of batches and pause between them of an active run.
const BATCH: usize = 50;
const BATCHES: usize = 40;
const BATCH_INTERVAL: Duration = Duration::from_millis(100);

fn main() {
    let Some([items, readers]) = harness::sizes([10_000, 200]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let large = Run::begin(folder.path(), "large", items);
    large.add(0..items);
    let report = juror(folder.path(), &["report", "large", "--quiet"]).output().unwrap();
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
    let server = Server::start(folder.path());
    pages(&server, items);
    let alone = follow(&server, folder.path(), "alone", readers, 0);
    let beside = follow(&server, folder.path(), "beside", readers, SLOW);
    let table = MarkTable::new(&format!("{readers} readers of a run that goes on"));
    let results = (BATCH * BATCHES) as f64;
    table.row(
        "processor time a result and reader",
        alone.cpu_ms * 1_000.0 / results / readers as f64,
        "µs",
    );
    table.row("from a result to its readers, mean", alone.mean_ms, "ms");
    table.row(format!("the same beside {SLOW} that take nothing"), beside.mean_ms, "ms");
    let ratio = beside.mean_ms / alone.mean_ms;
    table.marked("slow readers over none", ratio, "", Mark::AtMost(1.25));
    table.row("most memory of the server", harness::peak_mb(server.process.id()), "MB");
}

fn pages(server: &Server, items: usize) {
    let table = MarkTable::new(&format!("A run of {items} items, processor time of the server"));
    let first = server.cpu_ms_of(1, "/runs/large");
    table.row("reading it, once", first, "ms");
    for (what, path) in [
        ("its page", "/runs/large"),
        ("its page, sorted, filtered by text", "/runs/large?sort=score&q=button"),
        ("the last of its pages", "/runs/large?page=100"),
        ("one item's page", "/runs/large/items/item_00000007"),
        ("the overview", "/"),
        ("a hundred items by the API", "/api/v1/runs/large/items"),
        ("its metrics", "/api/v1/evaluation/metrics?enable_llm_judge=true"),
    ] {
        table.marked(what, server.cpu_ms_of(REQUESTS, path), "ms", Mark::AtMost(50.0));
    }
}

/// Result of following a run.
struct Followed {
    cpu_ms: f64,
    /// Latency from a batch's commit until a reader receives it, over all batches and readers.
    mean_ms: f64,
}

/// Adds results to a run while readers follow it.
fn follow(server: &Server, folder: &Path, name: &str, readers: usize, slow: usize) -> Followed {
    let run = Run::begin(folder, name, BATCH * BATCHES);
    let held = JournalWriter::open(&folder.join("runs"), &run.record.run_id).unwrap();
    let path = format!("/api/v1/runs/{name}/events");
    let idle: Vec<TcpStream> = (0..slow).map(|_| server.send_request(&path)).collect();
    let ready = Barrier::new(readers + 1);
    let before = server.cpu_ms();
    let (added, seen) = thread::scope(|scope| {
        let reading: Vec<_> = (0..readers)
            .map(|_| scope.spawn(|| read_events(server.send_request(&path), &ready)))
            .collect();
        ready.wait();
        let added: Vec<Instant> = (0..BATCHES)
            .map(|batch| {
                thread::sleep(BATCH_INTERVAL);
                run.add(batch * BATCH..(batch + 1) * BATCH);
                Instant::now()
            })
            .collect();
        drop(held);
        let seen: Vec<_> = reading.into_iter().map(|reader| reader.join().unwrap()).collect();
        (added, seen)
    });
    drop(idle);
    let lags = seen.iter().flat_map(|seen| {
        added.iter().zip(1..).map(|(added, batch)| {
            let known = seen.iter().find(|(results, _)| *results >= batch * BATCH).unwrap();
            known.1.saturating_duration_since(*added).as_secs_f64() * 1_000.0
        })
    });
    let mean_ms = lags.sum::<f64>() / (readers * BATCHES) as f64;
    Followed { cpu_ms: server.cpu_ms() - before, mean_ms }
}

/// Reads until the run has ended; returns the time of each received count of results.
fn read_events(stream: TcpStream, ready: &Barrier) -> Vec<(usize, Instant)> {
    let mut seen = Vec::new();
    for line in BufReader::new(stream).lines().map(Result::unwrap) {
        if let Some(id) = line.strip_prefix("id: ") {
            seen.push((id.parse().unwrap(), Instant::now()));
            if seen.len() == 1 {
                ready.wait();
            }
        }
        if line == "event: ended" {
            return seen;
        }
    }
    panic!("the stream broke off after {} events", seen.len())
}

/// A run's directory.
struct Run {
    directory: PathBuf,
    record: RunRecord,
}

impl Run {
    fn begin(folder: &Path, name: &str, items: usize) -> Self {
        let directory = folder.join("runs").join(name);
        fs::create_dir_all(&directory).unwrap();
        let rubric = &builtin()[0];
        let record = journal::record(&rubric.parse().unwrap(), rubric.text, items as u64);
        let record = RunRecord { run_id: RunId::new(name), ..record };
        fs::write(directory.join("run.json"), serde_json::to_string(&record).unwrap()).unwrap();
        File::create(directory.join("results.jsonl")).unwrap();
        Self { directory, record }
    }

    fn add(&self, numbers: std::ops::Range<usize>) {
        let mut lines = String::new();
        for number in numbers {
            let result = journal::result(&self.record, number);
            lines += &(serde_json::to_string(&result).unwrap() + "\n");
        }
        let path = self.directory.join("results.jsonl");
        let mut file = File::options().append(true).open(path).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
    }
}

/// `juror serve` as a process.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(folder: &Path) -> Self {
        let mut command = juror(folder, &["serve", "--listen", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut first_line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut first_line).unwrap();
        let address = first_line.trim().strip_prefix("http://").unwrap().to_owned();
        Self { process, address }
    }

    fn send_request(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = &self.address;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
        stream
    }

    /// Processor time of the server per request of this many.
    fn cpu_ms_of(&self, requests: u32, path: &str) -> f64 {
        let before = self.cpu_ms();
        for _ in 0..requests {
            let mut answer = Vec::new();
            self.send_request(path).read_to_end(&mut answer).unwrap();
            assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
        }
        (self.cpu_ms() - before) / f64::from(requests)
    }

    /// User and system time of all its threads, by the kernel's ticks of ten milliseconds.
    fn cpu_ms(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        fields.skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap() * 10.0).sum()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
