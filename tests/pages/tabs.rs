//! A running run in many tabs of one browser.

use super::{browser::PageBrowser, compared::juror, dashboard_server::DashboardServer};
use juror_journal::journal::JournalWriter;
use juror_types::id::RunId;
use std::{fs, io::Write as _, path::Path};

/// Browsers open at most six connections to a host.
const TABS: usize = 8;

/// Finished run that appears to be active in this process, with its first results.
fn running(folder: &Path, results: usize) -> (JournalWriter, Vec<String>) {
    juror(folder, &["demo", "--evidence", "none", "--run-id", "long"], 0);
    let directory = folder.join("runs/long");
    let journal = fs::read_to_string(directory.join("results.jsonl")).unwrap();
    let lines: Vec<String> = journal.lines().map(|line| format!("{line}\n")).collect();
    fs::write(directory.join("results.jsonl"), lines[..results].concat()).unwrap();
    let run = RunId::parse("long").unwrap();
    (JournalWriter::open(&folder.join("runs"), &run).unwrap(), lines[results..].to_vec())
}

fn append(folder: &Path, lines: &[String]) {
    let journal = folder.join("runs/long/results.jsonl");
    let mut journal = fs::OpenOptions::new().append(true).open(journal).unwrap();
    journal.write_all(lines.concat().as_bytes()).unwrap();
}

fn streams(browser: &PageBrowser) -> usize {
    browser.requests().iter().filter(|url| url.ends_with("/events")).count()
}

#[test]
fn eight_tabs_on_one_run_share_one_event_stream() {
    let folder = tempfile::tempdir().unwrap();
    let (held, rest) = running(folder.path(), 5);
    let dashboard_server = DashboardServer::open(folder.path(), &[]);
    let mut browser = PageBrowser::at(&dashboard_server.at("/runs/long"));
    for _ in 1..TABS {
        browser.open_tab(&dashboard_server.at("/runs/long"));
    }
    let done = |count: usize| {
        format!("document.getElementById('live-done').textContent === '{count} of 27'")
    };
    append(folder.path(), &rest[..10]);
    for tab in 0..TABS {
        browser.use_tab(tab);
        browser.await_true(&done(15));
    }
    assert_eq!(streams(&browser), 1, "one tab has the stream");
    // Figures and table update without a reload.
    let rows = "document.querySelectorAll('#results tbody tr').length === 15";
    browser.await_true(rows);
    browser.close_tab(0);
    append(folder.path(), &rest[10..15]);
    for tab in 1..TABS {
        browser.use_tab(tab);
        browser.await_true(&done(20));
    }
    assert_eq!(streams(&browser), 2, "another tab has taken over");
    append(folder.path(), &rest[15..]);
    drop(held);
    for tab in 1..TABS {
        browser.use_tab(tab);
        browser
            .await_true("document.readyState === 'complete' && !document.getElementById('live')");
    }
}

#[test]
fn a_page_without_shared_streams_polls() {
    let folder = tempfile::tempdir().unwrap();
    let (held, rest) = running(folder.path(), 5);
    let dashboard_server = DashboardServer::open(folder.path(), &[]);
    let mut browser = PageBrowser::at(&dashboard_server.at("/login"));
    browser.before_scripts("Object.defineProperty(navigator, 'locks', {value: undefined})");
    browser.visit(&dashboard_server.at("/runs/long"));
    append(folder.path(), &rest[..10]);
    browser.await_true("document.getElementById('live-done').textContent === '15 of 27'");
    browser.await_true("document.querySelectorAll('#results tbody tr').length === 15");
    assert_eq!(streams(&browser), 0);
    drop(held);
}
