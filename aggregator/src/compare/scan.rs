//! Walks through the items of two runs side by side, in the order of their ids and in flat memory.

use super::{
    CompareError, Decision, ItemLists, MetricDifference, Pairs, PassDifference, PassTable, Rules,
    comparable::width_of,
    holm,
    item::{ComparedMetrics, ItemValues, ItemsOf},
    settle::Judging,
};
use crate::{journal::JournalError, repeats::Judgements, report::Report};
use juror_common::outcome::JobResult;
use std::{
    cmp::Ordering,
    collections::{BTreeSet, HashMap},
};

/// So many of a judge's backends are told apart.
const MOST_BACKENDS: usize = 8;

/// A run, its report and its results in the order of its items.
pub struct Side<'a, R> {
    /// Its report.
    pub report: &'a Report,
    /// Its results that count, by id and repeat.
    pub results: R,
}

/// What was found.
pub(crate) struct Scanned {
    pub(crate) decisive: MetricDifference,
    pub(crate) criteria: Vec<MetricDifference>,
    pub(crate) metrics: Vec<MetricDifference>,
    pub(crate) passes: Vec<PassDifference>,
    pub(crate) items: ItemLists,
    /// Pairs, and those of them whose input is not known in both runs.
    pub(crate) paired: u64,
    pub(crate) unverified: u64,
    pub(crate) clusters: usize,
    pub(crate) base: Judging,
    pub(crate) head: Judging,
    /// The backends that the judges named themselves, where those of the runs have none in common.
    pub(crate) other_backends: Option<(BTreeSet<String>, BTreeSet<String>)>,
}

/// Reads both runs once.
pub(crate) fn scan<R>(
    base: Side<'_, R>,
    head: Side<'_, R>,
    rules: Rules,
) -> Result<Scanned, CompareError>
where
    R: Iterator<Item = Result<JobResult, JournalError>>,
{
    let rubric = &head.report.rubric;
    let metrics = ComparedMetrics::of(rubric);
    let image = rubric.images.first().map_or("", |image| image.name.as_str());
    let mut scan = Scan::new(&metrics, rules);
    let (base_report, head_report) = (base.report, head.report);
    let items = |side: Side<'_, R>| {
        let judged = side.report.run.judge.is_some();
        ItemsOf::new(side.results, &metrics, image, judged, rules.averaging)
    };
    let (mut base, mut head) = (items(base), items(head));
    let (mut base_jobs, mut head_jobs) = (Jobs::default(), Jobs::default());
    let mut left = base.next_item(|result| base_jobs.add(result))?;
    let mut right = head.next_item(|result| head_jobs.add(result))?;
    loop {
        let order = match (&left, &right) {
            (None, None) => break,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => left.id.cmp(&right.id),
        };
        if order == Ordering::Equal
            && let (Some(left), Some(right)) = (&left, &right)
        {
            base_jobs.judgements.add(&left.scores);
            head_jobs.judgements.add(&right.scores);
            scan.pair(left, right);
        }
        if order != Ordering::Greater {
            let next = base.next_item(|result| base_jobs.add(result))?;
            let passed = std::mem::replace(&mut left, next);
            scan.lists.gone.extend(passed.filter(|_| order.is_lt()).map(|item| item.id));
        }
        if order != Ordering::Less {
            let next = head.next_item(|result| head_jobs.add(result))?;
            let passed = std::mem::replace(&mut right, next);
            scan.lists.new.extend(passed.filter(|_| order.is_gt()).map(|item| item.id));
        }
    }
    let judging = (base_jobs.judging(base_report), head_jobs.judging(head_report));
    let (before, after) = (base_jobs.backends, head_jobs.backends);
    let differ = !before.is_empty() && !after.is_empty() && before.is_disjoint(&after);
    Ok(Scanned { other_backends: differ.then_some((before, after)), ..scan.finish(judging) })
}

struct Scan<'a> {
    metrics: &'a ComparedMetrics,
    rules: Rules,
    decisive: Pairs,
    others: Vec<Pairs>,
    tables: Vec<PassTable>,
    clusters: HashMap<String, usize>,
    lists: ItemLists,
    paired: u64,
    unverified: u64,
}

impl<'a> Scan<'a> {
    fn new(metrics: &'a ComparedMetrics, rules: Rules) -> Self {
        Self {
            metrics,
            rules,
            decisive: Pairs::default(),
            others: vec![Pairs::default(); metrics.others.len()],
            tables: vec![PassTable::default(); metrics.passes.len()],
            clusters: HashMap::new(),
            lists: ItemLists::default(),
            paired: 0,
            unverified: 0,
        }
    }

    fn pair(&mut self, base: &ItemValues, head: &ItemValues) {
        match (base.input, head.input) {
            (Some(before), Some(after)) if before != after => {
                return self.lists.changed_input.push(head.id.clone());
            }
            (Some(_), Some(_)) => {}
            // What could not be judged may have had no image to take a digest of.
            _ if base.unscored.is_some() || head.unscored.is_some() => {}
            _ => self.unverified += 1,
        }
        self.paired += 1;
        let name = head.cluster.as_ref().or(base.cluster.as_ref());
        let cluster = name.map(|name| self.cluster(name));
        if let Some((before, after)) = base.decisive().zip(head.decisive()) {
            self.decisive.add(before, after, cluster);
        }
        for (both, pairs) in base.values.iter().zip(&head.values).zip(&mut self.others) {
            if let (Some(before), Some(after)) = both {
                pairs.add(*before, *after, cluster);
            }
        }
        for (both, table) in base.passes.iter().zip(&head.passes).zip(&mut self.tables) {
            if let (Some(before), Some(after)) = both {
                table.add(*before, *after);
            }
        }
        let success = self.metrics.success;
        let succeeds = |item: &ItemValues| item.passes.get(success?).copied().flatten();
        self.lists.add_pair(base, head, self.rules.margin, succeeds);
    }

    fn cluster(&mut self, name: &str) -> usize {
        if let Some(known) = self.clusters.get(name) {
            return *known;
        }
        let number = self.clusters.len();
        self.clusters.insert(name.to_owned(), number);
        number
    }

    fn finish(mut self, (base, head): (Judging, Judging)) -> Scanned {
        self.lists.sort();
        let margin = self.rules.margin;
        let decisive = MetricDifference::new(&self.metrics.decisive, &self.decisive, margin);
        let metrics = self.metrics.others.iter().zip(&self.others);
        let mut means =
            metrics.map(|(definition, pairs)| MetricDifference::new(definition, pairs, margin));
        let mut criteria: Vec<_> = means.by_ref().take(self.metrics.criteria).collect();
        let metrics = means.filter(|mean| mean.difference.n > 0).collect();
        let p_values: Vec<_> = criteria.iter().map(|each| each.difference.p_value).collect();
        for (criterion, adjusted) in criteria.iter_mut().zip(holm(&p_values)) {
            let margin = margin * width_of(criterion.unit());
            criterion.decision = Decision::among_many(&criterion.difference, margin, adjusted);
            criterion.p_adjusted = adjusted;
        }
        let passes = self.metrics.passes.iter().zip(&self.tables);
        let passes = passes.filter(|(_, table)| table.total() > 0);
        Scanned {
            passes: passes
                .map(|(definition, table)| PassDifference::new(definition, *table))
                .collect(),
            decisive,
            criteria,
            metrics,
            items: self.lists,
            paired: self.paired,
            unverified: self.unverified,
            clusters: self.clusters.len(),
            base,
            head,
            other_backends: None,
        }
    }
}

/// What a run's jobs tell beside their values.
#[derive(Default)]
struct Jobs {
    judgements: Judgements,
    pico_usd: u64,
    paid: u64,
    backends: BTreeSet<String>,
}

impl Jobs {
    fn add(&mut self, result: &JobResult) {
        let backend = result.judge.as_ref().and_then(|judge| judge.fingerprint.as_ref());
        if let Some(backend) = backend
            && self.backends.len() < MOST_BACKENDS
            && !self.backends.contains(backend)
        {
            self.backends.insert(backend.clone());
        }
        if result.attempts > 0 {
            let cost = u64::try_from(result.cost_usd.pico()).unwrap_or_default();
            self.pico_usd = self.pico_usd.saturating_add(cost);
            self.paid += 1;
        }
    }

    fn judging(&self, report: &Report) -> Judging {
        Judging {
            repeat: report.run.repeat,
            noise: self.judgements.noise_variance(),
            job_pico_usd: self.pico_usd.checked_div(self.paid),
        }
    }
}
