//! Evidence of a setup: whether its items have any, and what renders their code.

use super::RunSetup;
use crate::{
    error::AppError,
    rendering::{check_render_files, has_browser},
};
use futures_util::future::BoxFuture;
use juror_types::evidence::EvidenceMode;
use juror_worker::evidence_resources::EvidenceResources;

/// Reason why no item has evidence, with the remedy.
const NOTHING_TO_MEASURE: &str = "no item has code to render or a picture named `rendered`";
const NO_RENDERER: &str = "no item has a picture named `rendered`, and no renderer is available: \
                           install a browser, as in `apt-get install chromium`, or set \
                           render.browser or stages.render_command";

/// Processes that render the code of a run's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderedBy {
    /// This one.
    ThisProcess,
    /// Workers of a fleet.
    Workers,
}

impl RunSetup {
    /// True if evidence is requested.
    pub fn measures(&self) -> bool {
        !self.settings.evidence.mode.is_none()
    }

    /// Refuses a request for evidence that no item can have, or that needs a file which cannot be
    /// read.
    ///
    /// # Errors
    /// [`AppError::Invalid`], with the remedy.
    pub fn require_renderer(
        &self,
        requested: Option<EvidenceMode>,
        by: RenderedBy,
    ) -> Result<(), AppError> {
        let Some(mode) = requested.filter(|_| self.measures()).map(EvidenceMode::name) else {
            return Ok(());
        };
        if let Some(reason) = self.lacks_evidence(by) {
            let refusal = format!("--evidence {mode} has nothing to measure: {reason}");
            return Err(AppError::invalid(refusal));
        }
        if by == RenderedBy::Workers || !self.renders() || self.has_render_command() {
            return Ok(());
        }
        let files = check_render_files(&self.settings);
        files.map_err(|error| AppError::invalid(format!("--evidence {mode}: {error}")))
    }

    /// Starts the browser if the request needs evidence that it renders.
    ///
    /// # Errors
    /// [`AppError::Invalid`] where it cannot be started.
    pub fn start_renderer<'a>(
        &'a self,
        requested: Option<EvidenceMode>,
        evidence: &'a EvidenceResources,
    ) -> BoxFuture<'a, Result<(), AppError>> {
        Box::pin(async move {
            let Some(mode) = requested.filter(|_| self.renders() && !self.has_render_command())
            else {
                return Ok(());
            };
            let refusal = |error| AppError::invalid(format!("--evidence {}: {error}", mode.name()));
            evidence.start_renderer().await.map_err(refusal)
        })
    }

    /// Reason why no item has evidence, with the remedy; `None` if any may have some.
    pub fn lacks_evidence(&self, by: RenderedBy) -> Option<&'static str> {
        if !self.measures() || self.plan.has_rendered {
            return None;
        }
        if !self.renders() {
            return Some(NOTHING_TO_MEASURE);
        }
        let renders = by == RenderedBy::Workers
            || self.has_render_command()
            || has_browser(&self.settings, &self.environment);
        (!renders).then_some(NO_RENDERER)
    }

    /// True if the code of any item is rendered.
    pub fn renders(&self) -> bool {
        let has_pipeline = self.settings.stages.has_pipeline();
        self.measures() && (self.plan.has_code_to_render || has_pipeline)
    }

    fn has_render_command(&self) -> bool {
        !self.settings.stages.render_command.is_empty()
    }
}
