//! OpenAI's chat completions, and every compatible server.

mod batches;
mod body;
mod chat_completion;
mod classify_error;
mod decode;
mod error_body;
mod image_support;
mod phrases;
mod retry_after;
#[cfg(test)]
pub(crate) mod tests;
mod usage;

use super::{
    AccountProblem, Call, CallEnd, DroppedOption, HttpSettings, ProbeError, ProbeReport,
    ProviderLimits, Request, RequestOptions, SetupError, VisionClient,
    http::{Http, Reply, ReplyBody},
    response_headers,
};
use async_trait::async_trait;
use body::ReplyFormat;
use jiff::Timestamp;
use juror_types::{lane::Lane, model::PromptCache};
use phrases::PROMPT_CACHE;
use reqwest::header::HeaderMap;
use std::{
    sync::atomic::{AtomicBool, AtomicU8, Ordering},
    time::Duration,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A client of one server.
pub struct OpenAi {
    http: Http,
    /// The [`ReplyFormat`] that the server supports; it only becomes looser.
    format: AtomicU8,
    /// True if a reply has followed a schema that was sent.
    schema_enforced: AtomicBool,
    /// True if the server has refused the parameters of the prompt cache.
    refuses_cache_options: AtomicBool,
}

/// Time limit of a call of the lane `flex`: OpenAI recommends 15 minutes.
const FLEX_TIMEOUT: Duration = Duration::from_secs(15 * 60);

impl OpenAi {
    /// A client with its own pool of connections.
    pub fn new(settings: HttpSettings) -> Result<Self, SetupError> {
        Ok(Self {
            http: Http::new(settings)?,
            format: AtomicU8::new(ReplyFormat::Schema as u8),
            schema_enforced: AtomicBool::new(false),
            refuses_cache_options: AtomicBool::new(false),
        })
    }

    fn format(&self) -> ReplyFormat {
        ReplyFormat::from_number(self.format.load(Ordering::Relaxed))
    }

    /// Requests a looser format from now on. Only the first of many calls in flight gets the
    /// warning.
    fn loosen(&self, refused: ReplyFormat, next: ReplyFormat, message: &str) -> Option<String> {
        let before = self.format.fetch_max(next as u8, Ordering::Relaxed);
        (before < next as u8).then(|| {
            format!(
                "the vision API does not take {}, so {} is asked for from now on: {message}",
                refused.name(),
                next.name()
            )
        })
    }

    /// Requests the schema in words from now on if the server ignores `response_format`, as
    /// Anthropic's compatible endpoint does: no reply so far has followed it.
    fn check_enforcement(&self, request: &Request, end: &CallEnd) -> Option<String> {
        let answer = end.answer()?;
        if self.schema_enforced.load(Ordering::Relaxed) {
            return None;
        }
        if body::follows_schema(answer, &request.schema)? {
            self.schema_enforced.store(true, Ordering::Relaxed);
            return None;
        }
        let reason = "its answer has none of the properties that the schema requires";
        self.loosen(ReplyFormat::Schema, ReplyFormat::Json, reason)
    }

    fn timeout(&self, request: &Request) -> Duration {
        match request.lane {
            Lane::Flex => self.http.timeout().max(FLEX_TIMEOUT),
            _ if request.slower => self.http.timeout().saturating_mul(2),
            _ => self.http.timeout(),
        }
    }

    /// Omits the parameters of the prompt cache from now on.
    fn disable_cache_options(&self, message: &str) -> Option<String> {
        let was_refused = self.refuses_cache_options.swap(true, Ordering::Relaxed);
        (!was_refused).then(|| {
            format!(
                "the vision API does not take prompt_cache_options, so it decides by itself what \
                 its prompt cache keeps, and may charge for it: {message}"
            )
        })
    }

    /// The optional parameters that a request has now.
    fn options(&self, request: &Request) -> RequestOptions {
        let keeps_instructions = request.prompt_cache == PromptCache::Explicit
            && !self.refuses_cache_options.load(Ordering::Relaxed);
        RequestOptions { format: self.format() as u8, keeps_instructions }
    }

    /// Omits from now on what a refusal names of the parameters that its request was sent with. Such
    /// a refusal bills nothing.
    fn drop_option(&self, sent: RequestOptions, end: &CallEnd) -> Option<DroppedOption> {
        let CallEnd::Refused { status, message, usage: None } = end else { return None };
        let is_invalid = matches!(status, 400 | 422);
        if is_invalid && sent.keeps_instructions && message.contains(PROMPT_CACHE) {
            return Some(DroppedOption { warning: self.disable_cache_options(message) });
        }
        let format = ReplyFormat::from_number(sent.format);
        let next = format.looser().filter(|_| is_invalid || *status == 500)?;
        let is_named = classify_error::names_reply_format(message);
        is_named.then(|| DroppedOption { warning: self.loosen(format, next, message) })
    }

    async fn send(
        &self,
        request: &Request,
        sent: RequestOptions,
        cancel: &CancellationToken,
    ) -> (CallEnd, ProviderLimits) {
        let format = ReplyFormat::from_number(sent.format);
        let json = body::write(request, format, sent.keeps_instructions);
        let path = ["chat", "completions"];
        match self.http.post(&path, json, self.timeout(request), cancel).await {
            Err(end) => (end, ProviderLimits::default()),
            Ok(reply) => {
                let limits = response_headers::limits(&reply.headers);
                let end = self.classify(reply);
                let refused = match &end {
                    CallEnd::RateLimited { retry_after, .. } => {
                        Some(retry_after.unwrap_or_default())
                    }
                    _ => None,
                };
                (end, ProviderLimits { refused, ..limits })
            }
        }
    }

    fn classify(&self, reply: Reply) -> CallEnd {
        if !reply.is_success() {
            return self.failure(reply);
        }
        match reply.body {
            ReplyBody::Whole(content) => {
                let simulated = simulated(&reply.headers);
                let show = |message: &str| self.http.redact(message);
                chat_completion::read(&content, &reply.headers, simulated, show)
            }
            ReplyBody::Cut(reason) => CallEnd::Lost(format!("the reply was cut: {reason}")),
            ReplyBody::TooLarge => {
                CallEnd::UnusableReply { message: "the reply exceeds 4 MB".to_owned(), usage: None }
            }
        }
    }

    /// Meaning of a reply without success. Without a body the status decides.
    fn failure(&self, Reply { status, headers, body }: Reply) -> CallEnd {
        let wait = || response_headers::wait(&headers, Timestamp::now());
        let show = |message: &str| self.http.redact(message);
        classify_error::classify(status, &body.whole(), &headers, wait, show)
    }

    fn probe_report(
        &self,
        reply: Reply,
        model: &str,
        latency: Duration,
    ) -> Result<ProbeReport, ProbeError> {
        let (status, simulated) = (reply.status, simulated(&reply.headers));
        let content = match reply.body {
            ReplyBody::Cut(reason) => return Err(ProbeError::Unreachable(reason)),
            body => body.whole(),
        };
        let show = |message: &str| self.http.redact(message);
        if status == 200 {
            let takes_images = image_support::in_model_list(&content, model);
            let report = |models| ProbeReport { models, takes_images, simulated, latency };
            return chat_completion::model_names(&content).map(report).ok_or_else(|| {
                let message = show("the reply is not a list of models");
                ProbeError::NoList { status, message }
            });
        }
        match classify_error::classify(status, &content, &reply.headers, || None, show) {
            // Servers without a model list return 404 too: a 404 here does not mean a wrong address.
            CallEnd::Account { problem: AccountProblem::Address, message } => {
                Err(ProbeError::NoList { status, message })
            }
            CallEnd::Account { problem, message } => Err(ProbeError::Account { problem, message }),
            CallEnd::Refused { message, .. }
            | CallEnd::Unavailable { message, .. }
            | CallEnd::Lost(message)
            | CallEnd::UnusableReply { message, .. } => Err(ProbeError::NoList { status, message }),
            _ => Err(ProbeError::NoList { status, message: "try again later".to_owned() }),
        }
    }
}

#[async_trait]
impl VisionClient for OpenAi {
    async fn call(&self, request: &Request, cancel: &CancellationToken) -> Call {
        let mut warning = None;
        loop {
            let begun = Instant::now();
            let sent = self.options(request);
            let (end, limits) = self.send(request, sent, cancel).await;
            if let Some(dropped) = self.drop_option(sent, &end) {
                warning = dropped.warning.or(warning);
                continue;
            }
            if ReplyFormat::from_number(sent.format) == ReplyFormat::Schema {
                warning = self.check_enforcement(request, &end).or(warning);
            }
            return Call { end, limits, latency: begun.elapsed(), warning };
        }
    }

    async fn probe(&self, model: &str) -> Result<ProbeReport, ProbeError> {
        let begun = Instant::now();
        let reply = self.http.get(&["models"], &[]).await.map_err(ProbeError::Unreachable)?;
        self.probe_report(reply, model, begun.elapsed())
    }

    async fn takes_images(&self, model: &str) -> Option<bool> {
        image_support::query_model(&self.http, model).await
    }
}

fn simulated(headers: &HeaderMap) -> bool {
    headers.get("x-juror-simulator").is_some_and(|value| value == "1")
}
