//! Check that the generated code compiles, by its grammar.

pub(super) mod html;
mod parse_limits;
mod script;

pub(super) use script::{script_error, source_type};

use juror_types::item::Language;
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

fn first_error(code: &str, language: Language) -> Option<String> {
    // A leading ``` is a template literal to JavaScript and text to HTML, so it is checked first.
    if code.trim_start().starts_with("```") {
        return Some("line 1: the code is wrapped in a Markdown fence (```)".to_owned());
    }
    match language {
        Language::Html => html::first_error(code),
        script => script::first_error(code, script),
    }
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
