//! Prompt that the judge was sent, and its reply.

use juror_analysis::format::{counted, grouped};
use juror_app::item_source::{AsJudged, PromptPart};
use juror_report::sanitize::{sanitize, sanitize_lines};
use juror_types::outcome::JobResult;
use maud::{Markup, html};
use serde_json::Value;

/// The section; nothing with the judge off.
pub fn section(
    result: &JobResult,
    prompt: Option<&Result<AsJudged<Vec<PromptPart>>, String>>,
) -> Markup {
    if prompt.is_none() && result.judge.is_none() && result.reply.is_none() {
        return html! {};
    }
    html! {
        section.card aria-labelledby="exchange" {
            h2 #exchange { "The judge" }
            (facts(result))
            @match prompt {
                Some(Ok(AsJudged { content: parts, remark })) => {
                    @if let Some(remark) = remark { p.notice { "What it was sent: " (sanitize(remark)) } }
                    details {
                        summary { "What the judge is sent, in " (counted(parts.len() as u64, "part")) }
                        @for (number, part) in parts.iter().enumerate() {
                            h3 { (part.role) }
                            pre tabindex="0" role="region" aria-label=(format!("Part {}, {}", number + 1, part.role)) { (sanitize_lines(&part.text)) }
                        }
                    }
                }
                Some(Err(reason)) => { p.missing { "The prompt cannot be reconstructed: " (sanitize(reason)) } }
                None => {}
            }
            @match &result.reply {
                Some(reply) => {
                    details {
                        summary { "What it answered last" }
                        pre tabindex="0" role="region" aria-label="The judge's answer" { (sanitize_lines(&indented(reply))) }
                    }
                }
                None => { p.faint { "No answer is kept." } }
            }
        }
    }
}

fn facts(result: &JobResult) -> Markup {
    let usage = &result.usage;
    html! {
        dl.pairs.small {
            @if let Some(judge) = &result.judge {
                dt { "Judge" } dd { (judge.provider.name()) " " bdi { (sanitize(&judge.model)) } }
                @if let Some(fingerprint) = &judge.fingerprint { dt { "Backend" } dd { bdi { (sanitize(fingerprint)) } } }
            }
            dt { "Calls" }
            dd { (grouped(result.attempts.into())) @if result.cached { ", the verdict is from the cache" } }
            dt { "Tokens" }
            dd { (grouped(usage.input_tokens)) " in, " (grouped(usage.output_tokens)) " out" }
            dt { "Round" } dd { (u64::from(result.round) + 1) }
        }
    }
}

/// JSON with line breaks; anything else as it is.
fn indented(reply: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(reply).ok();
    let pretty = parsed.and_then(|value| serde_json::to_string_pretty(&value).ok());
    pretty.unwrap_or_else(|| reply.to_owned())
}
