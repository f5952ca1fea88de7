//! The Lua scripts. Each runs as one atomic step and is documented in its file in `lua/`.

use redis::Script;
use std::sync::LazyLock;

/// A script that is composed at its first use.
pub type StepScript = LazyLock<Script>;

/// Scripts by name: the records, then the shared parts that it needs and its own file.
macro_rules! scripts {
    ($($name:ident = $($part:literal)+;)+) => {
        $(pub static $name: StepScript = LazyLock::new(|| {
            Script::new(concat!(
                include_str!("lua/records.lua"),
                $("\n", include_str!(concat!("lua/", $part, ".lua"))),+
            ))
        });)+
    };
}

scripts! {
    ADMIT = "budget_queue" "endpoint_limits" "rate_limit_reservations" "admit";
    SETTLE = "budget_queue" "endpoint_limits" "claims" "settle";
    RELEASE = "budget_queue" "endpoint_limits" "rate_limit_reservations" "release";
    PRESUME_SPENT = "presume_spent";
    CLOSE_LEASES = "close_leases";
    SWEEP = "sweep";
    SET_LIMITS = "endpoint_limits" "set_limits";
    OBSERVE = "endpoint_limits" "observe_rate_limits";
    SET_BUDGET = "open_budget_label" "journal_costs" "set_budget";
    SET_BUDGET_LABELS = "open_budget_label" "set_budget_labels";
    REPORT_ZONE = "report_time_zone";
    SET_ZONE = "set_time_zone";
    READ_ACCOUNTS = "read_accounts";
    REGISTER = "register";
    RECONCILE = "open_budget_label" "journal_costs" "reconcile";
    RESTORE_RESULTS = "claims" "restore_results";
    IS_ADMISSION_SUSPENDED = "is_admission_suspended";
    CLAIM = "claims" "claim_or_take_over";
    FINISH = "claims" "finish";
    SET_ISOLATED = "claims" "mark_claim_isolated";
    COUNT_UNUSABLE = "count_unusable";
    REQUEUE = "claims" "requeue";
    RECORD_MISSING_FILE = "record_missing_file";
    ANNOUNCE_RUN = "announce_run";
    RESERVE_RUN_NAME = "reserve_run_name";
    EXPECT_ROUND = "claims" "expect_round";
    ALLOW_RESEND = "claims" "allow_resend";
    LIST_OUTCOMES = "list_outcomes";
    JOB_STATE = "claims" "job_state";
    END_RUN = "claims" "end_run";
    UPDATE_RUN = "claims" "update_run";
    RUN_STATUS = "run_status";
    CLAIM_RUNS_DIRECTORY = "claim_runs_directory";
    LIST_RUNS = "list_runs";
    OPEN_SHARD = "claims" "batches" "open_shard";
    ADD_BATCH_ROW = "claims" "batches" "add_batch_row";
    CHANGE_BATCH_ROW = "batches" "change_batch_row";
    LIST_BATCH_ROWS = "batches" "list_batch_rows";
    PLAN_SHARD = "batches" "plan_shard";
    SPLIT_SHARD = "batches" "split_shard";
    SET_SHARD_STEP = "claims" "batches" "set_shard_step";
    LIST_SHARDS = "batches" "list_shards";
    TAKE_OVER_SHARDS = "claims" "batches" "take_over_shards";
    RENEW_SHARD_OWNER = "batches" "renew_shard_owner";
    LIST_BATCH_RUNS = "batches" "list_batch_runs";
}
