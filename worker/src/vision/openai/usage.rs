//! Tokens that a reply states as billed.

use juror_types::usage::Usage;
use serde::Deserialize;
use serde_json::Value;

/// Maximum number of tokens that is believed, far above what any model reads or writes in a call. A
/// server's wrong figure would otherwise use up the budgets of a whole month.
const MAX_TOKENS: u64 = 100_000_000;

/// The tokens that a body reports as billed; none if it reports none or an impossible number, since
/// no prompt has zero tokens. Some servers count reasoning in the total alone.
pub(super) fn usage(body: &Value) -> Option<Usage> {
    let wire = WireUsage::deserialize(body.get("usage")?).ok()?;
    let claims = [wire.prompt_tokens, wire.completion_tokens, wire.total_tokens.unwrap_or(0)];
    if wire.prompt_tokens == 0 || claims.iter().any(|claim| *claim > MAX_TOKENS) {
        return None;
    }
    let beyond_the_prompt =
        wire.total_tokens.and_then(|total| total.checked_sub(wire.prompt_tokens));
    Some(Usage {
        input_tokens: wire.prompt_tokens,
        cached_input_tokens: wire.prompt_tokens_details.and_then(|d| d.cached_tokens).unwrap_or(0),
        output_tokens: wire.completion_tokens.max(beyond_the_prompt.unwrap_or(0)),
    })
}

#[derive(Deserialize)]
struct WireUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}
