//! Correlations of a table with counts: Pearson's, Spearman's, Kendall's tau-b. None where a side
//! has a single value.

use super::contingency_table::Table;

/// Pearson's r.
pub(super) fn pearson(table: &Table, counts: &[f64]) -> Option<f64> {
    correlation(table, counts, &table.judge, &table.people)
}

/// Spearman's rho: Pearson's r of the ranks, tied values at the mean of theirs.
pub(super) fn spearman(table: &Table, counts: &[f64]) -> Option<f64> {
    let (mut judge, mut people) = (vec![0.0; table.judge.len()], vec![0.0; table.people.len()]);
    for (cell, count) in table.counted(counts) {
        add(&mut judge, cell.judge, count);
        add(&mut people, cell.people, count);
    }
    correlation(table, counts, &middle_ranks(&judge), &middle_ranks(&people))
}

/// Kendall's tau-b (Kendall 1945): concordant less discordant pairs of items, over the geometric
/// mean of the pairs that are not tied on either side. Pairs are counted by a Fenwick tree over the
/// people's values while the judge's ascend (Knight 1966 counts them by sorting).
pub(super) fn kendall_tau_b(table: &Table, counts: &[f64]) -> Option<f64> {
    let (mut judge, mut people) = (vec![0.0; table.judge.len()], vec![0.0; table.people.len()]);
    let mut seen = Fenwick(vec![0.0; table.people.len() + 1]);
    let (mut total, mut surplus) = (0.0, 0.0);
    let cells: Vec<_> = table.counted(counts).collect();
    for row in cells.chunk_by(|(one, _), (other, _)| one.judge == other.judge) {
        for (cell, count) in row {
            let below = seen.up_to(cell.people);
            let above = total - seen.up_to(cell.people + 1);
            surplus += count * (below - above);
        }
        for (cell, count) in row {
            seen.add(cell.people, *count);
            total += count;
            add(&mut judge, cell.judge, *count);
            add(&mut people, cell.people, *count);
        }
    }
    let pairs = |count: f64| count * (count - 1.0) / 2.0;
    let untied = |sums: &[f64]| pairs(total) - sums.iter().map(|sum| pairs(*sum)).sum::<f64>();
    let (judge, people) = (untied(&judge), untied(&people));
    (judge > 0.5 && people > 0.5).then(|| (surplus / judge.sqrt() / people.sqrt()).clamp(-1.0, 1.0))
}

/// Prefix sums of values at logarithmic cost (Fenwick 1994).
struct Fenwick(Vec<f64>);

impl Fenwick {
    fn add(&mut self, place: usize, count: f64) {
        let mut node = place + 1;
        while let Some(sum) = self.0.get_mut(node) {
            *sum += count;
            node += node & node.wrapping_neg();
        }
    }

    /// Sum of the values below this place.
    fn up_to(&self, place: usize) -> f64 {
        let (mut node, mut sum) = (place, 0.0);
        while node > 0 {
            sum += self.0.get(node).copied().unwrap_or_default();
            node -= node & node.wrapping_neg();
        }
        sum
    }
}

/// Pearson's r where the table's values are replaced by these.
fn correlation(table: &Table, counts: &[f64], judge: &[f64], people: &[f64]) -> Option<f64> {
    let pair =
        |cell: super::contingency_table::Cell| judge.get(cell.judge).zip(people.get(cell.people));
    let (mut total, mut judge_sum, mut people_sum) = (0.0, 0.0, 0.0);
    for (cell, count) in table.counted(counts) {
        let (judge, people) = pair(cell)?;
        total += count;
        judge_sum += count * judge;
        people_sum += count * people;
    }
    let (judge_mean, people_mean) = (judge_sum / total, people_sum / total);
    let (mut both, mut judge_squares, mut people_squares) = (0.0, 0.0, 0.0);
    for (cell, count) in table.counted(counts) {
        let (judge, people) = pair(cell)?;
        let (judge, people) = (judge - judge_mean, people - people_mean);
        both += count * judge * people;
        judge_squares += count * judge * judge;
        people_squares += count * people * people;
    }
    // Values that differ do so by more than a billionth.
    let spread = judge_squares > 1e-17 && people_squares > 1e-17;
    spread.then(|| (both / judge_squares.sqrt() / people_squares.sqrt()).clamp(-1.0, 1.0))
}

fn middle_ranks(sums: &[f64]) -> Vec<f64> {
    let mut before = 0.0;
    let rank = |sum: &f64| {
        let middle = before + (sum + 1.0) / 2.0;
        before += sum;
        middle
    };
    sums.iter().map(rank).collect()
}

fn add(sums: &mut [f64], place: usize, count: f64) {
    if let Some(sum) = sums.get_mut(place) {
        *sum += count;
    }
}
