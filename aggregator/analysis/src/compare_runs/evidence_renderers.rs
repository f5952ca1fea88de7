//! Renderers of the code of two runs: what differs between runs of two renderers may come from them.

use crate::distinct_names::DistinctNames;
use juror_types::evidence::{EvidenceOutcome, EvidenceSource};

/// Renderers of the code of a run.
#[derive(Debug, Default)]
pub(super) struct Renderers {
    /// True if any code was to be rendered, even if none could be.
    is_used: bool,
    names: DistinctNames,
}

impl Renderers {
    /// Adds the renderer of a result.
    pub fn add(&mut self, outcome: Option<&EvidenceOutcome>) {
        self.is_used |= outcome.is_some();
        let Some(evidence) = outcome.and_then(EvidenceOutcome::measured) else { return };
        self.names.add(match (evidence.source, &evidence.browser) {
            (EvidenceSource::Browser, Some(browser)) => browser.as_str(),
            (EvidenceSource::Browser, None) => "a browser",
            (EvidenceSource::Rendered, _) => "pictures of the dataset",
            (EvidenceSource::Command, _) => "render_command",
        });
    }

    /// True if these are the same renderers. Code that cannot be rendered names none.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_unknown = self.names.is_empty() || other.names.is_empty();
        self.is_used == other.is_used && (is_unknown || self.names == other.names)
    }

    /// A warning for the comparison of a base with a head of other renderers.
    pub fn warning(&self, head: &Self) -> Option<String> {
        (!self.is_same(head)).then(|| {
            format!(
                "code was rendered by {} in the base and by {} in the head: measurements may \
                 differ for this reason, so these figures and Pipeline Success do not decide; run \
                 the base again with the head's renderer",
                self.listed(),
                head.listed()
            )
        })
    }

    fn listed(&self) -> String {
        match self.names.is_empty() {
            true => "nothing".to_owned(),
            false => self.names.listed(),
        }
    }
}
