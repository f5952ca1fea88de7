//! Output of `juror enqueue`: results on standard output, all else on standard error.

use crate::{exit::Failure, terminal};
use jiff::Timestamp;
use juror_app::fleet::budget_cap::Cap;
use juror_producer::fleet::{Published, PublishedEnd};
use juror_types::{id::RunId, lane::Lane};
use serde_json::json;

/// To whom, and how.
pub struct EnqueueOutput<'a> {
    /// True if results are told as JSON.
    pub json: bool,
    /// True if only results and what went wrong are told.
    pub quiet: bool,
    /// True if standard output is kept for the report.
    pub wait: bool,
    /// The fleet's namespace.
    pub fleet: &'a str,
    /// The flags by which the next command finds the same run.
    pub location_flags: String,
}

impl EnqueueOutput<'_> {
    /// The run is announced, and nothing is published yet.
    pub fn announced(&self, run: &RunId) -> Result<(), Failure> {
        if !self.json && !self.wait {
            return terminal::print(run.as_str());
        }
        self.beside(&format!("run {run}"));
        Ok(())
    }

    /// Publishing has ended.
    pub fn published(
        &self,
        run: &RunId,
        planned: u64,
        published: Published,
    ) -> Result<(), Failure> {
        let Published { jobs, end } = published;
        if self.json && !self.wait {
            let complete = end == PublishedEnd::Closed;
            terminal::print_json(&json!({
                "run_id": run, "fleet": self.fleet, "planned": planned, "published": jobs,
                "complete": complete,
            }))?;
        }
        match end {
            PublishedEnd::Closed => {
                self.beside(&format!("{jobs} jobs of run {run} are published"));
                self.how_to_follow(run);
            }
            PublishedEnd::Cancelled => terminal::print_notice(&format!(
                "run {run} was cancelled while it was published; {jobs} jobs are out"
            )),
            PublishedEnd::Stopped => {
                terminal::print_notice(&format!("stopped: {jobs} jobs of run {run} are published"));
                self.how_to_go_on(run);
            }
        }
        Ok(())
    }

    /// Another cap is given, or none.
    pub fn cap(&self, run: &RunId, cap: Cap) {
        if let Some(change) = cap.change(run) {
            self.beside(&change);
        }
    }

    /// Another deadline is given, or none.
    pub fn deadline(&self, run: &RunId, before: Option<Timestamp>, now: Option<Timestamp>) {
        let Some(now) = now else { return };
        let before = before.map(|before| format!("; before: {before}")).unwrap_or_default();
        self.beside(&format!("the deadline of run {run} is {now} from now on{before}"));
    }

    /// Another lane is given, or none.
    pub fn lane(&self, run: &RunId, before: Lane, now: Option<Lane>) {
        if let Some(now) = now.filter(|now| *now != before) {
            let [before, now] = [before, now].map(Lane::name);
            self.beside(&format!(
                "calls of run {run} are bought in the lane {now} from now on; before: {before}"
            ));
        }
    }

    /// Prints that every job is already published.
    pub fn published_already(&self, run: &RunId, is_reported: bool) -> Result<(), Failure> {
        if !is_reported {
            self.beside(&format!("every job of run {run} is published already"));
            self.how_to_follow(run);
            let location_flags = &self.location_flags;
            self.beside(&format!(
                "  if it does not go on, send again what is missing: juror retry {run}{location_flags}"
            ));
        } else if !self.wait {
            self.beside(&format!(
                "every job of run {run} is published already, and it is reported"
            ));
            self.how_to_follow(run);
        }
        if self.wait {
            return Ok(());
        }
        match self.json {
            false => terminal::print(run.as_str()),
            true => terminal::print_json(&json!({
                "run_id": run, "fleet": self.fleet, "published": 0, "complete": true,
            })),
        }
    }

    /// Not every job is published.
    pub fn how_to_go_on(&self, run: &RunId) {
        let location_flags = &self.location_flags;
        terminal::print_notice(&format!(
            "the run is left open\n  resume with: juror enqueue --resume {run}{location_flags}\n  or \
             end it with: juror cancel {run}{location_flags}"
        ));
    }

    fn how_to_follow(&self, run: &RunId) {
        if !self.wait {
            let location_flags = &self.location_flags;
            let follow = format!("juror enqueue --wait --resume {run}{location_flags}");
            self.beside(&format!("  follow it with: {follow}"));
        }
    }

    fn beside(&self, text: &str) {
        if !self.quiet {
            terminal::print_notice(text);
        }
    }
}
