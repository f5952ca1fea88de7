//! TSX, JSX, TypeScript and JavaScript.

use juror_common::item::Language;
use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;

/// The first syntax error, as "line:column: what".
pub(super) fn first_error(code: &str, language: Language) -> Option<String> {
    let source_type = match language {
        Language::Ts => SourceType::ts(),
        Language::Js | Language::Jsx => SourceType::unambiguous().with_jsx(true),
        Language::Tsx | Language::Html => SourceType::tsx(),
    };
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, code, source_type).parse();
    let first = parsed
        .diagnostics
        .errors()
        .min_by_key(|error| error.labels.iter().map(|label| label.offset()).min())?;
    let offset = first.labels.iter().map(|label| label.offset()).min();
    let place = offset.map_or(String::new(), |offset| place_of(code, offset as usize));
    Some(format!("{place}{}", first.message))
}

fn place_of(code: &str, offset: usize) -> String {
    let before = code.get(..offset).unwrap_or(code);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|character| *character != '\n').count() + 1;
    format!("{line}:{column}: ")
}
