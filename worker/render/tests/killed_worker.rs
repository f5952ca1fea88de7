//! Tests that a killed worker leaves no process and no profile of its browser.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

use juror_evidence::{PageChange, PageEdit};
use juror_render::{PageCode, PageSource, Renderer, RendererSettings};
use juror_services::install;
use serde_json::Map;
use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};
use tokio::runtime::Runtime;

/// A page whose script never ends once the page is changed.
const CODE: &str = "<p>text</p><script>new MutationObserver(() => { for (;;); })\
                    .observe(document.body, { attributes: true });</script>";

/// Variable of the environment in which the test is the worker that is killed.
const IS_WORKER: &str = "JUROR_TEST_IS_WORKER";

/// Renders until it is killed.
async fn work() {
    let timeout = Duration::from_secs(3600);
    let settings = RendererSettings { timeout, ..RendererSettings::default() };
    let renderer = Renderer::start(settings).await.unwrap();
    let (code, props) = (PageCode::Html(CODE.to_owned()), Map::new());
    let source = PageSource { code, props, frame: None, viewport: [320, 200], scale: 1 };
    let mut page = renderer.open(&source).await.unwrap();
    page.draw(&[]).await.unwrap();
    io::stderr().write_all(b"drawn\n").unwrap();
    page.draw(&[PageChange { elements: vec![1], edit: PageEdit::Remove }]).await.unwrap();
}

#[test]
fn killed_worker_leaves_no_process_or_file() {
    if env::var_os(IS_WORKER).is_some() {
        return Runtime::new().unwrap().block_on(work());
    }
    install::ensure("/usr/bin/chromium", "chromium");
    let folder = tempfile::tempdir().unwrap();
    let mut worker = Command::new(env::current_exe().unwrap())
        .args(["killed_worker_leaves_no_process_or_file", "--exact", "--nocapture"])
        .env(IS_WORKER, "1")
        .env("TMPDIR", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(worker.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(output.into_iter().any(|line| line == "drawn"));
    let processes = processes_of(folder.path());
    assert!(processes.len() > 2, "the wrapper, the browser and its processes: {processes:?}");
    worker.kill().unwrap();
    worker.wait().unwrap();
    for process in &processes {
        let waiting = ["60", "tail", "-f", "/dev/null", &format!("--pid={process}")];
        let waited = Command::new("timeout").args(waiting).status().unwrap();
        assert!(waited.success(), "{process} is left");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the profile is left");
}

/// Processes of the group whose leader names a path below this folder.
fn processes_of(folder: &Path) -> Vec<i32> {
    let folder = folder.to_str().unwrap();
    let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.ok()?;
        let number: i32 = entry.file_name().to_str()?.parse().ok()?;
        // The group is the third field after the name in parentheses.
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let group = stat.rsplit_once(") ")?.1.split(' ').nth(2)?.parse().ok()?;
        let command = fs::read(entry.path().join("cmdline")).ok()?;
        Some((number, group, String::from_utf8_lossy(&command).contains(folder)))
    });
    let processes: Vec<(i32, i32, bool)> = entries.collect();
    let leads = |group: i32| processes.iter().any(|one| one.0 == group && one.2);
    processes.iter().filter(|one| leads(one.1)).map(|one| one.0).collect()
}
