//! Output of `juror enqueue`: results on standard output, notices on standard error.

use crate::{exit::AppError, terminal};
use juror_producer::fleet::{Published, PublishedEnd};
use juror_types::id::RunId;
use serde_json::json;

pub struct EnqueueOutput<'a> {
    /// True if standard output is reserved for the report.
    pub wait: bool,
    /// The fleet's namespace.
    pub fleet: &'a str,
}

impl EnqueueOutput<'_> {
    /// Prints that the run is announced; no job is published yet.
    pub fn announced(&self, run: &RunId) -> Result<(), AppError> {
        if !terminal::is_json() && !self.wait {
            return terminal::print(run.as_str());
        }
        terminal::print_hint(&format!("run {run}"));
        Ok(())
    }

    /// Prints how publishing ended.
    pub fn published(
        &self,
        run: &RunId,
        planned: u64,
        published: Published,
    ) -> Result<(), AppError> {
        let Published { jobs, end } = published;
        if terminal::is_json() && !self.wait {
            let complete = end == PublishedEnd::Closed;
            terminal::print_json(&json!({
                "run_id": run, "fleet": self.fleet, "planned": planned, "published": jobs,
                "complete": complete,
            }))?;
        }
        match end {
            PublishedEnd::Closed => {
                terminal::print_hint(&format!("{jobs} jobs of run {run} are published"));
                self.print_follow_hint(run);
            }
            PublishedEnd::Cancelled => terminal::print_notice(&format!(
                "run {run} was cancelled while it was published; {jobs} jobs are published"
            )),
            PublishedEnd::Stopped => {
                terminal::print_notice(&format!("stopped: {jobs} jobs of run {run} are published"));
                self.print_resume_hint(run);
            }
        }
        Ok(())
    }

    /// Prints the changes of a run that is continued.
    pub fn changes(&self, messages: &[String]) {
        messages.iter().for_each(|message| terminal::print_hint(message));
    }

    /// Prints that every job is already published.
    pub fn published_already(&self, run: &RunId, is_reported: bool) -> Result<(), AppError> {
        if !is_reported {
            terminal::print_hint(&format!("every job of run {run} is published already"));
            self.print_follow_hint(run);
            terminal::print_hint(&format!(
                "  if it makes no progress, republish its missing jobs: juror retry {run}"
            ));
        } else if !self.wait {
            terminal::print_hint(&format!(
                "every job of run {run} is published already, and its report is written"
            ));
            self.print_follow_hint(run);
        }
        if self.wait {
            return Ok(());
        }
        match terminal::is_json() {
            false => terminal::print(run.as_str()),
            true => terminal::print_json(&json!({
                "run_id": run, "fleet": self.fleet, "published": 0, "complete": true,
            })),
        }
    }

    /// Prints how to resume a run of which not every job is published.
    pub fn print_resume_hint(&self, run: &RunId) {
        terminal::print_notice(&format!(
            "the run stays open\n  resume with: juror enqueue --resume {run}\n  cancel with: juror \
             cancel {run}"
        ));
    }

    fn print_follow_hint(&self, run: &RunId) {
        if !self.wait {
            terminal::print_hint(&format!("  follow it with: juror enqueue --wait --resume {run}"));
        }
    }
}
