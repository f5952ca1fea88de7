//! Common issues and strengths: which statements of the judge come back, in how many items. Pure.
//!
//! Statements are one if they are the same but for case, punctuation, numbers and units.

mod normalise;

use normalise::normalise;
use std::collections::HashMap;

/// Longest label, in characters; a statement beyond this is cut.
const LONGEST_LABEL: usize = 200;

/// Statements that mean the same.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementGroup {
    /// The shortest of them, as the judge put it.
    pub label: String,
    /// Items that it was said of; an item's repeats count once.
    pub count: u64,
    /// `count` over the items that have a verdict.
    pub share: f64,
    /// Those items by number, as in [`crate::items::Items`]; in the order of their ids once they
    /// stand in a report.
    pub items: Vec<u32>,
}

/// Collects statements in bounded memory.
#[derive(Debug)]
pub struct Statements {
    groups: HashMap<String, Collected>,
    most_groups: usize,
    dropped: u64,
}

#[derive(Debug)]
struct Collected {
    label: String,
    items: Vec<u32>,
}

impl Statements {
    /// Collects at most this many groups at a time; beyond it, the rarest half makes room.
    pub fn new(most_groups: usize) -> Self {
        Self { groups: HashMap::new(), most_groups: most_groups.max(2), dropped: 0 }
    }

    /// Notes what the judge said of an item.
    pub fn add(&mut self, item: u32, statements: &[String]) {
        for statement in statements {
            let key = normalise(statement);
            if key.is_empty() {
                continue;
            }
            let label: String = statement.trim().chars().take(LONGEST_LABEL).collect();
            if let Some(known) = self.groups.get_mut(&key) {
                if known.items.last() != Some(&item) {
                    known.items.push(item);
                }
                if (label.len(), &label) < (known.label.len(), &known.label) {
                    known.label = label;
                }
                continue;
            }
            if self.groups.len() >= self.most_groups {
                self.drop_the_rarest();
            }
            self.groups.insert(key, Collected { label, items: vec![item] });
        }
    }

    /// Every group, most frequent first, of a run with this many items that have a verdict; and
    /// how many statements were dropped because there were too many different ones.
    pub fn finish(self, judged_items: u64) -> (Vec<StatementGroup>, u64) {
        let mut groups: Vec<StatementGroup> = self
            .groups
            .into_values()
            .map(|Collected { label, mut items }| {
                items.sort_unstable();
                items.dedup();
                items.shrink_to_fit();
                let count = items.len() as u64;
                let share = crate::metrics::tidy(count as f64 / judged_items.max(1) as f64);
                StatementGroup { label, count, share, items }
            })
            .collect();
        groups.sort_unstable_by(|left, right| {
            right.count.cmp(&left.count).then_with(|| left.label.cmp(&right.label))
        });
        (groups, self.dropped)
    }

    fn drop_the_rarest(&mut self) {
        let mut counts: Vec<usize> = self.groups.values().map(|group| group.items.len()).collect();
        counts.sort_unstable();
        let bound = counts.get(counts.len() / 2).copied().unwrap_or_default();
        let dropped = &mut self.dropped;
        self.groups.retain(|_, group| {
            let keeps = group.items.len() > bound;
            if !keeps {
                *dropped += group.items.len() as u64;
            }
            keeps
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn items_are_counted_once_and_the_most_frequent_comes_first() {
        let mut statements = Statements::new(100);
        statements.add(0, &texts(&["Missing icon in the button!", "Padding is 12px, not 16px"]));
        statements.add(1, &texts(&["missing icon in the button"]));
        statements.add(0, &texts(&["Missing icon in the button"]));
        statements.add(2, &texts(&["missing icon in the button", "…"]));
        let (groups, dropped) = statements.finish(4);
        assert_eq!(dropped, 0);
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].label, "Missing icon in the button");
        assert_eq!((groups[0].count, groups[0].share), (3, 0.75));
        assert_eq!(groups[0].items, [0, 1, 2]);
        assert_eq!(groups[1].label, "Padding is 12px, not 16px");
    }

    #[test]
    fn frequent_statements_survive_a_flood_of_others() {
        let mut statements = Statements::new(10);
        for item in 0..200 {
            let letters: String =
                format!("{item:b}").chars().map(|bit| if bit == '0' { 'o' } else { 'i' }).collect();
            statements.add(item, &texts(&["missing icon", &format!("only here: {letters}")]));
        }
        let (groups, dropped) = statements.finish(200);
        assert_eq!((groups[0].label.as_str(), groups[0].count), ("missing icon", 200));
        assert!(groups.len() <= 10);
        assert_eq!(dropped + groups.len() as u64 - 1, 200);
    }
}
