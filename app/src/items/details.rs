//! An item's tokens side by side, and the prompt that the judge is sent: made of the files of today
//! where they are what was judged, else of what the run keeps.

use super::{AsJudged, PromptPart, TokenLine};
use crate::{
    attachments::{CHANGED, FETCHES_NOTHING, JudgedInputs, NOT_KEPT, remark},
    settings::StageSettings,
};
use juror_files::local::{MAX_CODE_BYTES, Roots};
use juror_types::{
    evidence::{EvidenceMode, EvidenceOutcome},
    item::{Item, Text, TokenSource, Tokens},
    job::Judge,
    outcome::InputRecord,
    reference::Reference,
    rubric::{Rubric, RubricImage},
};
use juror_worker::{
    load::{LoadedItem, language_of_code, load, text_digests},
    prompt,
    sources::Sources,
    tokens::equal,
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
    /// True if a program of the user's made some of them while the item was judged.
    made_on_the_way: bool,
}

impl<'item> ItemTexts<'item> {
    /// The texts of an item whose result recorded these inputs, read in these folders alone, or
    /// from what the run keeps.
    pub fn new(
        item: &'item Item,
        inputs: &'item [InputRecord],
        roots: Result<Roots, String>,
        judged: JudgedInputs,
        stages: &StageSettings,
    ) -> Self {
        let is_made = |input: &InputRecord| input.reference == InputRecord::PIPELINE;
        let made_on_the_way = !stages.pipeline_command.is_empty() || inputs.iter().any(is_made);
        Self { item, inputs, sources: roots.map(Sources::local), judged, made_on_the_way }
    }

    /// Every design token that was expected or extracted; none if the item has none, or why they
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
            let content = side_by_side(expected.unwrap_or_default(), extracted.unwrap_or_default());
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
            // A rendered picture is recorded even where it was measured alone.
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

    /// The texts of these names: those of today, which the item names, or those that are kept.
    async fn load(&self, item: Item, names: &[&str]) -> Result<AsJudged<LoadedItem>, String> {
        match self.load_today(item).await {
            Ok(content) => Ok(AsJudged { content, remark: None }),
            Err(reason) => match self.load_kept(names) {
                Some(content) => Ok(AsJudged { content, remark: remark(&reason) }),
                None => Err(reason),
            },
        }
    }

    async fn load_today(&self, item: Item) -> Result<LoadedItem, String> {
        let sources = self.sources.as_ref().map_err(Clone::clone)?;
        if self.made_on_the_way {
            return Err(NOT_KEPT.to_owned());
        }
        let code = item.generated_code.as_ref().and_then(|code| match code {
            Text::Path(path) => Some(path),
            Text::Inline(_) => None,
        });
        let tokens = [&item.expected_tokens, &item.extracted_tokens].into_iter().flatten();
        let tokens = tokens.filter_map(|tokens| match tokens {
            TokenSource::Path(path) => Some(path),
            TokenSource::Inline(_) => None,
        });
        if !code.into_iter().chain(tokens).all(|path| is_here(path)) {
            return Err(FETCHES_NOTHING.to_owned());
        }
        let loaded = load(&item, sources).await.map_err(|error| error.message)?;
        for (name, digest) in text_digests(&loaded) {
            let recorded = self.recorded(name);
            if recorded.and_then(|input| input.digest).is_some_and(|judged| judged != digest) {
                return Err(format!("{name}: {CHANGED}"));
            }
        }
        Ok(loaded)
    }

    /// The texts of these names as they were judged; none if one of them is not kept.
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

fn is_here(reference: &str) -> bool {
    matches!(Reference::parse(reference), Ok(Reference::Path(_)))
}

/// Tokens in the order of their expected names, then those found beside them.
fn side_by_side(expected: Tokens, mut extracted: Tokens) -> Vec<TokenLine> {
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
mod tests {
    use super::*;
    use juror_types::{id::Digest, rubric::builtin_named};
    use serde_json::json;
    use std::fs;

    fn texts<'item>(
        item: &'item Item,
        inputs: &'item [InputRecord],
        folder: &tempfile::TempDir,
    ) -> ItemTexts<'item> {
        let roots = Roots::new(vec![folder.path().to_owned()]);
        let kept = JudgedInputs::of_run(
            folder.path(),
            juror_files::kept_renders::KeptRenders::in_state(folder.path()),
        );
        ItemTexts::new(item, inputs, Ok(roots), kept, &StageSettings::default())
    }

    fn input(name: &str, digest: Digest) -> InputRecord {
        InputRecord { digest: Some(digest), ..InputRecord::unread(name, "a file") }
    }

    fn judge() -> Judge {
        let judge = json!({"provider": "openai", "model": "gpt-4o", "temperature": 0.1,
            "detail": "high", "max_output_tokens": 1, "strip_comments": true});
        serde_json::from_value(judge).unwrap()
    }

    #[tokio::test]
    async fn a_text_that_has_changed_since_is_never_shown_as_what_was_judged() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("a.tsx", "\u{feff}<A/>");
        write("t.json", r#"{"gap": {"small": "4px"}}"#);
        let item = Item {
            generated_code: Some(Text::Path("a.tsx".into())),
            expected_tokens: Some(TokenSource::Path("t.json".into())),
            ..Item::default()
        };
        let flat = br#"{"gap.small":"4px"}"#;
        let inputs = [
            input("generated_code", Digest::from_content(b"<A/>")),
            input("expected_tokens", Digest::from_content(flat)),
        ];
        let rubric = juror_types::rubric::builtin()[0].parse().unwrap();
        let prompt = texts(&item, &inputs, &folder)
            .prompt(&rubric, &judge(), EvidenceMode::None, None)
            .await
            .unwrap()
            .content;
        assert!(prompt[3].text.contains("<A/>"), "{}", prompt[3].text);
        write("a.tsx", "<B/>");
        let changed = texts(&item, &inputs, &folder)
            .prompt(&rubric, &judge(), EvidenceMode::None, None)
            .await
            .unwrap_err();
        assert_eq!(changed, format!("generated_code: {CHANGED}"));
        assert!(texts(&item, &inputs, &folder).tokens().await.unwrap().is_ok());
        write("t.json", r#"{"gap.small": "5px"}"#);
        let changed = texts(&item, &inputs, &folder).tokens().await.unwrap().unwrap_err();
        assert_eq!(changed, format!("expected_tokens: {CHANGED}"));
    }

    #[tokio::test]
    async fn tokens_stand_side_by_side_and_are_compared_as_values() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("t.json"), r##"{"color":{"a":"#fff"},"gap":"4px"}"##).unwrap();
        let item = Item {
            expected_tokens: Some(TokenSource::Path("t.json".into())),
            extracted_tokens: Some(TokenSource::Inline(
                json!({"color.a": "rgb(255,255,255)", "extra": 1}),
            )),
            ..Item::default()
        };
        let lines = texts(&item, &[], &folder).tokens().await.unwrap().unwrap().content;
        let told: Vec<_> = lines
            .iter()
            .map(|line| {
                let TokenLine { name, expected, extracted, equal } = line;
                (name.as_str(), expected.is_some(), extracted.is_some(), *equal)
            })
            .collect();
        let wanted = [
            ("color.a", true, true, true),
            ("gap", true, false, false),
            ("extra", false, true, false),
        ];
        assert_eq!(told, wanted);
        assert_eq!(texts(&Item::default(), &[], &folder).tokens().await, None);
    }

    #[tokio::test]
    async fn what_is_elsewhere_or_was_made_on_the_way_is_said_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let item = Item {
            generated_code: Some(Text::Path("https://example.com/a.tsx".into())),
            expected_tokens: Some(TokenSource::Inline(json!({"a": 1}))),
            ..Item::default()
        };
        let rubric = juror_types::rubric::builtin()[0].parse().unwrap();
        let texts_here = texts(&item, &[], &folder);
        assert_eq!(
            texts_here.prompt(&rubric, &judge(), EvidenceMode::None, None).await.unwrap_err(),
            FETCHES_NOTHING
        );
        assert_eq!(texts_here.tokens().await.unwrap().unwrap().content.len(), 1);
        let stages =
            StageSettings { pipeline_command: vec!["p".into()], ..StageSettings::default() };
        let kept = JudgedInputs::of_run(
            folder.path(),
            juror_files::kept_renders::KeptRenders::in_state(folder.path()),
        );
        let made = ItemTexts::new(&item, &[], Ok(Roots::new(Vec::new())), kept, &stages);
        assert_eq!(made.tokens().await.unwrap().unwrap_err(), NOT_KEPT);
    }

    #[tokio::test]
    async fn the_prompt_is_the_workers_with_images_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let item =
            Item { generated_code: Some(Text::Inline("<b>hello</b>\n".into())), ..Item::default() };
        let rubric = juror_types::rubric::builtin()[0].parse().unwrap();
        let digest = Digest::from_content(b"image");
        let inputs = [input("screenshot", digest)];
        let parts = texts(&item, &inputs, &folder)
            .prompt(&rubric, &judge(), EvidenceMode::None, None)
            .await
            .unwrap()
            .content;
        assert_eq!(
            parts.iter().map(|part| part.role).collect::<Vec<_>>(),
            ["system", "user", "user", "user"]
        );
        assert!(parts[2].text.contains(&digest.to_string()), "{}", parts[2].text);
        assert!(parts[3].text.contains("<b>hello</b>"), "{}", parts[3].text);
    }

    #[tokio::test]
    async fn pictures_that_measuring_made_are_listed_where_they_were_sent_alone() {
        let folder = tempfile::tempdir().unwrap();
        let item =
            Item { generated_code: Some(Text::Inline("<b>hello</b>\n".into())), ..Item::default() };
        let rubric = builtin_named("semantic-evidence").unwrap().parse().unwrap();
        let inputs =
            ["screenshot", "rendered"].map(|name| input(name, Digest::from_content(b"image")));
        let listed = async |mode| {
            let texts = texts(&item, &inputs, &folder);
            let parts = texts.prompt(&rubric, &judge(), mode, None).await.unwrap().content;
            parts.iter().any(|part| part.text.contains("[image rendered"))
        };
        assert!(!listed(EvidenceMode::Facts).await);
        assert!(listed(EvidenceMode::Full).await);
    }
}
