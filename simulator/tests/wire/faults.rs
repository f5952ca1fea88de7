//! Limits, faults and shutdown.

use crate::client::{RunningSimulator, chat_request, png};
use juror_simulator::{
    Fault, FaultPlan, ItemKey, ItemScript, Latency, Share, SimulatorConfig, SimulatorError,
};
use juror_types::{id::Digest, usage::Money};
use std::time::Duration;
use tokio::{net::TcpListener, time::Instant};

fn scripted(faults: impl IntoIterator<Item = Fault>) -> SimulatorConfig {
    let script = faults.into_iter().map(Some).collect();
    SimulatorConfig {
        faults: FaultPlan { script, ..FaultPlan::default() },
        slow_pause: Duration::ZERO,
        ..SimulatorConfig::default()
    }
}

#[tokio::test]
async fn error_faults_have_status_and_code_and_cost_nothing() {
    let expected = [
        (Fault::RateLimit, 429, "rate_limit_exceeded"),
        (Fault::InsufficientQuota, 429, "insufficient_quota"),
        (Fault::Unauthorized, 401, "invalid_api_key"),
        (Fault::PaymentRequired, 402, "payment_required"),
        (Fault::Forbidden, 403, "forbidden"),
        (Fault::ModelNotFound, 404, "model_not_found"),
        (Fault::BadRequest, 400, "invalid_request"),
        (Fault::ContentPolicy, 400, "content_policy_violation"),
        (Fault::TooLarge, 413, "request_too_large"),
        (Fault::Timeout, 408, "request_timeout"),
        (Fault::Conflict, 409, "conflict"),
        (Fault::ServerError, 500, "server_error"),
        (Fault::Unavailable, 503, "service_unavailable"),
        (Fault::Overloaded, 529, "overloaded"),
    ];
    let simulator = RunningSimulator::start(scripted(expected.map(|(fault, _, _)| fault))).await;
    for (fault, status, code) in expected {
        let answer = simulator.complete(&chat_request(&[], "Judge this")).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (status, &code.into()));
        let waits = answer.headers.contains_key("retry-after-ms");
        assert_eq!(waits, fault == Fault::RateLimit, "{fault}");
    }
    assert_eq!(simulator.complete(&chat_request(&[], "Judge this")).await.status, 200);
    let stats = simulator.stop().await;
    assert_eq!((stats.billed_calls, stats.faults.len()), (1, expected.len()));
}

#[tokio::test]
async fn wire_faults_are_visible_to_the_client_and_billed() {
    let simulator =
        RunningSimulator::start(scripted([Fault::Reset, Fault::Cut, Fault::Slow])).await;
    let request = chat_request(&[png(10, 20)], "Judge this");
    assert_eq!(simulator.complete(&request).await.status, 0);
    let cut = simulator.complete(&request).await;
    assert_eq!(cut.status, 200);
    assert!(!cut.body.is_empty() && !cut.is_whole(), "{}", cut.body);
    let slow = simulator.complete(&request).await;
    assert!(slow.is_whole() && slow.content().contains("scores"));
    let stats = simulator.stop().await;
    assert_eq!((stats.answers, stats.billed_calls), (1, 3));
}

#[tokio::test]
async fn lost_responses_are_free_if_configured() {
    let config = SimulatorConfig { bill_lost: false, ..scripted([Fault::Reset, Fault::Cut]) };
    let simulator = RunningSimulator::start(config).await;
    for _ in 0..2 {
        simulator.complete(&chat_request(&[], "Judge this")).await;
    }
    assert_eq!(simulator.stop().await.billed_usd, Money::ZERO);
}

#[tokio::test]
async fn hanging_request_ends_with_the_simulator() {
    let simulator = RunningSimulator::start(scripted([Fault::Hang])).await;
    let request = chat_request(&[], "Judge this");
    let stop = async {
        // The request hangs once it is counted.
        while simulator.get("/stats", "").await.json()["faults"]["hang"] != 1 {}
        simulator.shutdown.escalate();
    };
    let (answer, ()) = tokio::join!(simulator.complete(&request), stop);
    assert_eq!(answer.status, 0);
    let stats = simulator.stop().await;
    assert_eq!((stats.billed_calls, stats.in_flight, stats.answers), (1, 0, 0));
}

#[tokio::test]
async fn disconnected_client_frees_its_request() {
    let simulator = RunningSimulator::start(scripted([Fault::Hang])).await;
    let request = chat_request(&[], "Judge this");
    {
        let hanging = simulator.complete(&request);
        let hung =
            async { while simulator.get("/stats", "").await.json()["faults"]["hang"] != 1 {} };
        tokio::select! {
            answer = hanging => panic!("{answer:?}"),
            () = hung => {}
        }
    }
    while simulator.get("/stats", "").await.json()["in_flight"] != 0 {}
    assert_eq!(simulator.stop().await.max_in_flight, 1);
}

#[tokio::test]
async fn corrupt_verdicts_are_billed() {
    let faults = [
        Fault::Truncated,
        Fault::Fenced,
        Fault::Prose,
        Fault::Refusal,
        Fault::Length,
        Fault::ContentFilter,
        Fault::OutOfRange,
        Fault::Fractional,
        Fault::StringScores,
        Fault::MissingKeys,
        Fault::Empty,
    ];
    let simulator = RunningSimulator::start(scripted(faults)).await;
    let request = chat_request(&[png(10, 20)], "Judge this");
    let mut seen = Vec::new();
    for fault in faults {
        let answer = simulator.complete(&request).await;
        assert_eq!(answer.status, 200, "{fault}");
        seen.push(answer.json()["choices"][0].to_string());
    }
    let good = simulator.complete(&request).await.json()["choices"][0].to_string();
    assert!(seen.iter().all(|spoiled| *spoiled != good));
    let stats = simulator.stop().await;
    assert_eq!((stats.answers, stats.billed_calls), (12, 12));
}

#[tokio::test]
async fn item_fails_as_scripted() {
    let image = png(10, 20);
    let script = ItemScript {
        item: ItemKey::Image(Digest::from_content(&image)),
        faults: vec![Some(Fault::ServerError), None],
    };
    let config = SimulatorConfig {
        faults: FaultPlan { items: vec![script], ..FaultPlan::default() },
        ..SimulatorConfig::default()
    };
    let simulator = RunningSimulator::start(config).await;
    let request = chat_request(&[image], "Judge this");
    assert_eq!(simulator.complete(&chat_request(&[png(11, 20)], "Judge this")).await.status, 200);
    assert_eq!(simulator.complete(&request).await.status, 500);
    assert_eq!(simulator.complete(&request).await.status, 200);
    simulator.stop().await;
}

#[tokio::test]
async fn limits_refuse_with_a_wait_and_are_reported_on_every_response() {
    let config = SimulatorConfig {
        requests_per_minute: Some(2),
        tokens_per_minute: Some(1_000_000),
        burst: Duration::from_secs(60),
        ..SimulatorConfig::default()
    };
    let simulator = RunningSimulator::start(config).await;
    let request = chat_request(&[], "Judge this");
    let first = simulator.complete(&request).await;
    assert_eq!(first.headers["x-ratelimit-limit-requests"], "2");
    assert_eq!(first.headers["x-ratelimit-remaining-requests"], "1");
    assert_eq!(first.headers["x-ratelimit-limit-tokens"], "1000000");
    let used = 500 + (3 + 3) + (4 + 3);
    assert_eq!(first.headers["x-ratelimit-remaining-tokens"], (1_000_000 - used).to_string());
    assert_eq!(simulator.complete(&request).await.status, 200);
    let refused = simulator.complete(&request).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.json()["error"]["type"], "requests");
    let wait: u64 = refused.headers["retry-after-ms"].parse().unwrap();
    assert!((1..=30_000).contains(&wait), "{wait}");
    assert_eq!(refused.headers["retry-after"], wait.div_ceil(1_000).to_string());
    let stats = simulator.stop().await;
    assert_eq!((stats.refusals["rate_limit_exceeded"], stats.billed_calls), (1, 2));
}

#[tokio::test]
async fn concurrent_requests_are_counted() {
    let simulator = RunningSimulator::start(scripted([Fault::Hang, Fault::Hang])).await;
    let request = chat_request(&[], "Judge this");
    let stop = async {
        while simulator.get("/stats", "").await.json()["faults"]["hang"] != 2 {}
        simulator.shutdown.escalate();
    };
    tokio::join!(simulator.complete(&request), simulator.complete(&request), stop);
    assert_eq!(simulator.stop().await.max_in_flight, 2);
}

#[tokio::test(start_paused = true)]
async fn response_is_delayed_by_its_latency() {
    let least = Duration::from_secs(3_600);
    let latency = Latency { least, most: 2 * least };
    let simulator =
        RunningSimulator::start(SimulatorConfig { latency, ..SimulatorConfig::default() }).await;
    let start = Instant::now();
    assert_eq!(simulator.complete(&chat_request(&[], "Judge this")).await.status, 200);
    assert!((least..3 * least).contains(&start.elapsed()));
    simulator.stop().await;
}

#[tokio::test]
async fn hard_stop_drops_requests_in_flight() {
    let latency = Latency::fixed(Duration::from_secs(3_600));
    let simulator =
        RunningSimulator::start(SimulatorConfig { latency, ..SimulatorConfig::default() }).await;
    let request = chat_request(&[], "Judge this");
    let stop = async {
        while simulator.get("/stats", "").await.json()["billed_calls"] != 1 {}
        simulator.shutdown.escalate();
        simulator.shutdown.escalate();
    };
    let (answer, ()) = tokio::join!(simulator.complete(&request), stop);
    assert_eq!(answer.status, 0);
    assert_eq!(simulator.stop().await.in_flight, 0);
}

#[tokio::test]
async fn fault_rates_above_one_are_refused_at_startup() {
    let rates = vec![Share { of: Fault::Empty, share: 0.7 }; 2];
    let config = SimulatorConfig {
        faults: FaultPlan { rates, ..FaultPlan::default() },
        ..SimulatorConfig::default()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let refused = juror_simulator::serve(listener, config, Default::default()).await;
    assert_eq!(refused.unwrap_err(), SimulatorError::FaultRates(1.4));
}
