//! Statistical comparison of two runs of the same items. Pure.
//!
//! Items are paired by id and input, their repeats averaged first. The decisive metric is the
//! rubric's verdict as a share; deterministic stages, lost items and fallen items decide as well.
//! docs/compare.md explains each figure.

mod compatibility;
mod item_pairing;

pub use compatibility::{CompareError, check_rubrics};
pub use item_pairing::Side;

use crate::{
    comparison::{
        ClusterReading, ComparedRun, Comparison, ComparisonDecision, Decision, FallNoise,
        IssueChanges, PairFigures, Rules, RunIssues, ScoredInBoth, UnpairedItems, decide,
        deciding_sample_size, issue_changes,
    },
    format::counted,
    likely_clusters::LikelyClusters,
    run_report::Report,
    stability::ItemStability,
};
use juror_types::SCHEMA;

/// Compares two runs of one rubric. `stability` is that of the head's items over the last runs.
pub fn compare(
    base: Side<'_>,
    head: Side<'_>,
    rules: Rules,
    stability: &ItemStability,
) -> Result<Comparison, CompareError> {
    let (before, after) = (base.report, head.report);
    check_rubrics((&before.run.id, &before.run.rubric), (&after.run.id, &after.run.rubric))?;
    let item_pairing::Scanned { figures, base, head, scored_in_both } =
        item_pairing::scan(base, head, rules, stability)?;
    let margin = rules.margin;
    let judged = [before, after].map(|report| report.run.judge.is_some());
    let unpaired = unpaired_items(&figures, before, after);
    let mut comparison_decision = decide(&figures, unpaired, rules, judged);
    let likely_clusters = cluster_reading(after, &figures, rules);
    if let Some(reading) = &likely_clusters
        && reading.otherwise != figures.decisive.decision
    {
        comparison_decision.reason.push_str(&cluster_clause(reading));
    }
    let judging = (base.judging(before), head.judging(after));
    let sample_size = (is_undecided(&figures, &comparison_decision) && !unpaired.exceeds())
        .then(|| deciding_sample_size(&figures.decisive.difference, margin, judging.0, judging.1));
    let issues = changed_issues(before, after, &scored_in_both, margin);
    let noise = FallNoise {
        judgment: judging.1.noise.or(judging.0.noise),
        repeats: (before.run.repeat, after.run.repeat),
        runs: stability.noise_variance,
    };
    let mut warnings = compatibility::warnings(before, after);
    warnings.extend(base.renderers.warning(&head.renderers));
    warnings.extend(removed_items(&figures, after));
    warnings.extend(pair_warnings(&figures, judged, after.coverage.pending));
    warnings.extend(unpaired.warning());
    warnings.extend(likely_clusters.as_ref().map(cluster_warning));
    let mut changes = figures.changes.finish(margin, noise, stability, &issues);
    changes.flaky_left_out = rules.leave_out_flaky && !changes.flaky.is_empty();
    changes.by_evidence = figures.by_evidence;
    changes.not_compared =
        figures.counts.gone + unpaired.changed + unpaired.new + unpaired.unscored_in_base;
    let names = [
        ("endpoint of the judge", &base.endpoints, &head.endpoints),
        ("fingerprint of the model", &base.fingerprints, &head.fingerprints),
    ];
    Ok(Comparison {
        schema: SCHEMA,
        decision: comparison_decision.decision,
        decided_by: comparison_decision.decided_by,
        headline: comparison_decision.headline,
        reason: comparison_decision.reason,
        margin,
        max_lost: rules.max_lost,
        strict: rules.strict,
        simulated: before.run.simulated || after.run.simulated,
        judge_differences: compatibility::judge_differences(before, after, names),
        warnings,
        base: compared_run(before),
        head: compared_run(after),
        paired: figures.counts.paired,
        has_too_few_pairs: unpaired.exceeds() || figures.has_other_renderer,
        decisive: figures.decisive,
        criteria: figures.criteria,
        metrics: figures.metrics,
        passes: figures.passes,
        fallen: figures.fallen,
        lost: figures.lost,
        likely_clusters,
        deciding_sample_size: sample_size.flatten(),
        items: figures.items,
        issues,
        changes,
    })
}

/// True if more judgments could decide an inconclusive result.
fn is_undecided(figures: &PairFigures, comparison_decision: &ComparisonDecision) -> bool {
    figures.decisive.decision == Decision::Inconclusive
        && comparison_decision.decision == Decision::Inconclusive
        && !figures.lost.iter().any(|lost| lost.exceeds)
}

/// Effect of the head's likely clusters on the decision, if it has any.
fn cluster_reading(head: &Report, figures: &PairFigures, rules: Rules) -> Option<ClusterReading> {
    let (likely, (effect, otherwise)) = head.likely_clusters.as_ref().zip(figures.reading)?;
    let clusters = LikelyClusters { effect: Some(effect), ..likely.clone() };
    Some(ClusterReading { clusters, used: rules.use_likely_clusters, otherwise })
}

/// Clause about likely clusters for the end of a decision's reason, as in `; 120 of 120 items look
/// like 8 clusters (…) and are taken together; …`.
fn cluster_clause(reading: &ClusterReading) -> String {
    let (description, otherwise) = (reading.clusters.description(), reading.otherwise.name());
    match reading.used {
        true => format!(
            "; {description} and are taken together; as independent items the decision would be {otherwise}"
        ),
        false => {
            format!("; {description}: taken together, the decision would be {otherwise}")
        }
    }
}

/// The warning about likely clusters that are not declared.
fn cluster_warning(reading: &ClusterReading) -> String {
    let effect = reading.clusters.effect.as_ref();
    format!(
        "{}, and their changes differ between the clusters (design effect {:.1}): declare `cluster` \
         in the dataset{}",
        reading.clusters.description(),
        effect.map_or(1.0, |effect| effect.design_effect),
        match reading.used {
            true => "; until then the intervals take them together (likely_clusters = \"use\")",
            false => ", or the intervals are too narrow (likely_clusters = \"warn\")",
        }
    )
}

/// Issues that came, went or became more or less frequent.
fn changed_issues(
    base: &Report,
    head: &Report,
    scored_in_both: &ScoredInBoth,
    margin: f64,
) -> IssueChanges {
    // Where the judge was not called, a missing issue is no information.
    let is_judged = |report: &&Report| report.run.judge.is_some() && report.coverage.scored > 0;
    if ![base, head].iter().all(is_judged) {
        return IssueChanges::default();
    }
    let [before, after] = [base, head]
        .map(|report| RunIssues { groups: &report.common_issues, items: &report.items });
    issue_changes(before, after, scored_in_both, margin)
}

fn compared_run(report: &Report) -> ComparedRun {
    let run = &report.run;
    ComparedRun {
        run: run.id.clone(),
        created_at: run.created_at.clone(),
        judge: run.judge.clone(),
        simulated: run.simulated,
        repeat: run.repeat,
        coverage: report.coverage.clone(),
    }
}

/// Items of both runs with and without a pair. Items that the head lacks may be pending, or outside of
/// its selection where this is another one; then they do not count as gone. Those outside of a sample
/// never do.
fn unpaired_items(figures: &PairFigures, base: &Report, head: &Report) -> UnpairedItems {
    let (before, after) = (&base.run.dataset, &head.run.dataset);
    let is_same_selection = before.filters == after.filters && before.limit == after.limit;
    let is_unlimited = after.filters.is_empty() && after.limit.is_none();
    let is_gone = head.coverage.without_result() == 0 && (is_same_selection || is_unlimited);
    UnpairedItems {
        paired: figures.counts.paired + figures.counts.flaky_left_out,
        changed: figures.items.changed_input.len() as u64,
        gone: if is_gone { figures.counts.gone } else { 0 },
        new: figures.items.new.len() as u64,
        unscored_in_base: figures.counts.base_lost,
    }
}

/// Warning of items that are no longer in the dataset of which the head judged a sample.
fn removed_items(figures: &PairFigures, head: &Report) -> Option<String> {
    let sample = head.run.dataset.sample?;
    let unnamed = figures.counts.gone.saturating_sub(figures.items.gone.len() as u64);
    (unnamed > 0).then(|| {
        format!(
            "at least {} of the base are not in the {} of which the head judged a sample: more are \
             missing than the sample left out, and the excess counts as gone",
            counted(unnamed, "item"),
            counted(sample.of, "item")
        )
    })
}

/// Warnings about the pairs; `judged` is true for each run with a judge, `pending` is the head's
/// number of jobs without a result.
fn pair_warnings(figures: &PairFigures, judged: [bool; 2], pending: u64) -> Vec<String> {
    let mut warnings = Vec::new();
    let groups = figures.decisive.difference.groups;
    match groups {
        _ if figures.clusters == 0 => {}
        1 if figures.decisive.difference.n > 1 => warnings.push(format!(
            "all {} paired items are in one cluster and count as one observation, so no change of \
             {} can be decided: leave `cluster` out of the dataset, or name at least two clusters",
            figures.decisive.difference.n, figures.decisive.title
        )),
        2..10 => warnings.push(format!(
            "the intervals are based on {groups} clusters: below 10 they are unreliable"
        )),
        _ => {}
    }
    // Without a judge no image is read, so that no input has a digest.
    if figures.counts.unverified > 0 && judged != [false, false] {
        warnings.push(format!(
            "{} of the {} pairs are matched by id only: the digest of the input is unknown in a run",
            figures.counts.unverified, figures.counts.paired
        ));
    }
    let missing = figures.counts.gone;
    if pending > 0 && missing > 0 {
        let items = counted(missing, "item");
        warnings.push(format!(
            "the head is not finished ({} pending), so that the {items} of the base that it lacks may \
             be pending and not gone: resume it, then compare again",
            counted(pending, "job")
        ));
    }
    if figures.counts.flaky_left_out > 0 {
        warnings.push(format!(
            "left out of the figures and the decision: {}",
            counted(figures.counts.flaky_left_out, "flaky item")
        ));
    }
    if figures.counts.base_lost > 0 {
        warnings.push(format!(
            "{} are scored only in the head, and are not compared",
            counted(figures.counts.base_lost, "item")
        ));
    }
    warnings
}

#[cfg(test)]
mod change_tests;
#[cfg(test)]
mod evidence_tests;
#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod tests;
