//! The OpenAPI 3.1 document: the handlers' descriptions, completed with common responses, published
//! schemas and security.

use crate::published;
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

/// Text of the completed document.
pub fn complete(document: &OpenApi) -> Result<String, String> {
    let complete = || -> Result<String, serde_json::Error> {
        let mut document = serde_json::to_value(document)?;
        if let Some(schemas) = object_at(&mut document, "/components/schemas") {
            schemas.extend(published::schemas()?);
        }
        if let Some(components) = object_at(&mut document, "/components") {
            components.insert("securitySchemes".to_owned(), security_schemes());
        }
        if let Some(paths) = object_at(&mut document, "/paths") {
            for (path, operations) in paths {
                for (method, operation) in operations.as_object_mut().into_iter().flatten() {
                    describe(path, method, operation);
                }
            }
        }
        if let Some(document) = document.as_object_mut() {
            document.insert("info".to_owned(), info());
            document.insert("servers".to_owned(), json!([{ "url": super::BASE_PATH }]));
            // The empty one: a server on a loopback address may be open.
            document.insert("security".to_owned(), json!([{ "token": [] }, { "session": [] }, {}]));
        }
        serde_json::to_string(&document)
    };
    complete().map_err(|error| error.to_string())
}

fn object_at<'a>(value: &'a mut Value, place: &str) -> Option<&'a mut Map<String, Value>> {
    value.pointer_mut(place)?.as_object_mut()
}

fn info() -> Value {
    json!({
        "title": "Juror",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Evaluations of screenshots by a vision model. Money is US dollars as a \
                        decimal string. Errors are problem details by RFC 9457.",
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    })
}

fn security_schemes() -> Value {
    json!({
        "token": {
            "type": "http", "scheme": "bearer",
            "description": "The read token permits reading, the write token reading and writing.",
        },
        "session": {
            "type": "apiKey", "in": "cookie", "name": "juror_session_8080",
            "description": "Session cookie of the log-in form. Its name ends with the port of the \
                            server's address in the browser.",
        },
    })
}

/// Adds the common responses to an operation, and problem details as the body of its errors.
fn describe(path: &str, method: &str, operation: &mut Value) {
    let has_body = operation.get("requestBody").is_some();
    let Some(responses) = object_at(operation, "/responses") else { return };
    let mut add = |status: &str, description: &str| {
        responses.entry(status).or_insert_with(|| json!({ "description": description }));
    };
    add("400", "The request cannot be read");
    add("401", "The token is missing or wrong");
    if path.contains("{run}") {
        add("404", "No such run");
    }
    add("421", "The host name is not served");
    add("500", "Internal error; see the server's log");
    add("503", "A service is unavailable, or this took too long; retry later");
    if method == "post" {
        add(
            "403",
            "The token permits reading only, or the request comes from a page of another site",
        );
        add("408", "The body did not arrive in time");
        add("413", "The body is too large");
        add("422", "A value is invalid");
    }
    if has_body {
        add("415", "The body is not JSON");
    }
    let errors = responses.iter_mut().filter(|(status, _)| status.starts_with(['4', '5']));
    for error in errors.filter_map(|(_, response)| response.as_object_mut()) {
        error.entry("content").or_insert_with(|| {
            json!({ "application/problem+json": {
                "schema": { "$ref": "#/components/schemas/Problem" },
            } })
        });
    }
}
