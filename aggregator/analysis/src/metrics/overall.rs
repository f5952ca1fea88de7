//! `overall`: a run's metrics as plain numbers, in the shape of the API's response.

use super::{Metric, MetricDefinition, definition::RENDER_RATE, metric_at};
use indexmap::IndexMap;
use juror_types::rubric::Rubric;
use serde_json::{Map, Value};

/// A run's metrics by the sections of their paths; null wherever there is no data. Measurements
/// are absent where there are none. `grades` are verdicts per grade, for rubrics that grade.
pub(crate) fn overall(
    rubric: &Rubric,
    metrics: &[Metric],
    grades: Option<&IndexMap<String, u64>>,
) -> Map<String, Value> {
    let mut overall = Map::new();
    for definition in MetricDefinition::all(rubric) {
        let value = metric_at(metrics, &definition.path).and_then(|metric| metric.value);
        let Some((section, name)) = definition.path.split_once('.') else {
            overall.insert(definition.path, value.into());
            continue;
        };
        let section = overall.entry(section).or_insert_with(|| Map::new().into());
        if let Value::Object(section) = section
            && (value.is_some() || definition.path != RENDER_RATE)
        {
            section.insert(name.to_owned(), value.into());
        }
    }
    for section in overall.values_mut() {
        if section.as_object().is_some_and(|section| section.values().all(Value::is_null)) {
            *section = Value::Null;
        }
    }
    overall.retain(|section, content| section != "evidence" || !content.is_null());
    if let (Some(grades), Some(Value::Object(semantic))) = (grades, overall.get_mut("semantic")) {
        let grades = grades.iter().map(|(grade, count)| (grade.clone(), (*count).into()));
        semantic.insert("grades".to_owned(), Value::Object(grades.collect()));
    }
    overall
}
