//! Filters on the items that a run judges, such as `tags=button` or `labels.source!=figma`.

use juror_types::item::Item;
use serde_json::{Map, Value};
use std::{fmt, str::FromStr};

/// A condition on one field of an item.
///
/// Keys are `id`, `tags`, `cluster`, `language`, `style`, `expected_pattern`, `retrieved_pattern`,
/// `quality_score`, `labels.NAME`, and every further field of the manifest's line, with dots into
/// nested objects. A list matches by any of its values. An absent field has no value, so that `!=`
/// holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    key: String,
    value: String,
    negated: bool,
}

/// An invalid filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("filter {0:?} is invalid: use KEY=VALUE or KEY!=VALUE, as in tags=button")]
pub struct InvalidFilter(String);

impl FromStr for Filter {
    type Err = InvalidFilter;

    fn from_str(text: &str) -> Result<Self, InvalidFilter> {
        let invalid = || InvalidFilter(text.to_owned());
        let (key, value) = text.split_once('=').ok_or_else(invalid)?;
        let (key, negated) = match key.strip_suffix('!') {
            Some(key) => (key, true),
            None => (key, false),
        };
        let key = key.trim();
        if key.is_empty() {
            return Err(invalid());
        }
        Ok(Self { key: key.to_owned(), value: value.trim().to_owned(), negated })
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negated { "!=" } else { "=" };
        write!(formatter, "{}{sign}{}", self.key, self.value)
    }
}

impl Filter {
    /// Field that is compared.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// True if an item matches.
    pub fn holds(&self, item: &Item) -> bool {
        self.compare(item).unwrap_or(false) != self.negated
    }

    /// True if an item has the field.
    pub fn applies(&self, item: &Item) -> bool {
        self.compare(item).is_some()
    }

    /// True if the field has the value; `None` if the field is absent.
    fn compare(&self, item: &Item) -> Option<bool> {
        let text = |field: &Option<String>| field.as_ref().map(|text| *text == self.value);
        match self.key.as_str() {
            "id" => Some(item.id == self.value),
            "tags" => (!item.tags.is_empty()).then(|| item.tags.contains(&self.value)),
            "cluster" => text(&item.cluster),
            "language" => item.language.map(|language| language.name() == self.value),
            "style" => text(&item.style),
            "expected_pattern" => text(&item.expected_pattern),
            "retrieved_pattern" => text(&item.retrieved_pattern),
            "quality_score" => item.quality_score.map(|score| self.value.parse() == Ok(score)),
            key => {
                let label = key.strip_prefix("labels.").and_then(|name| find(&item.labels, name));
                label.or_else(|| find(&item.metadata, key)).map(|found| self.equals(found))
            }
        }
    }

    fn equals(&self, found: &Value) -> bool {
        match found {
            Value::String(text) => *text == self.value,
            Value::Number(number) => {
                number.to_string() == self.value
                    || self.value.parse().is_ok_and(|value: f64| number.as_f64() == Some(value))
            }
            Value::Bool(truth) => truth.to_string() == self.value,
            Value::Array(values) => values.iter().any(|value| self.equals(value)),
            Value::Null | Value::Object(_) => false,
        }
    }
}

/// A field by its name, or by a dotted path through nested objects.
fn find<'a>(fields: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let nested = || {
        path.match_indices('.').find_map(|(dot, _)| {
            let inner = fields.get(path.get(..dot)?)?.as_object()?;
            find(inner, path.get(dot + 1..)?)
        })
    };
    fields.get(path).or_else(nested)
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_types::item::Language;
    use serde_json::json;

    fn item() -> Item {
        let Value::Object(labels) = json!({"visual_similarity": 9, "by": "ann"}) else { panic!() };
        let Value::Object(metadata) = json!({
            "split": "test", "source.tool": "figma", "facts": {"pixels": {"differ": 3.0}},
            "dark": true, "sizes": [1, 2],
        }) else {
            panic!()
        };
        Item {
            id: "one".into(),
            tags: vec!["button".into(), "dark".into()],
            language: Some(Language::Tsx),
            expected_pattern: Some("a=b".into()),
            quality_score: Some(0.5),
            labels,
            metadata,
            ..Item::default()
        }
    }

    fn holds(filter: &str) -> bool {
        filter.parse::<Filter>().unwrap().holds(&item())
    }

    #[test]
    fn conditions_that_hold() {
        for filter in [
            "id=one",
            "tags=dark",
            "tags!=light",
            "language=tsx",
            "expected_pattern=a=b",
            "quality_score=0.50",
            "labels.visual_similarity=9",
            "labels.by = ann",
            "split=test",
            "source.tool=figma",
            "facts.pixels.differ=3",
            "dark=true",
            "sizes=2",
            "nothing!=there",
            "cluster!=x",
        ] {
            assert!(holds(filter), "{filter}");
        }
    }

    #[test]
    fn conditions_that_do_not_hold() {
        for filter in [
            "id=on",
            "tags=butto",
            "tags!=dark",
            "cluster=",
            "labels.by=bob",
            "split!=test",
            "facts=3",
            "facts.pixels=3",
            "facts..differ=3",
            "sizes=3",
            "nothing=there",
        ] {
            assert!(!holds(filter), "{filter}");
        }
    }

    #[test]
    fn invalid_conditions_are_refused() {
        for text in ["", "tags", "=x", "!=x", " =x"] {
            assert!(text.parse::<Filter>().is_err(), "{text:?}");
        }
        let error = "tags".parse::<Filter>().unwrap_err().to_string();
        assert!(error.contains("KEY=VALUE"), "{error}");
    }

    #[test]
    fn condition_round_trips() {
        for text in ["tags=button", "split!=test", "expected_pattern=a=b"] {
            assert_eq!(text.parse::<Filter>().unwrap().to_string(), text);
        }
    }
}
