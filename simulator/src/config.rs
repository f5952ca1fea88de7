//! Configuration of a simulator.

use crate::{
    batch::BatchSettings, deviation_share::Share, fault_plan::FaultPlan,
    item_text::first_fenced_text, quirk::Quirk, random::Random, recorded_verdicts::VerdictBook,
    verdict::bias::Bias,
};
use juror_types::model::{Models, Prices};
use std::{sync::Arc, time::Duration};
use tokio::sync::Semaphore;

/// Behavior of a simulator. The default one knows every model with a price, takes any key, has no
/// limits, no latency and no faults.
#[derive(Clone, Debug)]
pub struct SimulatorConfig {
    /// The bearer key that it asks for; none takes any, or none at all.
    pub key: Option<String>,
    /// Image formulas and parameters of models.
    pub models: Models,
    /// Their prices; a model without a price is not known.
    pub prices: Prices,
    /// Requests per minute, if they are limited.
    pub requests_per_minute: Option<u64>,
    /// Tokens per minute, if they are limited, counted at admission and never given back.
    pub tokens_per_minute: Option<u64>,
    /// Tokens of a request that count; none: as the model's facts say.
    pub token_count: Option<TokenCount>,
    /// The most requests that are answered at once, if they are limited: more are refused without
    /// a wait time.
    pub max_parallel: Option<u64>,
    /// Part of a minute's allowance that may come at once.
    pub burst: Duration,
    /// Latency of an answer.
    pub latency: Latency,
    /// Faulty answers.
    pub faults: FaultPlan,
    /// Deviations of real servers that are imitated.
    pub quirks: Vec<Share<Quirk>>,
    /// Behavior of batches.
    pub batches: BatchSettings,
    /// Wait that a refusal by fault asks for.
    pub fault_retry_after: Duration,
    /// The pause between the drops of a slow body.
    pub slow_pause: Duration,
    /// Response formats that it accepts.
    pub response_formats: ResponseFormats,
    /// True if answers that the client never gets in whole are billed all the same (hang, reset,
    /// cut, a client that goes away), as a provider may do.
    pub bill_lost: bool,
    /// Input tokens of each request that are told and billed as cached, at most all of them.
    pub cached_input_tokens: u64,
    /// Input tokens that are told and billed beyond those that the image formula and the text
    /// give, as where a provider changes its formula.
    pub extra_input_tokens: u64,
    /// Holds answers back until they are let through: each takes a permit for good, in the order
    /// in which they became ready, and all pass once it is closed. None holds none.
    pub gate: Option<Arc<Semaphore>>,
    /// Answers to known questions, given where they have the shape that is asked for.
    pub book: Arc<VerdictBook>,
    /// Finds, in a text of the request, the part that tells items with the same images apart; its
    /// [`item_text_digest`](crate::item_text_digest) is looked up in the book.
    pub extract: fn(&str) -> Option<&str>,
    /// The chance of each drawn score to differ by one from answer to answer; at 0 the same
    /// question has always the same answer.
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
    /// A simulator with these quirks, which every question meets.
    pub fn with_quirks(quirks: &[Quirk]) -> Self {
        Self { quirks: quirks.iter().copied().map(Share::from).collect(), ..Self::default() }
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
    /// Its input.
    Input,
    /// Its input and its output limit.
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

/// Latency of an answer: evenly distributed between two bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// The shortest.
    pub least: Duration,
    /// The longest.
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
    /// None.
    TextOnly,
}

/// The error of starting a simulator.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulatorError {
    /// More faults than answers.
    #[error("the rates of faults add up to {0}: their sum must be at most 1")]
    FaultRates(f64),
}
