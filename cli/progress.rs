//! Shows on standard error how a run goes: a bar on a terminal, plain lines otherwise.

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use juror_common::{
    event::Event,
    outcome::{JobResult, Outcome},
    usage::Money,
};
use std::{
    fmt,
    io::{self, IsTerminal, Write},
};
use tokio::sync::mpsc;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A bar that is drawn again and again.
    Bar,
    /// A line for every tenth of the way.
    Lines,
    /// Warnings only.
    Quiet,
}

impl Style {
    /// The style that fits standard error.
    pub fn fitting(quiet: bool) -> Self {
        match (quiet, io::stderr().is_terminal()) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Bar,
            (false, false) => Self::Lines,
        }
    }
}

/// Follows a run's events until the last of its roles has ended.
pub async fn follow(mut events: mpsc::Receiver<Event>, style: Style, budget: Option<Money>) {
    let mut progress = Progress::new(style, budget);
    while let Some(event) = events.recv().await {
        progress.show(event);
    }
    progress.bar.finish_and_clear();
}

struct Progress {
    style: Style,
    bar: ProgressBar,
    budget: Option<Money>,
    planned: u64,
    done: u64,
    told_tenths: u64,
    spent: Money,
    troubled: u64,
}

impl Progress {
    fn new(style: Style, budget: Option<Money>) -> Self {
        let bar = if style == Style::Bar { ProgressBar::new(0) } else { ProgressBar::hidden() };
        let template = "{bar:32} {pos}/{len}  {rate}  {msg}  {eta} left";
        if let Ok(template) = ProgressStyle::with_template(template) {
            let rate = |state: &ProgressState, line: &mut dyn fmt::Write| {
                let _ = write!(line, "{:.1}/s", state.per_sec());
            };
            bar.set_style(template.with_key("rate", rate).progress_chars("━╸ "));
        }
        let spent = Money::ZERO;
        Self { style, bar, budget, planned: 0, done: 0, told_tenths: 0, spent, troubled: 0 }
    }

    fn show(&mut self, event: Event) {
        match event {
            Event::Planned { jobs } => {
                self.planned = jobs;
                self.bar.set_length(jobs);
            }
            Event::Finished(result) => self.count(&result),
            Event::Paused { reason } => self.say(&format!("paused: {reason}")),
            Event::Stopping if self.style == Style::Quiet => {}
            Event::Stopping => {
                self.say("stopping: calls in flight are finished; a second signal ends at once");
            }
            Event::Warning(warning) => self.say(&format!("warning: {warning}")),
        }
    }

    fn count(&mut self, result: &JobResult) {
        self.done += 1;
        self.spent += result.cost_usd;
        self.troubled += u64::from(result.outcome != Outcome::Scored);
        self.bar.set_position(self.done);
        self.bar.set_message(self.money());
        let tenths = self.done * 10 / self.planned.max(1);
        if self.style == Style::Lines && tenths > self.told_tenths {
            self.told_tenths = tenths;
            let troubled = match self.troubled {
                0 => String::new(),
                count => format!(", {count} not scored"),
            };
            let (done, planned, money) = (self.done, self.planned, self.money());
            let money = if money.is_empty() { money } else { format!(", {money}") };
            self.say(&format!("{done}/{planned} done{money}{troubled}"));
        }
    }

    /// What is spent; nothing where nothing costs.
    fn money(&self) -> String {
        match self.budget {
            Some(budget) => format!("${} of ${}", self.spent.rounded(4), budget.rounded(2)),
            None if self.spent == Money::ZERO => String::new(),
            None => format!("${}", self.spent.rounded(4)),
        }
    }

    fn say(&self, line: &str) {
        self.bar.suspend(|| {
            // Nothing is lost if standard error is closed.
            let _ = writeln!(io::stderr(), "{line}");
        });
    }
}
