//! Key of a request in the reply cache.

use crate::run_context::JudgeSetup;
use juror_image::{ImageRules, PREPARATION_VERSION};
use juror_types::{
    id::Digest,
    job::{Job, Judge},
};
use serde::Serialize;

/// Digest of everything that can change the judge's reply. `images` are labels with digests.
pub(super) fn cache_key(
    job: &Job,
    judge: &Judge,
    setup: &JudgeSetup,
    item: &str,
    images: Vec<(&str, Option<Digest>)>,
) -> Digest {
    let ImageRules { max_bytes, max_side, user_max_side, .. } = setup.rules;
    let identity = Identity {
        schema: juror_types::SCHEMA,
        base_url: &setup.base_url,
        judge,
        reasoning_allowance: setup.terms.facts.reasoning_allowance,
        rubric: job.rubric.digest,
        instructions: setup.instructions.digest,
        item,
        images,
        preparation: (PREPARATION_VERSION, max_bytes, max_side, user_max_side),
        repeat: job.repeat,
    };
    let mut json = Vec::with_capacity(4 * 1024);
    let written = serde_json::to_writer(&mut json, &identity);
    debug_assert!(written.is_ok(), "memory takes every text and number");
    Digest::from_content(&json)
}

/// Inputs of the key.
#[derive(Serialize)]
struct Identity<'request> {
    schema: u32,
    base_url: &'request str,
    judge: &'request Judge,
    reasoning_allowance: u32,
    rubric: Digest,
    instructions: Digest,
    item: &'request str,
    images: Vec<(&'request str, Option<Digest>)>,
    preparation: (u32, u64, u32, Option<u32>),
    repeat: u32,
}
