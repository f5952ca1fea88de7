//! Replies of status 200: their content, their usage, their errors.

use super::*;
use juror_types::usage::Usage;
use serde_json::json;

fn answer(body: &Value) -> CallEnd {
    read(body.to_string().as_bytes(), &HeaderMap::new(), false, str::to_owned)
}

#[test]
fn reply_is_parsed_with_its_usage() {
    let end = answer(&json!({
        "choices": [{"message": {"content": "{}", "refusal": null}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1523, "completion_tokens": 212, "total_tokens": 1735,
                  "prompt_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 256}},
        "model": "gpt-4o-2024-08-06", "system_fingerprint": "fp_1", "service_tier": "flex",
        "anything": [1],
    }));
    let usage = Usage { input_tokens: 1_523, cached_input_tokens: 1_024, output_tokens: 212 };
    assert_eq!(
        end,
        CallEnd::Completed(Completion {
            content: Some("{}".to_owned()),
            refusal: None,
            finish: Finish::Stop,
            usage: Some(usage),
            cache_write_tokens: Some(256),
            fingerprint: Some("gpt-4o-2024-08-06 fp_1".to_owned()),
            model: Some("gpt-4o-2024-08-06".to_owned()),
            lane: Lane::Flex,
            dearer_tier: None,
            cost: None,
            simulated: false,
        })
    );
}

#[test]
fn cache_writes_are_read_by_either_name() {
    let written = |usage: Value| cache_write_tokens(&json!({ "usage": usage }));
    let details = |tokens: u64| json!({"cache_write_tokens": tokens});
    let both = json!({"prompt_tokens_details": details(0), "cache_creation_input_tokens": 7});
    assert_eq!(written(both), Some(0));
    assert_eq!(written(json!({"cache_creation_input_tokens": 7})), Some(7));
    assert_eq!(written(json!({"cache_creation_input_tokens": 0})), None);
}

#[test]
fn hidden_reasoning_tokens_are_billed() {
    let tokens = |total: Value| {
        let counts = json!({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": total});
        usage(&json!({"usage": counts})).map(|usage| usage.output_tokens)
    };
    assert_eq!(tokens(json!(900)), Some(800));
    assert_eq!(tokens(json!(120)), Some(20));
    assert_eq!(tokens(json!(50)), Some(20));
    assert_eq!(tokens(Value::Null), Some(20));
}

#[test]
fn sparse_and_unusual_responses_are_accepted() {
    let first = |message: Value, finish: Value| match answer(
        &json!({"choices": [{"message": message, "finish_reason": finish}],
                             "model": "m", "usage": {"prompt_tokens": "many"}}),
    ) {
        CallEnd::Completed(answer) => answer,
        other => panic!("{other:?}"),
    };
    let parts = json!({"content": [{"type": "text", "text": "a"}, {"x": 1}, {"text": "b"}]});
    assert_eq!(first(parts, Value::Null).content.as_deref(), Some("ab"));
    let refused = first(json!({"refusal": "no"}), json!("content_filter"));
    assert_eq!((refused.content, refused.refusal.as_deref()), (None, Some("no")));
    assert_eq!(refused.finish, Finish::ContentFilter);
    let cut = first(json!({"content": ""}), json!("length"));
    assert_eq!((cut.content, cut.finish, cut.usage), (None, Finish::Length, None));
    assert_eq!(cut.fingerprint.as_deref(), Some("m"));
    assert_eq!(fingerprint(Some(" "), Some(String::new())), None);
}

#[test]
fn malformed_response_keeps_its_usage() {
    let billed = json!({"prompt_tokens": 5, "completion_tokens": 0});
    for body in [
        json!({"usage": billed}),
        json!({"choices": [], "usage": billed, "error": {"message": "upstream"}}),
        json!({"choices": [{"text": "old"}], "usage": billed}),
    ] {
        let CallEnd::UnusableReply { usage: Some(usage), .. } = answer(&body) else {
            panic!("{body}")
        };
        assert_eq!(usage.input_tokens, 5);
    }
}

#[test]
fn unbilled_responses_are_distinguished_from_possibly_billed_ones() {
    let end = |raw: &str| read(raw.as_bytes(), &HeaderMap::new(), false, str::to_owned);
    for raw in ["", "{\"choices\":[{"] {
        assert!(matches!(end(raw), CallEnd::Lost(_)), "{raw}");
    }
    for raw in ["<html>", "null", "[]", "\"hello\"", r#"{"error":{"message":"m","code":502}}"#] {
        assert!(matches!(end(raw), CallEnd::NotCompletion(_)), "{raw}: {:?}", end(raw));
    }
    for raw in [
        "data: {\"choices\":[]}\n\n",
        r#"{"type":"message","content":[{"text":"{}"}],"usage":{"input_tokens":9}}"#,
        r#"{"candidates":[{}],"usageMetadata":{"promptTokenCount":9}}"#,
        r#"[{"candidates":[{}]}]"#,
        r#"{"object":"response","output":[]}"#,
        r#"{"model":"llama","message":{"content":"{}"},"done":true}"#,
    ] {
        assert!(matches!(end(raw), CallEnd::UnusableReply { usage: None, .. }), "{raw}");
    }
    let limited = r#"{"error":{"message":"slow down","code":429}}"#;
    assert!(matches!(end(limited), CallEnd::RateLimited { .. }));
    let funds = r#"{"error":{"message":"no","code":"insufficient_quota"}}"#;
    assert!(matches!(end(funds), CallEnd::Account { .. }));
}

#[test]
fn upstream_error_beside_choices_is_classified_unless_it_may_be_billed() {
    let error = json!({"message": "slow down", "code": 429});
    let choice = |content: Value, reason: &str| json!({"error": error, "finish_reason": reason, "message": {"content": content}});
    let in_choice =
        |content: Value, reason: &str| json!({"model": "m", "choices": [choice(content, reason)]});
    for body in [
        json!({"model": "m", "choices": [], "error": error}),
        json!({"model": "m", "choices": null, "error": error}),
        in_choice(json!(""), "error"),
        in_choice(Value::Null, "error"),
    ] {
        assert!(matches!(answer(&body), CallEnd::RateLimited { .. }), "{body}");
    }
    let funds = json!({"choices": [], "error": {"message": "m", "code": "insufficient_quota"}});
    assert!(matches!(answer(&funds), CallEnd::Account { .. }));
    for body in [in_choice(json!("{"), "error"), in_choice(json!(""), "stop")] {
        assert!(matches!(answer(&body), CallEnd::Completed(_)), "{body}");
    }
    let mut billed = in_choice(json!(""), "error");
    billed["usage"] = json!({"prompt_tokens": 5, "completion_tokens": 1});
    assert!(matches!(answer(&billed), CallEnd::Completed(_)));
    let unclear = json!({"choices": [], "error": {"message": "upstream"}});
    assert!(matches!(answer(&unclear), CallEnd::UnusableReply { usage: None, .. }));
}

#[test]
fn zero_counts_are_no_usage() {
    let counts = |input: u64, output: u64| {
        let end = answer(&json!({
            "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": input, "completion_tokens": output},
        }));
        match end {
            CallEnd::Completed(answer) => answer.usage,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(counts(0, 0), None);
    assert_eq!(counts(0, 12), None);
    assert_eq!(counts(9, 0), None);
    assert_eq!(counts(9, 1).map(|usage| usage.output_tokens), Some(1));
}

#[test]
fn reported_cost_is_exact_and_includes_upstream_cost_with_own_keys() {
    let cost = |usage: Value| reported_cost(&json!({"usage": usage})).map(Money::pico);
    assert_eq!(cost(json!({"cost": 0.00592755})), Some(5_927_550_000));
    let details = json!({"upstream_inference_cost": 0.01});
    let usage = |own: bool| json!({"cost": 0.0005, "is_byok": own, "cost_details": details});
    assert_eq!((cost(usage(true)), cost(usage(false))), (Some(10_500_000_000), Some(500_000_000)));
    let fee_alone = json!({"cost": 0.0005, "is_byok": true, "cost_details": {}});
    let free = json!({"cost": 0.0005, "is_byok": true,
                      "cost_details": {"upstream_inference_cost": 0}});
    assert_eq!((cost(fee_alone), cost(free)), (None, None));
    assert_eq!((cost(json!({})), cost(json!({"cost": "x"}))), (None, None));
    assert_eq!(cost(json!({"cost": -1})), None);
}
