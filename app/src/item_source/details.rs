//! Tokens and prompt of an item, from its present files if they are the judged ones, otherwise from
//! the run's kept inputs.

use super::{AsJudged, PromptPart, TokenLine};
use crate::{
    attachments::{FETCHES_NOTHING, JudgedInputs, UnavailableInput},
    settings::StageSettings,
};
use juror_files::data_roots::{MAX_CODE_BYTES, Roots};
use juror_types::{
    evidence::{EvidenceMode, EvidenceOutcome},
    item::{Item, Text, TokenSource, Tokens},
    job::Judge,
    outcome::InputRecord,
    reference::Reference,
    rubric::{Rubric, RubricImage},
};
use juror_worker::{
    design_tokens::equal,
    item_texts::{LoadedItem, language_of_code, load, text_digests},
    prompt,
    sources::Sources,
};

const CODE: &str = InputRecord::CODE;
const EXPECTED: &str = InputRecord::EXPECTED_TOKENS;
const EXTRACTED: &str = InputRecord::EXTRACTED_TOKENS;

/// The texts of one item.
pub struct ItemTexts<'item> {
    item: &'item Item,
    inputs: &'item [InputRecord],
    /// Sources of its files; an error is the reason why they cannot be read.
    sources: Result<Sources, String>,
    judged: JudgedInputs,
    /// True if the user's pipeline made some of them when the item was judged, so that the dataset
    /// does not have them.
    is_made_here: bool,
}

impl<'item> ItemTexts<'item> {
    /// Texts of an item with these recorded inputs, read only in these folders, or from the run's
    /// stored inputs.
    pub fn new(
        item: &'item Item,
        inputs: &'item [InputRecord],
        roots: Result<Roots, String>,
        judged: JudgedInputs,
        stages: &StageSettings,
    ) -> Self {
        let is_made = |input: &InputRecord| input.reference == InputRecord::PIPELINE;
        let is_made_here = stages.has_pipeline() || inputs.iter().any(is_made);
        Self { item, inputs, sources: roots.map(Sources::local), judged, is_made_here }
    }

    /// Every design token that was expected or extracted; `None` if the item has none, or why they
    /// cannot be read.
    pub async fn tokens(&self) -> Option<Result<AsJudged<Vec<TokenLine>>, String>> {
        let is_named = |name: &str| self.recorded(name).is_some();
        let has_tokens = self.item.expected_tokens.is_some()
            || self.item.extracted_tokens.is_some()
            || (self.sources.is_err() && [EXPECTED, EXTRACTED].into_iter().any(is_named));
        if !has_tokens {
            return None;
        }
        let item = Item { generated_code: None, ..self.item.clone() };
        let loaded = self.load(item, &[EXPECTED, EXTRACTED]).await;
        Some(loaded.map(|AsJudged { content: loaded, remark }| {
            let [expected, extracted] = [loaded.expected_tokens, loaded.extracted_tokens];
            let content = token_lines(expected.unwrap_or_default(), extracted.unwrap_or_default());
            AsJudged { content, remark }
        }))
    }

    /// The texts that the judge is sent, as the worker makes them; each image stands where it is
    /// sent, as its name and its digest. Evidence is of the run's `mode`.
    pub async fn prompt(
        &self,
        rubric: &Rubric,
        judge: &Judge,
        mode: EvidenceMode,
        evidence: Option<&EvidenceOutcome>,
    ) -> Result<AsJudged<Vec<PromptPart>>, String> {
        let item = Item { extracted_tokens: None, ..self.item.clone() };
        let AsJudged { content: loaded, remark } = self.load(item, &[CODE, EXPECTED]).await?;
        let rendered =
            prompt::of_item(rubric, self.item, &loaded, evidence, judge.strip_comments).await;
        let part = |role, text| PromptPart { role, text };
        let mut content = vec![part("system", rendered.system), part("user", rendered.task)];
        let is_sent = |image: &&RubricImage| {
            // A rendered image is recorded even if it was only measured.
            !image.optional || mode == EvidenceMode::Full && self.recorded(&image.name).is_some()
        };
        content.extend(rubric.images.iter().filter(is_sent).map(|image| {
            let digest = self.recorded(&image.name).and_then(|input| input.digest);
            let digest = digest.map_or_else(String::new, |digest| format!(", SHA-256 {digest}"));
            part("user", format!("{}\n[image {}{digest}]", image.label, image.name))
        }));
        content.push(part("user", rendered.item));
        Ok(AsJudged { content, remark })
    }

    fn recorded(&self, name: &str) -> Option<&InputRecord> {
        self.inputs.iter().find(|input| input.name == name)
    }

    /// The texts of these names: the current ones, which the item names, or those that are kept.
    async fn load(&self, item: Item, names: &[&str]) -> Result<AsJudged<LoadedItem>, String> {
        match self.load_current(item).await {
            Ok(content) => Ok(AsJudged { content, remark: None }),
            Err(reason) => match self.load_kept(names) {
                Some(content) => Ok(AsJudged { content, remark: reason.remark() }),
                None => Err(reason.to_string()),
            },
        }
    }

    async fn load_current(&self, item: Item) -> Result<LoadedItem, UnavailableInput> {
        let sources = self.sources.as_ref().map_err(String::as_str)?;
        if self.is_made_here {
            return Err(UnavailableInput::MadeByPipeline);
        }
        let code = item.generated_code.as_ref().and_then(Text::path);
        let tokens = [&item.expected_tokens, &item.extracted_tokens].into_iter().flatten();
        if !code.into_iter().chain(tokens.filter_map(TokenSource::path)).all(Reference::is_path) {
            return Err(FETCHES_NOTHING.into());
        }
        let loaded = load(&item, sources).await.map_err(|error| error.message)?;
        for (name, digest) in text_digests(&loaded) {
            let recorded = self.recorded(name);
            if recorded.and_then(|input| input.digest).is_some_and(|judged| judged != digest) {
                return Err(UnavailableInput::ChangedText(name));
            }
        }
        Ok(loaded)
    }

    /// The texts of these names as they were judged; `None` if one of them is not kept.
    fn load_kept(&self, names: &[&str]) -> Option<LoadedItem> {
        if !self.judged.are_kept() {
            return None;
        }
        let mut loaded = LoadedItem::default();
        for input in self.inputs.iter().filter(|input| names.contains(&input.name.as_str())) {
            let bytes = self.judged.kept(input.digest?, MAX_CODE_BYTES)?;
            match input.name.as_str() {
                EXPECTED => loaded.expected_tokens = Some(serde_json::from_slice(&bytes).ok()?),
                EXTRACTED => loaded.extracted_tokens = Some(serde_json::from_slice(&bytes).ok()?),
                _ => loaded.code = Some(String::from_utf8(bytes.to_vec()).ok()?),
            }
        }
        let guessed = loaded.code.as_deref().map(language_of_code);
        loaded.language = self.item.language.or(guessed);
        Some(loaded)
    }
}

/// Tokens in the order of their expected names, then those found beside them.
fn token_lines(expected: Tokens, mut extracted: Tokens) -> Vec<TokenLine> {
    let expected = expected.into_iter().map(|(name, value)| {
        let found = extracted.remove(&name);
        let equal = found.as_ref().is_some_and(|found| equal(&value, found));
        TokenLine { name, expected: Some(value), extracted: found, equal }
    });
    let mut lines: Vec<TokenLine> = expected.collect();
    lines.extend(extracted.into_iter().map(|(name, value)| TokenLine {
        name,
        expected: None,
        extracted: Some(value),
        equal: false,
    }));
    lines
}

#[cfg(test)]
mod tests;
