//! Handling of a request from its first byte to its response.

mod batches;
mod prepare_answer;

use crate::{
    SIMULATOR_HEADER,
    batch::BatchService,
    chat_request::{DEFAULT_OUTPUT_LIMIT, ValidatedRequest},
    config::{SimulatorConfig, TokenCount},
    fault::Fault,
    fault_plan::FaultState,
    limits::AccountLimits,
    model_list,
    prompt_cache::PromptCacheState,
    refusal::{INVALID, RATE_LIMIT, Refusal},
    reply::{self, Body},
    request_body::{self, BodyError, MAX_BODY_BYTES},
    stats::{Counter, Stats},
};
use hyper::{
    HeaderMap, Method, Request, Response,
    body::Incoming,
    header::{AUTHORIZATION, HeaderValue},
};
use juror_types::shutdown::Shutdown;
use parking_lot::Mutex;
use prepare_answer::PreparedAnswer;
use std::{
    collections::HashSet,
    sync::atomic::{AtomicU64, Ordering},
};
use tokio::time::Instant;

/// State shared by all connections.
#[derive(Debug)]
pub(crate) struct Simulator {
    config: SimulatorConfig,
    limits: Mutex<AccountLimits>,
    faults: Mutex<FaultState>,
    /// Earlier requests, for quirks that depend on them.
    known_requests: Mutex<HashSet<u64>>,
    prompt_cache: PromptCacheState,
    batches: BatchService,
    pub(crate) counter: Counter,
    serial: AtomicU64,
}

/// The connection is closed without a response.
#[derive(Debug, thiserror::Error)]
#[error("closed without an answer")]
pub(crate) struct ConnectionClosed;

impl Simulator {
    pub(crate) fn new(config: SimulatorConfig) -> Self {
        let (requests, tokens) = (config.requests_per_minute, config.tokens_per_minute);
        let limits = AccountLimits::new(requests, tokens, config.burst, Instant::now());
        let faults = FaultState::new(config.faults.clone());
        Self {
            config,
            limits: Mutex::new(limits),
            faults: Mutex::new(faults),
            known_requests: Mutex::default(),
            prompt_cache: PromptCacheState::default(),
            batches: BatchService::default(),
            counter: Counter::default(),
            serial: AtomicU64::new(0),
        }
    }

    /// Responds to a request, or closes the connection.
    pub(crate) async fn respond(
        &self,
        request: Request<Incoming>,
        shutdown: &Shutdown,
    ) -> Result<Response<Body>, ConnectionClosed> {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let mut headers = HeaderMap::new();
        headers.insert(SIMULATOR_HEADER, HeaderValue::from_static("1"));
        if let Ok(id) = HeaderValue::try_from(format!("req_{serial:012x}")) {
            headers.insert("x-request-id", id);
        }
        let path = request.uri().path();
        let post = request.method() == Method::POST;
        if post && path.ends_with("/chat/completions") {
            return self.judge(request, serial, headers, shutdown).await;
        }
        if batches::has(path) {
            return self.batch(request, headers).await;
        }
        let answer = match model_list::respond(&self.config, post, path) {
            Some(list) => self.check_key(request.headers()).map(|()| list),
            None if path == "/stats" && !post => {
                let stats = self.stats(request.uri().query(), shutdown).await;
                serde_json::to_value(stats).map_err(|_| no_such_address())
            }
            None => Err(no_such_address()),
        };
        Ok(match answer {
            Ok(value) => reply::whole(200, headers, &value),
            Err(refusal) => reply::refused(&refusal, headers),
        })
    }

    async fn judge(
        &self,
        request: Request<Incoming>,
        serial: u64,
        mut headers: HeaderMap,
        shutdown: &Shutdown,
    ) -> Result<Response<Body>, ConnectionClosed> {
        let _in_flight = self.counter.begin_request();
        let prepared = match self.check_key(request.headers()) {
            Err(refusal) => Err(refusal),
            Ok(()) => match request_body::read(request.into_body(), MAX_BODY_BYTES).await {
                Ok(body) => self.prepare(&body, serial, &mut headers),
                Err(BodyError::Lost) => return Err(ConnectionClosed),
                Err(BodyError::TooLarge) => Err(too_large()),
            },
        };
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(refusal) => {
                self.counter.refuse(refusal.code);
                return Ok(reply::refused(&refusal, headers));
            }
        };
        self.deliver(prepared, serial, headers, shutdown).await
    }

    async fn deliver(
        &self,
        prepared: PreparedAnswer,
        serial: u64,
        mut headers: HeaderMap,
        shutdown: &Shutdown,
    ) -> Result<Response<Body>, ConnectionClosed> {
        let PreparedAnswer { fault, usage, cost, latency, .. } = prepared;
        if let Some(fault) = fault {
            self.counter.count_fault(fault);
        }
        self.counter.imitate(&prepared.imitation);
        let error =
            fault.and_then(|fault| Refusal::from_fault(fault, self.config.fault_retry_after));
        if let Some(substitute) = prepared.substitute.filter(|_| error.is_none()) {
            if substitute.billed {
                self.counter.bill(cost, usage);
            }
            tokio::time::sleep(latency).await;
            self.pass_gate(shutdown).await;
            return Ok(reply::substitute(&substitute, headers));
        }
        let lost = matches!(fault, Some(Fault::Hang | Fault::Reset | Fault::Cut));
        // A provider bills the generated tokens, even if the client has disconnected.
        let bill_first = error.is_none() && self.config.bill_lost;
        if bill_first {
            self.counter.bill(cost, usage);
        }
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        self.pass_gate(shutdown).await;
        if let Some(refusal) = error {
            return Ok(reply::refused(&refusal, headers));
        }
        if !bill_first && !lost {
            self.counter.bill(cost, usage);
        }
        let body = prepared.completion(serial, &mut headers);
        match fault {
            Some(Fault::Hang) => {
                shutdown.drain.cancelled().await;
                return Err(ConnectionClosed);
            }
            Some(Fault::Reset) => return Err(ConnectionClosed),
            Some(Fault::Cut) => return Ok(reply::cut(headers, &body)),
            _ => self.counter.change(|stats| stats.answers += 1),
        }
        Ok(match fault {
            Some(Fault::Slow) => reply::slow(headers, &body, self.config.slow_pause),
            _ => reply::bytes(200, headers, reply::JSON, prepared.imitation.encode(&body).into()),
        })
    }

    /// Returns the counters once they have reached the values of the query.
    async fn stats(&self, query: Option<&str>, shutdown: &Shutdown) -> Stats {
        let wanted = query.and_then(|query| query.split_once('='));
        if let Some((name, least)) = wanted
            && let Ok(least) = least.parse()
        {
            tokio::select! {
                stats = self.counter.reached(name, least) => return stats,
                () = shutdown.drain.cancelled() => {}
            }
        }
        self.counter.stats()
    }

    /// Waits until one more response may be sent.
    async fn pass_gate(&self, shutdown: &Shutdown) {
        let Some(gate) = &self.config.gate else { return };
        tokio::select! {
            permit = gate.acquire() => {
                if let Ok(permit) = permit {
                    permit.forget();
                }
            }
            () = shutdown.drain.cancelled() => {}
        }
    }

    fn admit(
        &self,
        question: &ValidatedRequest<'_>,
        input_tokens: u64,
        headers: &mut HeaderMap,
    ) -> Result<(), Refusal> {
        let output = question.output_limit.unwrap_or(DEFAULT_OUTPUT_LIMIT);
        let documented = match question.facts.counts_output_limit {
            true => TokenCount::Sum,
            false => TokenCount::Input,
        };
        let tokens = self.config.token_count.unwrap_or(documented).of(input_tokens, output);
        if self.config.max_parallel.is_some_and(|most| self.counter.stats().in_flight > most) {
            let message = "too many requests in flight";
            return Err(Refusal::new(429, "requests", RATE_LIMIT, message));
        }
        let mut limits = self.limits.lock();
        let admitted = limits.admit(tokens, Instant::now());
        limits.write_headers(headers);
        if admitted.is_ok() {
            self.counter.change(|stats| stats.counted_tokens += tokens);
        }
        admitted
    }

    fn check_key(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(wanted) = &self.config.key else {
            return Ok(());
        };
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        if given.and_then(|given| given.strip_prefix("Bearer ")) == Some(wanted) {
            return Ok(());
        }
        let message = "the API key is missing or wrong";
        Err(Refusal::new(401, INVALID, "invalid_api_key", message))
    }
}

fn too_large() -> Refusal {
    let message = "the request is larger than 64 MB";
    Refusal::new(413, INVALID, "request_too_large", message)
}

fn no_such_address() -> Refusal {
    let message =
        "unknown path; use POST …/chat/completions, …/files, …/batches, GET …/models or GET /stats";
    Refusal::new(404, INVALID, "unknown_url", message)
}
