//! Images that the provider fetches, instead of rows that contain them.

use super::BatchFixture;
use crate::harness::png;
use juror_services::web::{WebResponse, WebServer};
use juror_simulator::BatchSettings;
use serde_json::json;

const ITEMS: u32 = 6;

/// Web server of screenshots, public or restricted to Juror.
fn web_server(for_everybody: bool) -> WebServer {
    WebServer::start(move |request| {
        let number = request.path.trim_start_matches('/').split('.').next().unwrap().parse();
        let is_juror =
            |(name, value): &(String, String)| name == "user-agent" && value.starts_with("juror/");
        match number {
            Ok(number) if for_everybody || request.headers.iter().any(is_juror) => {
                WebResponse::file(&png(number, 64, 32))
            }
            _ => WebResponse::status("403 Forbidden", &[], b""),
        }
    })
}

/// Run of screenshots on that server, which the provider may fetch too.
fn fixture(web: &WebServer, query: &str) -> BatchFixture {
    let fixture = BatchFixture::new(1, BatchSettings::default());
    let origin = format!("http://{}", web.address());
    let settings = format!(
        "[files]\nhosts = [\"{origin}\"]\nprivate_hosts = [\"127.0.0.1\"]\n[batch]\n\
         poll_min = \"1ms\"\npoll_max = \"5ms\"\npublic_hosts = [\"{origin}\"]\n"
    );
    fixture.harness.write("juror.toml", settings);
    let line = |number: u32| {
        let shot = format!("{origin}/{number}.png{query}");
        json!({"id": format!("i{number}"), "screenshot": shot, "generated_code": "<b>x</b>"})
    };
    let manifest: String = (1..=ITEMS).map(|number| format!("{}\n", line(number))).collect();
    fixture.harness.write("manifest.jsonl", manifest);
    fixture
}

#[test]
fn images_on_public_hosts_go_out_as_urls() {
    let web = web_server(true);
    let fixture = fixture(&web, "");
    fixture.run(&[]).exits(0).stdout_contains(&["6 of 6 scored"]);
    assert_eq!(
        web.requests().len() as u32,
        2 * ITEMS,
        "once for the run, and once for the provider"
    );
    assert_eq!(fixture.simulator.count("billed_calls"), u64::from(ITEMS));
    fixture.assert_billed_plus_presumed(0);
    assert_eq!(cached_replies(&fixture), 0, "the provider may have read other images");
}

#[test]
fn url_with_a_query_is_never_passed_to_the_provider() {
    let web = web_server(true);
    let fixture = fixture(&web, "?signature=c0ffee");
    fixture.run(&[]).exits(0).stdout_contains(&["6 of 6 scored"]);
    assert_eq!(web.requests().len() as u32, ITEMS);
    assert_eq!(cached_replies(&fixture), ITEMS);
}

fn cached_replies(fixture: &BatchFixture) -> u32 {
    let stats = fixture.harness.juror(&["cache", "stats", "--json"]).exits(0);
    let stats = stats.json();
    stats["replies"].as_u64().unwrap() as u32
}

#[test]
fn row_with_an_unreadable_image_url_is_resent_with_the_image() {
    let web = web_server(false);
    let fixture = fixture(&web, "");
    fixture.run(&[]).exits(0).stdout_contains(&["6 of 6 scored"]);
    assert_eq!(fixture.simulator.count("batches"), 2);
    assert_eq!(fixture.simulator.count("billed_calls"), u64::from(ITEMS));
    fixture.assert_billed_plus_presumed(0);
}
