//! Shows on standard error how a run goes: a bar on a terminal, plain lines otherwise.

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

/// Interval at which the published number is looked at.
const LOOKING: Duration = Duration::from_millis(100);

const TEMPLATE: &str = "{bar:32} {pos}/{len}  {rate}  {msg}  {eta} left";
const WAITING_TEMPLATE: &str = "{bar:32} {pos}/{len}  {msg}  waiting for the provider";

/// Display of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressDisplay {
    /// A bar that is drawn again and again.
    Bar,
    /// A line for every tenth of the way.
    Lines,
    /// Warnings only.
    Quiet,
}

impl ProgressDisplay {
    /// The style that fits standard error.
    pub fn fitting(quiet: bool) -> Self {
        match (quiet, io::stderr().is_terminal() && !logging::is_json()) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Bar,
            (false, false) => Self::Lines,
        }
    }

    /// The style of an estimate: a bar on a terminal, nothing otherwise.
    pub fn of_an_estimate(quiet: bool) -> Self {
        if Self::fitting(quiet) == Self::Bar { Self::Bar } else { Self::Quiet }
    }

    /// The style of a role of a fleet, which shows no run's progress.
    pub fn of_a_role(quiet: bool) -> Self {
        if quiet { Self::Quiet } else { Self::Lines }
    }
}

/// Items of a dataset that were checked before a run begins; shown on a terminal only.
pub struct DatasetProgress(ProgressBar);

impl DatasetProgress {
    /// A display without progress.
    pub fn new(quiet: bool) -> Self {
        match ProgressDisplay::fitting(quiet) {
            ProgressDisplay::Bar => Self(ProgressBar::new_spinner()),
            ProgressDisplay::Lines | ProgressDisplay::Quiet => Self(ProgressBar::hidden()),
        }
    }

    /// Shows that so many items are checked.
    pub fn come_to(&self, items: u64) {
        self.0.set_message(format!("checking the dataset: {items} items"));
        self.0.tick();
    }

    /// Shows that so many items are checked, or takes it away.
    pub fn show(&self, items: Option<u64>) {
        match items {
            Some(items) => self.come_to(items),
            None => self.end(),
        }
    }

    /// Takes it away.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// Work that progresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Jobs come to their end.
    Judging,
    /// Jobs are published.
    Publishing,
    /// Jobs are examined for an estimate.
    Estimating,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTally {
    /// Jobs in all.
    pub planned: u64,
    /// Jobs that have come through.
    pub done: u64,
    /// Those of them that are not scored.
    pub troubled: u64,
    /// Money that is spent.
    pub spent: Money,
    /// Budget; none is unlimited.
    pub budget: Option<Money>,
}

/// Follows a run's events from where it stands until the last of its roles has ended.
pub async fn follow(mut events: mpsc::Receiver<Event>, style: ProgressDisplay, tally: RunTally) {
    let mut progress = Progress::new(style, Doing::Judging);
    progress.tally = tally;
    while let Some(event) = events.recv().await {
        progress.show(event);
    }
    progress.end();
}

/// Follows how jobs are published until nobody has more to tell.
pub async fn publishing(
    mut events: mpsc::Receiver<Event>,
    published: watch::Receiver<u64>,
    style: ProgressDisplay,
) {
    let mut progress = Progress::new(style, Doing::Publishing);
    let mut looking = tokio::time::interval(LOOKING);
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some(event) => progress.show(event),
                None => break,
            },
            _ = looking.tick() => progress.come_to(*published.borrow()),
        }
    }
    progress.come_to(*published.borrow());
    progress.end();
}

/// A bar, or its lines.
pub struct Progress {
    style: ProgressDisplay,
    doing: Doing,
    bar: ProgressBar,
    tally: RunTally,
    told_tenths: u64,
    waiting: bool,
}

impl Progress {
    /// Progress of a task that has not begun.
    pub fn new(style: ProgressDisplay, doing: Doing) -> Self {
        let bar =
            if style == ProgressDisplay::Bar { ProgressBar::new(0) } else { ProgressBar::hidden() };
        bar.set_style(bar_style(TEMPLATE));
        Self { style, doing, bar, tally: RunTally::default(), told_tenths: 0, waiting: false }
    }

    /// Shows how far it has come now.
    pub fn stand(&mut self, tally: RunTally) {
        if tally == self.tally {
            return;
        }
        if self.tally.planned == 0 {
            // What was done before says nothing of the rate.
            self.bar.set_position(tally.done);
            self.bar.reset_eta();
        }
        self.tally = tally;
        self.draw();
    }

    /// Says a line beside it.
    pub fn say(&self, line: &str) {
        self.bar.suspend(|| terminal::print_notice(line));
    }

    /// Says beside it what should be known.
    pub fn warn(&self, warning: &str) {
        self.bar.suspend(|| terminal::warn(warning));
    }

    /// Takes the bar away.
    pub fn end(self) {
        self.bar.finish_and_clear();
    }

    fn show(&mut self, event: Event) {
        match event {
            Event::Planned { jobs } => {
                // Those before were planned in an earlier look at the same run.
                self.tally.planned = self.tally.done + jobs;
                self.bar.set_length(self.tally.planned);
            }
            Event::Finished(result) => self.count(&result),
            Event::Paused { reason } => self.say(&format!("paused: {reason}")),
            Event::Stopping if self.style == ProgressDisplay::Quiet => {}
            Event::Stopping => self.say(match self.doing {
                Doing::Judging => {
                    "stopping: calls in flight are finished; a second signal ends at once"
                }
                Doing::Publishing => "stopping: nothing more is published",
                Doing::Estimating => "stopping",
            }),
            Event::BatchProgress { .. } if self.style == ProgressDisplay::Quiet => {}
            Event::BatchProgress { run, shard, done, rows } => self.say(&format!(
                "batch {shard} of run {run}: {done} of {rows} rows are done at the provider"
            )),
            Event::Warning(warning) => self.warn(&warning),
            Event::Waiting { reason, pause } => self.wait(&waiting_text(&reason, pause)),
        }
    }

    /// Shows that calls come to nothing for now, in place of the time left.
    fn wait(&mut self, text: &str) {
        if self.style == ProgressDisplay::Bar && !self.waiting {
            self.waiting = true;
            self.bar.set_style(bar_style(WAITING_TEMPLATE));
        }
        if self.style != ProgressDisplay::Quiet {
            self.say(text);
        }
    }

    fn count(&mut self, result: &JobResult) {
        self.tally.spent += result.cost_usd;
        self.tally.troubled += u64::from(result.outcome != Outcome::Scored);
        self.come_to(self.tally.done + 1);
    }

    /// Shows that so many jobs have come through.
    pub fn come_to(&mut self, done: u64) {
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
        let RunTally { planned, done, troubled, .. } = self.tally;
        self.bar.set_length(planned);
        self.bar.set_position(done);
        self.bar.set_message(self.money());
        let tenths = done * 10 / planned.max(1);
        if self.style == ProgressDisplay::Lines && tenths > self.told_tenths {
            self.told_tenths = tenths;
            let troubled = match troubled {
                0 => String::new(),
                count => format!(", {count} not scored"),
            };
            let money = self.money();
            let money = if money.is_empty() { money } else { format!(", {money}") };
            let done_so = match self.doing {
                Doing::Judging => "done",
                Doing::Publishing => "published",
                Doing::Estimating => "examined",
            };
            self.say(&format!("{done}/{planned} {done_so}{money}{troubled}"));
        }
    }

    /// Money that is spent; nothing where nothing costs.
    fn money(&self) -> String {
        let RunTally { spent, budget, .. } = self.tally;
        match budget {
            Some(budget) => format!("{} of {}", dollars(spent), dollars(budget)),
            None if spent == Money::ZERO => String::new(),
            None => dollars(spent),
        }
    }
}

fn bar_style(template: &str) -> ProgressStyle {
    let rate = |state: &ProgressState, line: &mut dyn fmt::Write| {
        let _ = write!(line, "{:.1}/s", state.per_sec());
    };
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", rate).progress_chars("━╸ ")
}
