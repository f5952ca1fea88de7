//! Inputs as they were judged: the file of today where it still is that, else what the run keeps.

use super::{CHANGED, NOT_KEPT, RENDER_NOT_KEPT};
use bytes::Bytes;
use juror_files::{kept_inputs::KeptInputs, kept_renders::KeptRenders};
use juror_types::id::Digest;
use std::path::Path;

/// The source of inputs of one run.
pub struct JudgedInputs {
    kept: Option<KeptInputs>,
    renders: KeptRenders,
}

/// Content that is what was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedInput {
    /// The content.
    pub bytes: Bytes,
    /// Remark on a file that has changed since; none if it has not.
    pub remark: Option<String>,
}

impl JudgedInputs {
    /// The source for the run in this directory, with the pictures of rendered code that are kept.
    pub fn of_run(directory: &Path, renders: KeptRenders) -> Self {
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

    /// The content of today, or why there is none, checked against the digest that was judged; the
    /// kept content in its place where it is not that. Without a digest nothing tells a change.
    pub fn resolve(
        &self,
        today: Result<Bytes, String>,
        judged: Option<Digest>,
        max_bytes: u64,
    ) -> Result<JudgedInput, String> {
        let reason = match today {
            Ok(bytes) if judged.is_none_or(|judged| judged == Digest::from_content(&bytes)) => {
                return Ok(JudgedInput { bytes, remark: None });
            }
            Ok(_) => CHANGED.to_owned(),
            Err(reason) => reason,
        };
        let kept = judged.and_then(|judged| self.kept(judged, max_bytes));
        let kept = kept.map(|bytes| JudgedInput { bytes, remark: remark(&reason) });
        kept.ok_or(reason)
    }
}

/// The remark beside kept content, by the reason for which that of today is not shown.
pub fn remark(reason: &str) -> Option<String> {
    if [NOT_KEPT, RENDER_NOT_KEPT].contains(&reason) {
        // There is no file of today that it could differ from.
        return None;
    }
    let reason = if reason.ends_with(CHANGED) { "changed since" } else { reason };
    Some(format!("{reason}; shown as it was judged"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn kept_content_stands_in_for_what_has_changed_or_is_gone() {
        let run = tempfile::tempdir().unwrap();
        let kept = KeptInputs::create(run.path()).unwrap();
        let (judged, digest) = (Bytes::from_static(b"judged"), Digest::from_content(b"judged"));
        kept.keep(digest, judged.clone()).await.unwrap();
        let inputs = JudgedInputs::of_run(run.path(), KeptRenders::in_state(run.path()));
        let resolved = |today: Result<&'static [u8], &str>, digest: &[u8]| {
            let today = today.map(Bytes::from_static).map_err(str::to_owned);
            let input = inputs.resolve(today, Some(Digest::from_content(digest)), 100)?;
            Ok::<_, String>((input.bytes, input.remark.unwrap_or_default()))
        };
        assert_eq!(resolved(Ok(b"judged"), b"judged"), Ok((judged.clone(), String::new())));
        let changed = "changed since; shown as it was judged".to_owned();
        assert_eq!(resolved(Ok(b"newer"), b"judged"), Ok((judged.clone(), changed)));
        let gone = "no such file; shown as it was judged".to_owned();
        assert_eq!(resolved(Err("no such file"), b"judged"), Ok((judged.clone(), gone)));
        assert_eq!(resolved(Err(NOT_KEPT), b"judged"), Ok((judged, String::new())));
        assert_eq!(resolved(Ok(b"newer"), b"never kept"), Err(CHANGED.to_owned()));
        assert_eq!(resolved(Err("no such file"), b"x"), Err("no such file".to_owned()));
    }
}
