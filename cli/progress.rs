//! Progress on standard error: a bar on a terminal, lines otherwise.

use crate::{logging, terminal};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use juror_analysis::format::dollars;
use juror_app::service::waiting_text;
use juror_types::{
    event::Event,
    outcome::{JobResult, Outcome},
    usage::Money,
};
use std::{
    fmt,
    io::{self, IsTerminal},
    time::Duration,
};
use tokio::sync::{mpsc, watch};

/// Interval at which the number of published jobs is read.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

const TEMPLATE: &str = "{bar:32} {pos}/{len}  {rate}  {msg}  {eta} left";
const WAITING_TEMPLATE: &str = "{bar:32} {pos}/{len}  {msg}  waiting for the provider";

/// Display of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressDisplay {
    /// A bar that is redrawn.
    Bar,
    /// A line for every tenth of the jobs.
    Lines,
    Quiet,
}

impl ProgressDisplay {
    /// The display that fits standard error.
    pub fn fitting() -> Self {
        match (terminal::is_quiet(), io::stderr().is_terminal() && !logging::is_json()) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Bar,
            (false, false) => Self::Lines,
        }
    }

    /// The display of an estimate: a bar on a terminal, nothing otherwise.
    pub fn for_estimate() -> Self {
        let is_bar = Self::fitting() == Self::Bar && !terminal::is_json();
        if is_bar { Self::Bar } else { Self::Quiet }
    }

    /// The display of a fleet's role, which shows no progress.
    pub fn for_role() -> Self {
        if terminal::is_quiet() { Self::Quiet } else { Self::Lines }
    }
}

/// Number of checked items of a dataset, shown on a terminal only.
pub struct DatasetProgress(ProgressBar);

impl DatasetProgress {
    /// A display that shows nothing yet.
    pub fn new(display: ProgressDisplay) -> Self {
        match display {
            ProgressDisplay::Bar => Self(ProgressBar::new_spinner()),
            ProgressDisplay::Lines | ProgressDisplay::Quiet => Self(ProgressBar::hidden()),
        }
    }

    /// Shows the number of checked items, or removes the display.
    pub fn show(&self, items: Option<u64>) {
        let Some(items) = items else { return self.0.finish_and_clear() };
        self.0.set_message(format!("checking the dataset: {items} items"));
        self.0.tick();
    }
}

/// Task of which progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressTask {
    Judging,
    Publishing,
    Estimating,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTally {
    pub planned: u64,
    pub done: u64,
    /// Number of finished jobs without a score.
    pub unscored: u64,
    pub spent: Money,
    pub budget: Option<Money>,
}

/// Progress display of a task.
pub struct Progress {
    style: ProgressDisplay,
    task: ProgressTask,
    bar: ProgressBar,
    tally: RunTally,
    printed_tenths: u64,
    waiting: bool,
}

impl Progress {
    /// A display of a task that has not begun.
    pub fn new(style: ProgressDisplay, task: ProgressTask) -> Self {
        let bar =
            if style == ProgressDisplay::Bar { ProgressBar::new(0) } else { ProgressBar::hidden() };
        bar.set_style(bar_style(TEMPLATE));
        Self { style, task, bar, tally: RunTally::default(), printed_tenths: 0, waiting: false }
    }

    /// Sets and shows the progress.
    pub fn set(&mut self, tally: RunTally) {
        if tally == self.tally {
            return;
        }
        if self.tally.planned == 0 {
            // Jobs that were done before do not count for the rate.
            self.bar.set_position(tally.done);
            self.bar.reset_eta();
        }
        self.tally = tally;
        self.draw();
    }

    /// Prints a notice above the bar.
    pub fn notice(&self, line: &str) {
        self.bar.suspend(|| terminal::print_notice(line));
    }

    /// Prints a warning above the bar.
    pub fn warn(&self, warning: &str) {
        self.bar.suspend(|| terminal::warn(warning));
    }

    pub fn end(self) {
        self.bar.finish_and_clear();
    }

    fn show(&mut self, event: Event) {
        match event {
            Event::Planned { jobs } => {
                // The finished ones were planned in an earlier round of the run.
                self.tally.planned = self.tally.done + jobs;
                self.bar.set_length(self.tally.planned);
            }
            Event::Finished(result) => self.count(&result),
            Event::Paused { reason } => self.notice(&format!("paused: {reason}")),
            Event::Stopping if self.style == ProgressDisplay::Quiet => {}
            Event::Stopping => self.notice(match self.task {
                ProgressTask::Judging => {
                    "stopping: finishing calls in flight; press Ctrl-C again to exit immediately"
                }
                ProgressTask::Publishing => "stopping: no more jobs are published",
                ProgressTask::Estimating => "stopping",
            }),
            Event::BatchProgress { .. } if self.style == ProgressDisplay::Quiet => {}
            Event::BatchProgress { run, shard, done, rows } => self.notice(&format!(
                "batch {shard} of run {run}: {done} of {rows} rows are done at the provider"
            )),
            Event::Warning(warning) => self.warn(&warning),
            Event::Waiting { reason, pause } => self.wait(&waiting_text(&reason, pause)),
        }
    }

    /// Shows that calls wait for the provider, in place of the time left.
    fn wait(&mut self, text: &str) {
        if self.style == ProgressDisplay::Bar && !self.waiting {
            self.waiting = true;
            self.bar.set_style(bar_style(WAITING_TEMPLATE));
        }
        if self.style != ProgressDisplay::Quiet {
            self.notice(text);
        }
    }

    fn count(&mut self, result: &JobResult) {
        self.tally.spent += result.cost_usd;
        self.tally.unscored += u64::from(result.outcome != Outcome::Scored);
        self.advance_to(self.tally.done + 1);
    }

    /// Sets and shows the number of finished jobs.
    pub fn advance_to(&mut self, done: u64) {
        if done > self.tally.done {
            self.tally.done = done;
            if self.waiting {
                self.waiting = false;
                self.bar.set_style(bar_style(TEMPLATE));
            }
            self.draw();
        }
    }

    fn draw(&mut self) {
        let RunTally { planned, done, unscored, .. } = self.tally;
        self.bar.set_length(planned);
        self.bar.set_position(done);
        self.bar.set_message(self.money());
        let tenths = done * 10 / planned.max(1);
        if self.style == ProgressDisplay::Lines && tenths > self.printed_tenths {
            self.printed_tenths = tenths;
            let unscored = match unscored {
                0 => String::new(),
                count => format!(", {count} not scored"),
            };
            let money = self.money();
            let money = if money.is_empty() { money } else { format!(", {money}") };
            let verb = match self.task {
                ProgressTask::Judging => "done",
                ProgressTask::Publishing => "published",
                ProgressTask::Estimating => "examined",
            };
            self.notice(&format!("{done}/{planned} {verb}{money}{unscored}"));
        }
    }

    /// Text of the money spent; empty if there are no costs and no budget.
    fn money(&self) -> String {
        let RunTally { spent, budget, .. } = self.tally;
        match budget {
            Some(budget) => format!("{} of {}", dollars(spent), dollars(budget)),
            None if spent == Money::ZERO => String::new(),
            None => dollars(spent),
        }
    }
}

/// Shows a run's events, starting from `tally`, until the channel closes.
pub async fn follow(mut events: mpsc::Receiver<Event>, style: ProgressDisplay, tally: RunTally) {
    let mut progress = Progress::new(style, ProgressTask::Judging);
    progress.tally = tally;
    while let Some(event) = events.recv().await {
        progress.show(event);
    }
    progress.end();
}

/// Shows events and the number of published jobs until the channel closes.
pub async fn publishing(
    mut events: mpsc::Receiver<Event>,
    published: watch::Receiver<u64>,
    style: ProgressDisplay,
) {
    let mut progress = Progress::new(style, ProgressTask::Publishing);
    let mut ticks = tokio::time::interval(POLL_INTERVAL);
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some(event) => progress.show(event),
                None => break,
            },
            _ = ticks.tick() => progress.advance_to(*published.borrow()),
        }
    }
    progress.advance_to(*published.borrow());
    progress.end();
}

fn bar_style(template: &str) -> ProgressStyle {
    let rate = |state: &ProgressState, line: &mut dyn fmt::Write| {
        let _ = write!(line, "{:.1}/s", state.per_sec());
    };
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", rate).progress_chars("━╸ ")
}
