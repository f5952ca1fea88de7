//! The prompt cache of models that charge for writing it (GPT-5.6 and later).

use crate::chat_request::{CacheScope, ValidatedRequest, text_tokens};
use parking_lot::Mutex;
use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

/// Beginnings of prompts that were written before.
#[derive(Debug, Default)]
pub(crate) struct PromptCacheState(Mutex<HashSet<u64>>);

/// Use of the prompt cache by one request, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CacheUse {
    /// Input that was read from it.
    pub(crate) read: u64,
    /// Input tokens written into the cache; `None` if the model does not report them.
    pub(crate) written: Option<u64>,
}

/// OpenAI keeps no shorter beginning of a prompt.
const MIN_KEPT_TOKENS: u64 = 1_024;

impl PromptCacheState {
    /// Looks up and stores the prefix of a request. Only texts are compared: a text after an image
    /// counts as if it came before.
    pub(crate) fn look_up(&self, question: &ValidatedRequest<'_>, input_tokens: u64) -> CacheUse {
        let kept_texts = match question.cache_scope {
            CacheScope::Nothing => return CacheUse::default(),
            CacheScope::Everything => question.texts.len(),
            CacheScope::FirstTexts(texts) => texts.min(question.texts.len()),
        };
        let mut known = self.0.lock();
        let mut hasher = DefaultHasher::new();
        question.model.hash(&mut hasher);
        let (mut tokens, mut read, mut all_known) = (0, 0, true);
        for text in question.texts.iter().take(kept_texts) {
            text.hash(&mut hasher);
            tokens += text_tokens(text);
            if tokens < MIN_KEPT_TOKENS {
                continue;
            }
            all_known &= !known.insert(hasher.finish());
            if all_known {
                read = tokens;
            }
        }
        let kept = match question.cache_scope {
            CacheScope::Everything => input_tokens,
            _ => tokens,
        };
        let written = if kept < MIN_KEPT_TOKENS { 0 } else { kept - read.min(kept) };
        CacheUse { read, written: Some(written) }
    }
}
