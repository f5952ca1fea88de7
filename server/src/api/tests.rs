use super::BASE_PATH;
use crate::test_site::{IMAGE, PageResponse, TestSite, ask, get};
use axum::{Router, body::Body};
use juror_types::id::Digest;
use serde_json::{Value, json};
use std::fs;

const JSON: (&str, &str) = ("content-type", "application/json");

/// A site with a judged run and, after it, one without a judge.
fn site() -> TestSite {
    let site = TestSite::new();
    site.add("judged", 20, 7, true).add("plain", 21, 3, false);
    site
}

async fn read(router: &Router, path: &str) -> Value {
    let answer = get(router, &format!("{BASE_PATH}{path}"), &[]).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    assert_eq!(answer.header("content-type"), "application/json");
    answer.json()
}

async fn problem(router: &Router, path: &str, status: u16) -> String {
    let path = format!("{BASE_PATH}{path}");
    let bare = path.split('?').next().unwrap().to_owned();
    get(router, &path, &[]).await.problem(status, &bare)
}

async fn send(router: &Router, path: &str, body: &Value) -> PageResponse {
    ask(router, "POST", &format!("{BASE_PATH}{path}"), &[JSON], body.to_string()).await
}

#[tokio::test]
async fn metrics_are_the_latest_runs_and_verdicts_those_of_the_latest_judged_one() {
    let router = site().open();
    for query in ["", "?enable_llm_judge=false"] {
        let answer = read(&router, &format!("/evaluation/metrics{query}")).await;
        assert_eq!(answer["overall"]["retrieval"]["accuracy"], 1.0);
        assert_eq!(answer["overall"]["avg_latency_ms"], 1201.0, "that of three items");
        assert!(answer["overall"].get("semantic").is_none(), "{answer}");
    }
    let judged = read(&router, "/evaluation/metrics?enable_llm_judge=true").await;
    assert_eq!(judged["overall"]["avg_latency_ms"], 1203.0, "that of seven items");
    let semantic = &judged["overall"]["semantic"];
    assert_eq!(
        semantic["variant_accuracy_rate"],
        json!(2.0 / 7.0).as_f64().map(|_| 0.285714286).unwrap()
    );
    for name in ["avg_semantic_correctness", "avg_visual_similarity", "feature_completeness_rate"] {
        assert!(semantic[name].is_number(), "{semantic}");
    }
    let warnings = judged["warnings"].as_array().unwrap();
    assert!(warnings[0].as_str().unwrap().contains("took 84 s"), "{warnings:?}");
    let named = read(&router, "/evaluation/metrics?run=judged").await;
    assert_eq!(named["overall"]["avg_latency_ms"], 1203.0);
    assert!(named["overall"].get("semantic").is_none());
}

#[tokio::test]
async fn a_missing_verdict_comes_with_a_remedy() {
    let site = TestSite::new();
    let none = problem(&site.open(), "/evaluation/metrics", 404).await;
    assert!(none.contains("POST /api/v1/runs"), "{none}");
    site.add("plain", 21, 3, false);
    for query in ["enable_llm_judge=true", "enable_llm_judge=true&run=plain"] {
        let path = format!("/evaluation/metrics?{query}");
        let detail = problem(&site.open(), &path, 404).await;
        assert!(detail.contains("--enable-llm-judge") && detail.contains("budget_usd"), "{detail}");
    }
    problem(&site.open(), "/evaluation/metrics?run=nothing", 404).await;
    problem(&site.open(), "/evaluation/metrics?enable_llm_judge=maybe", 400).await;
    problem(&site.open(), "/evaluation/metrics?enable_judge=true", 400).await;
}

#[tokio::test]
async fn runs_are_listed_newest_first_and_shown() {
    let router = site().open();
    let runs = read(&router, "/runs").await;
    assert_eq!((&runs["total"], &runs["runs"][0]["id"]), (&json!(2), &json!("plain")));
    assert_eq!(runs["runs"][1]["state"], "complete");
    assert_eq!(runs["runs"][1]["figures"]["cost_usd"], "0.031500000");
    let first = read(&router, "/runs?limit=1").await;
    assert_eq!((first["runs"].as_array().unwrap().len(), &first["total"]), (1, &json!(2)));
    problem(&router, "/runs?limit=0", 400).await;
    let run = read(&router, "/runs/judged").await;
    assert_eq!((&run["coverage"]["scored"], &run["state"]), (&json!(7), &json!("complete")));
    assert_eq!(run["common_issues"][0]["count"], 7);
    assert_eq!(run["columns"][0]["key"], "visual_similarity");
    problem(&router, "/runs/nothing", 404).await;
    problem(&router, "/runs/..%2f..%2fetc", 404).await;
    problem(&router, "/runs/%ff", 400).await;
}

#[tokio::test]
async fn items_are_filtered_sorted_and_paged() {
    let router = site().open();
    let total = async |query: &str| {
        read(&router, &format!("/runs/judged/items?{query}")).await["total"].as_u64().unwrap()
    };
    let label = "the%20button%20is%204px%20too%20wide";
    assert_eq!(total("").await, 7);
    assert_eq!(total("tag=even").await, 4);
    assert_eq!(total("tag=other").await, 0);
    assert_eq!(total(&format!("issue={label}")).await, 7);
    assert_eq!(total(&format!("strength={label}")).await, 0);
    assert_eq!(total("outcome=failed").await, 0);
    assert_eq!(total("min_score=0.95").await, 2);
    assert_eq!(total("max_score=0.65&q=ITEM").await, 1);
    let page = read(&router, "/runs/judged/items?sort=score&order=desc&page=2&per_page=2").await;
    assert_eq!(
        (&page["page"], &page["per_page"], &page["total"]),
        (&json!(2), &json!(2), &json!(7))
    );
    let ids: Vec<_> =
        page["items"].as_array().unwrap().iter().map(|item| &item["screenshot_id"]).collect();
    assert_eq!(ids, ["item 1/a", "item 6/a"]);
    let lowest = read(&router, "/runs/judged/items?sort=layout_accuracy&per_page=1").await;
    assert_eq!(lowest["items"][0]["screenshot_id"], "item 4/a");
    let beyond = read(&router, "/runs/judged/items?page=18446744073709551615").await;
    assert_eq!(beyond["items"], json!([]));
    problem(&router, "/runs/judged/items?sort=color", 422).await;
    for query in ["page=0", "per_page=1001", "order=up", "outcome=good", "pages=2", "min_score=NaN"]
    {
        problem(&router, &format!("/runs/judged/items?{query}"), 400).await;
    }
}

#[tokio::test]
async fn an_item_is_shown_with_its_available_parts() {
    let router = site().open();
    let item = read(&router, "/runs/judged/items/item%203%2Fa").await;
    assert_eq!(item["result"]["semantic"]["scores"]["visual_similarity"], 7);
    assert_eq!(item["missing"], json!(["the dataset is gone"]));
    let url = item["images"][0]["url"].as_str().unwrap();
    let image = get(&router, url, &[]).await;
    assert_eq!((image.status.as_u16(), image.header("content-type")), (200, "image/png"));
    assert!(image.header("cache-control").contains("immutable"));
    assert!(image.header("cache-control").starts_with("private"));
    let etag = image.header("etag").to_owned();
    let again = get(&router, url, &[("if-none-match", &etag)]).await;
    assert_eq!((again.status.as_u16(), again.body.as_str()), (304, ""));
    for path in [
        "/runs/judged/items/item%203%2Fa?repeat=1".to_owned(),
        "/runs/judged/items/item%203".to_owned(),
        format!("/runs/judged/images/{}", Digest::from_content(b"another")),
        "/runs/judged/images/..%2Frun.json".to_owned(),
    ] {
        problem(&router, &path, 404).await;
    }
    assert!(IMAGE.starts_with(b"\x89PNG"));
}

#[tokio::test]
async fn reports_come_in_every_format() {
    let site = site();
    let router = site.open();
    for (ending, media_type, holds) in [
        ("json", "application/json", r#""common_issues""#),
        ("jsonl", "application/jsonl", r#""job_id""#),
        ("csv", "text/csv; charset=utf-8", "screenshot_id,"),
        ("html", "text/html; charset=utf-8", "<!DOCTYPE html>"),
        ("md", "text/markdown; charset=utf-8", "judged"),
        ("junit.xml", "application/xml", "<testsuite"),
    ] {
        let path = format!("{BASE_PATH}/runs/judged/report.{ending}");
        let report = get(&router, &path, &[]).await;
        assert_eq!((report.status.as_u16(), report.header("content-type")), (200, media_type));
        assert!(report.body.contains(holds), "{ending}");
        let name = format!("filename=\"judged.{ending}\"");
        assert!(report.header("content-disposition").ends_with(&name));
        assert_eq!(report.header("content-length"), report.body.len().to_string());
        problem(&router, &format!("/runs/nothing/report.{ending}"), 404).await;
        problem(&router, &format!("/runs/judged/report.of.{ending}"), 404).await;
    }
    let page = get(&router, &format!("{BASE_PATH}/runs/judged/report.html"), &[]).await;
    let policy = page.header("content-security-policy");
    assert!(policy.contains("script-src 'unsafe-inline'"), "its own policy allows just its own");
    assert!(page.body.contains("script-src 'sha256-"));
    let written = fs::read_to_string(site.path("judged/report.json")).unwrap();
    let served = read(&router, "/runs/judged/report.json").await;
    assert_eq!(served["overall"], serde_json::from_str::<Value>(&written).unwrap()["overall"]);
    let zipped = [("accept-encoding", "gzip")];
    let report = get(&router, &format!("{BASE_PATH}/runs/judged/report.json"), &zipped).await;
    assert_eq!(report.header("content-encoding"), "gzip");
}

#[tokio::test]
async fn the_stream_of_a_finished_run_ends() {
    let router = site().open();
    let path = format!("{BASE_PATH}/runs/judged/events");
    let stream = get(&router, &path, &[("accept-encoding", "gzip")]).await;
    assert_eq!((stream.status.as_u16(), stream.header("content-type")), (200, "text/event-stream"));
    assert_eq!(stream.header("content-encoding"), "", "nothing is held back to be packed");
    let events: Vec<&str> = stream.body.split_terminator("\n\n").collect();
    assert_eq!(events.len(), 2, "{}", stream.body);
    assert!(events[0].starts_with("event: progress\nid: 7\ndata: {\"planned\":7,\"scored\":7,"));
    assert_eq!(events[1], "event: ended\ndata: {}");
    let later = get(&router, &path, &[("last-event-id", "5")]).await;
    let results = later.body.matches("event: result\n").count();
    assert_eq!(results, 2, "{}", later.body);
    assert!(later.body.contains("event: result\nid: 6\ndata: {\"screenshot_id\":\"item 5/a\""));
    let complete = get(&router, &path, &[("last-event-id", "7")]).await;
    assert_eq!(complete.status, 204, "no more events");
    problem(&router, "/runs/nothing/events", 404).await;
}

#[tokio::test]
async fn a_comparison_uses_the_requested_share_of_lost_items() {
    let site = site();
    site.add("later", 22, 7, true).make_unscorable("later", 3);
    let router = site.open();
    let lost = async |query: &str| {
        let path = format!("/compare?base=judged&head=later{query}");
        let comparison = read(&router, &path).await;
        (comparison["lost"][0]["exceeds"].clone(), comparison["decision"] == "same")
    };
    assert_eq!(lost("").await, (json!(true), false), "the server's own share is 0.02");
    assert_eq!(lost("&max_lost=0.1").await, (json!(true), false));
    assert_eq!(lost("&max_lost=0.5").await.0, json!(false), "one of seven");
    for share in ["-0.1", "1.1", "few"] {
        problem(&router, &format!("/compare?base=judged&head=later&max_lost={share}"), 400).await;
    }
}

#[tokio::test]
async fn runs_are_compared_and_form_a_series() {
    let site = site();
    site.add("later", 22, 7, true);
    let router = site.open();
    let comparison = read(&router, "/compare?base=judged&head=later").await;
    assert_eq!((&comparison["paired"], &comparison["decision"]), (&json!(7), &json!("same")));
    for query in ["base=judged", "base=judged&head=later&margin=2", "base=judged&head=later&x=1"] {
        problem(&router, &format!("/compare?{query}"), 400).await;
    }
    problem(&router, "/compare?base=judged&head=nothing", 404).await;
    let trend = read(&router, "/trend?metric=semantic.avg_semantic_correctness").await;
    let ids: Vec<_> = trend["runs"].as_array().unwrap().iter().map(|run| &run["id"]).collect();
    assert_eq!(ids, ["judged", "later"], "the run without a judge is not comparable");
    let metrics = trend["runs"][0]["figures"]["metrics"].as_object().unwrap();
    assert_eq!(metrics.len(), 1);
    let early = read(&router, "/trend?run=judged&last=5").await;
    assert_eq!(early["runs"].as_array().unwrap().len(), 1);
    problem(&router, "/trend?run=nothing", 404).await;
    problem(&router, "/trend?last=0", 400).await;
    problem(&router, "/trend?metric=nope", 422).await;
}

#[tokio::test]
async fn rubrics_are_described() {
    let router = TestSite::new().open();
    let rubrics = read(&router, "/rubrics").await;
    assert_eq!(rubrics["rubrics"][0]["id"], "semantic");
    let rubric = read(&router, "/rubrics/acrue").await;
    assert_eq!(rubric["criteria"].as_array().unwrap().len(), 20);
    assert!(problem(&router, "/rubrics/other", 404).await.contains("semantic, acrue"));
}

#[tokio::test]
async fn invalid_requests_start_no_run() {
    let router = site().open();
    let begun = send(&router, "/runs", &json!({"dataset": "golden", "run_id": "judged"})).await;
    assert_eq!((begun.status.as_u16(), begun.header("location")), (202, "/api/v1/runs/judged"));
    assert_eq!(begun.json()["id"], "judged");
    let judged = json!({"dataset": "golden", "enable_llm_judge": true});
    let refused = send(&router, "/runs", &judged).await.problem(422, "/api/v1/runs");
    assert!(refused.contains("budget_usd") && refused.contains("/estimate"), "{refused}");
    let estimate = send(&router, "/estimate", &judged).await.json();
    assert_eq!((&estimate["expected_usd"], &estimate["jobs"]), (&json!("0.020000000"), &json!(3)));
    assert!(estimate["warnings"][0].as_str().unwrap().contains("84 s"));
    for wrong in [
        json!({"dataset": "golden", "budget": "5"}),
        json!({"dataset": "golden", "budget_usd": 5}),
        json!({"dataset": "golden", "budget_usd": "-5"}),
        json!({"dataset": "golden", "budget_usd": "five"}),
        json!({"dataset": "golden", "limit": 0}),
        json!({"dataset": "golden", "run_id": "../up"}),
        json!({"dataset": "golden", "base_url": "http://10.0.0.1"}),
        json!({}),
        json!([]),
    ] {
        send(&router, "/runs", &wrong).await.problem(422, "/api/v1/runs");
    }
    send(&router, "/runs", &json!({"dataset": "/etc"})).await.problem(404, "/api/v1/runs");
    let path = "/api/v1/runs";
    ask(&router, "POST", path, &[JSON], "{").await.problem(400, path);
    let own = ("sec-fetch-site", "same-origin");
    let form = ("content-type", "application/x-www-form-urlencoded");
    ask(&router, "POST", path, &[own, form], "dataset=golden").await.problem(415, path);
}

#[tokio::test]
async fn refused_encodings_refuse_reading_and_never_the_answer_to_a_start() {
    let router = site().open();
    let refused = ("accept-encoding", "identity;q=0");
    let body = json!({"dataset": "golden", "run_id": "judged"}).to_string();
    let begun = ask(&router, "POST", "/api/v1/runs", &[JSON, refused], body).await;
    assert_eq!((begun.status.as_u16(), &begun.json()["id"]), (202, &json!("judged")));
    assert_eq!(get(&router, "/api/v1/rubrics", &[refused]).await.status, 406);
}

#[tokio::test]
async fn conflicts_are_409_and_missing_runs_are_404() {
    let router = site().open();
    for action in ["cancel", "resume"] {
        let path = format!("/runs/judged/{action}");
        let refused = send(&router, &path, &json!({})).await;
        assert!(refused.problem(409, &format!("{BASE_PATH}{path}")).contains("judged"));
        let path = format!("/runs/nothing/{action}");
        send(&router, &path, &json!({})).await.problem(404, &format!("{BASE_PATH}{path}"));
    }
    problem(&router, "/nothing", 404).await;
    problem(&router, "/", 404).await;
    let path = "/api/v1/rubrics";
    let answer = ask(&router, "DELETE", path, &[JSON], Body::empty()).await;
    answer.problem(405, path);
    assert!(answer.header("allow").contains("GET"), "{:?}", answer.headers);
    assert_eq!(ask(&router, "HEAD", path, &[], Body::empty()).await.status, 200);
}

#[tokio::test]
async fn a_damaged_run_is_a_server_error_without_paths() {
    let site = site();
    fs::write(site.path("judged/results.jsonl"), "{}\n").unwrap();
    let detail = problem(&site.open(), "/runs/judged", 500).await;
    assert!(!detail.contains(&*site.path("").to_string_lossy()), "{detail}");
    let runs = read(&site.open(), "/runs").await;
    assert_eq!(runs["total"], 2, "the others are shown");
}

#[tokio::test]
async fn openapi_document_is_served() {
    let router = TestSite::new().open();
    let document = read(&router, "/openapi.json").await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 15, "{:?}", paths.keys().collect::<Vec<_>>());
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"").skip(1) {
        let reference = reference.split('"').next().unwrap().strip_prefix('#').unwrap();
        assert!(document.pointer(reference).is_some(), "{reference}");
    }
    for schema in ["Progress", "Finished", "report", "result", "Problem"] {
        assert!(document["components"]["schemas"][schema].is_object(), "{schema}");
    }
    let statuses = document["paths"]["/runs"]["post"]["responses"].as_object().unwrap();
    for status in ["202", "400", "401", "403", "404", "409", "413", "415", "422", "503"] {
        assert!(statuses.contains_key(status), "{status}");
    }
    let body = &document["paths"]["/runs/{run}/resume"]["post"]["responses"]["404"]["content"];
    assert!(body["application/problem+json"].is_object(), "{body}");
}
