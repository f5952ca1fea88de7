//! Options that a server does not have.

use super::*;

#[tokio::test]
async fn schema_format_is_relaxed_and_remembered_for_a_server_without_it() {
    let refusal = r#"{"error":{"message":"not supported","param":"response_format"}}"#;
    let server = ScriptedServer::start(vec![
        Exchange::Respond(response(400, "", refusal)),
        Exchange::Respond(response(422, "", r#"{"detail":"json_object: unknown"}"#)),
        Exchange::Respond(response(200, "", ANSWER)),
        Exchange::Respond(response(200, "", ANSWER)),
    ])
    .await;
    let client = client(&server.base_url);
    let first = client.call(&question(), &CancellationToken::new()).await;
    answer_of(&first);
    assert!(first.warning.unwrap().contains("unenforced JSON"));
    let second = client.call(&question(), &CancellationToken::new()).await;
    answer_of(&second);
    assert_eq!(second.warning, None);
    let formats: Vec<Value> = server
        .requests()
        .await
        .iter()
        .map(|heard| serde_json::from_slice::<Value>(&heard.body).unwrap())
        .map(|body| body["response_format"]["type"].clone())
        .collect();
    assert_eq!(formats, [json!("json_schema"), json!("json_object"), Value::Null, Value::Null]);
}

#[test]
fn refusals_of_many_rows_relax_the_format_once() {
    let client = client("https://api.openai.com/v1");
    let sent = client.options(&question());
    let message = "response_format: unknown".to_owned();
    let refused = CallEnd::Refused { status: 400, message, usage: None };
    let warnings = [0; 3].map(|_| client.drop_option(sent, &refused).unwrap().warning.is_some());
    assert_eq!(warnings, [true, false, false]);
    assert_eq!(client.format(), ReplyFormat::Json);
    let billed = CallEnd::Refused {
        status: 400,
        message: "response_format: unknown".to_owned(),
        usage: Some(Usage::default()),
    };
    assert_eq!(client.drop_option(sent, &billed), None);
}

#[tokio::test]
async fn cache_options_are_dropped_and_remembered_for_a_server_without_them() {
    let refusal = r#"{"error":{"message":"Unknown parameter","param":"prompt_cache_options"}}"#;
    let server = ScriptedServer::start(vec![
        Exchange::Respond(response(400, "", refusal)),
        Exchange::Respond(response(200, "", ANSWER)),
        Exchange::Respond(response(200, "", ANSWER)),
    ])
    .await;
    let client = client(&server.base_url);
    let question = Request { prompt_cache: PromptCache::Explicit, ..question() };
    let first = client.call(&question, &CancellationToken::new()).await;
    answer_of(&first);
    assert!(first.warning.unwrap().contains("prompt_cache_options"));
    let second = client.call(&question, &CancellationToken::new()).await;
    assert_eq!((answer_of(&second).usage.is_some(), second.warning), (true, None));
    let heard = server.requests().await;
    let names_cache = |body: &[u8]| String::from_utf8_lossy(body).contains("prompt_cache");
    let named: Vec<bool> = heard.iter().map(|heard| names_cache(&heard.body)).collect();
    assert_eq!(named, [true, false, false]);
}

#[tokio::test]
async fn schema_format_is_relaxed_for_a_server_that_rejects_its_grammar() {
    for status in [400, 500] {
        let refusal = r#"{"error":{"code":400,"message":"failed to parse grammar","type":"x"}}"#;
        let server = ScriptedServer::start(vec![
            Exchange::Respond(response(status, "", refusal)),
            Exchange::Respond(response(200, "", ANSWER)),
        ])
        .await;
        let call = client(&server.base_url).call(&question(), &CancellationToken::new()).await;
        answer_of(&call);
        let body: Value = serde_json::from_slice(&server.requests().await[1].body).unwrap();
        assert_eq!(body["response_format"]["type"], "json_object");
    }
}
