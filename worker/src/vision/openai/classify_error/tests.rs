//! Errors of providers and gateways, as they word them.

use super::*;
use serde_json::json;

fn failure(status: u16, body: &Value) -> CallEnd {
    classify(
        status,
        body.to_string().as_bytes(),
        &HeaderMap::new(),
        || Some(Duration::from_secs(3)),
        str::to_owned,
    )
}

fn error(message: &str, code: &str) -> Value {
    json!({"error": {"message": message, "type": "t", "param": null, "code": code}})
}

#[test]
fn account_errors_are_distinguished() {
    for (status, body, problem) in [
        (401, error("no", "x"), AccountProblem::Key),
        (400, error("no", "invalid_api_key"), AccountProblem::Key),
        (402, error("no", "x"), AccountProblem::Funds),
        (429, error("no", "insufficient_quota"), AccountProblem::Funds),
        (400, error("no", "billing_hard_limit_reached"), AccountProblem::Funds),
        (403, error("no", "x"), AccountProblem::Permission),
        (404, error("no", "model_not_found"), AccountProblem::Model),
        (404, json!({"message": "The model `x` does not exist"}), AccountProblem::Model),
        (404, json!({"detail": "Not Found"}), AccountProblem::Address),
        (
            400,
            json!({"error": {"message": "No connected db.", "type": "no_db_connection",
                             "param": null, "code": "400"}}),
            AccountProblem::Key,
        ),
        (400, error("Budget has been exceeded! Current cost: 1", "400"), AccountProblem::Funds),
        (400, error("your credit balance is too low", "x"), AccountProblem::Funds),
        (422, error("Insufficient credits", "x"), AccountProblem::Funds),
        (
            400,
            json!({"type": "error", "error": {
                "type": "invalid_request_error",
                "message": "You have reached your specified API usage limits. You will regain \
                            access on 2026-12-01 at 00:00 UTC."}}),
            AccountProblem::Funds,
        ),
        (400, error("Invalid model name passed in model=x", "400"), AccountProblem::Model),
        (400, error("x/y is not a valid model ID", "400"), AccountProblem::Model),
        (
            400,
            json!([{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.",
                              "status": "INVALID_ARGUMENT"}}]),
            AccountProblem::Key,
        ),
        (405, json!({}), AccountProblem::Address),
        (429, error("litellm.RateLimitError: insufficient_quota", "429"), AccountProblem::Funds),
        (429, error("Rate limit exceeded: free-models-per-day", "429"), AccountProblem::DayLimit),
        (
            429,
            json!([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [
                {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]}]}}]),
            AccountProblem::DayLimit,
        ),
        (
            404,
            json!({"error": {"message": "No endpoints found that support image input"}}),
            AccountProblem::Images,
        ),
    ] {
        let CallEnd::Account { problem: found, .. } = failure(status, &body) else {
            panic!("{status} {body}")
        };
        assert_eq!(found, problem, "{status} {body}");
    }
}

#[test]
fn gemini_quota_without_a_minute_or_a_wait_is_a_limit_of_the_day() {
    let exceeded = "You exceeded your current quota, please check your plan and billing details.";
    let quota = |message: &str, details: Value| {
        let error = json!({"code": 429, "status": "RESOURCE_EXHAUSTED", "message": message,
                           "details": details});
        let body = json!([{ "error": error }]).to_string();
        classify(429, body.as_bytes(), &HeaderMap::new(), || None, str::to_owned)
    };
    let day = AccountProblem::DayLimit;
    for details in [json!(null), json!([{"@type": "type.googleapis.com/google.rpc.Help"}])] {
        let end = quota(exceeded, details);
        assert!(matches!(end, CallEnd::Account { problem, .. } if problem == day), "{end:?}");
    }
    for detail in [
        json!({"retryDelay": "38s"}),
        json!({"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}]}),
        json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []}),
    ] {
        let end = quota(exceeded, json!([detail]));
        assert!(matches!(end, CallEnd::RateLimited { .. }), "{end:?}");
    }
    let end = quota("Resource has been exhausted (e.g. check quota).", json!(null));
    assert!(matches!(end, CallEnd::RateLimited { .. }), "{end:?}");
}

#[test]
fn permanent_refusals_are_not_retried() {
    for (status, body) in [
        (400, error("bad image", "x")),
        (400, error("policy", "content_policy_violation")),
        (403, error("policy", "content_policy_violation")),
        (413, json!("too big")),
        (415, json!({"error": "no such type"})),
        (422, json!({"detail": [{"msg": "field required"}]})),
        (429, error("Request too large for gpt-4o", "rate_limit_exceeded")),
        (
            403,
            json!({"error": {"code": 403, "message": "flagged",
                             "metadata": {"reasons": ["violence"], "flagged_input": "x"}}}),
        ),
    ] {
        let end = failure(status, &body);
        assert!(matches!(end, CallEnd::Refused { usage: None, .. }), "{status}: {end:?}");
    }
    let billed = json!({"error": {"message": "filtered"},
                        "usage": {"prompt_tokens": 7, "completion_tokens": 0}});
    let CallEnd::Refused { usage: Some(usage), .. } = failure(400, &billed) else { panic!() };
    assert_eq!(usage.input_tokens, 7);
}

#[test]
fn transient_errors_are_distinguished_from_billed_ones() {
    assert_eq!(
        failure(429, &error("slow down", "rate_limit_exceeded")),
        CallEnd::RateLimited {
            retry_after: Some(Duration::from_secs(3)),
            message: "slow down".to_owned()
        }
    );
    for status in [408, 409, 500, 502, 503, 504, 529] {
        let end = failure(status, &error("overloaded", "x"));
        assert!(matches!(end, CallEnd::Unavailable { .. }), "{status}: {end:?}");
    }
    let groq = error("Failed to generate JSON.", "json_validate_failed");
    assert!(matches!(failure(400, &groq), CallEnd::UnusableReply { usage: None, .. }));
    let late = json!({"choices": [{"message": {"content": "{"}}]});
    assert!(matches!(failure(500, &late), CallEnd::UnusableReply { usage: None, .. }));
}

#[test]
fn failure_without_a_provider_error_may_be_billed() {
    let raw = |status, content: &str| {
        classify(status, content.as_bytes(), &HeaderMap::new(), || None, str::to_owned)
    };
    for (status, content) in [
        (504, "<html>504 Gateway Time-out</html>"),
        (524, "error code: 524"),
        (408, ""),
        (502, "<html>502 Bad Gateway</html>"),
        (503, "upstream connect error or disconnect/reset before headers"),
        (504, r#"{"message":"Endpoint request timed out"}"#),
        (500, r#"{"statusCode":500,"message":"Internal server error"}"#),
        (408, r#"{"error":{"message":"litellm.Timeout: timed out","type":null,"code":"408"}}"#),
        (500, r#"{"error":{"message":"litellm.APIConnectionError: cut","type":"x"}}"#),
        (504, r#"{"error":{"message":"timed out","code":504}}"#),
    ] {
        let end = raw(status, content);
        assert!(matches!(end, CallEnd::Lost(_)), "{status} {content}: {end:?}");
    }
    for (status, content) in [
        (504, r#"{"type":"error","error":{"type":"timeout_error","message":"m"}}"#),
        (503, r#"{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}"#),
        (500, r#"{"error":"llama runner has gone"}"#),
        (500, r#"{"object":"error","message":"m","type":"InternalServerError","code":500}"#),
        (502, r#"{"error":{"message":"Provider returned error","code":502}}"#),
        (409, ""),
    ] {
        let end = raw(status, content);
        assert!(matches!(end, CallEnd::Unavailable { .. }), "{status} {content}: {end:?}");
    }
}

#[test]
fn messages_are_found_in_every_known_field() {
    for (content, expected) in [
        ("<html>Bad Request</html>", "<html>Bad Request</html>"),
        ("", "without a message"),
        ("{\"error\":\"plain\"}", "plain"),
        (
            "{\"error\":\"SyntaxError\",\"message\":\"at position 7\",\"status\":500}",
            "SyntaxError: at position 7",
        ),
        ("{\"error\":{\"message\":\"no\",\"param\":\"response_format\"}}", "response_format: no"),
    ] {
        let end = classify(400, content.as_bytes(), &HeaderMap::new(), || None, str::to_owned);
        let message = expected.to_owned();
        assert_eq!(end, CallEnd::Refused { status: 400, message, usage: None }, "{content}");
    }
}

#[test]
fn unusual_encodings_of_an_error_do_not_hide_it() {
    for content in [
        "\u{feff}{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"no\"}}",
        r#"{"error":{"code":"insufficient_quota","message":"no \ud83d"}}"#,
    ] {
        let end = classify(400, content.as_bytes(), &HeaderMap::new(), || None, str::to_owned);
        let funds = AccountProblem::Funds;
        assert!(
            matches!(&end, CallEnd::Account { problem, message }
                if *problem == funds && message.starts_with("no")),
            "{end:?}"
        );
    }
}

#[test]
fn only_format_refusals_relax_the_format() {
    for message in [
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported",
        "response_format: no",
        "this model does not support structured outputs",
        "Failed to parse grammar",
    ] {
        assert!(names_reply_format(message), "{message}");
    }
    for message in ["image too large", "invalid image_url", "unknown model"] {
        assert!(!names_reply_format(message), "{message}");
    }
}
