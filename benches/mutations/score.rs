//! Score of a report on a planted change.

use super::operators::{Mutation, OPERATORS};
use juror_evidence::Snapshot;
use juror_types::evidence::{AlternativeRepair, Evidence, EvidenceRegion};
use std::collections::BTreeMap;

/// Scores by half (held out or not) and operator.
pub type RegionScores = BTreeMap<(bool, &'static str), RegionScore>;

/// Content of the first region about a change, including equivalent notations.
pub struct Found {
    /// True if any region overlaps a changed element.
    pub on_element: bool,
    pub element: bool,
    pub property: bool,
    pub both: bool,
}

impl Found {
    pub fn new(evidence: &Evidence, planted: &Mutation, page: &Snapshot) -> Self {
        let changed = planted.change.elements.iter().map(|&at| &page.elements[at]);
        let (paths, rects): (Vec<_>, Vec<_>) =
            changed.map(|element| (element.path.as_str(), element.rect)).unzip();
        let on_element =
            evidence.regions.iter().any(|region| rects.iter().any(|rect| touches(region, rect)));
        let named = evidence.regions.first().map(named).unwrap_or_default();
        let is_element = |path: &str| paths.contains(&path);
        let is_property = |property: &str| family(property) == family(planted.operator);
        Self {
            on_element,
            element: named.iter().any(|(path, _)| is_element(path)),
            property: named.iter().any(|(_, property)| is_property(property)),
            both: named.iter().any(|(path, property)| is_element(path) && is_property(property)),
        }
    }
}

/// Elements and properties that a region names.
fn named(region: &EvidenceRegion) -> Vec<(&str, &str)> {
    let own = region.element.as_ref().map(|element| element.path.as_str());
    let own = own.map(|path| (path, region.property.as_deref().unwrap_or_default()));
    let others =
        region.alternatives.iter().map(|other| (other.path.as_str(), other.property.as_str()));
    own.into_iter().chain(others).collect()
}

fn touches(region: &EvidenceRegion, [x, y, width, height]: &[f64; 4]) -> bool {
    let [left, top, across, down] = region.render_box.map(f64::from);
    left < x + width + 2.0
        && *x < left + across + 2.0
        && top < y + height + 2.0
        && *y < top + down + 2.0
}

/// Shorthand of a property, under which its longhands are counted.
fn family(property: &str) -> &str {
    let shorthands = ["padding", "margin", "gap", "border-radius"];
    let shorthand = shorthands.into_iter().find(|name| property.starts_with(name));
    match property {
        "border-top-color" | "border-bottom-color" => "border-color",
        other => shorthand.unwrap_or(other),
    }
}

/// Report that names the permitted maximum regardless of the change.
pub fn name_everything(evidence: &Evidence, page: &Snapshot) -> Evidence {
    let Some(region) = evidence.regions.first() else { return evidence.clone() };
    let visible: Vec<_> = page.elements.iter().filter(|element| element.visible).collect();
    let regions =
        visible.iter().skip(2).zip(OPERATORS.iter().cycle()).take(8).map(|(element, property)| {
            let mut region = region.clone();
            region.render_box = element.rect.map(|side| side.max(0.0) as u32);
            region.property = Some((*property).to_owned());
            if let Some(own) = &mut region.element {
                own.path.clone_from(&element.path);
            }
            let others = OPERATORS.iter().filter(|other| *other != property).take(4);
            region.alternatives = others
                .map(|other| AlternativeRepair {
                    path: element.path.clone(),
                    property: (*other).to_owned(),
                    is: String::new(),
                    should_be: String::new(),
                })
                .collect();
            region
        });
    Evidence { regions: regions.collect(), ..evidence.clone() }
}

/// Numbers of changes and of named changes.
#[derive(Clone, Copy, Default)]
pub struct RegionScore {
    pub all: usize,
    pub on_element: usize,
    pub element: usize,
    pub property: usize,
    pub both: usize,
    drawn: usize,
}

impl RegionScore {
    pub fn add(&mut self, found: &Found, drawn: usize) {
        let one = |is: bool| usize::from(is);
        self.sum(&Self {
            all: 1,
            on_element: one(found.on_element),
            element: one(found.element),
            property: one(found.property),
            both: one(found.both),
            drawn,
        });
    }

    /// Percentage of all changes.
    pub fn percent(&self, count: usize) -> f64 {
        100.0 * count as f64 / self.all.max(1) as f64
    }

    pub fn sum(&mut self, other: &Self) {
        self.all += other.all;
        self.on_element += other.on_element;
        self.element += other.element;
        self.property += other.property;
        self.both += other.both;
        self.drawn += other.drawn;
    }

    fn print(&self, name: &str) {
        println!(
            "{name:18}{:6}{:16.1}{:10.1}{:10.1}{:8.1}{:10.1}",
            self.all,
            self.percent(self.on_element),
            self.percent(self.element),
            self.percent(self.property),
            self.percent(self.both),
            self.drawn as f64 / self.all.max(1) as f64
        );
    }
}

/// Prints both halves of a set of scores; skips a half without changes.
pub fn print_scores(title: &str, scores: &RegionScores) {
    for (held_back, half) in [(false, "tuned by"), (true, "held back")] {
        if scores.keys().all(|(other, _)| *other != held_back) {
            continue;
        }
        println!("\n{title}, components {half}, in percent");
        println!(
            "{:18}{:>6}{:>16}{:>10}{:>10}{:>8}{:>10}",
            "operator", "n", "region on it", "element", "property", "both", "drawings"
        );
        let mut total = RegionScore::default();
        for ((_, operator), score) in scores.iter().filter(|((other, _), _)| *other == held_back) {
            score.print(operator);
            total.sum(score);
        }
        total.print("all");
    }
}
