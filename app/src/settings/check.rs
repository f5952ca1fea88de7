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
        self.batch.public_hosts()?;
        self.check_ranges()?;
        self.check_aliases()?;
        self.check_numbers()?;
        self.check_pauses()?;
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

    fn check_numbers(&self) -> Result<(), SettingsError> {
        let Self { batch, files, fleet, image, judge, limits, render, serve, stages, .. } = self;
        let amount = (1, u64::MAX, "");
        let (seconds, minutes) = (MAX_TIME.as_secs(), MAX_TIME.as_secs() / 60);
        let [time, time_or_none] = [1, 0].map(|least| (least, seconds, "give at most a year"));
        let parallel = (1, MAX_CONCURRENT, "give at most 100000");
        let repeats =
            (1, MAX_REPEATS.into(), "give at most 100: each repeat pays for every item again");
        let count = |count: Option<usize>| count.map(|count| count as u64);
        for (key, value, (least, most, remedy)) in [
            ("run.repeat", Some(self.run.repeat.into()), repeats),
            ("judge.timeout_seconds", Some(judge.timeout_seconds), time),
            ("judge.max_refusal_minutes", Some(judge.max_refusal_minutes), (0, minutes, time.2)),
            ("judge.max_output_tokens", judge.max_output_tokens.map(u64::from), amount),
            ("batch.max_rows", Some(batch.max_rows as u64), amount),
            ("batch.max_bytes", Some(batch.max_bytes), amount),
            ("limits.rpm", limits.rpm, amount),
            ("limits.tpm", limits.tpm, amount),
            ("limits.max_concurrency", count(limits.max_concurrency), parallel),
            ("limits.calls_per_second", limits.calls_per_second.map(u64::from), amount),
            ("image.max_side", image.max_side.map(u64::from), amount),
            ("files.fetch_timeout_seconds", Some(files.fetch_timeout_seconds), time),
            ("fleet.max_queue_length", fleet.max_queue_length.map(u64::from), amount),
            ("fleet.results_retention_days", Some(fleet.results_retention_days.into()), amount),
            ("fleet.reply_cache_ttl_days", Some(fleet.reply_cache_ttl_days.into()), amount),
            ("fleet.connect_timeout_seconds", Some(fleet.connect_timeout_seconds), time_or_none),
            ("fleet.drain_timeout_seconds", Some(fleet.drain_timeout_seconds), time_or_none),
            ("serve.drain_timeout_seconds", Some(serve.drain_timeout_seconds), time_or_none),
            ("serve.max_concurrent_runs", Some(serve.max_concurrent_runs.into()), parallel),
            ("stages.compile_timeout_seconds", Some(stages.compile_timeout_seconds), time),
            ("stages.pipeline_timeout_seconds", Some(stages.pipeline_timeout_seconds), time),
            ("stages.render_timeout_seconds", Some(stages.render_timeout_seconds), time),
            ("render.timeout_seconds", Some(render.timeout_seconds), time),
            ("render.concurrency", count(render.concurrency), parallel),
        ] {
            match value {
                Some(0) if least > 0 => {
                    return Err(SettingsError::value(key, 0, "give at least 1, or omit the key"));
                }
                Some(value) if value > most => {
                    return Err(SettingsError::value(key, value, remedy));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Refuses pauses of zero, which would poll without end, and those beyond any use.
    fn check_pauses(&self) -> Result<(), SettingsError> {
        let batch = &self.batch;
        let millisecond = (Duration::from_millis(1), "give at least \"1ms\"");
        let second = (Duration::from_secs(1), "give at least \"1s\"");
        for (key, pause, (shortest, remedy)) in [
            ("batch.poll_min", batch.poll_min, millisecond),
            ("batch.poll_max", batch.poll_max, millisecond),
            ("batch.seal_after", batch.seal_after, millisecond),
            ("batch.owner_timeout", batch.owner_timeout, second),
            ("batch.realtime_reserve", batch.realtime_reserve, (Duration::ZERO, "")),
        ] {
            let remedy = match pause.0 {
                pause if pause < shortest => remedy,
                pause if pause > MAX_TIME => "give at most \"8784h\", a year",
                _ => continue,
            };
            return Err(SettingsError::value(key, format!("{:?}", pause.0), remedy));
        }
        Ok(())
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
