//! Judge with prepared replies.

use crate::vision::{
    Call, CallEnd, Completion, Finish, ProbeError, ProbeReport, ProviderLimits, Request,
    VisionClient,
};
use async_trait::async_trait;
use juror_types::usage::Usage;
use parking_lot::Mutex;
use serde_json::json;
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

/// Judge with prepared replies; the last one repeats.
pub struct FakeJudge {
    ends: Mutex<VecDeque<CallEnd>>,
    pub gate: Semaphore,
    calls: watch::Sender<usize>,
}

impl FakeJudge {
    pub fn saying(ends: Vec<CallEnd>) -> Arc<Self> {
        let gate = Semaphore::new(Semaphore::MAX_PERMITS);
        Arc::new(Self { ends: Mutex::new(ends.into()), gate, calls: watch::Sender::new(0) })
    }

    /// Judge that replies when its gate gets permits.
    pub fn held_back(ends: Vec<CallEnd>) -> Arc<Self> {
        let judge = Self::saying(ends);
        judge.gate.forget_permits(Semaphore::MAX_PERMITS);
        judge
    }

    pub fn calls(&self) -> usize {
        *self.calls.borrow()
    }

    /// Waits for this many calls.
    pub async fn await_calls(&self, calls: usize) {
        self.calls.subscribe().wait_for(|made| *made >= calls).await.unwrap();
    }
}

#[async_trait]
impl VisionClient for FakeJudge {
    async fn call(&self, _: &Request, cancel: &CancellationToken) -> Call {
        self.calls.send_modify(|calls| *calls += 1);
        let passed = cancel.run_until_cancelled(self.gate.acquire()).await;
        let end = match passed {
            None => CallEnd::Cancelled { sent: true },
            Some(permit) => {
                permit.unwrap().forget();
                let mut ends = self.ends.lock();
                if ends.len() > 1 { ends.pop_front().unwrap() } else { ends[0].clone() }
            }
        };
        Call { end, limits: ProviderLimits::default(), latency: Duration::ZERO, warning: None }
    }

    async fn probe(&self, _: &str) -> Result<ProbeReport, ProbeError> {
        Err(ProbeError::Unreachable("it only judges".to_owned()))
    }

    async fn takes_images(&self, _: &str) -> Option<bool> {
        None
    }
}

/// Reply with this content.
pub fn answer(content: &str) -> CallEnd {
    CallEnd::Completed(Completion {
        content: Some(content.to_owned()),
        finish: Finish::Stop,
        usage: Some(Usage { input_tokens: 100, cached_input_tokens: 0, output_tokens: 10 }),
        ..Completion::default()
    })
}

/// A verdict of these scores.
pub fn verdict(score: u64) -> CallEnd {
    let scores = json!({
        "visual_similarity": score, "token_adherence": score, "variant_accuracy": score,
        "feature_completeness": score, "layout_accuracy": score,
    });
    answer(&json!({"scores": scores, "issues": [], "strengths": []}).to_string())
}
