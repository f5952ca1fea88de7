//! Inputs as they were judged: the current file if it is unchanged, else the run's stored input.

use bytes::Bytes;
use juror_files::{kept_inputs::KeptInputs, render_cache::RenderCache};
use juror_types::id::Digest;
use std::path::Path;

/// The source of inputs of one run.
pub struct JudgedInputs {
    kept: Option<KeptInputs>,
    renders: RenderCache,
}

/// Part of an item as it was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsJudged<T> {
    /// Content of the input.
    pub content: T,
    /// Remark on a file or text that has changed since; `None` if it has not.
    pub remark: Option<String>,
}

/// Reason why an input is not shown as it is now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnavailableInput {
    /// The file has changed since judging.
    #[error("the file has changed since it was judged")]
    Changed,
    /// The text of this name is not the one that was judged.
    #[error("{0}: {reason}", reason = Self::Changed)]
    ChangedText(&'static str),
    /// The input was never a file: the user's own program made it.
    #[error("a pipeline command made what was judged, and it is not kept (--keep-inputs keeps it)")]
    MadeByPipeline,
    /// The input was never a file: it was rendered.
    #[error("it was rendered while the item was judged, and is not kept here")]
    Rendered,
    /// The input cannot be read, for this reason.
    #[error("{0}")]
    Unreadable(String),
}

impl UnavailableInput {
    /// The remark beside the kept content; `None` if there is no file that it could differ from.
    pub fn remark(&self) -> Option<String> {
        let reason = match self {
            Self::MadeByPipeline | Self::Rendered => return None,
            Self::Changed | Self::ChangedText(_) => "changed since",
            Self::Unreadable(reason) => reason,
        };
        Some(format!("{reason}; shown as it was judged"))
    }
}

impl From<String> for UnavailableInput {
    fn from(reason: String) -> Self {
        Self::Unreadable(reason)
    }
}

impl From<&str> for UnavailableInput {
    fn from(reason: &str) -> Self {
        Self::Unreadable(reason.to_owned())
    }
}

impl JudgedInputs {
    /// Source for the run in this directory, with the stored rendered images.
    pub fn for_run(directory: &Path, renders: RenderCache) -> Self {
        Self { kept: KeptInputs::find(directory), renders }
    }

    /// True if the run keeps inputs.
    pub fn are_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// The kept content of this digest, within a bound of its size.
    pub fn kept(&self, digest: Digest, max_bytes: u64) -> Option<Bytes> {
        let kept = self.kept.as_ref().and_then(|kept| kept.read(digest, max_bytes));
        kept.or_else(|| self.renders.read(digest, max_bytes))
    }

    /// The present content if its digest is the judged one, otherwise the kept copy, or the reason
    /// why there is neither. Without a digest, the present content is returned unchecked.
    pub fn resolve(
        &self,
        current: Result<Bytes, UnavailableInput>,
        judged: Option<Digest>,
        max_bytes: u64,
    ) -> Result<AsJudged<Bytes>, UnavailableInput> {
        let reason = match current {
            Ok(bytes) if judged.is_none_or(|judged| judged == Digest::from_content(&bytes)) => {
                return Ok(AsJudged { content: bytes, remark: None });
            }
            Ok(_) => UnavailableInput::Changed,
            Err(reason) => reason,
        };
        let kept = judged.and_then(|judged| self.kept(judged, max_bytes));
        let kept = kept.map(|content| AsJudged { content, remark: reason.remark() });
        kept.ok_or(reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn kept_content_replaces_changed_or_missing_files() {
        let run = tempfile::tempdir().unwrap();
        let kept = KeptInputs::create(run.path()).unwrap();
        let (judged, digest) = (Bytes::from_static(b"judged"), Digest::from_content(b"judged"));
        kept.keep(digest, judged.clone()).await.unwrap();
        let inputs = JudgedInputs::for_run(run.path(), RenderCache::in_state(run.path()));
        let resolved = |current: Result<&'static [u8], UnavailableInput>, digest: &[u8]| {
            let current = current.map(Bytes::from_static);
            let input = inputs.resolve(current, Some(Digest::from_content(digest)), 100)?;
            Ok::<_, UnavailableInput>((input.content, input.remark.unwrap_or_default()))
        };
        let missing = || UnavailableInput::from("no such file");
        assert_eq!(resolved(Ok(b"judged"), b"judged"), Ok((judged.clone(), String::new())));
        let changed = "changed since; shown as it was judged".to_owned();
        assert_eq!(resolved(Ok(b"newer"), b"judged"), Ok((judged.clone(), changed)));
        let gone = "no such file; shown as it was judged".to_owned();
        assert_eq!(resolved(Err(missing()), b"judged"), Ok((judged.clone(), gone)));
        let made = UnavailableInput::MadeByPipeline;
        assert_eq!(resolved(Err(made), b"judged"), Ok((judged, String::new())));
        assert_eq!(resolved(Ok(b"newer"), b"never kept"), Err(UnavailableInput::Changed));
        assert_eq!(resolved(Err(missing()), b"x"), Err(missing()));
    }
}
