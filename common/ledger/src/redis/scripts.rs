//! The Lua scripts: each is one atomic step. They stand in `lua/`, with what they mean.

use redis::Script;
use std::sync::LazyLock;

/// A script that is put together once.
pub type StepScript = LazyLock<Script>;

/// A script of the shared parts that it needs and its own text, in this order.
macro_rules! step {
    ($(#[$doc:meta])* $name:ident = $($part:literal)+) => {
        $(#[$doc])*
        pub static $name: StepScript =
            LazyLock::new(|| Script::new(concat!($(include_str!($part), "\n"),+)));
    };
}

step! {
    /// One decision over all budgets and rate limits.
    ADMIT = "lua/books.lua" "lua/line.lua" "lua/rates.lua" "lua/reservations.lua" "lua/admit.lua"
}
step! {
    /// Books a bill and stores the job that it finishes.
    SETTLE = "lua/books.lua" "lua/line.lua" "lua/rates.lua" "lua/claims.lua" "lua/settle.lua"
}
step! {
    /// Gives a lease back.
    RELEASE = "lua/books.lua" "lua/line.lua" "lua/rates.lua" "lua/reservations.lua" "lua/release.lua"
}
step! {
    /// Counts a lease as spent.
    PRESUME_SPENT = "lua/books.lua" "lua/presume_spent.lua"
}
step! {
    /// Counts the leases of a complete run as spent.
    CLOSE_LEASES = "lua/books.lua" "lua/close_leases.lua"
}
step! {
    /// Heartbeats, and the end of those who have none.
    SWEEP = "lua/books.lua" "lua/sweep.lua"
}
step! {
    /// The user's rate limits.
    SET_LIMITS = "lua/books.lua" "lua/rates.lua" "lua/set_limits.lua"
}
step! {
    /// The provider's rate limits and refusals.
    OBSERVE = "lua/books.lua" "lua/rates.lua" "lua/observe.lua"
}
step! {
    /// Writes down a budget.
    SET_BUDGET = "lua/books.lua" "lua/open_label.lua" "lua/set_budget.lua"
}
step! {
    /// Writes down the labels of a run.
    LABEL_RUN = "lua/books.lua" "lua/open_label.lua" "lua/label_run.lua"
}
step! {
    /// Time zone of days and months.
    TELL_ZONE = "lua/books.lua" "lua/tell_zone.lua"
}
step! {
    /// Writes down the time zone of days and months.
    SET_ZONE = "lua/books.lua" "lua/set_zone.lua"
}
step! {
    /// Budgets and what was spent of them.
    LEDGER = "lua/books.lua" "lua/ledger.lua"
}
step! {
    /// Says who we are and what we hold.
    CHECK_IN = "lua/books.lua" "lua/check_in.lua"
}
step! {
    /// Ends the pause after a restart of Redis.
    RECONCILE = "lua/books.lua" "lua/reconcile.lua"
}
step! {
    /// Stores results that were forgotten.
    RESTORE_RESULTS = "lua/books.lua" "lua/claims.lua" "lua/restore_results.lua"
}
step! {
    /// True if admission pauses.
    IS_PAUSED = "lua/books.lua" "lua/is_paused.lua"
}
step! {
    /// Starts work on a job.
    CLAIM = "lua/books.lua" "lua/claims.lua" "lua/claim.lua"
}
step! {
    /// Stores a finished job.
    FINISH = "lua/books.lua" "lua/claims.lua" "lua/finish.lua"
}
step! {
    /// Notes whether a start has no neighbor.
    SET_ALONE = "lua/books.lua" "lua/claims.lua" "lua/set_alone.lua"
}
step! {
    /// Counts an item without a usable answer.
    COUNT_UNUSABLE = "lua/books.lua" "lua/count_unusable.lua"
}
step! {
    /// Ends a start without a result.
    GIVE_BACK = "lua/books.lua" "lua/claims.lua" "lua/requeue.lua"
}
step! {
    /// Counts a worker without a job's file.
    MISS = "lua/books.lua" "lua/miss.lua"
}
step! {
    /// Says what a run is.
    ANNOUNCE_RUN = "lua/books.lua" "lua/announce_run.lua"
}
step! {
    /// Counts a job that is sent again.
    EXPECT_ROUND = "lua/books.lua" "lua/claims.lua" "lua/expect_round.lua"
}
step! {
    /// Permission to send a dead letter again, given once.
    ALLOW_RESEND = "lua/books.lua" "lua/claims.lua" "lua/allow_resend.lua"
}
step! {
    /// Outcomes of a run's jobs.
    LIST_OUTCOMES = "lua/books.lua" "lua/list_outcomes.lua"
}
step! {
    /// Progress of a job.
    JOB_STANDING = "lua/books.lua" "lua/claims.lua" "lua/job_state.lua"
}
step! {
    /// Closes or cancels a run.
    END_RUN = "lua/books.lua" "lua/claims.lua" "lua/end_run.lua"
}
step! {
    /// Notes something of a run.
    NOTE_RUN = "lua/books.lua" "lua/claims.lua" "lua/note_run.lua"
}
step! {
    /// Status of a run.
    RUN_STATUS = "lua/books.lua" "lua/run_status.lua"
}
step! {
    /// Says where results go.
    CLAIM_RUNS_DIRECTORY = "lua/books.lua" "lua/claim_runs_directory.lua"
}
step! {
    /// The runs that are known.
    LIST_RUNS = "lua/books.lua" "lua/list_runs.lua"
}
step! {
    /// Begins a shard.
    OPEN_SHARD = "lua/books.lua" "lua/claims.lua" "lua/batches.lua" "lua/open_shard.lua"
}
step! {
    /// Adds a row to a shard.
    ADD_BATCH_ROW = "lua/books.lua" "lua/claims.lua" "lua/batches.lua" "lua/add_batch_row.lua"
}
step! {
    /// Closes, detaches or removes a row.
    CHANGE_BATCH_ROW = "lua/books.lua" "lua/batches.lua" "lua/change_batch_row.lua"
}
step! {
    /// Rows of a shard.
    LIST_BATCH_ROWS = "lua/books.lua" "lua/batches.lua" "lua/list_batch_rows.lua"
}
step! {
    /// Ends the filling of a shard.
    PLAN_SHARD = "lua/books.lua" "lua/batches.lua" "lua/plan_shard.lua"
}
step! {
    /// Splits a shard.
    SPLIT_SHARD = "lua/books.lua" "lua/batches.lua" "lua/split_shard.lua"
}
step! {
    /// Records a step of a shard.
    SET_SHARD_STEP = "lua/books.lua" "lua/claims.lua" "lua/batches.lua" "lua/set_shard_step.lua"
}
step! {
    /// Shards of a run.
    LIST_SHARDS = "lua/books.lua" "lua/batches.lua" "lua/list_shards.lua"
}
step! {
    /// Takes over shards whose owner is gone.
    TAKE_OVER_SHARDS =
        "lua/books.lua" "lua/claims.lua" "lua/batches.lua" "lua/take_over_shards.lua"
}
step! {
    /// Renews or ends an owner of shards.
    RENEW_SHARD_OWNER = "lua/books.lua" "lua/batches.lua" "lua/renew_shard_owner.lua"
}
step! {
    /// Runs with shards.
    LIST_BATCH_RUNS = "lua/books.lua" "lua/batches.lua" "lua/list_batch_runs.lua"
}
