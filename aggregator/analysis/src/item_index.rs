//! The items of a run and the places of their results, in about 50 bytes per item.

use juror_journal::journal::{JournalError, RunFiles};
use juror_types::outcome::JobResult;
use std::collections::HashMap;

/// The items' ids, numbered from 0, and all current results, sorted by id and repeat, so that two
/// runs of one dataset can be joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemIndex {
    /// All ids, concatenated.
    text: String,
    /// Ends of the ids in `text`.
    ends: Vec<usize>,
    rows: Vec<RowPlace>,
    /// Number of each item with several results, for runs with repeats.
    numbers: Option<HashMap<String, u32>>,
}

/// The groups of each item, by their position.
#[derive(Debug)]
pub struct ItemGroups(Vec<(u32, u32)>);

impl ItemGroups {
    /// Groups by their items' numbers.
    pub fn new<'a>(groups: impl Iterator<Item = &'a [u32]>) -> Self {
        let groups = (0..).zip(groups);
        let mut pairs: Vec<(u32, u32)> = groups
            .flat_map(|(place, items)| items.iter().map(move |item| (*item, place)))
            .collect();
        pairs.sort_unstable();
        Self(pairs)
    }

    /// The groups of an item.
    pub fn numbers_of_item(&self, item: u32) -> impl Iterator<Item = u32> {
        let start = self.0.partition_point(|(other, _)| *other < item);
        let rest = self.0.get(start..).unwrap_or_default();
        rest.iter().take_while(move |(other, _)| *other == item).map(|(_, group)| *group)
    }
}

impl ItemIndex {
    /// Creates an empty collection for a run with `repeat` judgments per item, with capacity for
    /// `results`: growth would copy the data at every step.
    pub fn new(repeat: u32, results: usize) -> Self {
        Self {
            ends: Vec::with_capacity(results / repeat.max(1) as usize),
            rows: Vec::with_capacity(results),
            numbers: (repeat > 1).then(HashMap::new),
            ..Self::default()
        }
    }

    /// Adds a current result; returns its item's number.
    pub fn add(&mut self, result: &JobResult, offset: u64) -> u32 {
        let id = result.screenshot_id.as_str();
        let known = self.numbers.as_ref().and_then(|numbers| numbers.get(id)).copied();
        let item = known.unwrap_or_else(|| {
            let number = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
            self.text.push_str(id);
            self.ends.push(self.text.len());
            if let Some(numbers) = &mut self.numbers {
                numbers.insert(id.to_owned(), number);
            }
            number
        });
        self.rows.push(RowPlace { item, repeat: result.repeat, offset });
        item
    }

    /// Sorts the results; call once, after the last [`ItemIndex::add`].
    pub fn sort(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_unstable_by(|left, right| {
            let ids = self.id(left.item).cmp(self.id(right.item));
            ids.then(left.repeat.cmp(&right.repeat)).then(left.offset.cmp(&right.offset))
        });
        self.rows = rows;
    }

    /// The id of an item.
    pub fn id(&self, item: u32) -> &str {
        let position = item as usize;
        let start = match position.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or_default(),
            None => 0,
        };
        let end = self.ends.get(position).copied().unwrap_or(start);
        self.text.get(start..end).unwrap_or_default()
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of results.
    pub fn results(&self) -> usize {
        self.rows.len()
    }

    /// Number of the item of the result at this place of the order.
    pub fn number_at(&self, place: u32) -> Option<u32> {
        self.rows.get(place as usize).map(|row| row.item)
    }

    /// Reads the results at these places of the order, one at a time.
    pub fn read_at<'a>(
        &'a self,
        files: &RunFiles,
        places: &'a [u32],
    ) -> Result<impl Iterator<Item = Result<JobResult, JournalError>> + use<'a>, JournalError> {
        let mut results = files.results()?;
        let rows = places.iter().filter_map(|place| self.rows.get(*place as usize));
        Ok(rows.map(move |row| results.at(row.offset)))
    }

    /// Reads the results, in order, one at a time.
    pub fn read<'a>(
        &'a self,
        files: &RunFiles,
    ) -> Result<impl Iterator<Item = Result<JobResult, JournalError>> + use<'a>, JournalError> {
        let mut results = files.results()?;
        Ok(self.rows.iter().map(move |row| results.at(row.offset)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowPlace {
    item: u32,
    repeat: u32,
    offset: u64,
}
