//! Responses and bills of each quirk.

use crate::client::{RunningSimulator, WireResponse, png, question};
use juror_simulator::{Named as _, Quirk, Share, SimulatorConfig, Stats};
use juror_types::usage::Money;
use serde_json::{Value, json};

async fn ask(quirk: Quirk, request: &Value) -> (WireResponse, Stats) {
    let simulator = RunningSimulator::start(SimulatorConfig::with_quirks(&[quirk])).await;
    let answer = simulator.ask(request).await;
    (answer, simulator.stop().await)
}

fn request() -> Value {
    question(&[png(64, 64)], "Judge this")
}

#[tokio::test]
async fn a_timeout_of_a_gateway_is_billed_and_carries_no_error_of_the_provider() {
    for (quirk, status) in [
        (Quirk::GatewayTimeout, 504),
        (Quirk::CloudflareTimeout, 524),
        (Quirk::EmptyTimeout, 408),
        (Quirk::LitellmTimeout, 408),
    ] {
        let (answer, stats) = ask(quirk, &request()).await;
        assert_eq!((answer.status, stats.billed_calls), (status, 1), "{quirk}");
        assert_eq!(stats.quirks[quirk.name()], 1);
    }
}

#[tokio::test]
async fn errors_of_account_and_request_bill_nothing() {
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
        let (answer, stats) = ask(quirk, &request()).await;
        assert_eq!((answer.status, stats.billed_calls), (status, 0), "{quirk}");
        assert!(quirk == Quirk::LoginPage || answer.json().is_object() || answer.json().is_array());
    }
}

#[tokio::test]
async fn another_model_answers_and_is_billed_at_its_price() {
    let mini = Value::Object({
        let mut request = request().as_object().unwrap().clone();
        request.insert("model".to_owned(), "gpt-4o-mini".into());
        request
    });
    let (answer, stats) = ask(Quirk::FallbackModel, &mini).await;
    assert_eq!(answer.json()["model"], "gpt-4o-2024-08-06");
    let (_, as_asked) = ask(Quirk::ByteOrderMark, &mini).await;
    assert!(stats.billed_usd > as_asked.billed_usd);
    let mut deployment = mini;
    deployment["model"] = json!("our-deployment");
    let (answer, _) = ask(Quirk::DeploymentNames, &deployment).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[tokio::test]
async fn usage_and_cost_are_told_as_the_quirk_has_it() {
    let usage = |answer: &WireResponse| answer.json()["usage"].clone();
    let (answer, stats) = ask(Quirk::ZeroUsage, &request()).await;
    assert_eq!((usage(&answer)["prompt_tokens"].clone(), stats.billed_calls), (json!(0), 1));
    let (answer, _) = ask(Quirk::NoUsage, &request()).await;
    assert_eq!(usage(&answer), Value::Null);
    let (answer, stats) = ask(Quirk::UsageCost, &request()).await;
    let told: Money = usage(&answer)["cost"].to_string().parse().unwrap();
    assert_eq!(told, stats.billed_usd);
    let (answer, stats) = ask(Quirk::CostHeader, &request()).await;
    let told: Money = answer.headers["x-litellm-response-cost"].parse().unwrap();
    assert_eq!(told, stats.billed_usd);
}

#[tokio::test]
async fn thoughts_and_drafts_stand_before_the_verdict() {
    let (plain, _) = ask(Quirk::CostHeader, &request()).await;
    let (thinking, _) = ask(Quirk::Thinking, &request()).await;
    assert!(thinking.content().starts_with("<think>\n"));
    assert!(
        thinking.content().ends_with(&format!("</think>\n\n```json\n{}\n```", plain.content()))
    );
    let (drafts, _) = ask(Quirk::Drafts, &request()).await;
    assert!(drafts.content().ends_with(&plain.content()));
    let (marked, _) = ask(Quirk::ByteOrderMark, &request()).await;
    assert!(marked.body.starts_with('\u{feff}'));
}

#[tokio::test]
async fn a_question_meets_a_quirk_always_or_never_and_groq_refuses_only_the_first_time() {
    let half = Share { of: Quirk::Moderation, share: 0.5 };
    let config = SimulatorConfig { quirks: vec![half], ..SimulatorConfig::default() };
    let simulator = RunningSimulator::start(config).await;
    let mut refused = 0;
    for width in 1..41 {
        let request = question(&[png(width, 64)], "Judge this");
        let statuses = [simulator.ask(&request).await.status, simulator.ask(&request).await.status];
        assert_eq!(statuses[0], statuses[1]);
        refused += u32::from(statuses[0] == 403);
    }
    assert!((8..33).contains(&refused), "{refused} of 40");
    simulator.stop().await;
    let groq =
        RunningSimulator::start(SimulatorConfig::with_quirks(&[Quirk::JsonValidateFailed])).await;
    assert_eq!(groq.ask(&request()).await.status, 400);
    assert_eq!(groq.ask(&request()).await.status, 200);
    groq.stop().await;
}
