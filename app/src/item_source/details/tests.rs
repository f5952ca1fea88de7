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
    let kept = JudgedInputs::for_run(
        folder.path(),
        juror_files::render_cache::RenderCache::in_state(folder.path()),
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
async fn changed_text_is_never_shown_as_the_judged_text() {
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
    assert_eq!(changed, "generated_code: the file has changed since it was judged");
    assert!(texts(&item, &inputs, &folder).tokens().await.unwrap().is_ok());
    write("t.json", r#"{"gap.small": "5px"}"#);
    let changed = texts(&item, &inputs, &folder).tokens().await.unwrap().unwrap_err();
    assert_eq!(changed, "expected_tokens: the file has changed since it was judged");
}

#[tokio::test]
async fn tokens_are_paired_and_compared_as_values() {
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
    let reported: Vec<_> = lines
        .iter()
        .map(|line| {
            let TokenLine { name, expected, extracted, equal } = line;
            (name.as_str(), expected.is_some(), extracted.is_some(), *equal)
        })
        .collect();
    let wanted =
        [("color.a", true, true, true), ("gap", true, false, false), ("extra", false, true, false)];
    assert_eq!(reported, wanted);
    assert_eq!(texts(&Item::default(), &[], &folder).tokens().await, None);
}

#[tokio::test]
async fn remote_and_generated_inputs_are_labeled() {
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
    let stages = StageSettings { pipeline_command: vec!["p".into()], ..StageSettings::default() };
    let kept = JudgedInputs::for_run(
        folder.path(),
        juror_files::render_cache::RenderCache::in_state(folder.path()),
    );
    let made = ItemTexts::new(&item, &[], Ok(Roots::new(Vec::new())), kept, &stages);
    let reason = UnavailableInput::MadeByPipeline.to_string();
    assert_eq!(made.tokens().await.unwrap().unwrap_err(), reason);
}

#[tokio::test]
async fn shown_prompt_equals_the_worker_prompt_with_images_by_name() {
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
async fn generated_images_are_listed_only_where_they_were_sent() {
    let folder = tempfile::tempdir().unwrap();
    let item =
        Item { generated_code: Some(Text::Inline("<b>hello</b>\n".into())), ..Item::default() };
    let rubric = builtin_named("semantic-evidence").unwrap().parse().unwrap();
    let inputs = ["screenshot", "rendered"].map(|name| input(name, Digest::from_content(b"image")));
    let listed = async |mode| {
        let texts = texts(&item, &inputs, &folder);
        let parts = texts.prompt(&rubric, &judge(), mode, None).await.unwrap().content;
        parts.iter().any(|part| part.text.contains("[image rendered"))
    };
    assert!(!listed(EvidenceMode::Facts).await);
    assert!(listed(EvidenceMode::Full).await);
}
