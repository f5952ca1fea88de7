//! Links of heads that sort a table by their column.

use maud::{Markup, html};

/// Order of a table by one of its columns.
pub struct TableOrder<'a> {
    /// Key of the column that it is sorted by; `None` for another order.
    pub key: Option<&'a str>,
    /// True if the order is descending.
    pub descends: bool,
}

impl TableOrder<'_> {
    /// Direction of a column as in `aria-sort`; `None` if the table is not sorted by it.
    pub fn direction(&self, key: &str) -> Option<&'static str> {
        let is_current = self.key == Some(key);
        is_current.then_some(if self.descends { "descending" } else { "ascending" })
    }

    /// Link that sorts by a column, or reverses the order; `address` is that of a query.
    pub fn link(
        &self,
        key: &str,
        head: &str,
        address: impl Fn([(&'static str, String); 2]) -> String,
    ) -> Markup {
        let next = if self.direction(key) == Some("ascending") { "desc" } else { "asc" };
        let query = [("sort", key.to_owned()), ("order", next.to_owned())];
        html! { a.sort href=(address(query)) { (head) } }
    }
}
