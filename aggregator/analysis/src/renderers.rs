//! Renderers of the code of a run: what differs between two of them may come from them.

use crate::distinct_names::DistinctNames;
use juror_types::evidence::{EvidenceOutcome, EvidenceSource};

/// Renderers of the code of a run.
#[derive(Debug, Default)]
pub(crate) struct Renderers {
    /// True if any code was to be rendered, even if none could be.
    is_used: bool,
    names: DistinctNames,
}

impl Renderers {
    /// Adds the renderer of a result.
    pub fn add(&mut self, outcome: Option<&EvidenceOutcome>) {
        self.is_used |= outcome.is_some();
        let Some(evidence) = outcome.and_then(EvidenceOutcome::measured) else { return };
        match evidence.source {
            EvidenceSource::Rendered => self.names.add("pictures of the dataset"),
            EvidenceSource::Command => self.names.add("render_command"),
            EvidenceSource::Browser => {
                let browser = evidence.browser.as_deref().unwrap_or("a browser");
                match &evidence.renderer {
                    Some(renderer) => self.names.add(&format!("{browser} ({renderer})")),
                    None => self.names.add(browser),
                }
            }
        }
    }

    /// A warning for a run whose results come from several renderers, as after a resume or in a
    /// fleet.
    pub fn warning_of_several(&self) -> Option<String> {
        (self.names.len() > 1).then(|| {
            format!(
                "code was rendered by {}: measurements of the same code may differ between them; \
                 give each worker the same browser and fonts",
                self.listed()
            )
        })
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
                 differ for this reason (browser, fonts or version of Juror), so \
                 these figures and Pipeline Success do not decide; run the base again with the \
                 head's renderer",
                self.listed(),
                head.listed()
            )
        })
    }

    fn listed(&self) -> String {
        match self.names.is_empty() {
            true => "no renderer".to_owned(),
            false => self.names.listed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_types::evidence::Evidence;

    #[test]
    fn several_renderers_of_a_run_are_warned_of() {
        let drawn = |renderer: &str| {
            EvidenceOutcome::Measured(Box::new(Evidence {
                browser: Some("Chromium 156".to_owned()),
                renderer: Some(renderer.to_owned()),
                ..Evidence::for_equal_pictures(EvidenceSource::Browser)
            }))
        };
        let mut renderers = Renderers::default();
        renderers.add(Some(&drawn("aa11")));
        renderers.add(Some(&drawn("aa11")));
        renderers.add(Some(&EvidenceOutcome::Failed { error: "throws".to_owned() }));
        assert_eq!(renderers.warning_of_several(), None);
        renderers.add(Some(&drawn("bb22")));
        let warning = renderers.warning_of_several().unwrap();
        assert!(warning.contains("Chromium 156 (aa11), Chromium 156 (bb22)"), "{warning}");
    }
}
