//! Check that the generated code compiles, by its grammar.

pub(super) mod html;
mod parse_limits;

use juror_types::item::Language;
use oxc_allocator::Allocator;
use oxc_diagnostics::{Diagnostics, OxcDiagnostic};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use std::{panic::catch_unwind, thread};
use tokio::{sync::Semaphore, task::spawn_blocking};

/// Result of the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compilation {
    /// No error.
    Sound,
    /// The first error, with its place.
    Broken(String),
    /// Reason why this code is not parsed (it could take too much stack or time), with the remedy.
    Unchecked(&'static str),
}

/// Size up to which code is parsed on an async thread, in well under a millisecond.
const MAX_INLINE_CODE: usize = 64 * 1024;

/// Part of an async thread's stack of 2 MB that is free for certain.
const INLINE_STACK: usize = 256 * 1024;

/// Limit on concurrent parses with a large stack, so that hostile code cannot fill the memory with
/// stacks.
static LARGE_STACK_PARSES: Semaphore = Semaphore::const_new(2);

/// Parses code by its language's grammar, with bounded stack and time.
pub async fn check(code: &str, language: Language) -> Compilation {
    match parse_bounded(code, language, first_error).await {
        Ok(None) => Compilation::Sound,
        Ok(Some(error)) => Compilation::Broken(error),
        Err(reason) => Compilation::Unchecked(reason),
    }
}

/// Runs a function that parses code, on a sufficient stack, or returns the reason why it must not
/// run.
pub(super) async fn parse_bounded<T: Send + 'static>(
    code: &str,
    language: Language,
    parse: fn(&str, Language) -> T,
) -> Result<T, &'static str> {
    let stack = parse_limits::assess(code, language)?;
    if code.len() <= MAX_INLINE_CODE && stack <= INLINE_STACK {
        return catch_panic(code, language, parse);
    }
    let interrupted = Err("the check was interrupted");
    let Ok(permit) = LARGE_STACK_PARSES.acquire().await else { return interrupted };
    let code = code.to_owned();
    let parsing = spawn_blocking(move || {
        let roomy = thread::Builder::new().name("parse".to_owned()).stack_size(stack);
        let parsed = roomy.spawn(move || catch_panic(&code, language, parse)).ok()?.join().ok();
        drop(permit);
        parsed
    });
    parsing.await.ok().flatten().unwrap_or(interrupted)
}

/// Runs a function that parses a part of the code on the present thread if its stack suffices; none
/// if it must not run.
pub(super) fn parse_part<T: Send>(
    part: &str,
    language: Language,
    parse: impl FnOnce() -> T + Send,
) -> Option<T> {
    let stack = parse_limits::assess(part, language).ok()?;
    if stack <= INLINE_STACK {
        return Some(parse());
    }
    thread::scope(|scope| {
        let roomy = thread::Builder::new().name("parse".to_owned()).stack_size(stack);
        roomy.spawn_scoped(scope, parse).ok()?.join().ok()
    })
}

/// The first of some errors, as "line:column: what".
pub(super) fn script_error(code: &str, diagnostics: &Diagnostics) -> Option<String> {
    // A diagnostic's first label is the place at fault; further ones explain.
    let offset_of = |error: &OxcDiagnostic| error.labels.first().map(|label| label.offset());
    let first = diagnostics.errors().min_by_key(|error| offset_of(error))?;
    let place = offset_of(first).map(|offset| place_of(code, offset as usize)).unwrap_or_default();
    Some(format!("{place}{}", first.message))
}

/// The dialect that code of a language is parsed as.
pub(super) fn source_type(language: Language) -> SourceType {
    match language {
        Language::Ts => SourceType::ts(),
        // A page's scripts are JavaScript.
        Language::Js | Language::Jsx | Language::Html => SourceType::unambiguous().with_jsx(true),
        Language::Tsx => SourceType::tsx(),
    }
}

fn first_error(code: &str, language: Language) -> Option<String> {
    // A leading ``` is a template literal to JavaScript and text to HTML, so it is checked first.
    if code.trim_start().starts_with("```") {
        return Some("line 1: the code is wrapped in a Markdown fence (```)".to_owned());
    }
    match language {
        Language::Html => html::first_error(code),
        script => first_script_error(code, script),
    }
}

/// The first syntax error, as "line:column: what"; names that are declared or exported twice, and the
/// like, are errors too.
fn first_script_error(code: &str, language: Language) -> Option<String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, code, source_type(language)).parse();
    script_error(code, &parsed.diagnostics).or_else(|| {
        let checked = SemanticBuilder::new_compiler().build(&parsed.program);
        script_error(code, &checked.diagnostics)
    })
}

fn place_of(code: &str, offset: usize) -> String {
    let before = code.get(..offset).unwrap_or(code);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|character| *character != '\n').count() + 1;
    format!("{line}:{column}: ")
}

/// Catches a panic of a parser, so that it costs that item its check and nothing else. Both profiles
/// unwind, so a panic can be caught, and nothing shared is left half-changed.
fn catch_panic<T>(
    code: &str,
    language: Language,
    parse: fn(&str, Language) -> T,
) -> Result<T, &'static str> {
    let gave_up = "not checked: the built-in check gave up on this code";
    catch_unwind(|| parse(code, language)).map_err(|_| gave_up)
}

#[cfg(test)]
mod tests;
