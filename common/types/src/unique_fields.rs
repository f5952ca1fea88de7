//! A JSON object whose keys each occur once.

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};
use serde_json::{Map, Value};
use std::fmt;

/// The fields of an object, in order. A key that occurs twice is an error: its first value would be
/// lost.
#[derive(Debug)]
pub struct UniqueFields(pub Map<String, Value>);

impl<'de> Deserialize<'de> for UniqueFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldVisitor)
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
        while let Some((key, value)) = entries.next_entry::<String, Value>()? {
            if fields.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} occurs twice")));
            }
            fields.insert(key, value);
        }
        Ok(UniqueFields(fields))
    }
}
