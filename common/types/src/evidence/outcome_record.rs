//! An outcome as it is read: by its first field, a failure or evidence. A derived reader would keep
//! every record in memory as a tree to try both.

use super::{Evidence, EvidenceOutcome};
use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeSeed, Error as _, IgnoredAny, IntoDeserializer as _, MapAccess, Visitor,
        value::MapAccessDeserializer,
    },
};
use std::fmt;

impl<'de> Deserialize<'de> for EvidenceOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OutcomeVisitor)
    }
}

struct OutcomeVisitor;

impl<'de> Visitor<'de> for OutcomeVisitor {
    type Value = EvidenceOutcome;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("measured evidence, or the error of rendering")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<EvidenceOutcome, A::Error> {
        let first =
            fields.next_key::<String>()?.ok_or_else(|| A::Error::missing_field("schema"))?;
        if first == "error" {
            let error = fields.next_value()?;
            while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(EvidenceOutcome::Failed { error });
        }
        let fields = FieldsFromFirst { first: Some(first), rest: fields };
        let evidence = Evidence::deserialize(MapAccessDeserializer::new(fields))?;
        Ok(EvidenceOutcome::Measured(Box::new(evidence)))
    }
}

/// Fields of which the first key has been read.
struct FieldsFromFirst<A> {
    first: Option<String>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for FieldsFromFirst<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        match self.first.take() {
            Some(first) => seed.deserialize(first.into_deserializer()).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.rest.next_value_seed(seed)
    }
}
