//! Measurements of a run: how many results have evidence, what kinds of differences they show,
//! and which repairs they have in common.

use crate::{
    format::{counted, grouped},
    gate::MeasuredCoverage,
    renderers::Renderers,
};
use indexmap::IndexMap;
use juror_types::{
    evidence::{Evidence, EvidenceOutcome, EvidenceRegion, RegionKind},
    outcome::JobResult,
    run::RunRecord,
    verdict::Verdict,
};
use serde::Serialize;
use std::cmp::Reverse;

/// Most different repairs, failures and imports that are counted, each.
const MAX_COUNTED: usize = 10_000;
/// Maximum number of repairs in a report, those of the most items first.
const MAX_REPAIRS: usize = 50;
/// Maximum number of entries in each other list, the most frequent first.
const MAX_REPORTED: usize = 20;
/// A repair that takes away less of its region is none that a run has in common.
const MIN_EXPLAINED: f64 = 0.5;

/// Counts over the results of a run whose code was to be rendered.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EvidenceSummary {
    /// Results with measured evidence.
    pub measured: u64,
    /// Number of measured results with a difference.
    pub differing: u64,
    /// Results whose code could not be rendered.
    pub not_rendered: u64,
    /// Results that are not measured for a fault of the machine, or for a limit.
    pub unmeasured: u64,
    /// Results that were rendered with stand-ins for imports or scripts.
    pub partial: u64,
    /// Results whose code shows the screenshot itself.
    pub pasted: u64,
    /// Results whose page goes on beyond the screenshot's edges.
    pub overflowing: u64,
    /// Results whose rendering ended, by its time limit or a failure of the browser, before
    /// everything was tried.
    pub cut_short: u64,
    /// Verdicts that contradict the evidence.
    pub contradictory: u64,
    /// Results that have a region of each kind; kinds that none has are left out.
    pub kinds: IndexMap<RegionKind, u64>,
    /// Number of different repairs, of which `repairs` has the first.
    pub repairs_total: u64,
    /// Repairs by number of items, most first, then by name; `report.json` has them with their items.
    #[serde(skip)]
    pub repairs: Vec<CommonRepair>,
    /// Reasons why code could not be rendered, most frequent first.
    pub failures: Vec<CountedText>,
    /// Reasons why results are not measured, most frequent first.
    pub unmeasured_reasons: Vec<CountedText>,
    /// Imports and scripts that stand-ins replace, most frequent first.
    pub missing_imports: Vec<CountedText>,
}

/// A repair that several results need.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct CommonRepair {
    /// Tag of the elements.
    pub tag: String,
    /// The CSS property.
    pub property: String,
    /// Value in the code.
    pub is: String,
    /// The value that the screenshots show.
    pub should_be: String,
    /// Number of results.
    pub count: u64,
    /// Their items, by number, each once.
    #[serde(skip)]
    pub items: Vec<u32>,
}

impl CommonRepair {
    /// Display name, as in `border-radius of div: 8px, should be 12px`.
    pub fn label(&self) -> String {
        let Self { tag, property, is, should_be, .. } = self;
        format!("{property} of {tag}: {is}, should be {should_be}")
    }
}

/// A text and the number of results that it is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountedText {
    /// Sentence for reports.
    pub text: String,
    /// Number of results.
    pub count: u64,
}

/// Takes results in one by one.
#[derive(Debug, Default)]
pub(crate) struct EvidenceTally {
    summary: EvidenceSummary,
    repairs: IndexMap<[String; 4], Vec<u32>>,
    /// Repairs that are not counted, since there were too many different ones before.
    uncounted_repairs: u64,
    failures: IndexMap<String, u64>,
    unmeasured_reasons: IndexMap<String, u64>,
    imports: IndexMap<String, u64>,
    renderers: Renderers,
}

impl EvidenceTally {
    /// Coverage of a run by measured evidence.
    pub fn coverage(&self, record: &RunRecord) -> MeasuredCoverage {
        let EvidenceSummary { measured, not_rendered, .. } = self.summary;
        let planned = if record.evidence.is_none() { 0 } else { record.planned };
        MeasuredCoverage { measured: measured + not_rendered, planned }
    }

    /// Warnings of results that were not measured, or rendered otherwise than others.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let EvidenceSummary { measured, not_rendered, unmeasured, .. } = self.summary;
        let missing = (unmeasured > 0).then(|| {
            format!(
                "{} of {} are not measured, through no fault of their code: what is measured says \
                 nothing of them; mend the cause and start a new run, which measures only what is \
                 not kept",
                grouped(unmeasured),
                counted(measured + not_rendered + unmeasured, "result")
            )
        });
        let uncounted = (self.uncounted_repairs > 0).then(|| {
            format!(
                "the repairs that items have in common leave {} out: more than {} different ones \
                 came before",
                grouped(self.uncounted_repairs),
                grouped(MAX_COUNTED as u64)
            )
        });
        missing.into_iter().chain(uncounted).chain(self.renderers.warning_of_several())
    }

    /// Counts the evidence of an item's result, and whether its verdict contradicts it.
    pub fn add(&mut self, item: u32, result: &JobResult) {
        self.renderers.add(result.evidence.as_ref());
        if let Some(reason) = &result.unmeasured {
            self.summary.unmeasured += 1;
            count(&mut self.unmeasured_reasons, reason);
        }
        match result.evidence.as_ref() {
            None => return,
            Some(EvidenceOutcome::Failed { error }) => {
                self.summary.not_rendered += 1;
                count(&mut self.failures, error);
            }
            Some(EvidenceOutcome::Measured(evidence)) => self.add_measured(item, evidence),
        }
        let contradicts = result.semantic.as_ref().is_some_and(Verdict::contradicts_evidence);
        self.summary.contradictory += u64::from(contradicts);
    }

    fn add_measured(&mut self, item: u32, evidence: &Evidence) {
        let summary = &mut self.summary;
        summary.measured += 1;
        summary.differing += u64::from(!evidence.is_equal());
        summary.partial += u64::from(!evidence.partial.is_empty());
        summary.overflowing += u64::from(evidence.overflow.is_some());
        summary.cut_short += u64::from(evidence.cut_short);
        summary.pasted += u64::from(evidence.pastes_screenshot);
        for kind in RegionKind::ALL {
            if evidence.regions.iter().any(|region| region.kind == kind) {
                *summary.kinds.entry(kind).or_insert(0) += 1;
            }
        }
        let mut repairs: Vec<_> = evidence.regions.iter().filter_map(repair).collect();
        repairs.sort_unstable();
        repairs.dedup();
        for repair in repairs {
            if self.repairs.len() < MAX_COUNTED || self.repairs.contains_key(&repair) {
                self.repairs.entry(repair).or_default().push(item);
            } else {
                self.uncounted_repairs += 1;
            }
        }
        evidence.partial.iter().for_each(|name| count(&mut self.imports, name));
    }

    /// The summary; `None` if no code was to be rendered.
    pub fn finish(mut self) -> Option<EvidenceSummary> {
        let EvidenceSummary { measured, not_rendered, unmeasured, .. } = self.summary;
        if measured + not_rendered + unmeasured == 0 {
            return None;
        }
        self.summary.kinds.sort_unstable_keys();
        Some(EvidenceSummary {
            repairs_total: self.repairs.len() as u64,
            repairs: common_repairs(self.repairs),
            failures: most_frequent(self.failures),
            unmeasured_reasons: most_frequent(self.unmeasured_reasons),
            missing_imports: most_frequent(self.imports),
            ..self.summary
        })
    }
}

fn repair(region: &EvidenceRegion) -> Option<[String; 4]> {
    let element = region.element.as_ref()?;
    region.explains.filter(|explains| *explains >= MIN_EXPLAINED)?;
    let parts = [Some(&element.tag), region.property.as_ref(), region.is.as_ref()];
    let [tag, property, is] = parts.map(|part| part.cloned());
    Some([tag?, property?, is?, region.should_be.clone()?])
}

/// The repairs of the most items, each with its items in their order.
fn common_repairs(items: IndexMap<[String; 4], Vec<u32>>) -> Vec<CommonRepair> {
    let repairs = items.into_iter().map(|([tag, property, is, should_be], mut items)| {
        let count = items.len() as u64;
        items.sort_unstable();
        items.dedup();
        CommonRepair { tag, property, is, should_be, count, items }
    });
    let mut repairs: Vec<_> = repairs.collect();
    repairs.sort_by_cached_key(|repair| (Reverse(repair.items.len()), repair.label()));
    repairs.truncate(MAX_REPAIRS);
    repairs
}

fn count(counts: &mut IndexMap<String, u64>, text: &str) {
    if counts.len() < MAX_COUNTED || counts.contains_key(text) {
        *counts.entry(text.to_owned()).or_insert(0) += 1;
    }
}

/// The first by count, then by key, so that the order of results does not matter.
fn most_frequent(counts: IndexMap<String, u64>) -> Vec<CountedText> {
    let texts = counts.into_iter().map(|(text, count)| CountedText { text, count });
    let mut sorted: Vec<CountedText> = texts.collect();
    sorted.sort_unstable_by(|one, other| {
        other.count.cmp(&one.count).then_with(|| one.text.cmp(&other.text))
    });
    sorted.truncate(MAX_REPORTED);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fixtures::{differing, staged};
    use juror_types::{contradiction::Contradiction, evidence::EvidenceSource, verdict::Score};

    #[test]
    fn a_run_without_evidence_has_no_summary() {
        let mut tally = EvidenceTally::default();
        tally.add(0, &staged("a"));
        assert_eq!(tally.finish(), None);
    }

    #[test]
    fn repairs_and_failures_are_counted_over_results() {
        let mut tally = EvidenceTally::default();
        let equal = Evidence::for_equal_pictures(EvidenceSource::Rendered);
        let equal = EvidenceOutcome::Measured(Box::new(equal));
        let failed = EvidenceOutcome::Failed { error: "throws: x".into() };
        let score = Score::Sum {
            semantic_correctness: 1.0,
            scores: IndexMap::new(),
            total_score: 0.0,
            max_score: 0.0,
        };
        let contradictions = vec![Contradiction::SimilarityAgainstEvidence];
        let verdict = Verdict { contradictions, ..Verdict::new("semantic-evidence@1", score) };
        let result = |evidence: Option<EvidenceOutcome>| JobResult { evidence, ..staged("a") };
        tally.add(0, &JobResult { semantic: Some(verdict), ..result(Some(differing())) });
        tally.add(3, &result(Some(differing())));
        tally.add(1, &result(Some(equal)));
        tally.add(2, &result(Some(failed)));
        tally.add(4, &JobResult { unmeasured: Some("no browser".into()), ..result(None) });
        let summary = tally.finish().unwrap();
        assert_eq!((summary.measured, summary.differing, summary.not_rendered), (3, 2, 1));
        assert_eq!((summary.contradictory, summary.kinds[&RegionKind::Color]), (1, 2));
        assert_eq!(summary.failures[0].text, "throws: x");
        let unmeasured = &summary.unmeasured_reasons[0];
        assert_eq!((summary.unmeasured, unmeasured.text.as_str()), (1, "no browser"));
        let repair = &summary.repairs[0];
        assert_eq!(repair.label(), "background-color of button: #2563EB, should be #1D4ED8");
        assert_eq!((repair.count, repair.items.as_slice()), (2, &[0, 3][..]));
    }

    #[test]
    fn repairs_that_are_not_counted_are_told() {
        let repair = |at: usize| [at.to_string(), String::new(), String::new(), String::new()];
        let repairs: IndexMap<_, _> = (0..MAX_COUNTED).map(|at| (repair(at), vec![0])).collect();
        let mut tally = EvidenceTally { repairs, ..EvidenceTally::default() };
        assert_eq!(tally.warnings().count(), 0);
        tally.add(0, &JobResult { evidence: Some(differing()), ..staged("a") });
        let warning = tally.warnings().next().unwrap();
        assert!(
            warning.starts_with("the repairs that items have in common leave 1 out"),
            "{warning}"
        );
    }

    #[test]
    fn repairs_beyond_the_listed_ones_are_counted_and_those_of_most_items_come_first() {
        let mut tally = EvidenceTally::default();
        let mut add = |item: u32, length: u32| {
            let mut evidence = differing();
            let EvidenceOutcome::Measured(measured) = &mut evidence else { panic!("not measured") };
            measured.regions[0].should_be = Some(format!("{length:03}px"));
            tally.add(item, &JobResult { evidence: Some(evidence), ..staged("a") });
        };
        (0..60).for_each(|length| add(0, length));
        // Repeats of one item are one item.
        (0..3).for_each(|_| add(1, 7));
        (2..4).for_each(|item| add(item, 59));
        let summary = tally.finish().unwrap();
        assert_eq!((summary.repairs_total, summary.repairs.len()), (60, 50));
        let first: Vec<_> =
            summary.repairs.iter().take(3).map(|repair| repair.should_be.as_str()).collect();
        assert_eq!(first, ["059px", "007px", "000px"]);
        assert_eq!(
            (summary.repairs[1].count, summary.repairs[1].items.as_slice()),
            (4, &[0, 1][..])
        );
    }
}
