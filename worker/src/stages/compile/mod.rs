//! Does the generated code compile, as far as its grammar tells?

mod html;
mod parse_limits;
mod script;

use juror_types::item::Language;
use std::{panic::catch_unwind, thread};
use tokio::{sync::Semaphore, task::spawn_blocking};

/// What a look at the grammar found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compilation {
    /// No error.
    Sound,
    /// The first error, with its place.
    Broken(String),
    /// The built-in check must not take this code on; why, and what to do instead.
    Unchecked(&'static str),
}

/// Code up to this size is parsed where it is, in well under a millisecond; more moves off the
/// async threads.
const MAX_INLINE_CODE: usize = 64 * 1024;
/// What an async thread's stack of 2 MB surely has left.
const INLINE_STACK: usize = 256 * 1024;
/// Parses on a large stack at a time, so that hostile code cannot fill the memory with stacks.
static ROOMY_PARSES: Semaphore = Semaphore::const_new(2);

/// Parses code by its language's grammar. Never overflows a stack, never runs away.
pub async fn check(code: &str, language: Language) -> Compilation {
    let stack = match parse_limits::assess(code, language) {
        Ok(stack) => stack,
        Err(reason) => return Compilation::Unchecked(reason),
    };
    if code.len() <= MAX_INLINE_CODE && stack <= INLINE_STACK {
        return parse(code, language);
    }
    let interrupted = Compilation::Unchecked("the check was interrupted");
    let Ok(permit) = ROOMY_PARSES.acquire().await else { return interrupted };
    let code = code.to_owned();
    let parsing = spawn_blocking(move || {
        let roomy = thread::Builder::new().name("parse".to_owned()).stack_size(stack);
        let parsed = roomy.spawn(move || parse(&code, language)).ok()?.join().ok();
        drop(permit);
        parsed
    });
    parsing.await.ok().flatten().unwrap_or(interrupted)
}

fn parse(code: &str, language: Language) -> Compilation {
    // A bug in a parser that some code sets off must cost that item its check and nothing else.
    // The profiles unwind, and nothing outlives the closure half-changed.
    let error = catch_unwind(|| match language {
        Language::Html => html::first_error(code),
        script => script::first_error(code, script),
    });
    match error {
        Ok(None) => Compilation::Sound,
        Ok(Some(error)) => Compilation::Broken(error),
        Err(_) => Compilation::Unchecked("not checked: the built-in check gave up on this code"),
    }
}

#[cfg(test)]
mod tests;
