//! Parsing of one line's fields to an item.

use super::{
    DatasetShape,
    error::{DatasetProblem, FieldError},
    reference_check::Files,
    warnings::Warnings,
};
use crate::dataset::raw::kind_of;
use juror_types::{
    SCHEMA,
    id::Digest,
    item::{ImageReference, Item, Language, Text, TokenSource},
    reference::{Reference, shown},
    suggestion,
};
use serde_json::{Map, Value};
use std::path::Path;

/// All known fields except the rubric's images.
pub(super) const KNOWN_FIELDS: [&str; 16] = [
    "id",
    "generated_code",
    "language",
    "rendered",
    "props",
    "sha256",
    "expected_tokens",
    "extracted_tokens",
    "expected_pattern",
    "retrieved_pattern",
    "quality_score",
    "style",
    "tags",
    "cluster",
    "labels",
    "schema",
];

/// Parses one line's fields; unknown ones become metadata.
pub(super) fn parse_item(
    fields: Map<String, Value>,
    shape: &DatasetShape,
    files: &Files,
    warnings: &mut Warnings,
) -> Result<Item, FieldError> {
    let mut fields = Fields { left: fields, files };
    fields.schema()?;
    let mut item = Item { id: fields.id(shape)?, ..Item::default() };
    check_id(&item.id)?;
    for name in &shape.images {
        let reference = fields.required_text(name, shape)?;
        fields.allow(name, &reference)?;
        item.images.insert(name.clone(), ImageReference { reference, sha256: None });
    }
    item.rendered = fields.rendered()?;
    fields.digests(&mut item)?;
    item.generated_code = fields.code()?;
    item.language = fields.language(item.generated_code.as_ref())?;
    item.expected_tokens = fields.tokens("expected_tokens")?;
    item.extracted_tokens = fields.tokens("extracted_tokens")?;
    item.expected_pattern = fields.non_blank_text("expected_pattern")?;
    item.retrieved_pattern = fields.text("retrieved_pattern")?;
    item.quality_score = fields.quality_score()?;
    item.style = match shape.style_required {
        true => Some(fields.required_text("style", shape)?),
        false => fields.text("style")?,
    };
    item.props = fields.object("props")?.unwrap_or_default();
    item.tags = fields.tags()?;
    item.cluster = fields.non_blank_text("cluster")?;
    item.labels = fields.object("labels")?.unwrap_or_default();
    item.metadata = fields.left;
    item.metadata.retain(|key, value| !value.is_null() && warnings.keeps(key, value));
    for place in item.references().filter_map(|reference| files.not_allowed(reference)) {
        warnings.not_allowed(place);
    }
    Ok(item)
}

/// Refuses an id that cannot be shown on one line, or cannot be part of a URL.
pub(super) fn check_id(id: &str) -> Result<(), FieldError> {
    let refused =
        |problem: fn(String) -> DatasetProblem| Err(FieldError::new("id", problem(id.into())));
    match id {
        _ if id.chars().any(char::is_control) => refused(DatasetProblem::ControlCharacters),
        "." | ".." => refused(DatasetProblem::DotsAlone),
        _ => Ok(()),
    }
}

struct Fields<'a> {
    left: Map<String, Value>,
    files: &'a Files,
}

impl Fields<'_> {
    /// A field's value; null is absent.
    fn take(&mut self, name: &str) -> Option<Value> {
        self.left.shift_remove(name).filter(|value| !value.is_null())
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, FieldError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(name, "a text in quotes", &other)),
        }
    }

    /// A text; a blank one is absent.
    fn non_blank_text(&mut self, name: &str) -> Result<Option<String>, FieldError> {
        Ok(self.text(name)?.filter(|text| !text.trim().is_empty()))
    }

    /// The id; a whole number becomes its digits.
    fn id(&mut self, shape: &DatasetShape) -> Result<String, FieldError> {
        if let Some(Value::Number(number)) = self.left.get("id")
            && (number.is_u64() || number.is_i64())
        {
            let id = number.to_string();
            self.take("id");
            return Ok(id);
        }
        self.required_text("id", shape)
    }

    fn required_text(&mut self, name: &str, shape: &DatasetShape) -> Result<String, FieldError> {
        match self.text(name)? {
            Some(text) if text.trim().is_empty() => {
                Err(FieldError::new(name, DatasetProblem::Empty))
            }
            Some(text) => Ok(text),
            None => {
                let known = shape.known_fields();
                let mut keys = self.left.keys().filter(|key| !known.contains(&key.as_str()));
                let like = keys.find(|key| suggestion::find(key, &[name]).is_some());
                Err(FieldError::new(name, DatasetProblem::Missing { like: like.cloned() }))
            }
        }
    }

    fn object(&mut self, name: &str) -> Result<Option<Map<String, Value>>, FieldError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(wrong_type(name, "an object", &other)),
        }
    }

    fn allow(&self, name: &str, reference: &str) -> Result<(), FieldError> {
        self.files.allow(reference).map_err(|problem| FieldError::new(name, problem))
    }

    /// Image of the rendered code; `None` if the rubric has an image of this name, which was
    /// parsed.
    fn rendered(&mut self) -> Result<Option<ImageReference>, FieldError> {
        let reference = self.non_blank_text(Item::RENDERED)?;
        let Some(reference) = reference else { return Ok(None) };
        self.allow(Item::RENDERED, &reference)?;
        Ok(Some(ImageReference { reference, sha256: None }))
    }

    fn schema(&mut self) -> Result<(), FieldError> {
        match self.take("schema") {
            Some(version) if version.as_u64() != Some(SCHEMA.into()) => Err(FieldError::new(
                "schema",
                DatasetProblem::Schema { found: version.to_string() },
            )),
            _ => Ok(()),
        }
    }

    fn digests(&mut self, item: &mut Item) -> Result<(), FieldError> {
        let fail = |problem| FieldError::new("sha256", problem);
        let parse = |text: &str| {
            text.parse::<Digest>().map_err(|error| fail(DatasetProblem::Digest(error.to_string())))
        };
        match self.take("sha256") {
            None => {}
            Some(Value::String(text)) => {
                let digest = parse(&text)?;
                if let Some(image) = item.images.values_mut().next() {
                    image.sha256 = Some(digest);
                }
            }
            Some(Value::Object(digests)) => {
                for (name, text) in digests.iter().filter(|(_, text)| !text.is_null()) {
                    let Some(text) = text.as_str() else {
                        return Err(wrong_type("sha256", "a text for each image", text));
                    };
                    let digest = parse(text)?;
                    let rendered = item.rendered.as_mut().filter(|_| name == Item::RENDERED);
                    match item.images.get_mut(name).or(rendered) {
                        Some(image) => image.sha256 = Some(digest),
                        None => {
                            let known = item.images.keys().cloned().collect::<Vec<_>>().join(", ");
                            return Err(fail(DatasetProblem::UnknownImage {
                                name: name.clone(),
                                known,
                            }));
                        }
                    }
                }
            }
            Some(other) => {
                return Err(wrong_type(
                    "sha256",
                    "a text, or an object with one per image",
                    &other,
                ));
            }
        }
        Ok(())
    }

    /// The code; blank code counts as not generated. A path or URL without a supported extension is
    /// an error, since it would be judged as code itself.
    fn code(&mut self) -> Result<Option<Text>, FieldError> {
        let code = self.non_blank_text("generated_code")?;
        let Some(code) = code else { return Ok(None) };
        if language_of_path(&code).is_none() {
            let is_path = is_url(&code)
                || looks_like_path(&code) && code.contains('/')
                || is_one_word(&code) && self.is_file(&code);
            let problem = || DatasetProblem::CodePath(shown(&code).into_owned());
            return match is_path {
                true => Err(FieldError::new("generated_code", problem())),
                false => Ok(Some(Text::Inline(code))),
            };
        }
        self.allow("generated_code", &code)?;
        Ok(Some(Text::Path(code)))
    }

    /// True for the path of a file, also without its extension.
    fn is_file(&self, path: &str) -> bool {
        let is_file = |path: &str| self.files.find(path, "").is_ok();
        let mut extensions = Language::EXTENSIONS.iter().map(|(extension, _)| extension);
        is_file(path) || extensions.any(|extension| is_file(&format!("{path}.{extension}")))
    }

    fn language(&mut self, code: Option<&Text>) -> Result<Option<Language>, FieldError> {
        match self.text("language")? {
            Some(name) => match Language::from_extension(&name) {
                None => Err(FieldError::new("language", DatasetProblem::Language(name))),
                language => Ok(language),
            },
            None => Ok(code.and_then(Text::path).and_then(language_of_path)),
        }
    }

    fn tokens(&mut self, name: &str) -> Result<Option<TokenSource>, FieldError> {
        match self.take(name) {
            None => Ok(None),
            Some(tokens @ Value::Object(_)) => Ok(Some(TokenSource::Inline(tokens))),
            Some(Value::String(text)) if text.trim_start().starts_with(['{', '[']) => {
                Err(FieldError::new(name, DatasetProblem::QuotedTokens))
            }
            Some(Value::String(path)) if path.trim().is_empty() => Ok(None),
            Some(Value::String(path)) => {
                self.allow(name, &path)?;
                Ok(Some(TokenSource::Path(path)))
            }
            Some(other) => Err(wrong_type(name, "an object or the path of a file", &other)),
        }
    }

    fn quality_score(&mut self) -> Result<Option<f64>, FieldError> {
        let Some(value) = self.take("quality_score") else { return Ok(None) };
        match value.as_f64() {
            Some(score) if (0.0..=1.0).contains(&score) => Ok(Some(score)),
            Some(score) => {
                Err(FieldError::new("quality_score", DatasetProblem::QualityScore(score)))
            }
            None => Err(wrong_type("quality_score", "a number from 0 to 1", &value)),
        }
    }

    /// The tags; a single text is one tag.
    fn tags(&mut self) -> Result<Vec<String>, FieldError> {
        match self.take("tags") {
            None => Ok(Vec::new()),
            Some(Value::String(tag)) => Ok(vec![tag]),
            Some(Value::Array(tags)) => {
                let tag = |tag| match tag {
                    Value::String(tag) => Ok(tag),
                    other => Err(wrong_type("tags", "a list of texts", &other)),
                };
                tags.into_iter().map(tag).collect()
            }
            Some(other) => Err(wrong_type("tags", "a list of texts", &other)),
        }
    }
}

fn wrong_type(name: &str, expected: &'static str, found: &Value) -> FieldError {
    FieldError::new(name, DatasetProblem::WrongType { expected, found: kind_of(found) })
}

/// The language of a text that is a path or URL; `None` if it is code. A path is one line with a
/// known extension and without `<` or `{`.
fn language_of_path(text: &str) -> Option<Language> {
    if text.contains(['<', '{', '\n', '\r']) {
        return None;
    }
    Language::from_path(text)
}

/// True for one word with a scheme.
fn is_url(text: &str) -> bool {
    !text.contains(char::is_whitespace) && !Reference::is_path(text)
}

/// True for one word without any of the signs of code.
fn is_one_word(text: &str) -> bool {
    let is_sign = |sign: char| sign.is_whitespace() || "<>{}()[];=,\"'`".contains(sign);
    !shown(text).contains(is_sign)
}

/// True for one word that ends in an extension.
fn looks_like_path(text: &str) -> bool {
    let path = shown(text);
    let extension = Path::new(&*path).extension().and_then(|extension| extension.to_str());
    let is_extension = |extension: &str| {
        extension.starts_with(|first: char| first.is_ascii_alphabetic())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    is_one_word(text) && extension.is_some_and(is_extension)
}

#[cfg(test)]
mod tests;
