//! Forms: the choice of a series, a run that is started, and a login.

use super::*;

#[test]
fn overview_keeps_the_selected_dataset_and_rubric() {
    let folder = tempfile::tempdir().unwrap();
    runs(folder.path());
    let dashboard_server = DashboardServer::open(folder.path(), &[]);
    let mut browser = PageBrowser::at(&dashboard_server.at("/"));
    assert!(text(&mut browser, ".facts").contains("semantic@"), "the newest run");
    browser.value(
        "(() => {
            const rubric = document.querySelector('[name=rubric]');
            rubric.value = Array.from(rubric.options, one => one.value).find(one => one.startsWith('acrue'));
        })()",
    );
    browser.follow("form.choice button");
    assert!(text(&mut browser, ".facts").contains("acrue@"));
    let address = browser.value("location.search");
    assert!(address.as_str().unwrap().starts_with("?rubric=acrue"), "{address}");
    browser.visit(&dashboard_server.at("/"));
    assert!(text(&mut browser, ".facts").contains("acrue@"), "the choice is kept");
    browser.value("document.querySelector('[name=rubric]').value = ''");
    browser.follow("form.choice button");
    browser.visit(&dashboard_server.at("/"));
    assert!(text(&mut browser, ".facts").contains("semantic@"), "until it is taken back");
    assert_quiet(&browser, &dashboard_server);
}

#[test]
fn run_is_estimated_started_and_followed_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    juror(folder.path(), &["demo", "--evidence", "none", "--run-id", "base"], 0);
    let (mut simulator, url) = worse_judge(folder.path());
    let dashboard_server =
        DashboardServer::open(folder.path(), &["--base-url", &url, "--no-cache"]);
    let mut browser = PageBrowser::at(&dashboard_server.at("/start"));
    assert_eq!(browser.value("document.getElementById('enable_llm_judge').checked"), false);
    browser.value(
        "document.getElementById('dataset').value = 'runs/golden/manifest.jsonl';
         document.getElementById('run_id').value = 'watched';
         document.getElementById('enable_llm_judge').click()",
    );
    browser.follow("[value=estimate]");
    assert!(text(&mut browser, "[role=alert]").contains("Enter a budget"));
    assert!(text(&mut browser, "#budget_usd-error").contains("Enter a budget"), "at the field");
    assert_eq!(browser.value("document.getElementById('budget_usd').ariaInvalid"), "true");
    assert!(text(&mut browser, "#model-help").contains("gpt-4o"), "the default is named");
    browser.value(
        "document.getElementById('budget_usd').value = '1.00';
         document.getElementById('run_id').value = 'base'",
    );
    browser.follow("[value=estimate]");
    browser.follow("[value=start]");
    assert!(text(&mut browser, "#run_id-error").contains("A run base exists"));
    browser.value("document.getElementById('run_id').value = 'watched'");
    browser.follow("[value=estimate]");
    let warned = text(&mut browser, ".notice");
    assert!(warned.contains('$') && warned.contains("slower"), "{warned}");
    assert!(!folder.path().join("runs/watched").exists(), "an estimate starts nothing");
    browser.follow("[value=start]");
    // The page reloads when the run has ended.
    let watches = "document.getElementById('live') !== null";
    while browser.value(watches) == true {
        let loads = browser.loads();
        browser.await_load(loads);
    }
    assert!(text(&mut browser, "h1").contains("watched complete"));
    assert_eq!(browser.value("document.querySelectorAll('#results tbody tr').length"), 27);
    simulator.kill().unwrap();
    simulator.wait().unwrap();
}

#[test]
fn a_browser_logs_in_with_a_token_and_is_refused_with_another() {
    let folder = tempfile::tempdir().unwrap();
    juror(folder.path(), &["demo", "--evidence", "none", "--run-id", "base"], 0);
    let (read, write) = ("read-token-of-this-very-test-0123", "write-token-of-this-very-test-0123");
    let tokens = [("JUROR_SERVE_READ_TOKEN", read), ("JUROR_SERVE_WRITE_TOKEN", write)];
    let dashboard_server = DashboardServer::with_tokens(folder.path(), &[], &tokens);
    let mut browser = PageBrowser::at(&dashboard_server.at("/runs/base"));
    assert_eq!(text(&mut browser, "h1"), "Log in");
    browser.value("document.getElementById('token').value = 'a-token-of-nobody'");
    browser.follow("form.fields button");
    assert!(text(&mut browser, "[role=alert]").contains("Wrong token"));
    browser.value(&format!("document.getElementById('token').value = '{read}'"));
    browser.follow("form.fields button");
    assert!(text(&mut browser, "h1").contains("base"));
    browser.visit(&dashboard_server.at("/start"));
    assert!(text(&mut browser, "main").contains("Log in with the write token"));
    assert!(!browser.value("document.documentElement.outerHTML").as_str().unwrap().contains(read));
    browser.follow(".top form button");
    assert_eq!(text(&mut browser, "h1"), "Log in");
    assert_quiet(&browser, &dashboard_server);
}
