//! Tests of every outcome of a call, over real sockets.

mod dropped_options;
mod scripted;

use super::*;
use crate::vision::{ApiKey, Completion, ExtraHeaders, Finish, ProxySettings, RequestImage};
use bytes::Bytes;
use futures_util::FutureExt as _;
use juror_types::{job::Detail, lane::Lane, model::OutputLimit, usage::Usage};
use scripted::{Exchange, ScriptedServer, response};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket};

const KEY: &str = "house-key-77";
const ANSWER: &str = r#"{"choices":[{"message":{"content":"{}"},"finish_reason":"stop"}],
    "usage":{"prompt_tokens":10,"completion_tokens":2},"model":"gpt-4o-2024-08-06"}"#;

pub(super) fn question() -> Request {
    let image = |label: &str, media_type, bytes: &'static [u8]| RequestImage {
        url: None,
        label: label.to_owned(),
        media_type,
        bytes: Bytes::from_static(bytes),
    };
    Request {
        model: "gpt-4o".to_owned(),
        system: "You judge.\n\"Strictly\".".into(),
        task: "Compare.".into(),
        item: "<b>ü\u{1}</b>".to_owned(),
        images: vec![
            image("Original:", "image/png", &[0, 1, 2, 255]),
            image("Restyled:", "image/jpeg", &[]),
        ],
        schema_name: "verdict".to_owned(),
        schema: r#"{"type":"object"}"#.into(),
        temperature: Some(0.1),
        detail: Detail::High,
        max_output_tokens: 1_000,
        output_parameter: OutputLimit::MaxTokens,
        prompt_cache: PromptCache::Automatic,
        lane: Lane::Realtime,
        slower: false,
    }
}

/// A client of a test's server.
pub(crate) fn client(base_url: &str) -> OpenAi {
    OpenAi::new(settings(base_url)).unwrap()
}

fn settings(base_url: &str) -> HttpSettings {
    HttpSettings {
        base_url: base_url.to_owned(),
        key: Some(ApiKey::new(KEY).unwrap()),
        timeout: Duration::from_secs(60),
        concurrency: 4,
        proxy: None,
        ca_file: None,
        headers: ExtraHeaders::default(),
    }
}

async fn call_to(exchange: Exchange) -> Call {
    call_with(exchange, &question()).await
}

async fn call_with(exchange: Exchange, request: &Request) -> Call {
    let server = ScriptedServer::start(vec![exchange]).await;
    let call = client(&server.base_url).call(request, &CancellationToken::new()).await;
    server.requests().await;
    call
}

fn answer_of(call: &Call) -> &Completion {
    match &call.end {
        CallEnd::Completed(answer) => answer,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn request_is_sent_once_and_its_reply_returned() {
    let headers = "x-ratelimit-limit-requests: 500\r\nx-ratelimit-remaining-requests: 0\r\n\
                   x-ratelimit-limit-tokens: 30000\r\nx-juror-simulator: 1\r\n";
    let server =
        ScriptedServer::start(vec![Exchange::Respond(response(200, headers, ANSWER))]).await;
    let call = client(&server.base_url).call(&question(), &CancellationToken::new()).await;
    let usage = Usage { input_tokens: 10, cached_input_tokens: 0, output_tokens: 2 };
    assert_eq!(
        answer_of(&call),
        &Completion {
            content: Some("{}".to_owned()),
            refusal: None,
            finish: Finish::Stop,
            usage: Some(usage),
            cache_write_tokens: None,
            fingerprint: Some("gpt-4o-2024-08-06".to_owned()),
            model: Some("gpt-4o-2024-08-06".to_owned()),
            lane: Lane::Realtime,
            dearer_tier: None,
            cost: None,
            simulated: true,
        }
    );
    let observation = call.observation("openai");
    assert_eq!(observation.requests_per_minute, Some(500));
    assert_eq!((observation.tokens_per_minute, observation.refused), (Some(30_000), None));

    let heard = server.requests().await;
    let head = &heard[0].head;
    assert!(head.starts_with("post /v1/chat/completions http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("authorization: bearer {KEY}\r\n")), "{head}");
    assert!(!head.contains("transfer-encoding"), "{head}");
    let body: Value = serde_json::from_slice(&heard[0].body).unwrap();
    assert_eq!(body["response_format"]["type"], "json_schema");
}

#[tokio::test]
async fn unreachable_provider_is_not_sent() {
    // Bound, but not listening: every connection is refused, and no other process gets the port.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = format!("http://{}/v1", socket.local_addr().unwrap());
    let call = client(&address).call(&question(), &CancellationToken::new()).await;
    assert!(matches!(&call.end, CallEnd::NotSent(why) if why.contains("refused")), "{call:?}");
}

#[tokio::test]
async fn a_failed_handshake_is_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}/v1", listener.local_addr().unwrap());
    // Without root certificates no such client can be built, which is reported.
    let Ok(client) = OpenAi::new(settings(&address)) else { return };
    let (question, cancel) = (question(), CancellationToken::new());
    let (call, _) = tokio::join!(client.call(&question, &cancel), listener.accept().map(drop));
    assert!(matches!(call.end, CallEnd::NotSent(_)), "{call:?}");
}

#[tokio::test]
async fn request_without_a_response_is_lost() {
    let cut_head = "HTTP/1.1 200 OK\r\ncontent-le".to_owned();
    let cut_body = response(200, "", ANSWER).replace("length: ", "length: 9");
    for exchange in
        [Exchange::Close, Exchange::Reset, Exchange::Respond(cut_head), Exchange::Respond(cut_body)]
    {
        let call = call_to(exchange).await;
        assert!(matches!(call.end, CallEnd::Lost(_)), "{call:?}");
    }
}

#[tokio::test]
async fn late_response_is_lost() {
    let call = call_to(Exchange::Stall(String::new())).await;
    assert_eq!(call.end, CallEnd::Lost("no complete reply within 60 s".to_owned()));
}

#[tokio::test]
async fn partial_response_is_lost_and_slower_calls_have_longer_timeouts() {
    let begun = response(200, "", ANSWER)[..120].to_owned();
    let slower = Request { slower: true, ..question() };
    let call = call_with(Exchange::Stall(begun), &slower).await;
    assert!(matches!(&call.end, CallEnd::Lost(why) if why.contains("120 s")), "{call:?}");
}

#[tokio::test]
async fn partial_error_response_may_be_billed() {
    let call =
        call_to(Exchange::Respond(response(503, "", "{").replace("length: 1", "length: 9"))).await;
    assert!(matches!(&call.end, CallEnd::Lost(why) if why.contains("503")), "{call:?}");
}

#[tokio::test]
async fn rate_limit_refusal_has_its_wait() {
    let headers = "retry-after-ms: 1500\r\nx-ratelimit-limit-requests: 60\r\n";
    let call = call_to(Exchange::Respond(response(429, headers, "{}"))).await;
    let wait = Duration::from_millis(1_500);
    assert!(
        matches!(call.end, CallEnd::RateLimited { retry_after, .. } if retry_after == Some(wait))
    );
    assert_eq!(call.limits.refused, Some(wait));
    assert_eq!(call.limits.requests_per_minute, Some(60));
    let silent = call_to(Exchange::Respond(response(429, "", ""))).await;
    assert!(matches!(silent.end, CallEnd::RateLimited { retry_after: None, .. }));
    assert_eq!(silent.limits.refused, Some(Duration::ZERO));
}

#[tokio::test]
async fn account_problems_are_reported_without_the_key() {
    let wrong = r#"{"error":{"message":"Incorrect API key provided: house-key-77 (sk-x*y)"}}"#;
    let call = call_to(Exchange::Respond(response(401, "", wrong))).await;
    let message = "Incorrect API key provided: [key] ([key])".to_owned();
    assert_eq!(call.end, CallEnd::Account { problem: AccountProblem::Key, message });
    let empty = r#"{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}"#;
    let call = call_to(Exchange::Respond(response(429, "retry-after: 1\r\n", empty))).await;
    let funds = AccountProblem::Funds;
    assert!(matches!(&call.end, CallEnd::Account { problem, .. } if *problem == funds), "{call:?}");
    assert_eq!(call.limits.refused, None);
}

#[tokio::test]
async fn redirect_is_a_wrong_url_and_the_key_is_not_sent() {
    let call =
        call_to(Exchange::Respond(response(307, "location: http://evil.test/\r\n", ""))).await;
    let CallEnd::Account { problem: AccountProblem::Address, message } = &call.end else {
        panic!("{call:?}")
    };
    assert!(message.contains("http://evil.test/") && !message.contains(KEY), "{message}");
}

#[tokio::test]
async fn endless_response_is_not_read_to_its_end() {
    let call = call_to(Exchange::Respond(response(200, "", &" ".repeat(5 << 20)))).await;
    assert!(matches!(call.end, CallEnd::UnusableReply { usage: None, .. }), "{call:?}");
}

#[tokio::test]
async fn cost_in_a_header_is_read() {
    let call =
        call_to(Exchange::Respond(response(200, "x-litellm-response-cost: 4.565e-05\r\n", ANSWER)))
            .await;
    assert_eq!(answer_of(&call).cost.unwrap().to_string(), "0.000045650");
    let call =
        call_to(Exchange::Respond(response(200, "x-litellm-response-cost: None\r\n", ANSWER)))
            .await;
    assert_eq!(answer_of(&call).cost, None);
}

#[tokio::test]
async fn missing_usage_is_not_zero_usage() {
    let bare = r#"{"choices":[{"message":{"content":"{}"},"finish_reason":"stop"}]}"#;
    let call = call_to(Exchange::Respond(response(200, "", bare))).await;
    assert_eq!(answer_of(&call).usage, None);
    assert!(!answer_of(&call).simulated);
}

#[tokio::test]
async fn simulated_reply_is_recognized_behind_a_gateway() {
    let passed_on = r#"{"model":"gpt-4o","system_fingerprint":"juror-simulator",
        "choices":[{"message":{"content":"{}"},"finish_reason":"stop"}]}"#;
    assert!(answer_of(&call_to(Exchange::Respond(response(200, "", passed_on))).await).simulated);
}

#[tokio::test]
async fn cancelled_call_reports_whether_it_was_sent() {
    let cancel = CancellationToken::new();
    let server = ScriptedServer::start(vec![Exchange::Cancel(cancel.clone())]).await;
    let client = client(&server.base_url);
    let call = client.call(&question(), &cancel).await;
    assert_eq!(call.end, CallEnd::Cancelled { sent: true });
    server.requests().await;
    let call = client.call(&question(), &cancel).await;
    assert_eq!(call.end, CallEnd::Cancelled { sent: false });
}

#[tokio::test]
async fn free_call_validates_url_and_key() {
    let list = r#"{"object":"list","data":[{"id":"gpt-4o"},{"id":"gpt-4.1"}]}"#;
    let server = ScriptedServer::start(vec![
        Exchange::Respond(response(200, "", list)),
        Exchange::Respond(response(401, "", "{}")),
        Exchange::Respond(response(404, "", "{}")),
        Exchange::Close,
    ])
    .await;
    let client = client(&server.base_url);
    assert_eq!(client.probe("gpt-4o").await.unwrap().models, ["gpt-4o", "gpt-4.1"]);
    let problem = AccountProblem::Key;
    let wrong_key = client.probe("gpt-4o").await.unwrap_err();
    assert!(matches!(&wrong_key, ProbeError::Account { problem: p, .. } if *p == problem));
    assert!(matches!(client.probe("gpt-4o").await, Err(ProbeError::NoList { status: 404, .. })));
    assert!(matches!(client.probe("gpt-4o").await, Err(ProbeError::Unreachable(_))));
    assert!(server.requests().await[0].head.starts_with("get /v1/models http/1.1"));
}

#[tokio::test]
async fn extra_headers_are_sent_and_replace_the_key() {
    let server = ScriptedServer::start(vec![
        Exchange::Respond(response(200, "", ANSWER)),
        Exchange::Respond(response(
            401,
            "",
            r#"{"error":{"message":"no such key: azure-secret"}}"#,
        )),
    ])
    .await;
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers = ExtraHeaders::new([pair("x-team", "blue"), pair("api-key", "azure-secret")]);
    let headers = headers.unwrap();
    let client = OpenAi::new(HttpSettings { headers, ..settings(&server.base_url) }).unwrap();
    answer_of(&client.call(&question(), &CancellationToken::new()).await);
    let refused = client.call(&question(), &CancellationToken::new()).await;
    assert!(!format!("{refused:?}").contains("azure-secret"), "{refused:?}");
    let heard = server.requests().await;
    let head = &heard[0].head;
    assert!(head.contains("api-key: azure-secret\r\n") && head.contains("x-team: blue\r\n"));
    assert!(!head.contains("authorization"), "{head}");
}

#[tokio::test]
async fn calls_use_the_proxy_except_for_excluded_hosts() {
    let proxy = ScriptedServer::start(vec![Exchange::Respond(response(200, "", ANSWER))]).await;
    let url = proxy.base_url.replace("http://", "http://me:pass-word@").replace("/v1", "");
    let proxied = |except: Option<&str>| ProxySettings {
        url: url.clone(),
        except: except.map(str::to_owned),
    };
    let base_url = "http://judge.test/v1";
    let settings_for = |except| HttpSettings { proxy: Some(proxied(except)), ..settings(base_url) };
    let client = OpenAi::new(settings_for(Some("judge.test"))).unwrap();
    let direct = client.call(&question(), &CancellationToken::new()).await;
    assert!(matches!(&direct.end, CallEnd::NotSent(why) if !why.contains("pass-word")));
    let client = OpenAi::new(settings_for(Some("other.test"))).unwrap();
    answer_of(&client.call(&question(), &CancellationToken::new()).await);
    let head = proxy.requests().await.remove(0).head;
    assert!(head.starts_with("post http://judge.test/v1/chat/completions "), "{head}");
    assert!(head.contains("proxy-authorization: basic "), "{head}");
}

#[test]
fn invalid_certificate_and_proxy_are_refused_before_any_call() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "not a certificate").unwrap();
    let ca_file = Some(file.path().to_owned());
    let https = settings("https://judge.test/v1");
    let error = OpenAi::new(HttpSettings { ca_file, ..https }).map(|_| ());
    assert!(error.unwrap_err().to_string().contains("judge.ca_file"));
    let proxy = ProxySettings { url: "::".to_owned(), except: None };
    let error = OpenAi::new(HttpSettings { proxy: Some(proxy), ..settings("http://x/v1") });
    assert!(error.map(|_| ()).unwrap_err().to_string().contains("proxy"));
}

#[test]
fn base_url_is_validated_before_any_call() {
    for (url, named) in [
        ("api.openai.com", "https://"),
        ("ftp://host/v1", "https://"),
        ("https://me:secret@host/v1", "its own setting"),
        ("https://me:secret@host:99999/v1?key=secret", "port"),
        ("", "https://"),
    ] {
        let error = OpenAi::new(settings(url)).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(named) && !error.contains("secret"), "{url}: {error}");
    }
}
