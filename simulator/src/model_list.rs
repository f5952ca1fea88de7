//! Free list of models, in the shapes of OpenAI and, with quirks, of OpenRouter, LiteLLM and
//! Ollama.

use crate::{SimulatorConfig, quirk::Quirk};
use juror_types::model::PriceEntry;
use serde_json::{Value, json};

/// The reply at this path; `None` if no list is there.
pub(crate) fn respond(config: &SimulatorConfig, post: bool, path: &str) -> Option<Value> {
    if post {
        let shows = path == "/api/show" && config.has_quirk(Quirk::OllamaTextModel);
        return shows.then(|| json!({"capabilities": ["completion", "tools"]}));
    }
    let list = |entry: &dyn Fn(&PriceEntry) -> Value| {
        let models: Vec<Value> = config.prices.iter().map(entry).collect();
        json!({"object": "list", "data": models})
    };
    if path.ends_with("/model/info") && config.has_quirk(Quirk::LitellmTextModel) {
        return Some(list(
            &|entry| json!({"model_name": entry.model, "model_info": {"supports_vision": false}}),
        ));
    }
    let lists_modalities = config.has_quirk(Quirk::OpenrouterTextModel);
    path.ends_with("/models").then(|| list(&|entry| model(entry, lists_modalities)))
}

fn model(entry: &PriceEntry, lists_modalities: bool) -> Value {
    let owner = entry.provider.map_or("user", |provider| provider.name());
    let mut model = json!({"id": entry.model, "object": "model", "created": 0, "owned_by": owner});
    if lists_modalities && let Some(fields) = model.as_object_mut() {
        let architecture = json!({"modality": "text->text", "input_modalities": ["text"]});
        fields.insert("architecture".to_owned(), architecture);
    }
    model
}
