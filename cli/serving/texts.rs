//! An item's tokens side by side, and the prompt that the judge is sent, read anew.

use crate::exhibits::{CHANGED, FETCHES_NOTHING, NOT_KEPT};
use juror_common::{
    files::Roots,
    item::{Item, Text, TokenSource, Tokens},
    outcome::InputRecord,
    reference::Reference,
    rubric::Rubric,
    settings::StageSettings,
};
use juror_server::showcase::{PromptPart, TokenLine};
use juror_worker::{
    load::{LoadedItem, load, text_digests},
    prompt,
    sources::Sources,
    stages::tokens::equal,
};

/// The texts of one item.
pub struct ItemTexts<'item> {
    item: &'item Item,
    inputs: &'item [InputRecord],
    sources: Sources,
    /// Whether a program of the user's made some of them while the item was judged.
    made_on_the_way: bool,
}

impl<'item> ItemTexts<'item> {
    /// The texts of an item whose result recorded these inputs, read in these folders alone.
    pub fn new(
        item: &'item Item,
        inputs: &'item [InputRecord],
        roots: Roots,
        stages: &StageSettings,
    ) -> Self {
        let is_made = |input: &InputRecord| input.reference == InputRecord::PIPELINE;
        let made_on_the_way = !stages.pipeline_command.is_empty() || inputs.iter().any(is_made);
        Self { item, inputs, sources: Sources::local(roots), made_on_the_way }
    }

    /// Every design token that was expected or extracted; none if the item has none, or why they
    /// cannot be read.
    pub async fn tokens(&self) -> Option<Result<Vec<TokenLine>, String>> {
        if self.item.expected_tokens.is_none() && self.item.extracted_tokens.is_none() {
            return None;
        }
        let loaded = self.load(Item { generated_code: None, ..self.item.clone() }).await;
        Some(loaded.map(|loaded| {
            let [expected, extracted] = [loaded.expected_tokens, loaded.extracted_tokens];
            side_by_side(expected.unwrap_or_default(), extracted.unwrap_or_default())
        }))
    }

    /// The texts that the judge is sent, as the worker makes them; each image stands where it is
    /// sent, as its name and its digest.
    pub async fn prompt(&self, rubric: &Rubric) -> Result<Vec<PromptPart>, String> {
        let loaded = self.load(Item { extracted_tokens: None, ..self.item.clone() }).await?;
        let rendered = prompt::of_item(rubric, self.item, &loaded);
        let part = |role, text| PromptPart { role, text };
        let mut parts = vec![part("system", rendered.system), part("user", rendered.task)];
        parts.extend(rubric.images.iter().map(|image| {
            let input = self.inputs.iter().find(|input| input.name == image.name);
            let digest = input.and_then(|input| input.digest);
            let digest = digest.map_or_else(String::new, |digest| format!(", SHA-256 {digest}"));
            part("user", format!("{}\n[image {}{digest}]", image.label, image.name))
        }));
        parts.push(part("user", rendered.item));
        Ok(parts)
    }

    async fn load(&self, item: Item) -> Result<LoadedItem, String> {
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
        let loaded = load(&item, &self.sources).await.map_err(|error| error.message)?;
        for (name, digest) in text_digests(&loaded) {
            let recorded = self.inputs.iter().find(|input| input.name == name);
            if recorded.and_then(|input| input.digest).is_some_and(|judged| judged != digest) {
                return Err(format!("{name}: {CHANGED}"));
            }
        }
        Ok(loaded)
    }
}

fn is_here(reference: &str) -> bool {
    matches!(Reference::parse(reference), Ok(Reference::Path(_)))
}

/// What was expected in the order of names, then what was found beside it.
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
    use juror_common::id::Digest;
    use serde_json::json;
    use std::fs;

    fn texts<'item>(
        item: &'item Item,
        inputs: &'item [InputRecord],
        folder: &tempfile::TempDir,
    ) -> ItemTexts<'item> {
        let roots = Roots::new(vec![folder.path().to_owned()]);
        ItemTexts::new(item, inputs, roots, &StageSettings::default())
    }

    fn input(name: &str, digest: Digest) -> InputRecord {
        let (name, reference) = (name.to_owned(), "a file".to_owned());
        InputRecord { name, reference, digest: Some(digest), note: None }
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
            input("generated_code", Digest::of(b"<A/>")),
            input("expected_tokens", Digest::of(flat)),
        ];
        let rubric = juror_common::rubric::builtin()[0].parse().unwrap();
        let prompt = texts(&item, &inputs, &folder).prompt(&rubric).await.unwrap();
        assert!(prompt[3].text.contains("<A/>"), "{}", prompt[3].text);
        write("a.tsx", "<B/>");
        let changed = texts(&item, &inputs, &folder).prompt(&rubric).await.unwrap_err();
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
        let lines = texts(&item, &[], &folder).tokens().await.unwrap().unwrap();
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
        let rubric = juror_common::rubric::builtin()[0].parse().unwrap();
        let texts_here = texts(&item, &[], &folder);
        assert_eq!(texts_here.prompt(&rubric).await.unwrap_err(), FETCHES_NOTHING);
        assert_eq!(texts_here.tokens().await.unwrap().unwrap().len(), 1);
        let stages =
            StageSettings { pipeline_command: vec!["p".into()], ..StageSettings::default() };
        let made = ItemTexts::new(&item, &[], Roots::new(Vec::new()), &stages);
        assert_eq!(made.tokens().await.unwrap().unwrap_err(), NOT_KEPT);
    }

    #[tokio::test]
    async fn the_prompt_is_the_workers_with_images_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let item =
            Item { generated_code: Some(Text::Inline("<b>hello</b>\n".into())), ..Item::default() };
        let rubric = juror_common::rubric::builtin()[0].parse().unwrap();
        let digest = Digest::of(b"image");
        let inputs = [input("screenshot", digest)];
        let parts = texts(&item, &inputs, &folder).prompt(&rubric).await.unwrap();
        assert_eq!(
            parts.iter().map(|part| part.role).collect::<Vec<_>>(),
            ["system", "user", "user", "user"]
        );
        assert!(parts[2].text.contains(&digest.to_string()), "{}", parts[2].text);
        assert!(parts[3].text.contains("<b>hello</b>"), "{}", parts[3].text);
    }
}
