//! Rows, states and ends of batches, without a server, and the search for a batch.

use super::*;
use crate::vision::{
    AccountProblem, BatchEnding, RowCounts, TokenLimitRefusal,
    openai::{
        body::ReplyFormat,
        tests::{client, question},
    },
};
use juror_services::web::{WebResponse, WebServer};
use juror_types::lane::Lane;
use serde_json::json;

#[test]
fn row_body_equals_the_call_body_byte_for_byte() {
    let request = question();
    let call = body::write(&request, ReplyFormat::Schema, false);
    for (base_url, endpoint) in [
        ("https://api.openai.com/v1", "/v1/chat/completions"),
        ("https://us.openai.azure.com/openai/v1", "/chat/completions"),
        ("https://us.azure-api.net/openai/v1", "/chat/completions"),
        ("https://us.openai.azure.us/openai/v1", "/chat/completions"),
        ("https://us.openai.azure.cn/openai/v1", "/chat/completions"),
        ("https://azure.example.com/v1", "/v1/chat/completions"),
    ] {
        let row = client(base_url).row("job-1", &request);
        let begin = format!(
            "{{\"custom_id\":\"job-1\",\"method\":\"POST\",\"url\":\"{endpoint}\",\"body\":"
        );
        let expected = [begin.as_bytes(), &call, b"}\n"].concat();
        assert_eq!(String::from_utf8_lossy(&row), String::from_utf8_lossy(&expected));
        assert_eq!(row.iter().filter(|byte| **byte == b'\n').count(), 1);
    }
}

#[test]
fn row_ends_with_a_reply_an_error_or_not_at_all() {
    let client = client("https://api.openai.com/v1");
    let end = |row: &Value| client.read_row(row.to_string().as_bytes()).unwrap().end;
    let completion = json!({"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}],
                            "usage": {"prompt_tokens": 10, "completion_tokens": 2}});
    let row = |response: Value, error: Value| json!({"id": "x", "custom_id": "job", "response": response, "error": error});
    let answered = end(&row(json!({"status_code": 200, "body": completion}), json!(null)));
    let Some(CallEnd::Completed(answer)) = answered else { panic!("{answered:?}") };
    assert_eq!((answer.lane, answer.usage.unwrap().input_tokens), (Lane::Batch, 10));

    let error =
        |code: &str| json!({"error": {"message": "m", "type": "t", "param": null, "code": code}});
    let failed = end(&row(json!({"status_code": 500, "body": error("server_error")}), json!(null)));
    assert!(matches!(failed, Some(CallEnd::Unavailable { status: 500, .. })), "{failed:?}");
    let refused = end(&row(json!({"status_code": 400, "body": error("bad")}), json!(null)));
    assert!(matches!(refused, Some(CallEnd::Refused { status: 400, .. })), "{refused:?}");
    let own = end(&row(json!(null), json!({"code": "server_error", "message": "m"})));
    assert!(matches!(own, Some(CallEnd::Unavailable { .. })), "{own:?}");
    assert_eq!(end(&row(json!(null), json!({"code": "batch_expired", "message": "m"}))), None);
    for (error, message) in [
        (json!({"code": "token_limit_exceeded", "message": "m"}), "m"),
        (json!({"code": "token_limit_exceeded"}), "token_limit_exceeded"),
    ] {
        let limited = CallEnd::RateLimited { retry_after: None, message: message.to_owned() };
        assert_eq!(end(&row(json!(null), error)), Some(limited));
    }
    assert!(matches!(end(&row(json!(null), json!(null))), Some(CallEnd::Lost(_))));
    assert_eq!(client.read_row(b"{\"custom_id\""), None);
    let half_character = br#"{"custom_id":"job","response":{"status_code":200,"body":{"choices":[
        {"message":{"content":"Save \ud83d"},"finish_reason":"stop"}]}}}"#;
    let Some(CallEnd::Completed(answer)) = client.read_row(half_character).unwrap().end else {
        panic!("the row has a reply")
    };
    assert_eq!(answer.content.as_deref(), Some("Save \u{fffd}"));
}

#[test]
fn batch_status_is_parsed() {
    let status = |batch: Value| status_of(&batch, str::to_owned);
    let under_way = status(
        json!({"status": "finalizing", "request_counts": {"total": 3, "completed": 1, "failed": 1}}),
    );
    assert_eq!(under_way, BatchStatus::UnderWay(RowCounts { total: 3, completed: 1, failed: 1 }));
    let absurd = json!({"total": u64::MAX, "completed": u64::MAX, "failed": u64::MAX});
    let absurd = status(json!({"status": "in_progress", "request_counts": absurd}));
    let most = u64::from(u32::MAX);
    let counts = RowCounts { total: most, completed: most, failed: most };
    assert_eq!(absurd, BatchStatus::UnderWay(counts));
    let ended = status(json!({
        "status": "expired", "output_file_id": "file-1", "error_file_id": null,
        "usage": {"input_tokens": 7, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 3}},
    }));
    let BatchStatus::Ended(ended) = ended else { panic!("{ended:?}") };
    assert_eq!((ended.ending, ended.files), (BatchEnding::Expired, vec!["file-1".to_owned()]));
    assert_eq!(ended.usage.unwrap().cached_input_tokens, 3);
    let empty = json!({"status": "completed", "output_file_id": "", "error_file_id": "file-2"});
    let BatchStatus::Ended(ended) = status(empty) else { panic!("the batch is completed") };
    assert_eq!(ended.files, ["file-2"]);
    let failed = |error: Value| status(json!({"status": "failed", "errors": {"data": [error]}}));
    let invalid = failed(json!({"code": "x", "line": 3, "message": "no"}));
    assert_eq!(invalid, BatchStatus::Invalid("line 3: no".to_owned()));
    for (code, problem) in [
        ("billing_hard_limit_reached", AccountProblem::Funds),
        ("insufficient_quota", AccountProblem::Funds),
        ("invalid_api_key", AccountProblem::Key),
    ] {
        let account = failed(json!({"code": code, "message": "m"}));
        assert_eq!(account, BatchStatus::Account { problem, message: "m".to_owned() });
    }
    let limit = failed(json!({"code": "token_limit_exceeded", "message": "m"}));
    let refusal = |message: &str, limit| {
        BatchStatus::TokenLimit(TokenLimitRefusal { message: message.to_owned(), limit })
    };
    assert_eq!(limit, refusal("m", None));
    let output =
        "Enqueued token limit reached for gpt-4o in organization x. Limit: 90,000 enqueued tokens.";
    let limit = failed(json!({"code": null, "message": output}));
    assert_eq!(limit, refusal(output, Some(90_000)));
}

/// Result of the search for a file's batch in these pages; the last one repeats.
async fn find_in(pages: &[Value]) -> Result<Option<String>, BatchError> {
    let pages = pages.to_vec();
    let mut next = 0;
    let server = WebServer::start(move |_| {
        let page = pages.get(next).or(pages.last()).unwrap();
        next += 1;
        WebResponse::file(page.to_string().as_bytes())
    });
    let provider = client(&format!("http://{}/v1", server.address()));
    provider.find_up_to("file-1", 1).await.map(|mut found| found.pop())
}

#[tokio::test]
async fn batch_is_absent_only_after_a_complete_search() {
    let other = json!({"id": "batch-2", "input_file_id": "file-2"});
    let wanted = json!({"id": "batch-1", "input_file_id": "file-1"});
    let more = json!({"data": [other], "has_more": true});
    let last = json!({"data": [other], "has_more": false});
    assert_eq!(find_in(&[more.clone(), last.clone()]).await, Ok(None));
    assert_eq!(find_in(&[json!({"data": [other]})]).await, Ok(None));
    let found = Ok(Some("batch-1".to_owned()));
    assert_eq!(find_in(&[more.clone(), json!({"data": [other, wanted]})]).await, found);
    let full = json!({"data": vec![other.clone(); PAGE]});
    assert_eq!(find_in(&[full, json!({"data": [wanted]})]).await, found);
    for (pages, problem) in [
        (vec![more], "more than 50 pages"),
        (vec![json!({"data": [], "has_more": true})], "names no batch to continue after"),
        (vec![json!({"data": [{"id": null}], "has_more": true})], "to continue after"),
        (vec![json!({"object": "list"})], "has no array"),
        (vec![json!({"data": [{"input_file_id": "file-1"}]})], "file file-1 without id"),
    ] {
        let Err(BatchError::Unsearchable(message)) = find_in(&pages).await else {
            panic!("{problem}: the search is incomplete")
        };
        assert!(message.contains(problem), "{message}");
    }
}
