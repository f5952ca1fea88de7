//! A vision API that costs nothing: for the demo, the tests and load runs.
//!
//! It speaks OpenAI's chat completions, files and batches, enforces limits of requests and tokens
//! per minute with the real headers, has latency and faults to choose from, and keeps count of what
//! a provider would have billed. It does not judge pictures: known questions are answered from a
//! [`VerdictBook`], all others deterministically from their content.

mod batch;
mod chat_request;
mod config;
mod corrupt;
mod deviation_share;
mod fault;
mod fault_plan;
mod image_download;
mod image_part;
mod item_text;
mod limits;
mod model_list;
mod prompt_cache;
mod quirk;
mod random;
mod recorded_verdicts;
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
pub use item_text::{first_fenced_text, item_text_digest};
pub use quirk::Quirk;
pub use recorded_verdicts::VerdictBook;
pub use server::serve;
pub use stats::Stats;
pub use verdict::bias::{Bias, InvalidBias};

/// The `system_fingerprint` of every answer, by which a simulated verdict is known.
pub const FINGERPRINT: &str = "juror-simulator";

/// Response header of the simulator, which judges no picture; its value is `1`.
pub const SIMULATOR_HEADER: &str = "x-juror-simulator";
