//! Response to a request, decided before its latency passes.

use super::Simulator;
use crate::{
    FINGERPRINT,
    chat_request::ValidatedRequest,
    corrupt::ReplyContent,
    fault::Fault,
    fault_plan::FaultKey,
    item_text::item_text_digest,
    prompt_cache::CacheUse,
    quirk::{Imitation, SubstituteResponse},
    random::{self, Random},
    refusal::Refusal,
    verdict::{self, bias::apply_bias, requested_shape},
};
use hyper::HeaderMap;
use juror_types::{
    id::Digest,
    lane::Lane,
    usage::{Money, Usage},
};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

/// A prepared reply with its bill, sent after its latency.
pub(super) struct PreparedAnswer {
    pub(super) fault: Option<Fault>,
    pub(super) imitation: Imitation,
    pub(super) substitute: Option<SubstituteResponse>,
    pub(super) model: String,
    pub(super) content: ReplyContent,
    pub(super) usage: Usage,
    pub(super) cache_write_tokens: Option<u64>,
    pub(super) lane: Lane,
    pub(super) cost: Money,
    pub(super) latency: Duration,
}

impl PreparedAnswer {
    /// The chat completion, changed by its quirks, which may add headers.
    pub(super) fn completion(&self, serial: u64, headers: &mut HeaderMap) -> Value {
        let Self { content, usage, .. } = self;
        let cached_tokens = usage.cached_input_tokens;
        let prompt_tokens_details = match self.cache_write_tokens {
            Some(written) => json!({"cached_tokens": cached_tokens, "cache_write_tokens": written}),
            None => json!({"cached_tokens": cached_tokens}),
        };
        let created = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let mut completion = json!({
            "id": format!("chatcmpl-simulated-{serial:012x}"),
            "object": "chat.completion",
            "created": created.unwrap_or_default().as_secs(),
            "model": self.model,
            "system_fingerprint": FINGERPRINT,
            "service_tier": if self.lane == Lane::Flex { "flex" } else { "default" },
            "choices": [{
                "index": 0,
                "message": {"role": "assistant", "content": content.content, "refusal": content.refusal},
                "finish_reason": content.finish_reason,
                "logprobs": null,
            }],
            "usage": {
                "prompt_tokens": usage.input_tokens,
                "completion_tokens": usage.output_tokens,
                "total_tokens": usage.input_tokens.saturating_add(usage.output_tokens),
                "prompt_tokens_details": prompt_tokens_details,
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        });
        self.imitation.alter(&mut completion, headers, self.cost);
        completion
    }
}

impl Simulator {
    /// Parses the request and decides the response, so that its body need not be kept during the
    /// latency.
    pub(super) fn prepare(
        &self,
        body: &[u8],
        serial: u64,
        headers: &mut HeaderMap,
    ) -> Result<PreparedAnswer, Refusal> {
        let question = ValidatedRequest::read(body, &self.config)?;
        let input_tokens = question.input_tokens();
        self.admit(&question, input_tokens, headers)?;
        self.decide(question, input_tokens, serial)
    }

    /// Decides the response to a request.
    pub(super) fn decide(
        &self,
        question: ValidatedRequest<'_>,
        input_tokens: u64,
        serial: u64,
    ) -> Result<PreparedAnswer, Refusal> {
        let texts: Vec<&str> = question.texts.iter().map(AsRef::as_ref).collect();
        let digests = self.digests(&question)?;
        let seed = content_seed(&question);
        let has_schema = question.schema.is_some();
        let imitation = Imitation::choose(&self.config.quirks, seed, has_schema, question.lane);
        let substitute = imitation.substitute(has_schema, self.is_first(seed));
        let key = FaultKey { seed, texts: &texts, images: &digests };
        let fault = self.faults.lock().choose(&key);

        let mut random = Random::new(random::mix(self.config.seed, serial));
        let latency = self.config.latency.draw(&mut random);
        let verdict = self.verdict(&question, &texts, &digests, seed, random);
        let mut content = ReplyContent::from_verdict(verdict, fault);
        if let Some(limit) = question.output_limit {
            content = content.limited_to(limit);
        }
        let input_tokens = input_tokens.saturating_add(self.config.extra_input_tokens);
        let CacheUse { read, written } = self.prompt_cache.look_up(&question, input_tokens);
        let usage = Usage {
            input_tokens,
            cached_input_tokens: self.config.cached_input_tokens.max(read).min(input_tokens),
            output_tokens: content.tokens(),
        };
        let other = imitation.reported_model().and_then(|model| self.config.prices.find(model));
        let price = other.unwrap_or(question.price).price_in(question.lane);
        let billed_writes = written.or(question.facts.prompt_cache.unreported_writes());
        let cost = imitation.charged(price.cost(&usage, billed_writes));
        let model = question.model.into_owned();
        Ok(PreparedAnswer {
            fault,
            imitation,
            substitute,
            model,
            content,
            usage,
            cache_write_tokens: written,
            lane: question.lane,
            cost,
            latency,
        })
    }

    /// True for the first request of this content, which is recorded.
    fn is_first(&self, seed: u64) -> bool {
        if self.config.quirks.is_empty() {
            return true;
        }
        self.known_requests.lock().insert(seed)
    }

    /// Digests of the images, if needed: they take most of the time of a large image.
    fn digests(&self, question: &ValidatedRequest<'_>) -> Result<Vec<Digest>, Refusal> {
        if self.config.book.is_empty() && !self.config.faults.knows_images() {
            return Ok(Vec::new());
        }
        question.images.iter().map(|image| image.digest()).collect()
    }

    fn verdict(
        &self,
        question: &ValidatedRequest<'_>,
        texts: &[&str],
        digests: &[Digest],
        seed: u64,
        random: Random,
    ) -> Value {
        let item = texts.iter().find_map(|text| (self.config.extract)(text));
        let item = item.map(item_text_digest);
        let shape = requested_shape(question.schema.as_ref(), texts);
        // The same images may be judged by another rubric.
        let known = self.config.book.find(digests, item).and_then(|reply| shape.fit(reply));
        if let Some(mut reply) = known {
            apply_bias(&self.config.biases, "", &shape, &mut reply);
            return reply;
        }
        let noise = (self.config.noise > 0.0).then_some((self.config.noise, random));
        verdict::draw(&shape, seed, noise, &self.config.biases)
    }
}

/// Hash of the request: images, texts and model.
fn content_seed(question: &ValidatedRequest<'_>) -> u64 {
    let images = question.images.iter().map(|image| image.seed());
    let texts = question.texts.iter().map(|text| u64::from(crc32fast::hash(text.as_bytes())));
    images.chain(texts).fold(u64::from(crc32fast::hash(question.model.as_bytes())), random::mix)
}
