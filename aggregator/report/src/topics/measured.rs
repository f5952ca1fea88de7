//! Topic of measured differences between screenshots and rendered code.

use crate::document::{
    Block, FigureCell, FigureColumn, FigureRow, FigureTable, Level, List, ListEntry, NameKind,
    Topic,
};
use juror_analysis::{
    evidence_summary::{CommonRepair, CountedText, EvidenceSummary},
    format::{counted, figure, grouped, interval},
    metrics::Metric,
    run_report::Report,
};

/// The topic, each repair with its items; `None` if nothing was to be rendered.
pub fn topic(report: &Report) -> Option<Topic> {
    topic_of(report, |repair| {
        let item = |number: &u32| ListEntry::item(report.items.id(*number), String::new());
        vec![List::new("Items", &repair.items, item)]
    })
}

/// The topic with the names of repairs alone, which a page links to their items.
pub fn folded_topic(report: &Report) -> Option<Topic> {
    topic_of(report, |_| Vec::new())
}

fn topic_of(report: &Report, unfolded: impl Fn(&CommonRepair) -> Vec<List>) -> Option<Topic> {
    let summary = report.evidence.as_ref()?;
    let mut blocks = vec![Block::Facts(facts(summary))];
    let measured = report.metrics.iter().filter(|metric| metric.definition.is_evidence());
    let rows: Vec<_> = measured.filter_map(row).collect();
    if !rows.is_empty() {
        let columns = ["Figure", "95 % interval"].map(FigureColumn::new);
        blocks.push(Block::Table(FigureTable {
            note: "measured by a program between the screenshot and the picture of the rendered \
                   code; no opinion of a judge is in it",
            ..FigureTable::new("Metric", columns, rows)
        }));
    }
    if summary.contradictory > 0 {
        let name = match summary.contradictory {
            1 => "1 verdict contradicts the measured evidence".to_owned(),
            count => format!("{} verdicts contradict the measured evidence", grouped(count)),
        };
        blocks.push(Block::NamedSentence {
            level: Level::Doubtful,
            kind: NameKind::Contradictions,
            name,
            text: ": look at these first".to_owned(),
        });
    }
    for (subject, count, text) in [
        (
            "the code of",
            summary.pasted,
            "shows an image over 30 % of the page that equals the screenshot there",
        ),
        (
            "the page of",
            summary.overflowing,
            "goes on beyond the screenshot's edges, where nothing is compared",
        ),
        (
            "rendering of",
            summary.cut_short,
            "ended before everything was tried, by its time limit or a failure of the browser, so \
             that more may differ than the code's faults: raise render.timeout_seconds, or run \
             them again",
        ),
    ] {
        let text = format!("{subject} {} {text}", counted(count, "item"));
        blocks.extend((count > 0).then_some(Block::Sentence(Level::Doubtful, "", text)));
    }
    let repairs =
        List::new("Repairs", &summary.repairs, |group| repair(group, unfolded(group))).opened();
    let count = usize::try_from(summary.repairs_total).unwrap_or(usize::MAX);
    let lists = [
        List { count, ..repairs },
        List::new("Why code was not rendered", &summary.failures, text).opened(),
        List::new("Why items were not measured", &summary.unmeasured_reasons, text).opened(),
        List::new("Imports that stand-ins replace", &summary.missing_imports, text).opened(),
    ];
    blocks.extend(lists.into_iter().filter(|list| list.count > 0).map(Block::List));
    Some(Topic::new("measured", "Measured", false, blocks))
}

fn facts(summary: &EvidenceSummary) -> Vec<String> {
    let mut facts = vec![format!(
        "{} measured, something differs in {}",
        counted(summary.measured, "result"),
        grouped(summary.differing)
    )];
    if summary.not_rendered > 0 {
        facts.push(format!("code of {} does not render", grouped(summary.not_rendered)));
    }
    if summary.unmeasured > 0 {
        facts.push(format!("{} not measured", grouped(summary.unmeasured)));
    }
    if summary.partial > 0 {
        facts.push(format!("{} with stand-ins for imports", grouped(summary.partial)));
    }
    let kinds = summary.kinds.iter();
    facts.extend(kinds.map(|(kind, count)| format!("{} in {}", kind.name(), grouped(*count))));
    facts
}

fn row(metric: &Metric) -> Option<FigureRow> {
    let unit = metric.definition.unit;
    let cells = vec![
        FigureCell::figure(figure(metric.value?, unit)),
        FigureCell::figure(interval(&metric.interval, unit)),
    ];
    Some((metric.definition.title.clone(), Level::Plain, cells))
}

fn repair(repair: &CommonRepair, unfolded: Vec<List>) -> ListEntry {
    let detail = counted(repair.count, "result");
    ListEntry { unfolded, ..ListEntry::new(NameKind::Repair, &repair.label(), detail) }
}

fn text(counted_text: &CountedText) -> ListEntry {
    ListEntry::text(&counted_text.text, counted(counted_text.count, "result"))
}
