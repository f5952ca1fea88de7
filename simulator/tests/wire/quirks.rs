//! Responses and bills of each quirk.

use crate::client::{RunningSimulator, WireResponse, chat_request, png};
use juror_simulator::{Named as _, Quirk, Share, SimulatorConfig, Stats};
use juror_types::usage::Money;
use serde_json::{Value, json};

async fn complete(quirk: Quirk, request: &Value) -> (WireResponse, Stats) {
    let simulator = RunningSimulator::start(SimulatorConfig::with_quirks(&[quirk])).await;
    let answer = simulator.complete(request).await;
    (answer, simulator.stop().await)
}

fn request() -> Value {
    chat_request(&[png(64, 64)], "Judge this")
}

#[tokio::test]
async fn gateway_timeout_is_billed_and_has_no_provider_error() {
    for (quirk, status) in [
        (Quirk::GatewayTimeout, 504),
        (Quirk::CloudflareTimeout, 524),
        (Quirk::EmptyTimeout, 408),
        (Quirk::LitellmTimeout, 408),
    ] {
        let (answer, stats) = complete(quirk, &request()).await;
        assert_eq!((answer.status, stats.billed_calls), (status, 1), "{quirk}");
        assert_eq!(stats.quirks[quirk.name()], 1);
    }
}

#[tokio::test]
async fn account_and_request_errors_bill_nothing() {
    for (quirk, status) in [
        (Quirk::LoginPage, 200),
        (Quirk::ErrorIn200, 200),
        (Quirk::GrammarFailed, 400),
        (Quirk::Moderation, 403),
        (Quirk::BudgetExceeded, 400),
        (Quirk::InvalidModel, 400),
        (Quirk::KeyNotValid, 400),
        (Quirk::NoCredit, 422),
    ] {
        let (answer, stats) = complete(quirk, &request()).await;
        assert_eq!((answer.status, stats.billed_calls), (status, 0), "{quirk}");
        assert!(quirk == Quirk::LoginPage || answer.json().is_object() || answer.json().is_array());
    }
}

#[tokio::test]
async fn substituted_model_is_billed_at_its_price() {
    let mini = Value::Object({
        let mut request = request().as_object().unwrap().clone();
        request.insert("model".to_owned(), "gpt-4o-mini".into());
        request
    });
    let (answer, stats) = complete(Quirk::FallbackModel, &mini).await;
    assert_eq!(answer.json()["model"], "gpt-4o-2024-08-06");
    let (_, as_asked) = complete(Quirk::ByteOrderMark, &mini).await;
    assert!(stats.billed_usd > as_asked.billed_usd);
    let mut deployment = mini;
    deployment["model"] = json!("our-deployment");
    let (answer, _) = complete(Quirk::DeploymentNames, &deployment).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[tokio::test]
async fn usage_and_cost_are_reported_as_the_quirk_defines() {
    let usage = |answer: &WireResponse| answer.json()["usage"].clone();
    let (answer, stats) = complete(Quirk::ZeroUsage, &request()).await;
    assert_eq!((usage(&answer)["prompt_tokens"].clone(), stats.billed_calls), (json!(0), 1));
    let (answer, _) = complete(Quirk::NoUsage, &request()).await;
    assert_eq!(usage(&answer), Value::Null);
    let (answer, stats) = complete(Quirk::UsageCost, &request()).await;
    let reported: Money = usage(&answer)["cost"].to_string().parse().unwrap();
    assert_eq!(reported, stats.billed_usd);
    let (answer, stats) = complete(Quirk::CostHeader, &request()).await;
    let reported: Money = answer.headers["x-litellm-response-cost"].parse().unwrap();
    assert_eq!(reported, stats.billed_usd);
}

#[tokio::test]
async fn reasoning_and_drafts_precede_the_verdict() {
    let (plain, _) = complete(Quirk::CostHeader, &request()).await;
    let (thinking, _) = complete(Quirk::Thinking, &request()).await;
    assert!(thinking.content().starts_with("<think>\n"));
    assert!(
        thinking.content().ends_with(&format!("</think>\n\n```json\n{}\n```", plain.content()))
    );
    let (drafts, _) = complete(Quirk::Drafts, &request()).await;
    assert!(drafts.content().ends_with(&plain.content()));
    let (marked, _) = complete(Quirk::ByteOrderMark, &request()).await;
    assert!(marked.body.starts_with('\u{feff}'));
}

#[tokio::test]
async fn quirk_affects_a_request_always_or_never_and_groq_refuses_only_first_attempts() {
    let half = Share { of: Quirk::Moderation, share: 0.5 };
    let config = SimulatorConfig { quirks: vec![half], ..SimulatorConfig::default() };
    let simulator = RunningSimulator::start(config).await;
    let mut refused = 0;
    for width in 1..41 {
        let request = chat_request(&[png(width, 64)], "Judge this");
        let statuses =
            [simulator.complete(&request).await.status, simulator.complete(&request).await.status];
        assert_eq!(statuses[0], statuses[1]);
        refused += u32::from(statuses[0] == 403);
    }
    assert!((8..33).contains(&refused), "{refused} of 40");
    simulator.stop().await;
    let groq =
        RunningSimulator::start(SimulatorConfig::with_quirks(&[Quirk::JsonValidateFailed])).await;
    assert_eq!(groq.complete(&request()).await.status, 400);
    assert_eq!(groq.complete(&request()).await.status, 200);
    groq.stop().await;
}
