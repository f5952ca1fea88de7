//! Request to the judge: a rubric and an item as text.
//!
//! The system message and the task are the same bytes for every item of a rubric and come first,
//! so that a provider's prompt cache serves them; the item comes last.

mod facts;
mod fence;
mod invisible;
mod rubric_prompt;

use crate::{item_texts::LoadedItem, stages::strip::strip};
use fence::{REMINDER, data_rule, fenced};
use juror_types::{
    evidence::EvidenceOutcome,
    id::Digest,
    item::{Item, Language, Tokens},
    model::TextTokens,
    rubric::{PromptField, ReplyVersion, Rubric, reply_schema},
};
use std::sync::Arc;

/// The texts of an item that a prompt may carry. They come from a program under test and are not
/// trusted. Only those that the rubric needs are used; the caller bounds their length.
#[derive(Clone, Copy, Debug, Default)]
pub struct PromptItem<'item> {
    /// The generated code, whole.
    pub code: Option<&'item str>,
    /// Language of the code.
    pub language: Option<Language>,
    /// The expected design tokens.
    pub tokens: Option<&'item Tokens>,
    /// Measurements of its rendered code.
    pub evidence: Option<&'item EvidenceOutcome>,
    /// The name of the style.
    pub style: Option<&'item str>,
}

/// A prompt, in the order in which it is sent; the images go between `task` and `item`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedPrompt {
    /// The system message; fixed by the rubric.
    pub system: String,
    /// Task, criteria and the form of the reply; fixed by the rubric.
    pub task: String,
    /// The item's own texts, fenced. The same texts give the same bytes.
    pub item: String,
}

/// An item's own part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemPart {
    /// Texts, fenced.
    pub text: String,
    /// Difference of the judged code from the item's own, for the record.
    pub code_note: Option<String>,
}

/// The part of every request that its rubric determines, rendered once for all requests of a run.
#[derive(Clone, Debug)]
pub struct Instructions {
    /// The system message.
    pub system: Arc<str>,
    /// Task, criteria and the form of the reply.
    pub task: Arc<str>,
    /// The strict JSON Schema of the reply, as JSON.
    pub schema: Arc<str>,
    /// Digest that represents system message and task in a request's key.
    pub digest: Digest,
    /// Tokens of these texts and the images' labels. The schema counts in the bound only: providers
    /// put it before the model in different forms.
    pub tokens: TextTokens,
}

impl Instructions {
    /// The instructions of a rubric.
    pub fn for_rubric(rubric: &Rubric) -> Self {
        let (system, task) = (render_system(rubric), rubric_prompt::render(rubric));
        let schema = reply_schema(rubric).to_string();
        let labels = rubric.images.iter().map(|image| image.label.as_str());
        let texts = [system.as_str(), task.as_str()].into_iter().chain(labels);
        let tokens = texts.map(TextTokens::from_text).fold(TextTokens::default(), TextTokens::plus);
        let of_schema = TextTokens { expected: 0, ..TextTokens::from_text(&schema) };
        Self {
            digest: Digest::from_content(format!("{}\n{system}{task}", system.len()).as_bytes()),
            tokens: tokens.plus(of_schema),
            system: system.into(),
            task: task.into(),
            schema: schema.into(),
        }
    }
}

/// Prompt for the scores of an item whose files are read.
pub async fn of_item(
    rubric: &Rubric,
    item: &Item,
    loaded: &LoadedItem,
    evidence: Option<&EvidenceOutcome>,
    strip_comments: bool,
) -> RenderedPrompt {
    let ItemPart { text, .. } = item_part(rubric, item, loaded, evidence, strip_comments).await;
    RenderedPrompt { item: text, ..render(rubric, PromptItem::default()) }
}

/// The item's own part of that prompt; `strip_comments` removes comments and code that renders
/// nothing.
pub async fn item_part(
    rubric: &Rubric,
    item: &Item,
    loaded: &LoadedItem,
    evidence: Option<&EvidenceOutcome>,
    strip_comments: bool,
) -> ItemPart {
    let mut texts = PromptItem {
        code: loaded.code.as_deref(),
        language: loaded.language,
        tokens: loaded.expected_tokens.as_ref(),
        evidence,
        style: item.style.as_deref(),
    };
    let wanted = strip_comments && rubric.needs(PromptField::GeneratedCode);
    let Some((code, language)) = texts.code.zip(texts.language).filter(|_| wanted) else {
        return ItemPart { text: render_item(rubric, texts), code_note: None };
    };
    let judged = strip(code, language).await;
    texts.code = Some(&judged.text);
    ItemPart { text: render_item(rubric, texts), code_note: judged.note }
}

/// Tokens that measured evidence adds to the prompt of an item with these expected tokens, before
/// it is measured.
pub fn evidence_tokens(rubric: &Rubric, expected: Option<&Tokens>) -> TextTokens {
    if !rubric.needs(PromptField::Evidence) {
        return TextTokens::default();
    }
    let around = format!("{MEASURED_HEADING}{}", fenced("evidence", ""));
    TextTokens::from_text(&around).plus(facts::tokens_before_measuring(expected))
}

/// Prompt for an item's scores.
pub fn render(rubric: &Rubric, item: PromptItem<'_>) -> RenderedPrompt {
    RenderedPrompt {
        system: render_system(rubric),
        task: rubric_prompt::render(rubric),
        item: render_item(rubric, item),
    }
}

/// The rubric's system message, and by version 2 the rule that data never instructs. Version 1 has
/// the rule in its task: its texts stay as they were, since old runs are compared with it.
fn render_system(rubric: &Rubric) -> String {
    let own = rubric.fill_placeholders(&rubric.prompt.system).trim().to_owned();
    match rubric.reply {
        ReplyVersion::One => own,
        ReplyVersion::Two => format!("{own}\n\n{}", data_rule()),
    }
}

fn render_item(rubric: &Rubric, item: PromptItem<'_>) -> String {
    let mut text = String::from("# The item\n");
    for need in &rubric.needs {
        text.push('\n');
        text.push_str(&match need {
            PromptField::GeneratedCode => render_code(item),
            PromptField::ExpectedTokens => render_tokens(item.tokens),
            PromptField::Evidence => render_evidence(item.evidence),
            PromptField::Style => render_style(item.style),
        });
    }
    text.push_str(match rubric.reply {
        ReplyVersion::One => "\nThat is all of the item. Answer now with the JSON object alone.\n",
        ReplyVersion::Two => REMINDER,
    });
    text
}

fn render_code(item: PromptItem<'_>) -> String {
    let Some(code) = item.code else {
        return "Generated code: there is none.\n".to_owned();
    };
    let language = item.language.map(|language| format!(" ({})", language.name()));
    format!("Generated code{}:\n{}", language.unwrap_or_default(), fenced("generated_code", code))
}

fn render_tokens(tokens: Option<&Tokens>) -> String {
    let Some(tokens) = tokens.filter(|tokens| !tokens.is_empty()) else {
        return "Expected design tokens: none are known; go by the design values that the images \
                show.\n"
            .to_owned();
    };
    // The alternate form of a JSON value is indented and cannot fail.
    let object: serde_json::Map<_, _> = tokens.clone().into_iter().collect();
    let json = format!("{:#}", serde_json::Value::Object(object));
    format!("Expected design tokens (JSON):\n{}", fenced("expected_tokens", &json))
}

const MEASURED_HEADING: &str = "Measured evidence: a program rendered the code and measured its \
     picture against the screenshot. Boxes are x, y, width, height in pixels of the screenshot:\n";

fn render_evidence(evidence: Option<&EvidenceOutcome>) -> String {
    match evidence {
        None => {
            "Measured evidence: there is none, since the code was not rendered; work out yourself \
                 what it renders.\n"
                .to_owned()
        }
        Some(EvidenceOutcome::Failed { error }) => format!(
            "Measured evidence: a program tried to render the code and could not, for this \
             reason:\n{}",
            fenced("evidence", error)
        ),
        Some(EvidenceOutcome::Measured(evidence)) => {
            format!("{MEASURED_HEADING}{}", fenced("evidence", &facts::lines(evidence).join("\n")))
        }
    }
}

fn render_style(style: Option<&str>) -> String {
    match style {
        Some(style) => format!("Name of the style:\n{}", fenced("style", style)),
        None => "Name of the style: it is not known.\n".to_owned(),
    }
}

#[cfg(test)]
mod attack_tests;
#[cfg(test)]
mod tests;
