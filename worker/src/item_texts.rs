//! Reading of an item's files beside its images: code and tokens, ready for stages and prompt.

use crate::{
    design_tokens::{InvalidTokens, flatten},
    sources::{SourceError, Sources},
};
use bytes::Bytes;
use juror_files::data_roots::{FileError, MAX_CODE_BYTES, MAX_TEXT_BYTES};
use juror_types::{
    byte_order_mark::without_byte_order_mark,
    id::Digest,
    item::{Item, Language, Text, TokenSource, Tokens},
    outcome::{ErrorKind, InputRecord, JobError},
    reference::shown,
    unique_fields::UniqueJson,
};
use std::{borrow::Cow, collections::BTreeMap, path::Path};

/// Starts and ends of comments in TSX and HTML.
const COMMENTS: [(&str, &str); 3] = [("//", "\n"), ("/*", "*/"), ("<!--", "-->")];

/// An item with its files read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadedItem {
    /// The generated code; `None` if it is missing, blank or too large.
    pub code: Option<String>,
    /// Reason why a file of code is not used, blank or too large; a finding about the item.
    pub unusable_code: Option<String>,
    /// Language, if there is code.
    pub language: Option<Language>,
    /// The true tokens, flat.
    pub expected_tokens: Option<Tokens>,
    /// The tokens that the pipeline extracted, flat.
    pub extracted_tokens: Option<Tokens>,
    /// The pattern that retrieval should find.
    pub expected_pattern: Option<String>,
    /// The pattern that it retrieved.
    pub retrieved_pattern: Option<String>,
    /// The pipeline's own quality score, 0 to 1.
    pub quality_score: Option<f64>,
}

/// Reads an item's code and tokens. Errors are of kind `input` and name field and file.
pub async fn load(item: &Item, sources: &Sources) -> Result<LoadedItem, JobError> {
    let mut unusable_code = None;
    let (code, named) = match &item.generated_code {
        None => (None, None),
        Some(Text::Inline(code)) => (Some(code.clone()), None),
        Some(Text::Path(path)) => match read_code(path, sources).await? {
            CodeFile::Read(code) => (Some(code), Language::from_path(path)),
            CodeFile::Unusable(reason) => {
                unusable_code = Some(reason);
                (None, None)
            }
        },
    };
    let code = code.filter(|code| !is_blank(code));
    let language = code
        .as_deref()
        .map(|code| item.language.or(named).unwrap_or_else(|| language_of_code(code)));
    Ok(LoadedItem {
        code,
        unusable_code,
        language,
        expected_tokens: read_tokens("expected_tokens", &item.expected_tokens, sources).await?,
        extracted_tokens: read_tokens("extracted_tokens", &item.extracted_tokens, sources).await?,
        expected_pattern: item.expected_pattern.clone(),
        retrieved_pattern: item.retrieved_pattern.clone(),
        quality_score: item.quality_score,
    })
}

/// The texts for stages and judge, by the names of [`InputRecord`]: code as UTF-8 without a byte
/// order mark, tokens flat, as JSON in the order of their names.
pub fn texts(loaded: &LoadedItem) -> BTreeMap<&'static str, Cow<'_, [u8]>> {
    let tokens = |tokens: &Option<Tokens>| serde_json::to_vec(tokens.as_ref()?).ok();
    let code = loaded.code.as_deref().map(|code| Cow::Borrowed(code.as_bytes()));
    let [expected, extracted] = [&loaded.expected_tokens, &loaded.extracted_tokens]
        .map(|each| tokens(each).map(Cow::Owned));
    let named = InputRecord::TEXTS.into_iter().zip([code, expected, extracted]);
    named.filter_map(|(name, text)| Some((name, text?))).collect()
}

/// Digests of [`texts`].
pub fn text_digests(loaded: &LoadedItem) -> BTreeMap<&'static str, Digest> {
    texts(loaded).into_iter().map(|(name, text)| (name, Digest::from_content(&text))).collect()
}

/// True if code is empty, or only white space and comments, as a pipeline may leave that failed.
pub fn is_blank(code: &str) -> bool {
    let mut rest = code.trim_start();
    while let Some((_, end)) = COMMENTS.into_iter().find(|(start, _)| rest.starts_with(start)) {
        rest = rest.split_once(end).map_or("", |(_, after)| after).trim_start();
    }
    rest.is_empty()
}

/// The guessed language of code: markup that starts with a lowercase tag, a comment or a doctype is
/// HTML; all else is TSX, in which JavaScript is valid too.
pub fn language_of_code(code: &str) -> Language {
    let tag = code.trim_start().strip_prefix('<').and_then(|rest| rest.chars().next());
    match tag {
        Some(first) if first.is_ascii_lowercase() || first == '!' => Language::Html,
        _ => Language::Tsx,
    }
}

/// A file of code.
enum CodeFile {
    Read(String),
    /// The file is not used, for this reason.
    Unusable(String),
}

async fn read_code(path: &str, sources: &Sources) -> Result<CodeFile, JobError> {
    let read = sources.read(path, MAX_CODE_BYTES).await;
    if let Err(SourceError::File(FileError::TooLarge { .. })) = read {
        return Ok(CodeFile::Unusable(format!(
            "the code is larger than {} MB: {}",
            MAX_CODE_BYTES >> 20,
            shown(path)
        )));
    }
    let code = utf8("generated_code", path, read)?;
    match is_blank(&code) {
        true => Ok(CodeFile::Unusable(format!("{} contains no code", shown(path)))),
        false => Ok(CodeFile::Read(code)),
    }
}

fn utf8(field: &str, path: &str, read: Result<Bytes, SourceError>) -> Result<String, JobError> {
    let bytes = read.map_err(|error| input_error(format!("{field}: {error}")))?;
    let text = std::str::from_utf8(without_byte_order_mark(&bytes)).map_err(|error| {
        input_error(format!("{field}: {}: not UTF-8 text: {error}", shown(path)))
    })?;
    Ok(text.to_owned())
}

async fn read_tokens(
    field: &str,
    source: &Option<TokenSource>,
    sources: &Sources,
) -> Result<Option<Tokens>, JobError> {
    let invalid =
        |place: &str, error: InvalidTokens| input_error(format!("{field}{place}: {error}"));
    match source {
        None => Ok(None),
        Some(TokenSource::Inline(value)) => {
            flatten(value).map(Some).map_err(|error| invalid("", error))
        }
        Some(TokenSource::Path(path)) => {
            let shown = shown(path);
            if Path::new(&*shown).extension().is_some_and(|ending| ending == "json5") {
                return Err(input_error(format!(
                    "{field}: {shown}: JSON5 is not read: convert the file to JSON"
                )));
            }
            let text = utf8(field, path, sources.read(path, MAX_TEXT_BYTES).await)?;
            let UniqueJson(value) = serde_json::from_str(&text)
                .map_err(|error| input_error(format!("{field}: {shown}: not JSON: {error}")))?;
            flatten(&value).map(Some).map_err(|error| invalid(&format!(": {shown}"), error))
        }
    }
}

fn input_error(message: String) -> JobError {
    JobError { kind: ErrorKind::Input, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_files::data_roots::Roots;
    use serde_json::json;
    use std::fs;

    fn folder() -> (tempfile::TempDir, Sources) {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("a.tsx", &b"\xef\xbb\xbfexport const A = 1"[..]),
            ("latin1.html", b"caf\xe9"),
            ("tokens.json", br#"{"color":{"primary":"red"}}"#),
            ("broken.json", b"{\n  oops"),
            ("list.json", b"3"),
            ("tokens.json5", b"{}"),
        ] {
            fs::write(folder.path().join(name), content).unwrap();
        }
        fs::write(folder.path().join("large.html"), vec![b'x'; 5 << 20]).unwrap();
        let roots = Roots::new(vec![folder.path().to_owned()]);
        (folder, Sources::local(roots))
    }

    #[tokio::test]
    async fn files_and_inline_texts_load_alike() {
        let (_folder, sources) = folder();
        let item = Item {
            generated_code: Some(Text::Path("a.tsx".to_owned())),
            expected_tokens: Some(TokenSource::Path("tokens.json".to_owned())),
            extracted_tokens: Some(TokenSource::Inline(json!({"color.primary": "red"}))),
            ..Item::default()
        };
        let loaded = load(&item, &sources).await.unwrap();
        assert_eq!(loaded.code.as_deref(), Some("export const A = 1"));
        assert_eq!(loaded.language, Some(Language::Tsx));
        assert_eq!(loaded.expected_tokens, loaded.extracted_tokens);
        assert_eq!(load(&Item::default(), &sources).await.unwrap(), LoadedItem::default());
    }

    #[tokio::test]
    async fn unusable_code_is_no_error() {
        let (folder, sources) = folder();
        let code = |path: &str| Item {
            generated_code: Some(Text::Path(path.to_owned())),
            ..Item::default()
        };
        let loaded = load(&code("large.html"), &sources).await.unwrap();
        let reason = "the code is larger than 4 MB: large.html";
        assert_eq!((loaded.code, loaded.unusable_code.as_deref()), (None, Some(reason)));
        fs::write(folder.path().join("fits.html"), vec![b'x'; 4 << 20]).unwrap();
        let loaded = load(&code("fits.html"), &sources).await.unwrap();
        assert_eq!((loaded.code.unwrap().len(), loaded.unusable_code), (4 << 20, None));
    }

    #[tokio::test]
    async fn unusable_text_names_field_file_and_reason() {
        let (_folder, sources) = folder();
        let code = |path: &str| Item {
            generated_code: Some(Text::Path(path.to_owned())),
            ..Item::default()
        };
        let tokens = |path: &str| Item {
            expected_tokens: Some(TokenSource::Path(path.to_owned())),
            ..Item::default()
        };
        for (item, message) in [
            (code("none.tsx"), "generated_code: none.tsx: no such file"),
            (code("latin1.html"), "generated_code: latin1.html: not UTF-8"),
            (tokens("large.html"), "expected_tokens: large.html: larger than"),
            (tokens("broken.json"), "expected_tokens: broken.json: not JSON"),
            (tokens("list.json"), "expected_tokens: list.json: tokens must be"),
            (tokens("tokens.json5"), "expected_tokens: tokens.json5: JSON5 is not read"),
        ] {
            let error = load(&item, &sources).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Input);
            assert!(error.message.starts_with(message), "{}", error.message);
        }
    }

    #[test]
    fn language_follows_the_extension_before_any_suffix() {
        for name in ["a.html", "https://host/a.html?signature=b.tsx", "s3://bucket/a.html"] {
            assert_eq!(Language::from_path(name), Some(Language::Html), "{name}");
        }
    }

    #[test]
    fn language_is_detected_from_code_alone() {
        for (code, language) in [
            ("<!doctype html><p>a", Language::Html),
            ("\n <div class=\"a\">", Language::Html),
            ("<Button />", Language::Tsx),
            ("<>text</>", Language::Tsx),
            ("export default () => <p/>", Language::Tsx),
            ("", Language::Tsx),
        ] {
            assert_eq!(language_of_code(code), language, "{code}");
        }
    }

    #[test]
    fn comments_alone_are_no_code() {
        for blank in [
            "",
            " \n",
            "// generation failed: timeout",
            "/* none */ // at all\n\n<!-- <p>x</p> -->",
            "/* without an end",
        ] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for code in ["<p>x</p>", "// a button\nexport const B = 1", "/**/ 1", "/ 2"] {
            assert!(!is_blank(code), "{code:?}");
        }
    }
}
