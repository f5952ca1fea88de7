//! Published schemas of Juror's files, for the API's document.

use serde_json::{Map, Value};
use std::borrow::Cow;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{Ref, RefOr, schema::Schema},
};

const REPORT: &str = include_str!("../../docs/schemas/report.schema.json");
const RESULT: &str = include_str!("../../docs/schemas/result.schema.json");

/// Prefix of definitions in the published files, and in the document.
const FILE_PREFIX: &str = "#/$defs/";
const DOCUMENT_PREFIX: &str = "#/components/schemas/";

/// Parts of schemas that get a separate schema: containing schema and property.
const PARTS: [(&str, &str); 10] = [
    ("report", "run"),
    ("run", "dataset"),
    ("run", "rubric"),
    ("run", "judge"),
    ("report", "overall"),
    ("report", "intervals"),
    ("report", "coverage"),
    ("report", "cost"),
    ("report", "targets"),
    ("report", "comparison"),
];

macro_rules! published {
    ($($type:ident = $name:literal),*) => {$(
        /// Reference to a published schema.
        pub struct $type;

        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                Ref::from_schema_name($name).into()
            }
        }

        impl ToSchema for $type {
            fn name() -> Cow<'static, str> {
                Cow::Borrowed($name)
            }
        }
    )*};
}

published! {
    Money = "money", Digest = "digest", Outcome = "outcome", Row = "row", Error = "error",
    Report = "report", JobResult = "result", RunSummary = "run", Dataset = "dataset",
    Rubric = "rubric", Judge = "judge", Overall = "overall", Intervals = "intervals",
    Severity = "severity", Coverage = "coverage", Cost = "cost", Targets = "targets", Comparison = "comparison"
}

/// Published schemas by their names in the document. A name in both files has the same definition.
pub fn schemas() -> Result<Map<String, Value>, serde_json::Error> {
    let mut schemas = Map::new();
    let report = definitions_of(REPORT, &mut schemas)?;
    schemas.insert("report".to_owned(), report);
    for (whole, part) in PARTS {
        let place = format!("/{whole}/properties/{part}");
        let mut whole = Value::Object(std::mem::take(&mut schemas));
        let reference = serde_json::json!({ "$ref": format!("{DOCUMENT_PREFIX}{part}") });
        let extracted = whole.pointer_mut(&place).map(|place| std::mem::replace(place, reference));
        if let Value::Object(all) = whole {
            schemas = all;
        }
        schemas.extend(extracted.map(|schema| (part.to_owned(), schema)));
    }
    let result = definitions_of(RESULT, &mut schemas)?;
    schemas.insert("result".to_owned(), result);
    Ok(schemas)
}

/// Moves a file's definitions into `schemas`; returns its own schema.
fn definitions_of(
    text: &str,
    schemas: &mut Map<String, Value>,
) -> Result<Value, serde_json::Error> {
    let mut file: Value = serde_json::from_str(text)?;
    rename_references(&mut file);
    if let Value::Object(file) = &mut file {
        file.remove("$schema");
        if let Some(Value::Object(definitions)) = file.remove("$defs") {
            schemas.extend(definitions);
        }
    }
    Ok(file)
}

fn rename_references(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == "$ref" => {
                        *text = text.replacen(FILE_PREFIX, DOCUMENT_PREFIX, 1);
                    }
                    value => rename_references(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(rename_references),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_in_both_files_has_one_definition() {
        let (mut of_reports, mut of_results) = (Map::new(), Map::new());
        definitions_of(REPORT, &mut of_reports).unwrap();
        definitions_of(RESULT, &mut of_results).unwrap();
        for (name, definition) in &of_results {
            assert!(of_reports.get(name).is_none_or(|other| other == definition), "{name}");
        }
    }

    #[test]
    fn every_reference_resolves() {
        let schemas = schemas().unwrap();
        let text = serde_json::to_string(&schemas).unwrap();
        assert!(!text.contains("$defs"));
        let references = text.split("\"$ref\":\"").skip(1);
        for reference in references.map(|rest| rest.split('"').next().unwrap()) {
            let name = reference.strip_prefix(DOCUMENT_PREFIX).unwrap();
            assert!(schemas.contains_key(name), "{reference}");
        }
        for (_, part) in PARTS {
            assert!(schemas.contains_key(part), "{part}");
        }
    }
}
