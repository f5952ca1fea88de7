//! Components: TSX, JSX, TypeScript and JavaScript as a module that a browser runs.

mod compile;
mod imports;

use super::compile::parse_bounded;
use juror_render::ComponentModule;
use juror_types::item::Language;

/// A reason why code is no usable module; each is a finding about the code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComponentError {
    /// The code has an error of syntax: its place and kind.
    #[error("does not parse: {0}")]
    Broken(String),
    /// The code has no component that can be mounted.
    #[error("exports no component")]
    NoComponent,
    /// The code takes more than is allowed.
    #[error("too large or too deeply nested to be compiled")]
    TooMuch,
}

/// Compiles a component's types and JSX away.
///
/// # Errors
/// The code does not parse, or has no component.
pub async fn compile(code: &str, language: Language) -> Result<ComponentModule, ComponentError> {
    parse_bounded(code, language, compile::module).await.unwrap_or(Err(ComponentError::TooMuch))
}

#[cfg(test)]
mod tests;
