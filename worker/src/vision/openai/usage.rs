//! Tokens that a reply states as billed.

use juror_types::usage::Usage;
use serde_json::Value;

/// Maximum plausible number of tokens, far above that of any call. A server's wrong figure would
/// otherwise use up the budgets of a whole month.
const MAX_TOKENS: u64 = 100_000_000;

/// The tokens that a body reports as billed; none if it reports none or an impossible number, since
/// no prompt has zero tokens. Some servers count reasoning in the total alone.
pub(super) fn usage(body: &Value) -> Option<Usage> {
    let counts = body.get("usage")?;
    let input_tokens = count(counts, "/prompt_tokens")?;
    let output_tokens = count(counts, "/completion_tokens")?;
    let total = count(counts, "/total_tokens").unwrap_or(0);
    if input_tokens == 0
        || [input_tokens, output_tokens, total].iter().any(|count| *count > MAX_TOKENS)
    {
        return None;
    }
    let cached = count(counts, "/prompt_tokens_details/cached_tokens");
    Some(Usage {
        input_tokens,
        // More than the input is impossible, and would lower the bill.
        cached_input_tokens: cached.filter(|cached| *cached <= input_tokens).unwrap_or(0),
        output_tokens: output_tokens.max(total.saturating_sub(input_tokens)),
    })
}

/// A count of tokens; some servers write `3000.0`.
fn count(counts: &Value, pointer: &str) -> Option<u64> {
    let value = counts.pointer(pointer)?;
    let is_whole =
        |number: &f64| number.fract() == 0.0 && (0.0..=MAX_TOKENS as f64 + 1.0).contains(number);
    value.as_u64().or_else(|| value.as_f64().filter(is_whole).map(|number| number as u64))
}
