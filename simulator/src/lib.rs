//! A vision API that costs nothing: for the demo, the tests and load runs.
//!
//! It implements OpenAI's chat completions, files and batches, enforces limits of requests and
//! tokens per minute with the real headers, has configurable latency and faults, and counts the
//! costs that a provider would have billed. It does not judge images: recorded requests receive
//! replies from a [`HandwrittenVerdicts`], all others deterministic replies from their content.

mod batch;
mod chat_request;
mod config;
mod corrupt;
mod deviation_share;
mod fault;
mod fault_plan;
mod handwritten_verdicts;
mod image_download;
mod image_part;
mod item_text;
mod limits;
mod model_list;
mod prompt_cache;
mod quirk;
mod random;
mod refusal;
mod reply;
mod request_body;
mod respond;
mod server;
mod stats;
mod verdict;

pub use batch::{BatchEnd, BatchFault, BatchSettings};
pub use config::{Latency, ResponseFormats, SimulatorConfig, SimulatorError, TokenCount};
pub use deviation_share::{InvalidShare, Named, Share};
pub use fault::Fault;
pub use fault_plan::{FaultPlan, ItemKey, ItemScript};
pub use handwritten_verdicts::HandwrittenVerdicts;
pub use item_text::{first_fenced_text, item_text_digest};
pub use quirk::Quirk;
pub use server::serve;
pub use stats::Stats;
pub use verdict::bias::{Bias, InvalidBias};

/// `system_fingerprint` of every reply, which identifies a simulated verdict.
pub const FINGERPRINT: &str = "juror-simulator";

/// Response header that identifies the simulator; its value is `1`.
pub const SIMULATOR_HEADER: &str = "x-juror-simulator";
