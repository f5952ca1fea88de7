//! `report.json`, and `.jsonl` with the results alone.

use juror_analysis::{
    evidence_summary::{CommonRepair, EvidenceSummary},
    issues::StatementGroup,
    item_index::ItemIndex,
    item_row::ItemRow,
    run_report::Report,
};
use juror_journal::journal::RunFiles;
use juror_types::SCHEMA;
use serde::{
    Serialize, Serializer,
    ser::{Error as _, SerializeMap, SerializeSeq as _},
};
use std::io::{self, Write};

/// Writes the report with all its items, which are read one by one, in their order.
pub(crate) fn write<'a>(
    report: &'a Report,
    files: &'a RunFiles,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::pretty(&mut *out);
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("schema", &SCHEMA)?;
    map.serialize_entry("run", &report.run)?;
    map.serialize_entry("overall", &report.overall)?;
    map.serialize_entry("intervals", &report.intervals())?;
    map.serialize_entry("coverage", &report.coverage)?;
    map.serialize_entry("cost", &report.cost)?;
    map.serialize_entry("targets", &report.gate)?;
    if let Some(repeats) = &report.repeats {
        map.serialize_entry("repeats", repeats)?;
    }
    if let Some(calibration) = &report.calibration {
        map.serialize_entry("calibration", calibration)?;
    }
    if let Some(comparison) = &report.comparison {
        map.serialize_entry("comparison", comparison)?;
    }
    if let Some(likely_clusters) = &report.likely_clusters {
        map.serialize_entry("likely_clusters", likely_clusters)?;
    }
    if let Some(checks) = &report.verdict_checks {
        map.serialize_entry("verdict_checks", checks)?;
    }
    let ids = |ids| Ids { items: &report.items, ids };
    if let Some(evidence) = &report.evidence {
        let repairs = evidence.repairs.iter();
        let repairs = repairs.map(|repair| RepairById { repair, items: ids(&repair.items) });
        let repairs = repairs.collect();
        map.serialize_entry("evidence", &EvidenceById { summary: evidence, repairs })?;
    }
    let statements = |groups: &'a [StatementGroup]| {
        let group = |group| GroupById { group, items: &report.items };
        groups.iter().map(group).collect::<Vec<_>>()
    };
    map.serialize_entry("common_issues", &statements(&report.common_issues))?;
    map.serialize_entry("common_strengths", &statements(&report.common_strengths))?;
    map.serialize_entry("warnings", &report.warnings)?;
    map.serialize_entry("items", &StreamedRows { report, files })?;
    SerializeMap::end(map)?;
    out.write_all(b"\n")
}

/// Writes the current results in full, one a line, as the journal has them.
pub(crate) fn write_lines(
    report: &Report,
    files: &RunFiles,
    out: &mut impl Write,
) -> io::Result<()> {
    for result in report.items.read(files)? {
        serde_json::to_writer(&mut *out, &result?)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// A run's evidence, with the items of its repairs by id.
#[derive(Serialize)]
struct EvidenceById<'a> {
    #[serde(flatten)]
    summary: &'a EvidenceSummary,
    repairs: Vec<RepairById<'a>>,
}

#[derive(Serialize)]
struct RepairById<'a> {
    #[serde(flatten)]
    repair: &'a CommonRepair,
    items: Ids<'a>,
}

/// A group of statements with its items by id.
struct GroupById<'a> {
    group: &'a StatementGroup,
    items: &'a ItemIndex,
}

impl Serialize for GroupById<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("label", &self.group.label)?;
        map.serialize_entry("grouped_by", self.group.key.grouped_by())?;
        if let Some((kind, element)) = self.group.key.kind_and_element() {
            map.serialize_entry("kind", kind)?;
            map.serialize_entry("element", element)?;
        }
        map.serialize_entry("count", &self.group.count)?;
        map.serialize_entry("share", &self.group.share)?;
        map.serialize_entry("examples", &self.group.examples)?;
        map.serialize_entry("worst", &Ids { items: self.items, ids: &self.group.worst })?;
        map.serialize_entry("items", &Ids { items: self.items, ids: &self.group.items })?;
        map.end()
    }
}

struct Ids<'a> {
    items: &'a ItemIndex,
    ids: &'a [u32],
}

impl Serialize for Ids<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.ids.iter().map(|item| self.items.id(*item)))
    }
}

/// The items as an array that is written while they are read.
struct StreamedRows<'a> {
    report: &'a Report,
    files: &'a RunFiles,
}

impl Serialize for StreamedRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(None)?;
        for result in self.report.items.read(self.files).map_err(S::Error::custom)? {
            rows.serialize_element(&ItemRow::from(result.map_err(S::Error::custom)?))?;
        }
        rows.end()
    }
}
