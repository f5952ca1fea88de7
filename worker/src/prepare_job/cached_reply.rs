//! Lookup of an earlier reply of the judge to the same request.

use crate::{
    interruption::Interruption,
    judge_request::JudgeRequest,
    parse_reply,
    run_context::{JudgeSetup, RunContext},
};
use juror_ledger::job_store::CachedReply;
use juror_types::verdict::Verdict;

/// An earlier reply to the same request and its verdict, if replies are cached.
pub(super) async fn verdict(
    request: &JudgeRequest,
    setup: &JudgeSetup,
    context: &RunContext,
) -> Result<Option<(CachedReply, Verdict)>, Interruption> {
    if !setup.cache {
        return Ok(None);
    }
    let cached = context.store.cached_reply(&request.cache_key).await?;
    Ok(cached.and_then(|cached| {
        let verdict = parse_reply::read(&context.rubric, &cached.reply).ok()?;
        Some((cached, verdict))
    }))
}
