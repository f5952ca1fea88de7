//! The deterministic stages: what can be told of an item at no cost.

pub mod command;
pub mod compile;
pub mod retrieval;
pub mod tokens;
mod values;

use crate::load::LoadedItem;
use command::CommandSettings;
use compile::Compilation;
use juror_common::{
    outcome::JobError,
    stage::{Generation, Stages, TokenExtraction},
};

/// What of the deterministic stages can be set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageSettings {
    /// Takes the place of the built-in check whether code compiles.
    pub compile_command: Option<CommandSettings>,
    /// Makes code, tokens, pattern and quality score of each item anew; see
    /// [`command::run_pipeline`], which comes before [`evaluate`].
    pub pipeline_command: Option<CommandSettings>,
}

/// Evaluates the stages that have data. Fails only if the `compile_command` could not do its work.
pub async fn evaluate(loaded: &LoadedItem, settings: &StageSettings) -> Result<Stages, JobError> {
    Ok(Stages {
        token_extraction: token_extraction(loaded),
        retrieval: retrieval::check(loaded),
        generation: generation(loaded, settings).await?,
    })
}

fn token_extraction(loaded: &LoadedItem) -> Option<TokenExtraction> {
    let (expected, extracted) =
        (loaded.expected_tokens.as_ref()?, loaded.extracted_tokens.as_ref()?);
    tokens::accuracy(expected, extracted).map(|accuracy| TokenExtraction { accuracy })
}

async fn generation(
    loaded: &LoadedItem,
    settings: &StageSettings,
) -> Result<Option<Generation>, JobError> {
    let compilation = match (&loaded.code, loaded.language, &settings.compile_command) {
        (Some(code), Some(language), Some(command)) => {
            Some(command::compile(code, language, command).await?)
        }
        (Some(code), Some(language), None) => Some(compile::check(code, language).await),
        _ => None,
    };
    let (code_compiles, error) = match compilation {
        None => (None, None),
        Some(Compilation::Sound) => (Some(true), None),
        Some(Compilation::Broken(error)) => (Some(false), Some(error)),
        Some(Compilation::Unchecked(reason)) => (None, Some(reason.to_owned())),
    };
    let has_data = code_compiles.is_some() || error.is_some() || loaded.quality_score.is_some();
    let quality_score = loaded.quality_score;
    Ok(has_data.then_some(Generation { code_compiles, quality_score, error }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_common::item::Language;
    use serde_json::json;

    #[tokio::test]
    async fn a_stage_without_data_is_none() {
        let settings = StageSettings::default();
        let stages = evaluate(&LoadedItem::default(), &settings).await.unwrap();
        assert_eq!(stages, Stages::default());
    }

    #[tokio::test]
    async fn every_stage_with_data_is_told() {
        let loaded = LoadedItem {
            code: Some("<p>a</b>".to_owned()),
            language: Some(Language::Html),
            expected_tokens: tokens::flatten(&json!({"a": "#fff", "b": 1})).ok(),
            extracted_tokens: tokens::flatten(&json!({"a": "white"})).ok(),
            expected_pattern: Some("card".to_owned()),
            retrieved_pattern: Some("card".to_owned()),
            quality_score: Some(0.9),
        };
        let stages = evaluate(&loaded, &StageSettings::default()).await.unwrap();
        assert_eq!(stages.token_extraction.unwrap().accuracy, 0.5);
        assert!(stages.retrieval.unwrap().correct);
        let generation = stages.generation.unwrap();
        assert_eq!(generation.code_compiles, Some(false));
        assert_eq!(generation.quality_score, Some(0.9));
        assert!(generation.error.unwrap().starts_with("line 1: </b>"));
    }
}
#[cfg(test)]
mod hand {
    use super::*; use juror_common::item::Language; use std::{fs, time::Instant};
    #[tokio::test]
    async fn real() {
        for entry in fs::read_dir("/work/shared/data/semantic").unwrap() {
            let p = entry.unwrap().path();
            if !p.is_dir() { continue }
            for f in fs::read_dir(&p).unwrap() {
                let f = f.unwrap().path();
                let Some(language) = Language::from_extension(f.extension().unwrap().to_str().unwrap()) else {
                    if f.extension().unwrap() == "png" {
                        let t = Instant::now();
                        let rules = crate::image::Rules { formats: &[crate::image::Format::Png, crate::image::Format::Jpeg], max_bytes: 20_000_000, max_side: 6000, user_max_side: None };
                        let r = crate::image::prepare(fs::read(&f).unwrap().into(), &rules).unwrap();
                        println!("{} {} {}x{} {:?}", f.display(), r.passed_through, r.width, r.height, t.elapsed());
                        let small = crate::image::Rules { user_max_side: Some(768), ..rules };
                        let t = Instant::now();
                        let r = crate::image::prepare(fs::read(&f).unwrap().into(), &small).unwrap();
                        println!("   small {} {} {:?} {:?} {:?}", r.media_type, r.bytes.len(), r.note, fs::metadata(&f).unwrap().len(), t.elapsed());
                    }
                    continue };
                let code = fs::read_to_string(&f).unwrap();
                let t = Instant::now();
                println!("{} {:?} {:?}", f.display(), compile::check(&code, language).await, t.elapsed());
            }
        }
        for f in ["/work/shared/data/semantic/govuk-tokens.v5.json","/work/shared/data/semantic/sbadmin2-tokens.json","/work/shared/data/tokens/spectrum-action-button.json"] {
            let v: serde_json::Value = serde_json::from_str(&fs::read_to_string(f).unwrap()).unwrap();
            let t = tokens::flatten(&v).unwrap();
            println!("{f} {} {:?}", t.len(), t.iter().take(3).collect::<Vec<_>>());
            assert_eq!(tokens::accuracy(&t, &t), Some(1.0));
        }
    }
    #[tokio::test]
    async fn pairs() {
    let ops = ["(", "[", "({a:", "{", "!", "<a>", "<a b={", "<>", "a=>", "(a)=>", "(a=", "`${", "a?", "a?1:", "a=", "a**", "f(", "new(", "()=>{", "a<", "a<(", "f<{a:", "[...", "(a,", "async(", "async(a=", "a?.[", "import(", "(a:", "<T,>(", "a?(b):(", "a?(b)=>(", "as A<", "a as ", "{a:", "a[", "<A>", "class A{a=", "a?(", "a?(a,", "(a?:", "({a=", "[a=", "async a=>", "function(a=", "typeof a<", "a<b>(", "async<T>(", "(a):", "(a):a=>", "a?(a):a=>", "<T=(", "<T extends (", "<T extends a<", "f<A,[", "<T=a<b>>(", "a<b<c>>(", "f<{[", "f<{a:{[", "a<typeof b["];
    let (mut unchecked, mut total) = (0, 0);
    for pre in ["x=", "type X=", "let [a="] { for a in ops { for b in ops {
        for n in [6usize, 12, 60] {
        let s = format!("{pre}{}1", format!("{a}{b}").repeat(n));
        let t = Instant::now();
        let r = compile::check(&s, Language::Tsx).await;
        total += 1; if matches!(r, Compilation::Unchecked(_)) { unchecked += 1 }
        if t.elapsed().as_millis() > 150 { println!("{pre}{a} {b} n={n}: {:?} {r:?}", t.elapsed()); }
        } } } }
    println!("pairs {unchecked} of {total}");
    }
}
