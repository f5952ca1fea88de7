use crate::test_site::{TestSite, ask, get, router_of};
use futures_util::FutureExt as _;
use juror_analysis::comparison::BaselineChanges;
use juror_journal::journal::JournalWriter;
use juror_types::id::RunId;
use serde_json::{Value, json};
use std::{fs, time::Duration};
use tokio::time::timeout;

const HTML: (&str, &str) = ("accept", "text/html");

#[tokio::test(start_paused = true)]
async fn page_rendering_has_a_timeout() {
    let site = TestSite::new();
    let router = site.add("stuck", 1, 1, true).open();
    let page = get(&router, "/runs/stuck/items/item%200%2Fa", &[HTML]);
    let page = timeout(Duration::from_secs(3_600), page).await.unwrap();
    assert_eq!((page.status.as_u16(), page.header("retry-after")), (503, "10"));
    assert!(page.body.contains("longer than 30 seconds"), "{}", page.body);
    assert!(page.body.contains("aria-label=\"Pages\""), "{}", page.body);
}

#[tokio::test]
async fn any_repeat_of_a_query_is_answered() {
    let router = TestSite::new().add("judged", 1, 1, true).open();
    let path = format!("/runs/judged/items/item%200%2Fa?repeat={}", u32::MAX);
    let page = get(&router, &path, &[HTML]).await;
    assert_eq!(page.status, 404, "{}", page.body);
    assert!(page.body.contains("no result 4294967296 of item"), "{}", page.body);
}

#[tokio::test]
async fn comparisons_beyond_the_queue_are_refused() {
    let test = TestSite::new();
    let site = test.add("base", 1, 3, true).add("head", 2, 3, true).site();
    let router = router_of(site.clone(), None, None);
    let limiter = &site.comparisons.limiter;
    let held = [limiter.take().await.unwrap(), limiter.take().await.unwrap()];
    let mut line: Vec<_> = (0..8).map(|_| Box::pin(limiter.take())).collect();
    assert!(line.iter_mut().all(|one| one.as_mut().now_or_never().is_none()));
    let query = "compare?base=base&head=head";
    for (path, headers) in [(format!("/{query}"), &[HTML][..]), (format!("/api/v1/{query}"), &[])] {
        let busy = get(&router, &path, headers).await;
        assert_eq!((busy.status.as_u16(), busy.header("retry-after")), (503, "5"), "{}", busy.body);
        assert!(busy.body.contains("too many comparisons are in progress"), "{}", busy.body);
    }
    drop((held, line));
    assert_eq!(get(&router, &format!("/{query}"), &[HTML]).await.status, 200);
    // A cached comparison needs no permit.
    let _held = [limiter.take().await.unwrap(), limiter.take().await.unwrap()];
    assert_eq!(get(&router, &format!("/api/v1/{query}"), &[]).await.status, 200);
}

#[tokio::test]
async fn damaged_run_is_listed_and_the_overview_shows_the_previous_one() {
    let site = TestSite::new();
    site.add("sound", 20, 3, true).add("torn", 21, 3, true).add("odd", 22, 3, true);
    let journal = site.path("torn").join("results.jsonl");
    let results = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, results.replacen("{\"schema\"", "\0\0", 1)).unwrap();
    fs::write(site.path("odd").join("run.json"), "{").unwrap();
    let router = site.open();
    let overview = get(&router, "/", &[HTML]).await;
    assert_eq!(overview.status, 200, "{}", overview.body);
    assert!(overview.body.contains("href=\"/runs/torn\""), "{}", overview.body);
    assert!(
        overview.body.contains("All 3 results") && overview.body.contains("1 run cannot be read")
    );
    let runs = get(&router, "/runs", &[HTML]).await.body;
    assert_eq!(runs.matches(">damaged</span>").count(), 2, "{runs}");
    assert!(runs.contains("odd/run.json"), "{runs}");
    let listed = get(&router, "/api/v1/runs", &[]).await.json();
    assert_eq!(
        (&listed["runs"][0]["id"], &listed["runs"][0]["state"]),
        (&"torn".into(), &"damaged".into())
    );
    assert_eq!(listed["damaged"][0]["id"], "odd");
    assert_eq!(get(&router, "/runs/torn", &[HTML]).await.status, 500);
    assert_eq!(get(&router, "/api/v1/evaluation/metrics", &[]).await.status, 200);
}

#[tokio::test]
async fn run_with_other_results_than_its_report_is_incomplete_and_without_figures() {
    let site = TestSite::new();
    let journal = site.add("changed", 20, 3, true).path("changed").join("results.jsonl");
    let router = site.open();
    let listed = async || get(&router, "/api/v1/runs", &[]).await.json()["runs"][0].clone();
    assert_eq!(
        (&listed().await["state"], &listed().await["figures"]["scored"]),
        (&json!("complete"), &json!(3))
    );
    let results = fs::read_to_string(&journal).unwrap();
    let (first, _) = results.split_once('\n').unwrap();
    for left in [format!("{first}\n"), String::new()] {
        fs::write(&journal, left).unwrap();
        assert_eq!(listed().await["state"], "incomplete");
        assert_eq!(listed().await["figures"], Value::Null);
    }
}

#[tokio::test]
async fn filter_that_cannot_be_read_selects_nothing() {
    let router = TestSite::new().add("first", 20, 3, true).open();
    for (query, rows) in [("", 3), ("?outcome=scored", 3), ("?outcome=good", 0), ("?from=x", 0)] {
        let page = get(&router, &format!("/runs/first{query}"), &[HTML]).await.body;
        assert_eq!(page.matches("href=\"/runs/first/items/item%20").count() / 2, rows, "{query}");
    }
}

#[tokio::test]
async fn unmeasured_item_has_a_reason() {
    let site = TestSite::new();
    let journal = site.add("first", 20, 1, true).path("first").join("results.jsonl");
    let mut result: Value = serde_json::from_str(&fs::read_to_string(&journal).unwrap()).unwrap();
    result["unmeasured"] = "no <browser>".into();
    fs::write(&journal, format!("{result}\n")).unwrap();
    let page = get(&site.open(), "/runs/first/items/item%200%2Fa", &[HTML]).await;
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.body.contains("Not measured: no &lt;browser&gt;"), "{}", page.body);
}

#[tokio::test]
async fn stopping_run_is_shown_as_cancelling() {
    let site = TestSite::new();
    let router = site.add("cancelling", 20, 3, true).open();
    let run = RunId::parse("cancelling").unwrap();
    let held = JournalWriter::open(&site.path(""), &run).unwrap();
    for path in ["/runs/cancelling", "/runs"] {
        let page = get(&router, path, &[HTML]).await.body;
        assert!(page.contains(">cancelling</span>") && !page.contains("Cancel this run"), "{page}");
    }
    let listed = get(&router, "/api/v1/runs", &[]).await.json();
    assert_eq!(listed["runs"][0]["cancelling"], true);
    drop(held);
    let listed = get(&router, "/api/v1/runs", &[]).await.json();
    assert_eq!(listed["runs"][0]["cancelling"], false);
}

#[tokio::test]
async fn errors_are_shown_at_their_fields() {
    let site = TestSite::new();
    let router = site.add("taken", 20, 3, true).open();
    let form = ("content-type", "application/x-www-form-urlencoded");
    let own = ("sec-fetch-site", "same-origin");
    let send =
        async |body: &'static str| ask(&router, "POST", "/start", &[HTML, form, own], body).await;
    for (body, field) in [
        ("", "dataset"),
        ("dataset=none", "dataset"),
        ("dataset=golden&enable_llm_judge=true", "budget_usd"),
        ("dataset=golden&limit=many", "limit"),
        ("dataset=golden&filters=button", "item-filters"),
        ("dataset=golden&step=start&run_id=taken", "run_id"),
    ] {
        let page = send(body).await;
        assert_eq!(page.status, 422, "{body}");
        assert!(page.body.contains(&format!("id=\"{field}-error\"")), "{body}: {}", page.body);
        assert!(page.body.contains(&format!("href=\"#{field}\"")), "{body}: {}", page.body);
    }
    let page = get(&router, "/start", &[HTML]).await.body;
    assert!(page.contains("default: gpt-4o") && page.contains("default: semantic"), "{page}");
}

#[tokio::test]
async fn confirmation_names_the_run_so_that_it_starts_only_once() {
    let router = TestSite::new().open();
    let form = ("content-type", "application/x-www-form-urlencoded");
    let own = ("sec-fetch-site", "same-origin");
    let confirm = async |body: &'static str| {
        let page = ask(&router, "POST", "/start", &[HTML, form, own], body).await;
        assert_eq!(page.status, 200, "{}", page.body);
        let (_, name) = page.body.split_once("name=\"run_id\" value=\"").unwrap();
        name.split_once('"').unwrap().0.to_owned()
    };
    let [first, second] = [confirm("dataset=golden").await, confirm("dataset=golden").await];
    assert!(RunId::parse(&first).is_ok() && first != second, "{first} {second}");
    assert_eq!(confirm("dataset=golden&run_id=nightly").await, "nightly");
}

#[tokio::test]
async fn a_run_page_shows_the_decision_of_its_comparison() {
    let site = TestSite::new();
    let router = site.add("night", 1, 3, true).open();
    let path = site.path("night").join("report.json");
    let mut report: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    report["comparison"] = json!({
        "decision": "worse", "headline": "Worse: 2 of 3 items lost", "reason": "two are gone",
        "base": {"run": "first"}, "changes": BaselineChanges { not_compared: 2, ..Default::default() },
    });
    fs::write(&path, report.to_string()).unwrap();
    let page = get(&router, "/runs/night", &[HTML]).await.body;
    for shown in ["Worse: 2 of 3 items lost", "Since two are gone", "nothing changed, 2 items not"]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}
