//! Content of a reply, intact or corrupted by a fault. Pure.

use crate::fault::Fault;
use serde_json::Value;

/// Content of a reply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReplyContent {
    pub(crate) content: Option<String>,
    pub(crate) refusal: Option<&'static str>,
    pub(crate) finish_reason: &'static str,
}

impl ReplyContent {
    /// The verdict as it stands, or as this fault leaves it.
    pub(crate) fn from_verdict(mut verdict: Value, fault: Option<Fault>) -> Self {
        match fault {
            Some(Fault::OutOfRange) => corrupt_first_score(&mut verdict, |_| 1_001.into()),
            Some(Fault::Fractional) => {
                corrupt_first_score(&mut verdict, |score| (score as f64 + 0.5).into());
            }
            Some(Fault::StringScores) => {
                corrupt_scores(&mut verdict, &mut |score| Some(score.to_string().into()));
            }
            Some(Fault::MissingKeys) => {
                remove_first_score(&mut verdict);
            }
            _ => {}
        }
        let whole = verdict.to_string();
        let half = || first_bytes(&whole, whole.len() / 2).to_owned();
        let (content, finish_reason) = match fault {
            Some(Fault::Truncated) => (half(), STOP),
            Some(Fault::Length) => (half(), LENGTH),
            Some(Fault::ContentFilter) => (String::new(), "content_filter"),
            Some(Fault::Empty) => (String::new(), STOP),
            Some(Fault::Fenced) => (format!("```json\n{whole}\n```"), STOP),
            Some(Fault::Prose) => {
                (format!("Here is what I found:\n\n{whole}\n\nAsk if anything is unclear."), STOP)
            }
            Some(Fault::Refusal) => {
                let refusal = Some("I cannot help with this picture.");
                return Self { content: None, refusal, finish_reason: STOP };
            }
            _ => (whole, STOP),
        };
        Self { content: Some(content), refusal: None, finish_reason }
    }

    /// Truncates the content to this number of tokens.
    pub(crate) fn limited_to(mut self, tokens: u64) -> Self {
        let bytes = usize::try_from(tokens.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
        if let Some(content) = &mut self.content
            && content.len() > bytes
        {
            *content = first_bytes(content, bytes).to_owned();
            self.finish_reason = LENGTH;
        }
        self
    }

    /// Output tokens as they are billed: one for four bytes, and at least one.
    pub(crate) fn tokens(&self) -> u64 {
        let text = self.content.as_deref().or(self.refusal).unwrap_or_default();
        (text.len() as u64).div_ceil(BYTES_PER_TOKEN).max(1)
    }
}

const STOP: &str = "stop";
const LENGTH: &str = "length";
const BYTES_PER_TOKEN: u64 = 4;

/// The first `bytes` bytes of a text, cut at a character boundary.
fn first_bytes(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

fn corrupt_first_score(verdict: &mut Value, spoiled: impl Fn(i64) -> Value) {
    let mut first = true;
    corrupt_scores(verdict, &mut |score| std::mem::take(&mut first).then(|| spoiled(score)));
}

/// Replaces each integer for which `spoil` returns another value.
fn corrupt_scores(value: &mut Value, spoil: &mut impl FnMut(i64) -> Option<Value>) {
    match value {
        Value::Object(parts) => parts.values_mut().for_each(|part| corrupt_scores(part, spoil)),
        Value::Array(parts) => parts.iter_mut().for_each(|part| corrupt_scores(part, spoil)),
        Value::Number(number) => {
            if let Some(spoiled) = number.as_i64().and_then(spoil) {
                *value = spoiled;
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Removes the first key whose value is a whole number; returns true if there was one.
fn remove_first_score(value: &mut Value) -> bool {
    let Value::Object(parts) = value else { return false };
    let score = parts.iter().find(|(_, part)| part.is_i64()).map(|(key, _)| key.clone());
    match score {
        Some(key) => parts.shift_remove(&key).is_some(),
        None => parts.values_mut().any(remove_first_score),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn content_with(fault: Option<Fault>) -> ReplyContent {
        ReplyContent::from_verdict(
            json!({"scores": {"depth": 8, "tone": 9}, "issues": ["ünder"]}),
            fault,
        )
    }

    fn content(fault: Fault) -> String {
        content_with(Some(fault)).content.unwrap()
    }

    #[test]
    fn each_corruption_changes_only_its_part() {
        let good = r#"{"scores":{"depth":8,"tone":9},"issues":["ünder"]}"#;
        assert_eq!(content_with(None).content.unwrap(), good);
        for (fault, expected) in [
            (Fault::OutOfRange, r#"{"scores":{"depth":1001,"tone":9},"issues":["ünder"]}"#),
            (Fault::Fractional, r#"{"scores":{"depth":8.5,"tone":9},"issues":["ünder"]}"#),
            (Fault::StringScores, r#"{"scores":{"depth":"8","tone":"9"},"issues":["ünder"]}"#),
            (Fault::MissingKeys, r#"{"scores":{"tone":9},"issues":["ünder"]}"#),
            (Fault::Slow, good),
            (Fault::Empty, ""),
        ] {
            assert_eq!(content(fault), expected, "{fault}");
        }
        assert!(content(Fault::Fenced).starts_with("```json\n{"));
        assert!(content(Fault::Prose).contains(good));
        assert!(good.starts_with(&content(Fault::Truncated)));
        assert_eq!(content_with(Some(Fault::Length)).finish_reason, "length");
        assert_eq!(content_with(Some(Fault::ContentFilter)).finish_reason, "content_filter");
        assert_eq!(content_with(Some(Fault::Refusal)).content, None);
    }

    #[test]
    fn reply_is_truncated_at_a_character_boundary() {
        for tokens in 1..14 {
            let cut = content_with(None).limited_to(tokens);
            let whole = tokens >= content_with(None).tokens();
            assert_eq!(cut.finish_reason, if whole { "stop" } else { "length" });
            assert!(cut.tokens() <= tokens);
        }
    }
}
