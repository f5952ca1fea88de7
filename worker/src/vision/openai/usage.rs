//! Tokens that a reply states as billed.

use juror_types::usage::Usage;
use serde_json::Value;

/// Maximum plausible number of tokens, far above that of any call. A server's wrong figure would
/// otherwise use up the budgets of a whole month.
const MAX_TOKENS: u64 = 100_000_000;

/// The tokens that a body reports as billed; `None` if it reports none or an impossible number,
/// since no prompt has zero tokens. Some servers count reasoning in the total alone.
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
    let cached = cached.filter(|cached| *cached <= MAX_TOKENS).unwrap_or(0);
    // Anthropic counts cached tokens beside its input tokens, and some gateways pass that on.
    let is_beside = cached > input_tokens;
    let input_tokens = if is_beside { input_tokens + cached } else { input_tokens };
    Some(Usage {
        input_tokens,
        cached_input_tokens: cached,
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cached_tokens_beside_the_input_are_added_to_it() {
        let tokens = |input: u64, cached: Value, total: u64| {
            let usage = usage(&json!({"usage": {
                "prompt_tokens": input, "completion_tokens": 20, "total_tokens": total,
                "prompt_tokens_details": {"cached_tokens": cached},
            }}));
            usage.map(|usage| (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens))
        };
        assert_eq!(tokens(100, json!(100), 120), Some((100, 100, 20)));
        for total in [120, 3_120] {
            assert_eq!(tokens(100, json!(3_000), total), Some((3_100, 3_000, 20)));
        }
        assert_eq!(tokens(100, json!(MAX_TOKENS + 1), 120), Some((100, 0, 20)));
        assert_eq!(tokens(100, json!(-1), 120), Some((100, 0, 20)));
    }
}
