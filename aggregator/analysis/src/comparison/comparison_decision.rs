//! The rules that decide a comparison, and their sentences.

use super::{
    Decision, Rules, UnpairedItems,
    rule_findings::{
        RuleFinding, fallen_finding, lost_finding, mean_finding, rate_finding, renderer_finding,
    },
    totals::PairFigures,
};
use crate::metrics::title_of;

/// A decision with its reasons.
#[derive(Debug)]
pub(crate) struct ComparisonDecision {
    pub(crate) decision: Decision,
    pub(crate) decided_by: Vec<String>,
    pub(crate) headline: String,
    pub(crate) reason: String,
}

impl ComparisonDecision {
    /// Decision with the headline of the first finding.
    fn new(decision: Decision, findings: Vec<RuleFinding>, reason: String) -> Self {
        let word = title_of(decision.name());
        let headline = match findings.first() {
            Some(finding) => format!("{word}: {}", finding.headline),
            None => word,
        };
        let decided_by = findings.into_iter().map(|finding| finding.rule).collect();
        Self { decision, decided_by, headline, reason }
    }
}

/// Decides a comparison: *worse* if any rule decides so; else at best *inconclusive* if too many
/// items are lost or have no pair; else by the decisive metric, or, where neither run was judged, by
/// the deterministic metrics. `judged` is true for a base and a head with a judge.
pub(crate) fn decide(
    figures: &PairFigures,
    unpaired: UnpairedItems,
    rules: Rules,
    judged: [bool; 2],
) -> ComparisonDecision {
    let worse = worse_findings(figures, rules);
    if !worse.is_empty() {
        let mut reason = join(worse.iter().map(|finding| finding.sentence.as_str()), "; ");
        let decisive = &figures.decisive;
        if decisive.difference.n > 0 && decisive.decision != Decision::Worse {
            reason.push_str(&format!(
                "; by the interval of its change alone, {} is {}",
                decisive.title,
                decisive.decision.name()
            ));
        }
        return ComparisonDecision::new(Decision::Worse, worse, reason);
    }
    let by_figures = match missing_verdicts(figures, judged) {
        None => by_figures(figures, rules),
        Some(reason) => ComparisonDecision::new(Decision::Inconclusive, Vec::new(), reason),
    };
    let lost = figures.lost.iter().find(|lost| lost.exceeds);
    let lost = lost.map(|lost| lost_finding(lost, rules.max_lost));
    let renderer = figures.has_other_renderer.then(renderer_finding);
    let limits: Vec<RuleFinding> =
        lost.into_iter().chain(unpaired.finding()).chain(renderer).collect();
    if limits.is_empty() {
        return by_figures;
    }
    let reason = format!(
        "{}, so the comparison is at best inconclusive; of the other items, {}",
        join(limits.iter().map(|finding| finding.sentence.as_str()), "; "),
        by_figures.reason
    );
    ComparisonDecision::new(Decision::Inconclusive, limits, reason)
}

/// The reason why the deterministic stages cannot decide for the verdicts that are missing; `None`
/// if there are verdicts to compare, or if neither run was to have them.
fn missing_verdicts(figures: &PairFigures, judged: [bool; 2]) -> Option<String> {
    if figures.decisive.difference.n > 0 {
        return None;
    }
    let reason = match judged {
        [false, false] => return None,
        [true, true] => "no item has a score in both runs",
        [true, false] => "the head was run with the judge off, and the base was judged",
        [false, true] => "the base was run with the judge off, and the head was judged",
    };
    Some(format!("{reason}, so there is no decision"))
}

/// All findings that make the head *worse*.
fn worse_findings(figures: &PairFigures, rules: Rules) -> Vec<RuleFinding> {
    let mut findings = Vec::new();
    if figures.decisive.decision == Decision::Worse {
        findings.push(mean_finding(&figures.decisive, rules.margin));
    }
    let lost = figures.lost.iter().filter(|lost| lost.failing > 0);
    let lost = lost.filter(|lost| lost.as_failed == Some(Decision::Worse));
    findings.extend(lost.take(1).map(|lost| {
        let finding = lost_finding(lost, rules.max_lost);
        let sentence = format!(
            "{}; with the {} that failed counted as zero, {} is worse",
            finding.sentence, lost.failing, lost.title
        );
        RuleFinding { sentence, ..finding }
    }));
    let rates = figures.passes.iter().filter(|rate| rate.decision == Some(Decision::Worse));
    findings.extend(rates.map(rate_finding));
    let means = figures.metrics.iter().filter(|mean| mean.decides);
    let means = means.filter(|mean| mean.decision == Decision::Worse);
    findings.extend(means.map(|mean| mean_finding(mean, rules.margin)));
    if figures.fallen.worse {
        findings.push(fallen_finding(&figures.fallen));
    }
    if rules.strict {
        let criteria = figures.criteria.iter();
        let worse = criteria.filter(|criterion| criterion.decision == Decision::Worse);
        findings.extend(worse.map(|criterion| {
            let finding = mean_finding(criterion, rules.margin);
            let sentence = format!("{} (with --strict, criteria decide)", finding.sentence);
            RuleFinding { sentence, ..finding }
        }));
    }
    findings
}

/// The decision where no rule decides *worse* and no item is missing.
fn by_figures(figures: &PairFigures, rules: Rules) -> ComparisonDecision {
    let decisive = &figures.decisive;
    if decisive.difference.n > 0 {
        let finding = mean_finding(decisive, rules.margin);
        let reason = finding.sentence.clone();
        return ComparisonDecision::new(decisive.decision, vec![finding], reason);
    }
    let rates = figures.passes.iter().filter(|rate| rate.decides);
    let rates = rates.map(|rate| (rate.decision, rate_finding(rate)));
    let means = figures.metrics.iter().filter(|mean| mean.decides);
    let means = means.map(|mean| (Some(mean.decision), mean_finding(mean, rules.margin)));
    let all: Vec<_> = rates.chain(means).collect();
    let having = |wanted: Decision| all.iter().filter(move |(found, _)| *found == Some(wanted));
    let decision = match all.len() {
        0 => Decision::Inconclusive,
        _ if having(Decision::Better).next().is_some() => Decision::Better,
        count if having(Decision::Same).count() == count => Decision::Same,
        _ => Decision::Inconclusive,
    };
    let reason = match all.len() {
        0 => "no item has a value in both runs, so there is no decision".to_owned(),
        _ => {
            let named = having(decision).map(|(_, finding)| finding.sentence.as_str());
            format!("without verdicts the deterministic stages decide: {}", join(named, "; "))
        }
    };
    let findings: Vec<_> = all
        .into_iter()
        .filter(|(found, _)| *found == Some(decision))
        .map(|(_, finding)| finding)
        .collect();
    ComparisonDecision::new(decision, findings, reason)
}

fn join<'a>(parts: impl Iterator<Item = &'a str>, separator: &str) -> String {
    parts.collect::<Vec<_>>().join(separator)
}
