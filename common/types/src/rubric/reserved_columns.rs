//! Names of columns in reports, results and the dashboard.

/// Fields of results, columns of CSV reports, and sort orders of the dashboard's table.
const COLUMNS: &str = "answered_by attempts block_match block_position cached cluster \
    code_compiles contradictions cost cost_usd cut_short delta_e endpoint error error_kind error_message evidence evidence_explained evidence_noise findings findings_critical \
    findings_major findings_minor first_region generation grade id issues item job_id judge \
    judged_part labels latency max_score metadata model outcome pastes_screenshot percentage pipeline_success \
    pixels_equal quality_score rationales regions render_error renders repeat reply retrieval \
    retrieval_correct retrieved round rubric run_id schema score screenshot_id semantic \
    semantic_correctness simulated ssim ssim_low stand_ins strengths suspected_instructions tags token_accuracy \
    total_latency_ms total_score unmeasured";

/// True for a key that a rubric's criteria and groups cannot have, since a column has that name.
pub fn is_reserved_key(key: &str) -> bool {
    COLUMNS.split(' ').any(|column| column == key)
}
