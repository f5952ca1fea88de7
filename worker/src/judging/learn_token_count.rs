//! Learning of the provider's count of tokens from a call.

use crate::{
    judge_request::PreparedRequest,
    judging::Judging,
    retry_policy::LeaseEnd,
    token_count::CountedCall,
    vision::{Call, CallEnd, ProviderLimits},
};
use juror_ledger::admission::TokenCounting;
use tokio::time::Instant;

impl Judging<'_> {
    /// Learns how the provider counts tokens; returns what other processes should know.
    pub(super) fn learn_counting(
        &self,
        prepared: &PreparedRequest,
        call: &Call,
        lease_end: LeaseEnd,
        waited: bool,
    ) -> TokenCounting {
        // Must precede `learn_count`, which uses the learned input ratio.
        let input_scale = self.learn_scale(prepared, &call.end, lease_end);
        TokenCounting { input_scale, ..self.learn_count(prepared, call, waited) }
    }

    /// Learns the provider's count of input tokens; returns the ratio if other processes should
    /// know it.
    fn learn_scale(
        &self,
        prepared: &PreparedRequest,
        end: &CallEnd,
        lease_end: LeaseEnd,
    ) -> Option<u64> {
        let LeaseEnd::Settle(Some(usage)) = lease_end else { return None };
        let is_own = self.setup.pricing.other_model(end).is_none();
        is_own.then(|| self.setup.token_scale.learn(&prepared.bounds, usage.input_tokens))?
    }

    /// Reports a call to the token counter; returns the state that other processes should know.
    fn learn_count(&self, prepared: &PreparedRequest, call: &Call, waited: bool) -> TokenCounting {
        let ProviderLimits { tokens_per_minute, remaining_tokens, tokens_reset, refused, .. } =
            call.limits;
        let Some((limit, remaining)) = tokens_per_minute.zip(remaining_tokens) else {
            return TokenCounting::default();
        };
        let now = Instant::now();
        self.setup.token_count.learn(CountedCall {
            began: now.checked_sub(call.latency).unwrap_or(now),
            input: self.setup.token_scale.counted(&prepared.bounds),
            output_limit: prepared.bounds.max_output_tokens,
            waited,
            limit,
            remaining,
            // Before the ratio is learned the input is an upper bound, which would look like
            // undercounting.
            reset: tokens_reset.filter(|_| self.setup.token_scale.is_learned()),
            refused: refused.is_some(),
        })
    }
}
