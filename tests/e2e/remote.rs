//! Remote files: on web servers, in buckets, and at disallowed addresses.

use crate::harness::{CommandHarness, Finished, TestSimulator, png};
use juror_services::{
    s3,
    web::{WebResponse, WebServer},
};
use juror_types::id::Digest;
use serde_json::{Value, json};

const SIGNATURE: &str = "signature=c0ffee";

/// Web server with a screenshot and its code, both requiring the signature.
fn web_server() -> WebServer {
    WebServer::start(|request| match request.path.split_once('?') {
        Some((path, SIGNATURE)) if path.ends_with(".png") => WebResponse::file(&png(1, 64, 32)),
        Some(("/code/1.tsx", SIGNATURE)) => {
            WebResponse::file(b"export const A = () => <p>text</p>;")
        }
        Some(("/moved", SIGNATURE)) => WebResponse::redirect(&format!("/new/1.png?{SIGNATURE}")),
        _ => WebResponse::status("403 Forbidden", &[], b""),
    })
}

/// Writes a manifest of screenshots; `more` is added to each line.
fn write_manifest(harness: &CommandHarness, shots: &[(&str, &str)], more: &Value) {
    let line = |(id, shot): &(&str, &str)| {
        let mut line = json!({"id": id, "screenshot": shot});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{line}\n")
    };
    harness.write("manifest.jsonl", shots.iter().map(line).collect::<String>());
}

/// Judges the manifest with object store credentials, and a proxy that must stay unused.
fn judge(harness: &CommandHarness, simulator: &TestSimulator, flags: &[&str]) -> Finished {
    let mut command = harness.judging(&simulator.base_url(), "manifest.jsonl", flags);
    command
        .env("AWS_ACCESS_KEY_ID", s3::ACCESS_KEY)
        .env("AWS_SECRET_ACCESS_KEY", s3::SECRET_KEY)
        .env("JUROR_LOG_LEVEL", "debug");
    for proxy in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"] {
        command.env(proxy, "http://127.0.0.1:1").env("no_proxy", "");
    }
    command.output().unwrap().into()
}

#[test]
fn screenshots_and_code_are_read_from_folders_web_servers_and_buckets() {
    let harness = CommandHarness::new();
    let (web, bucket) = (web_server(), s3::new_bucket());
    s3::put(&bucket, "golden/3.png", &png(3, 64, 32));
    harness.write("shots/2.png", png(2, 64, 32));
    let origin = format!("http://{}", web.address());
    harness.write(
        "juror.toml",
        format!(
            "[files]\nhosts = [\"{origin}\"]\nprivate_hosts = [\"127.0.0.1\"]\n\
             buckets = [\"s3://{bucket}/golden\"]\ns3_endpoint = \"{}\"\n",
            s3::shared_endpoint()
        ),
    );
    let moved = format!("{origin}/moved?{SIGNATURE}");
    let object = format!("s3://{bucket}/golden/3.png");
    let shots = [("web", moved.as_str()), ("folder", "shots/2.png"), ("bucket", object.as_str())];
    let code = format!("{origin}/code/1.tsx?{SIGNATURE}");
    write_manifest(&harness, &shots, &json!({"generated_code": code}));

    let simulator = TestSimulator::new();
    let run = judge(&harness, &simulator, &[]).exits(0).stdout_contains(&["3 of 3 scored"]);
    for (id, number, shown) in [
        ("web", 1, format!("{origin}/moved")),
        ("folder", 2, "shots/2.png".to_owned()),
        ("bucket", 3, object.clone()),
    ] {
        let result = harness.result("first", id);
        let input = &result["item"]["inputs"][0];
        assert_eq!(input["ref"], json!(shown));
        assert_eq!(input["digest"], json!(Digest::from_content(&png(number, 64, 32)).to_string()));
        assert_eq!(result["generation"]["code_compiles"], true);
    }
    let journal = std::fs::read_to_string(harness.path("runs/first/results.jsonl")).unwrap();
    let report = std::fs::read_to_string(harness.path("runs/first/report.json")).unwrap();
    for message in [run.stdout, run.stderr, journal, report] {
        assert!(!message.contains("c0ffee") && !message.contains(s3::SECRET_KEY), "{message}");
    }
}

#[test]
fn disallowed_sources_are_warned_of_and_fail_alone() {
    let harness = CommandHarness::new();
    let web = web_server();
    harness.write("shots/1.png", png(1, 64, 32));
    let origin = format!("http://{}", web.address());
    let signed = format!("{origin}/1.png?{SIGNATURE}");
    let shots = [
        ("web", signed.as_str()),
        ("metadata", "http://169.254.169.254/latest/meta-data/1.png"),
        ("bucket", "s3://elsewhere/1.png"),
        ("folder", "shots/1.png"),
    ];
    write_manifest(&harness, &shots, &json!({"generated_code": "<p>text</p>"}));
    // Its host is allowed, but its address is not.
    harness.write("juror.toml", format!("[files]\nhosts = [\"{origin}\"]\n"));

    let simulator = TestSimulator::new();
    let run = judge(&harness, &simulator, &[]).exits(3);
    let run = run.stdout_contains(&["1 of 4 scored", "3 failed"]).stderr_contains(&[
        "add \"http://169.254.169.254\" to files.hosts",
        "add \"s3://elsewhere\", or a prefix in it, to files.buckets",
    ]);
    for (id, expected_text) in [
        ("web", "127.0.0.1, a private address"),
        ("metadata", "files.hosts"),
        ("bucket", "files.buckets"),
    ] {
        let error = &harness.result("first", id)["error"];
        assert_eq!(error["kind"], "image", "{error}");
        assert!(error["message"].as_str().unwrap().contains(expected_text), "{error}");
    }
    assert_eq!(web.requests(), []);
    assert!(!run.stderr.contains("c0ffee") && !run.stdout.contains("c0ffee"));
}

#[test]
fn file_with_another_digest_is_not_judged() {
    let harness = CommandHarness::new();
    let web = web_server();
    let origin = format!("http://{}", web.address());
    let signed = format!("{origin}/1.png?{SIGNATURE}");
    let promise =
        json!({"generated_code": "<p>a</p>", "sha256": Digest::from_content(b"").to_string()});
    write_manifest(&harness, &[("web", &signed)], &promise);
    let hosts = format!("[files]\nhosts = [\"{origin}\"]\nprivate_hosts = [\"127.0.0.1\"]\n");
    harness.write("juror.toml", hosts);
    let simulator = TestSimulator::new();
    judge(&harness, &simulator, &[]).exits(3).stdout_contains(&["1 failed"]);
    let error = harness.result("first", "web")["error"]["message"].to_string();
    assert!(error.contains(&format!("{origin}/1.png does not match the manifest")), "{error}");
    assert_eq!(simulator.requests(), 0);
}

#[test]
fn invalid_settings_and_references_are_reported_before_any_read() {
    let harness = CommandHarness::new();
    write_manifest(&harness, &[("one", "https://user:c0ffee@host/1.png")], &json!({}));
    let run = ["run", "manifest.jsonl", "--enable-llm-judge", "--base-url", "http://127.0.0.1:1"];
    let refused = harness.juror(&run).exits(2);
    let refused = refused.stderr_contains(&["line 1", "https://host/1.png", "a user or password"]);
    assert!(!refused.stderr.contains("c0ffee"));
    write_manifest(&harness, &[("one", "s3://bucket/a/../1.png")], &json!({}));
    harness.juror(&run).exits(2).stderr_contains(&["line 1", "'..'"]);
    harness.write("juror.toml", "[files]\nhosts = [\"*\"]\n");
    harness.juror(&run).exits(2).stderr_contains(&["files.hosts is \"*\"", "use host, *.host"]);
}
