//! Components: TSX, JSX, TypeScript and JavaScript as a module that a browser runs.

mod imports;

use super::compile::{parse_bounded, script_error};
use imports::imports_of;
use juror_render::ComponentModule;
use juror_types::item::Language;
use oxc_allocator::Allocator;
use oxc_ast::ast::{Program, Statement};
use oxc_codegen::Codegen;
use oxc_diagnostics::Diagnostics;
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_syntax::module_record::{ExportExportName, ModuleRecord};
use oxc_transformer::{TransformOptions, Transformer};
use std::path::Path;

/// Calls by which a module mounts its component itself.
const MOUNTING: [&str; 3] = ["createRoot", "hydrateRoot", "ReactDOM.render"];

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
    parse_bounded(code, language, module).await.unwrap_or(Err(ComponentError::TooMuch))
}

/// The module without types and JSX.
fn module(code: &str, language: Language) -> Result<ComponentModule, ComponentError> {
    let script = compiled(code, language)?;
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, &script, SourceType::mjs()).parse();
    let candidates = candidates(&parsed.module_record);
    if candidates.is_empty() && !MOUNTING.iter().any(|call| code.contains(call)) {
        return Err(ComponentError::NoComponent);
    }
    let imports = imports_of(&parsed.program, &parsed.module_record);
    drop(parsed);
    Ok(ComponentModule { imports, candidates, script })
}

fn compiled(code: &str, language: Language) -> Result<String, ComponentError> {
    let broken = |diagnostics: &Diagnostics| {
        Err(ComponentError::Broken(script_error(code, diagnostics).unwrap_or_default()))
    };
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, code, source_type(language)).parse();
    if parsed.panicked || parsed.diagnostics.has_errors() {
        return broken(&parsed.diagnostics);
    }
    let mut program = parsed.program;
    let scoping = SemanticBuilder::new_compiler().with_enum_eval(true).build(&program);
    if scoping.diagnostics.has_errors() {
        return broken(&scoping.diagnostics);
    }
    let scoping = scoping.semantic.into_scoping();
    let options = TransformOptions::default();
    let transformed = Transformer::new(&allocator, Path::new("component.tsx"), &options)
        .build_with_scoping(scoping, &mut program);
    if transformed.diagnostics.has_errors() {
        return broken(&transformed.diagnostics);
    }
    remove_attributes(&mut program);
    Ok(Codegen::new().build(&program).code)
}

/// The dialect of a module, even if nothing in the code marks it as one.
fn source_type(language: Language) -> SourceType {
    match language {
        Language::Tsx => SourceType::tsx(),
        Language::Ts => SourceType::ts(),
        Language::Jsx | Language::Js | Language::Html => SourceType::jsx(),
    }
}

/// Removes import attributes, whose types no replaced import has.
fn remove_attributes(program: &mut Program<'_>) {
    for statement in &mut program.body {
        if let Statement::ImportDeclaration(import) = statement {
            import.with_clause = None;
        }
    }
}

/// Names of exports that may be the component: the default export, then those that are named like
/// components, the last one first.
fn candidates(record: &ModuleRecord<'_>) -> Vec<String> {
    let entries = record.local_export_entries.iter().chain(&record.indirect_export_entries);
    let mut names: Vec<(u32, String)> = Vec::new();
    for entry in entries {
        match &entry.export_name {
            ExportExportName::Default(_) => names.push((u32::MAX, "default".to_owned())),
            ExportExportName::Name(name) if name.name == "default" => {
                names.push((u32::MAX, "default".to_owned()));
            }
            ExportExportName::Name(name) if name.name.starts_with(char::is_uppercase) => {
                names.push((entry.span.start, name.name.to_string()));
            }
            ExportExportName::Name(_) | ExportExportName::Null => {}
        }
    }
    names.sort_by(|one, other| other.cmp(one));
    names.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests;
