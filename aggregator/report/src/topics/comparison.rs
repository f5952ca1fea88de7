//! Layout of a comparison of two runs.

use super::{
    changes::{self, MEASURED_SCORES, ending},
    head::simulated,
};
use crate::document::{
    Block, ChangeChart, FigureCell, FigureColumn, FigureTable, Level, List, ListEntry, Lists, Topic,
};
use juror_analysis::{
    comparison::{
        Comparison, Decision, IssueChange, ItemChange, MetricDifference, PassDifference,
        SampleSize, change, change_interval, change_unit, distinct_size, p_value,
    },
    format::{counted, dollars, figure, grouped},
    metrics::Unit,
};

/// The topics of a comparison alone.
pub fn topics(comparison: &Comparison) -> [Topic; 2] {
    [topic(comparison), changes::topic(comparison)]
}

/// The whole comparison.
pub fn topic(comparison: &Comparison) -> Topic {
    let mut blocks = decision(comparison);
    blocks.extend(figures(comparison));
    blocks.extend(changes(comparison));
    let status = (comparison.decision.name().to_owned(), level_of(comparison.decision));
    let topic = Topic::new("comparison", "Comparison", comparison.simulated, blocks);
    Topic { status: Some(status), ..topic }
}

/// A decision and its reason.
pub fn conclusion(decision: Decision, headline: &str, reason: &str, simulated: bool) -> Block {
    Block::Decision {
        level: level_of(decision),
        headline: headline.to_owned(),
        reason: format!("Since {reason}"),
        simulated,
    }
}

/// Decision, its reasons, and warnings.
pub fn decision(comparison: &Comparison) -> Vec<Block> {
    let Comparison { decision, headline, reason, .. } = comparison;
    let mut blocks =
        vec![conclusion(*decision, headline, reason, comparison.simulated), facts(comparison)];
    blocks.extend(comparison.simulated.then(simulated));
    let judges = comparison.judge_differences.iter();
    blocks.extend(judges.map(|text| Block::Sentence(Level::Bad, "Another judge", text.clone())));
    let warnings = comparison.warnings.iter();
    blocks.extend(warnings.map(|text| Block::Sentence(Level::Doubtful, "", text.clone())));
    let sentences =
        [detectable(comparison), comparison.deciding_sample_size.as_ref().map(sample_size)];
    blocks.extend(
        sentences.into_iter().flatten().map(|text| Block::Sentence(Level::Plain, "", text)),
    );
    blocks
}

/// Every mean and rate in both runs; nothing without pairs.
pub fn figures(comparison: &Comparison) -> Vec<Block> {
    if comparison.paired == 0 {
        return Vec::new();
    }
    let mut blocks = vec![Block::Table(means(comparison))];
    if !comparison.passes.is_empty() {
        blocks.push(Block::Table(passes(&comparison.passes)));
    }
    blocks
}

/// Items and issues that changed.
pub fn changes(comparison: &Comparison) -> Vec<Block> {
    let lists = &comparison.items;
    let share = |value: f64| figure(value, Unit::Share);
    let moved = |item: &ItemChange| {
        ListEntry::item(&item.id, format!("{} → {}", share(item.base), share(item.head)))
    };
    let id = |id: &String| ListEntry::item(id, String::new());
    let gone =
        if comparison.head.coverage.without_result() > 0 { "Gone or pending" } else { "Gone" };
    let items = vec![
        List::new("Regressed", &lists.regressed, moved).opened(),
        List::new("Newly failing", &lists.newly_failing, |item| {
            ListEntry::item(&item.id, ending(item.outcome, item.error, "does not pass"))
        })
        .opened(),
        List::new("Improved", &lists.improved, moved),
        List::new("With another input", &lists.changed_input, id),
        List::new("New", &lists.new, id),
        List::new(gone, &lists.gone, id),
    ];
    let issues = &comparison.issues;
    let issue = |issue: &IssueChange| {
        let detail = format!("{} → {}", share(issue.base_share), share(issue.head_share));
        ListEntry::text(&issue.label, detail)
    };
    let issues = vec![
        List::new("New", &issues.new, issue).opened(),
        List::new("Gone", &issues.gone, issue),
        List::new("More frequent", &issues.more_frequent, issue),
        List::new("Less frequent", &issues.less_frequent, issue),
    ];
    let mut blocks = vec![lists_block("Items", items)];
    if issues.iter().any(|list| list.count > 0) {
        blocks.push(lists_block("Issues", issues));
    }
    blocks
}

fn facts(comparison: &Comparison) -> Block {
    let mut facts = vec![
        format!("base {}", comparison.base.run),
        format!("head {}", comparison.head.run),
        counted(comparison.paired, "paired item"),
        format!("margin {}", figure(comparison.margin, Unit::Share)),
    ];
    facts.extend(comparison.strict.then(|| "strict".to_owned()));
    facts.extend(comparison.changes.by_evidence.then(|| MEASURED_SCORES.to_owned()));
    Block::Facts(facts)
}

fn means(comparison: &Comparison) -> FigureTable {
    let reach = reach(comparison);
    let row = |metric: &MetricDifference| {
        let (unit, all) = (metric.unit(), &metric.difference);
        let moved = |value: f64| change(value, unit);
        let interval = all.low.zip(all.high);
        let cells = vec![
            FigureCell::optional(all.base, |value| figure(value, unit)),
            FigureCell::optional(all.head, |value| figure(value, unit)),
            FigureCell::optional(all.difference, moved),
            FigureCell::optional(interval, |(low, high)| change_interval(low, high, unit)),
            FigureCell::Change(chart(metric, comparison.margin, reach)),
            FigureCell::optional(all.effect_size_dz, |value| change(value, Unit::Score)),
            FigureCell::figure(p_value(metric.p_adjusted.or(all.p_value))),
            FigureCell::figure(grouped(all.n)),
            FigureCell::optional(all.detectable, |value| distinct_size(value, unit)),
            status(Some(metric.decision)),
        ];
        (metric.title.clone(), row_level(Some(metric.decision)), cells)
    };
    let columns =
        ["Base", "Head", "Change", "95 % interval", "Drawn", "d_z", "p"].map(FigureColumn::new);
    let wide = ["n", "Detectable", "Decision"].map(FigureColumn::wide);
    FigureTable {
        title: "Means",
        note: "Head − base, in percentage points, points or ms. p of criteria and of deterministic \
               metrics is adjusted (Holm), d_z is the effect size.",
        wide_note: "Detectable: the smallest true change that so many items reveal 4 times in 5.",
        ..FigureTable::new("Means", columns.into_iter().chain(wide), comparison.means().map(row))
    }
}

/// The widest share of its scale that any mean's interval reaches, so that all have one scale.
fn reach(comparison: &Comparison) -> f64 {
    let ends = comparison.means().filter_map(|metric| {
        let (all, width) = (&metric.difference, scale_width(metric)?);
        let ends = [all.low, all.high, all.difference];
        Some(ends.into_iter().flatten().map(|end| end.abs() / width).fold(0.0, f64::max))
    });
    ends.fold(comparison.margin * 2.0, f64::max).max(f64::MIN_POSITIVE)
}

/// Range of a mean; `None` if it has no scale.
fn scale_width(metric: &MetricDifference) -> Option<f64> {
    let width = metric.unit().width();
    (metric.unit() != Unit::Milliseconds && width > 0.0).then_some(width)
}

fn chart(metric: &MetricDifference, margin: f64, reach: f64) -> Option<ChangeChart> {
    let (all, width) = (&metric.difference, scale_width(metric)?);
    let interval = all.low.zip(all.high).map(|(low, high)| (low / width, high / width));
    Some(ChangeChart { value: all.difference? / width, interval, margin, reach })
}

fn passes(passes: &[PassDifference]) -> FigureTable {
    let row = |pass: &PassDifference| {
        let cells = vec![
            FigureCell::figure(figure(pass.base, Unit::Share)),
            FigureCell::figure(figure(pass.head, Unit::Share)),
            FigureCell::figure(grouped(pass.table.only_base)),
            FigureCell::figure(grouped(pass.table.only_head)),
            FigureCell::figure(grouped(pass.table.total())),
            FigureCell::figure(p_value(pass.p_adjusted.or(pass.p_value))),
            status(pass.decision),
        ];
        (pass.title.clone(), row_level(pass.decision), cells)
    };
    let columns = ["Base", "Head", "Only in base", "Only in head", "n", "p"].map(FigureColumn::new);
    let columns = columns.into_iter().chain([FigureColumn::wide("Decision")]);
    FigureTable {
        title: "Passes",
        note: "p by the exact McNemar test, which counts a cluster of items once; adjusted (Holm) where the \
               rate decides.",
        ..FigureTable::new("Passes", columns, passes.iter().map(row))
    }
}

/// Lists with the counts of those that are not empty.
fn lists_block(title: &'static str, lists: Vec<List>) -> Block {
    let counts = lists.iter().filter(|list| list.count > 0);
    let counts: Vec<String> = counts
        .map(|list| format!("{} {}", grouped(list.count as u64), list.title.to_lowercase()))
        .collect();
    let summary = if counts.is_empty() { "none changed".to_owned() } else { counts.join(", ") };
    Block::Lists(Lists { title, summary, lists })
}

fn status(decision: Option<Decision>) -> FigureCell {
    match decision {
        Some(decision) => FigureCell::Status(decision.name().to_owned(), level_of(decision)),
        None => FigureCell::figure(""),
    }
}

/// A row is marked only where something is certain.
fn row_level(decision: Option<Decision>) -> Level {
    match decision {
        Some(decision @ (Decision::Worse | Decision::Better)) => level_of(decision),
        _ => Level::Plain,
    }
}

fn level_of(decision: Decision) -> Level {
    match decision {
        Decision::Same | Decision::Better => Level::Good,
        Decision::Inconclusive => Level::Doubtful,
        Decision::Worse => Level::Bad,
    }
}

/// `200 pairs would reveal a change of 0.05 percentage points 4 times in 5.`
fn detectable(comparison: &Comparison) -> Option<String> {
    let decisive = &comparison.decisive;
    let width = decisive.unit().width();
    // From two pairs or three, anything may follow.
    let detectable = decisive.difference.detectable.filter(|change| *change <= width)?;
    Some(format!(
        "{} would reveal a change of {} {} 4 times in 5.",
        counted(decisive.difference.n, "pair"),
        distinct_size(detectable, decisive.unit()),
        change_unit(decisive.unit())
    ))
}

/// Sample sizes that would decide an inconclusive comparison.
fn sample_size(sample: &SampleSize) -> String {
    let cost =
        |money: Option<_>| money.map_or_else(String::new, |money| format!(" ({})", dollars(money)));
    let items = sample.more_items.map(|items| {
        format!("{} in both runs{}", counted(items, "more item"), cost(sample.more_items_usd))
    });
    let repeats = sample
        .repeats
        .map(|repeats| format!("each item {repeats} times{}", cost(sample.repeats_usd)));
    let chance = "If the true change equals the observed one, deciding it with 80 % power takes";
    match (items, repeats) {
        (Some(items), Some(repeats)) => format!("{chance} {items}, or judging {repeats} in both."),
        (Some(items), None) if sample.noise_is_known => {
            format!("{chance} {items}; judging the same ones more often does not decide it.")
        }
        (Some(items), None) => format!(
            "{chance} {items}. The effect of repeats is unknown: neither run judged its items \
             several times."
        ),
        (None, Some(repeats)) => format!("{chance} judging {repeats} in both runs."),
        (None, None) => "The change is too close to the margin to be decided by any practical \
                         number of items."
            .to_owned(),
    }
}
