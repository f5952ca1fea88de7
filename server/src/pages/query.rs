//! Query parameters of the pages. Malformed ones are ignored: a page is shown rather than refused.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::{collections::HashMap, convert::Infallible, str::FromStr};
use url::form_urlencoded;

/// Maximum length of a value; longer ones are ignored.
const MAX_LENGTH: usize = 2_000;

/// Parameters of a query; the last one of a name counts.
#[derive(Clone, Debug, Default)]
pub struct PageQuery(HashMap<String, String>);

impl PageQuery {
    /// Parses a query without its question mark.
    pub fn parse(query: &str) -> Self {
        let pairs = form_urlencoded::parse(query.as_bytes());
        let pairs = pairs.filter(|(_, value)| !value.is_empty() && value.len() <= MAX_LENGTH);
        Self(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// A parameter's text, if present.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A parameter's value, if present and valid.
    pub fn value<T: FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.trim().parse().ok()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for PageQuery {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}
