//! JSON whose objects have each key once, at any depth.

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};
use std::fmt;

/// The fields of an object, in order. A key that occurs twice in it, or in an object within, is an
/// error: its first value would be lost.
#[derive(Debug)]
pub struct UniqueFields(pub Map<String, Value>);

/// Any JSON. A key that occurs twice in one of its objects is an error.
#[derive(Debug)]
pub struct UniqueJson(pub Value);

impl<'de> Deserialize<'de> for UniqueFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldVisitor)
    }
}

impl<'de> Deserialize<'de> for UniqueJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = UniqueFields;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<UniqueFields, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if fields.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} occurs twice")));
            }
            let UniqueJson(value) = entries.next_value()?;
            fields.insert(key, value);
        }
        Ok(UniqueFields(fields))
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = UniqueJson;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<UniqueJson, E> {
        Ok(UniqueJson(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<UniqueJson, E> {
        Ok(UniqueJson(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<UniqueJson, E> {
        Ok(UniqueJson(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<UniqueJson, E> {
        Ok(UniqueJson(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<UniqueJson, E> {
        Ok(UniqueJson(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<UniqueJson, E> {
        Ok(UniqueJson(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<UniqueJson, E> {
        Ok(UniqueJson(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<UniqueJson, A::Error> {
        let mut values = Vec::new();
        while let Some(UniqueJson(value)) = entries.next_element()? {
            values.push(value);
        }
        Ok(UniqueJson(Value::Array(values)))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<UniqueJson, A::Error> {
        FieldVisitor.visit_map(entries).map(|UniqueFields(fields)| UniqueJson(fields.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_read_as_it_is_and_duplicate_keys_are_refused_at_any_depth() {
        let text =
            r#"{"b":[null,true,-1,2,0.5,"ü"],"a":{"x":1,"y":{"x":1}},"big":18446744073709551615}"#;
        let UniqueJson(read) = serde_json::from_str(text).unwrap();
        assert_eq!(read, serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(read.to_string(), text);
        for (text, key) in [
            (r#"{"a":1,"a":1}"#, "a"),
            (r#"{"tokens":{"c.p":"red","c.p":"blue"}}"#, "c.p"),
            (r#"{"list":[{"x":1,"x":2}]}"#, "x"),
            (r#"{"a":1,"a":[cut"#, "a"),
        ] {
            let error = serde_json::from_str::<UniqueFields>(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the key {key:?} occurs twice")), "{error}");
        }
    }
}
