//! Detection of models with image input, for servers that report it: OpenRouter in its model list,
//! LiteLLM and Ollama at their own paths.

use crate::vision::http::{Http, Reply, ReplyBody};
use serde_json::{Value, json};

/// True if OpenRouter's model list declares image input; `None` if it declares nothing.
pub(super) fn in_model_list(content: &[u8], model: &str) -> Option<bool> {
    let list: Value = serde_json::from_slice(content).ok()?;
    let is_it = |entry: &&Value| entry.get("id").is_some_and(|id| id == model);
    let entry = list.get("data")?.as_array()?.iter().find(is_it)?;
    let modalities = entry.pointer("/architecture/input_modalities")?.as_array()?;
    Some(modalities.iter().any(|modality| modality == "image"))
}

/// True if LiteLLM, or else Ollama, reports it. Costs nothing; `None` for any other server.
pub(super) async fn query_model(http: &Http, model: &str) -> Option<bool> {
    let info = http.get(&["model", "info"], &[]).await.ok().and_then(json_of);
    if let Some(reported) = info.and_then(|info| in_model_info(&info, model)) {
        return Some(reported);
    }
    let question = json!({"model": model}).to_string();
    let shown = http.post_to_root("/api/show", question).await.ok().and_then(json_of)?;
    let capabilities = shown.get("capabilities")?.as_array()?;
    Some(capabilities.iter().any(|capability| capability == "vision"))
}

/// True if LiteLLM reports it for each deployment behind the model's name.
fn in_model_info(info: &Value, model: &str) -> Option<bool> {
    let deployments = info.get("data")?.as_array()?;
    let of_model = deployments
        .iter()
        .filter(|deployment| deployment.get("model_name").is_some_and(|name| name == model));
    // Any deployment may get the call, so one without images decides.
    of_model
        .filter_map(|deployment| deployment.pointer("/model_info/supports_vision")?.as_bool())
        .min()
}

fn json_of(reply: Reply) -> Option<Value> {
    match reply.body {
        ReplyBody::Whole(content) if reply.status == 200 => serde_json::from_slice(&content).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_list_declares_modalities_or_nothing() {
        let list = json!({"data": [
            {"id": "text", "architecture": {"input_modalities": ["text"]}},
            {"id": "vision", "architecture": {"input_modalities": ["text", "image"]}},
            {"id": "bare"},
        ]});
        let list = list.to_string();
        for (model, reported) in
            [("text", Some(false)), ("vision", Some(true)), ("bare", None), ("none", None)]
        {
            assert_eq!(in_model_list(list.as_bytes(), model), reported, "{model}");
        }
        assert_eq!(in_model_list(b"<html>", "text"), None);
    }

    #[test]
    fn one_deployment_without_image_input_suffices() {
        let deployment = |name: &str, supports: Value| json!({"model_name": name, "model_info": {"supports_vision": supports}});
        let info = json!({"data": [
            deployment("mixed", true.into()),
            deployment("mixed", false.into()),
            deployment("vision", true.into()),
            deployment("untold", Value::Null),
        ]});
        for (model, reported) in
            [("mixed", Some(false)), ("vision", Some(true)), ("untold", None), ("none", None)]
        {
            assert_eq!(in_model_info(&info, model), reported, "{model}");
        }
    }
}
