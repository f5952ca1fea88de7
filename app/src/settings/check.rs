//! Checks of values beyond their types.

use super::{Settings, SettingsError};
use juror_ledger::admission::Budget;
use juror_types::{budget_label::MAX_BUDGET_TAGS, usage::Money};
use std::time::Duration;

/// Maximum number of judgments of each item.
pub const MAX_REPEATS: u32 = 100;

/// Longest time of a setting: a leap year.
const MAX_TIME: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// Maximum number of concurrent calls, pages or runs: within what a semaphore counts.
const MAX_CONCURRENT: u64 = 100_000;

impl Settings {
    /// These settings with a run's budget, if one is given.
    ///
    /// # Errors
    /// A negative budget.
    pub fn with_run_budget(mut self, budget: Option<Money>) -> Result<Self, SettingsError> {
        self.budget.run_usd = budget.or(self.budget.run_usd);
        self.check_amounts()?;
        Ok(self)
    }

    /// Returns an error for the first invalid value, with its key and the remedy.
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        self.files.check()?;
        self.serve.check()?;
        self.batch.public_hosts()?;
        self.check_ranges()?;
        self.check_aliases()?;
        self.check_counts()?;
        self.check_times()?;
        self.check_repeat()?;
        self.check_tags()?;
        self.check_paths()?;
        self.check_amounts()
    }

    /// Refuses `~` in paths: only shells expand it, and a folder of that name would be made.
    fn check_paths(&self) -> Result<(), SettingsError> {
        let roots = self.files.data_roots.iter().map(|root| ("files.data_roots", root));
        match self.paths().chain(roots).find(|(_, path)| path.starts_with("~")) {
            Some((key, path)) => {
                let remedy = "write the folder in full: only a shell replaces ~";
                Err(SettingsError::value(key, format!("{path:?}"), remedy))
            }
            None => Ok(()),
        }
    }

    fn check_tags(&self) -> Result<(), SettingsError> {
        match self.budget.tags.len() {
            0..=MAX_BUDGET_TAGS => Ok(()),
            many => {
                let value = format!("a list of {many} tags");
                Err(SettingsError::value("budget.tags", value, "give a run at most 8"))
            }
        }
    }

    fn check_aliases(&self) -> Result<(), SettingsError> {
        let like = self.models.values().map(|alias| &alias.like);
        let chained = like.clone().find(|like| self.models.contains_key(*like));
        match chained {
            Some(like) => {
                let remedy = "use a built-in model, not another name in [models]";
                Err(SettingsError::value("models.*.like", format!("{like:?}"), remedy))
            }
            None => Ok(()),
        }
    }

    fn check_ranges(&self) -> Result<(), SettingsError> {
        let share = (1.0, "give a number from 0 to 1");
        for (key, value, (highest, remedy)) in [
            ("compare.margin", self.compare.margin, share),
            ("compare.max_lost", self.compare.max_lost, share),
            ("compare.fallen_by", self.compare.fallen_by, share),
            ("compare.fallen_share", self.compare.fallen_share, share),
            ("stages.token_accuracy", self.stages.token_accuracy, share),
            ("stages.min_correctness", self.stages.min_correctness.unwrap_or_default(), share),
            ("judge.temperature", self.judge.temperature, (2.0, "give a number from 0 to 2")),
        ] {
            if !(0.0..=highest).contains(&value) {
                return Err(SettingsError::value(key, value, remedy));
            }
        }
        Ok(())
    }

    fn check_counts(&self) -> Result<(), SettingsError> {
        for (key, value) in [
            ("run.repeat", Some(u64::from(self.run.repeat))),
            ("judge.timeout_seconds", Some(self.judge.timeout_seconds)),
            ("judge.max_output_tokens", self.judge.max_output_tokens.map(u64::from)),
            ("batch.max_rows", Some(self.batch.max_rows as u64)),
            ("batch.max_bytes", Some(self.batch.max_bytes)),
            ("limits.rpm", self.limits.rpm),
            ("limits.tpm", self.limits.tpm),
            ("limits.max_concurrency", self.limits.max_concurrency.map(|count| count as u64)),
            ("limits.calls_per_second", self.limits.calls_per_second.map(u64::from)),
            ("image.max_side", self.image.max_side.map(u64::from)),
            ("fleet.max_queue_length", self.fleet.max_queue_length.map(u64::from)),
            ("fleet.results_retention_days", Some(u64::from(self.fleet.results_retention_days))),
            ("fleet.reply_cache_ttl_days", Some(u64::from(self.fleet.reply_cache_ttl_days))),
            ("stages.compile_timeout_seconds", Some(self.stages.compile_timeout_seconds)),
            ("stages.pipeline_timeout_seconds", Some(self.stages.pipeline_timeout_seconds)),
            ("stages.render_timeout_seconds", Some(self.stages.render_timeout_seconds)),
            ("render.timeout_seconds", Some(self.render.timeout_seconds)),
            ("render.concurrency", self.render.concurrency.map(|count| count as u64)),
        ] {
            if value == Some(0) {
                return Err(SettingsError::value(key, 0, "give at least 1, or omit the key"));
            }
        }
        Ok(())
    }

    /// Refuses pauses of zero, which would poll without end, and times and counts beyond any use,
    /// with which no time or limit can be computed.
    fn check_times(&self) -> Result<(), SettingsError> {
        let Self { batch, files, fleet, judge, limits, render, serve, stages, .. } = self;
        let (millisecond, second) = (Duration::from_millis(1), Duration::from_secs(1));
        for (key, pause, shortest, remedy) in [
            ("batch.poll_min", batch.poll_min, millisecond, "give at least \"1ms\""),
            ("batch.poll_max", batch.poll_max, millisecond, "give at least \"1ms\""),
            ("batch.seal_after", batch.seal_after, millisecond, "give at least \"1ms\""),
            ("batch.owner_timeout", batch.owner_timeout, second, "give at least \"1s\""),
            ("batch.realtime_reserve", batch.realtime_reserve, Duration::ZERO, ""),
        ] {
            if pause.0 < shortest {
                return Err(SettingsError::value(key, format!("{:?}", pause.0), remedy));
            }
            if pause.0 > MAX_TIME {
                let remedy = "give at most \"8784h\", a year";
                return Err(SettingsError::value(key, format!("{:?}", pause.0), remedy));
            }
        }
        let year = (MAX_TIME.as_secs(), "give at most a year");
        let minutes = (MAX_TIME.as_secs() / 60, "give at most a year");
        let many = (MAX_CONCURRENT, "give at most 100000");
        let count = |count: usize| count as u64;
        for (key, value, (most, remedy)) in [
            ("judge.timeout_seconds", Some(judge.timeout_seconds), year),
            ("judge.max_refusal_minutes", Some(judge.max_refusal_minutes), minutes),
            ("files.fetch_timeout_seconds", Some(files.fetch_timeout_seconds), year),
            ("fleet.connect_timeout_seconds", Some(fleet.connect_timeout_seconds), year),
            ("fleet.drain_timeout_seconds", Some(fleet.drain_timeout_seconds), year),
            ("serve.drain_timeout_seconds", Some(serve.drain_timeout_seconds), year),
            ("stages.compile_timeout_seconds", Some(stages.compile_timeout_seconds), year),
            ("stages.pipeline_timeout_seconds", Some(stages.pipeline_timeout_seconds), year),
            ("stages.render_timeout_seconds", Some(stages.render_timeout_seconds), year),
            ("render.timeout_seconds", Some(render.timeout_seconds), year),
            ("limits.max_concurrency", limits.max_concurrency.map(count), many),
            ("render.concurrency", render.concurrency.map(count), many),
            ("serve.max_concurrent_runs", Some(u64::from(serve.max_concurrent_runs)), many),
        ] {
            if let Some(value) = value.filter(|value| *value > most) {
                return Err(SettingsError::value(key, value, remedy));
            }
        }
        Ok(())
    }

    fn check_repeat(&self) -> Result<(), SettingsError> {
        let remedy = "give at most 100: each repeat pays for every item again";
        match self.run.repeat > MAX_REPEATS {
            true => Err(SettingsError::value("run.repeat", self.run.repeat, remedy)),
            false => Ok(()),
        }
    }

    fn check_amounts(&self) -> Result<(), SettingsError> {
        let run = self.budget.run_usd.filter(|amount| *amount < Money::ZERO);
        if let Some(amount) = run {
            let remedy = "give 0 or more, or omit the key for no cap";
            return Err(SettingsError::value("budget.run_usd", amount, remedy));
        }
        for (budget, cap) in self.budget.shared_caps() {
            if let Budget::Cap(amount) = cap
                && amount < Money::ZERO
            {
                let remedy = "give 0 or more, or \"unlimited\" for no cap";
                return Err(SettingsError::value(budget.setting(), amount, remedy));
            }
        }
        Ok(())
    }
}
