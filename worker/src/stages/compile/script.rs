//! TSX, JSX, TypeScript and JavaScript.

use juror_types::item::Language;
use oxc_allocator::Allocator;
use oxc_diagnostics::{Diagnostics, OxcDiagnostic};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;

/// The first syntax error, as "line:column: what"; names that are declared or exported twice, and the
/// like, are errors too.
pub(super) fn first_error(code: &str, language: Language) -> Option<String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, code, source_type(language)).parse();
    script_error(code, &parsed.diagnostics).or_else(|| {
        let checked = SemanticBuilder::new_compiler().build(&parsed.program);
        script_error(code, &checked.diagnostics)
    })
}

/// The first of some errors, as "line:column: what".
pub(in crate::stages) fn script_error(code: &str, diagnostics: &Diagnostics) -> Option<String> {
    // A diagnostic's first label is the place at fault; further ones explain.
    let offset_of = |error: &OxcDiagnostic| error.labels.first().map(|label| label.offset());
    let first = diagnostics.errors().min_by_key(|error| offset_of(error))?;
    let place = offset_of(first).map(|offset| place_of(code, offset as usize)).unwrap_or_default();
    Some(format!("{place}{}", first.message))
}

/// The dialect that code of a language is parsed as.
pub(in crate::stages) fn source_type(language: Language) -> SourceType {
    match language {
        Language::Ts => SourceType::ts(),
        // A page's scripts are JavaScript.
        Language::Js | Language::Jsx | Language::Html => SourceType::unambiguous().with_jsx(true),
        Language::Tsx => SourceType::tsx(),
    }
}

fn place_of(code: &str, offset: usize) -> String {
    let before = code.get(..offset).unwrap_or(code);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|character| *character != '\n').count() + 1;
    format!("{line}:{column}: ")
}
