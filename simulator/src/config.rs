//! Configuration of a simulator.

use crate::{
    batch::BatchSettings, deviation_share::Share, fault_plan::FaultPlan,
    handwritten_verdicts::HandwrittenVerdicts, item_text::first_fenced_text, quirk::Quirk,
    random::Random, verdict::bias::Bias,
};
use juror_types::model::{Models, Prices};
use std::{sync::Arc, time::Duration};
use tokio::sync::Semaphore;

/// Behavior of a simulator. The default one knows every model with a price, takes any key, has no
/// limits, no latency and no faults.
#[derive(Clone, Debug)]
pub struct SimulatorConfig {
    /// Required bearer key; none accepts any key or its absence.
    pub key: Option<String>,
    /// Image formulas and parameters of models.
    pub models: Models,
    /// Their prices; a model without a price is not known.
    pub prices: Prices,
    /// Requests per minute, if they are limited.
    pub requests_per_minute: Option<u64>,
    /// Token limit per minute, if any; tokens are counted at admission and never refunded.
    pub tokens_per_minute: Option<u64>,
    /// Counting rule for the tokens of a request; `None` for the rule of the model's capabilities.
    pub token_count: Option<TokenCount>,
    /// Maximum number of concurrent requests, if limited: more are refused without a wait time.
    pub max_parallel: Option<u64>,
    /// Burst, as a part of a minute's allowance.
    pub burst: Duration,
    /// Latency of a reply.
    pub latency: Latency,
    /// Faulty responses.
    pub faults: FaultPlan,
    /// Deviations of real servers that are imitated.
    pub quirks: Vec<Share<Quirk>>,
    /// Behavior of batches.
    pub batches: BatchSettings,
    /// Wait stated by an injected refusal.
    pub fault_retry_after: Duration,
    /// The pause between the drops of a slow body.
    pub slow_pause: Duration,
    /// Response formats that it accepts.
    pub response_formats: ResponseFormats,
    /// True if responses that the client does not receive completely are billed (hang, reset, cut,
    /// disconnected client), as a provider may do.
    pub bill_lost: bool,
    /// Input tokens of each request that are reported and billed as cached, at most all of them.
    pub cached_input_tokens: u64,
    /// Input tokens that are reported and billed beyond those of the image formula and the text, as
    /// after a change of a provider's formula.
    pub extra_input_tokens: u64,
    /// Gate that holds responses: each takes a permit permanently, in the order in which they
    /// became ready, and all pass once it is closed. None holds no response.
    pub gate: Option<Arc<Semaphore>>,
    /// Recorded verdicts, used where they match the requested schema.
    pub book: Arc<HandwrittenVerdicts>,
    /// Extracts the part of a request's text that distinguishes items with the same images; its
    /// [`item_text_digest`](crate::item_text_digest) is looked up in the recorded verdicts.
    pub extract: fn(&str) -> Option<&str>,
    /// Probability of each random score to differ by one between replies; at 0 equal requests have
    /// equal replies.
    pub noise: f64,
    /// Shift of every verdict, known ones too: a change of quality to be found.
    pub biases: Vec<Bias>,
    /// Seed of latency and noise.
    pub seed: u64,
}

impl Default for SimulatorConfig {
    fn default() -> Self {
        Self {
            key: None,
            models: Models::builtin(),
            prices: Prices::builtin(),
            requests_per_minute: None,
            tokens_per_minute: None,
            token_count: None,
            max_parallel: None,
            burst: Duration::from_secs(1),
            latency: Latency::default(),
            faults: FaultPlan::default(),
            quirks: Vec::new(),
            batches: BatchSettings::default(),
            fault_retry_after: Duration::from_millis(100),
            slow_pause: Duration::from_secs(1),
            response_formats: ResponseFormats::All,
            bill_lost: true,
            cached_input_tokens: 0,
            extra_input_tokens: 0,
            gate: None,
            book: Arc::default(),
            extract: first_fenced_text,
            noise: 0.0,
            biases: Vec::new(),
            seed: 0,
        }
    }
}

impl SimulatorConfig {
    /// Simulator with these quirks on every request.
    pub fn with_quirks(quirks: &[Quirk]) -> Self {
        Self { quirks: quirks.iter().copied().map(Share::from).collect(), ..Self::default() }
    }

    pub(crate) fn has_quirk(&self, quirk: Quirk) -> bool {
        self.quirks.iter().any(|rate| rate.of == quirk)
    }

    pub(crate) fn check(&self) -> Result<(), SimulatorError> {
        // A little above 1, for sums like ten times 0.1.
        let total = self.faults.total_rate();
        if total > 1.000_001 { Err(SimulatorError::FaultRates(total)) } else { Ok(()) }
    }
}

/// The tokens of a request that count against a limit per minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenCount {
    /// Input.
    Input,
    /// Input and its output limit.
    Sum,
    /// The larger of the two.
    Max,
}

impl TokenCount {
    pub(crate) fn of(self, input: u64, output_limit: u64) -> u64 {
        match self {
            Self::Input => input,
            Self::Sum => input.saturating_add(output_limit),
            Self::Max => input.max(output_limit),
        }
    }
}

/// Latency of a reply: evenly distributed between two bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// Lower bound.
    pub least: Duration,
    /// Upper bound.
    pub most: Duration,
}

impl Latency {
    /// Always the same.
    pub fn fixed(latency: Duration) -> Self {
        Self { least: latency, most: latency }
    }

    pub(crate) fn draw(self, random: &mut Random) -> Duration {
        self.least + self.most.saturating_sub(self.least).mul_f64(random.unit())
    }
}

/// Response formats that a server accepts; others are refused with a 400 that names
/// `response_format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseFormats {
    /// `json_schema`, `json_object` and none.
    #[default]
    All,
    /// `json_object` and none.
    JsonObject,
    /// No image is accepted.
    TextOnly,
}

/// The error of starting a simulator.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulatorError {
    /// Fault rates above one in total.
    #[error("the rates of faults add up to {0}: their sum must be at most 1")]
    FaultRates(f64),
}
