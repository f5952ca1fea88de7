//! Warnings about a dataset, one per key.

use juror_files::fetch_policy::NotAllowed;
use juror_types::suggestion;
use serde_json::Value;
use std::{
    collections::HashSet,
    io::{self, Write},
};

/// Maximum size of a further field that is kept in jobs, in bytes of JSON.
const MAX_METADATA_BYTES: usize = 1024;

/// Maximum number of different keys that are checked, so that a manifest whose keys are data does
/// not fill the memory.
const MAX_KEYS: usize = 1000;

/// Maximum number of hosts and buckets in warnings.
const MAX_PLACES: usize = 20;

/// Warnings over all lines.
#[derive(Debug)]
pub(super) struct Warnings {
    known: Vec<String>,
    messages: Vec<String>,
    looked_at: HashSet<String>,
    left_out: HashSet<String>,
    places: HashSet<NotAllowed>,
}

impl Warnings {
    /// Warnings that compare further names with these.
    pub(super) fn new(known: &[&str]) -> Self {
        Self {
            known: known.iter().map(|&name| name.to_owned()).collect(),
            messages: Vec::new(),
            looked_at: HashSet::new(),
            left_out: HashSet::new(),
            places: HashSet::new(),
        }
    }

    pub(super) fn messages(&self) -> &[String] {
        &self.messages
    }

    pub(super) fn add(&mut self, message: String) {
        self.messages.push(message);
    }

    /// Warns once about each source that this process may not read.
    pub(super) fn not_allowed(&mut self, place: NotAllowed) {
        if self.places.len() < MAX_PLACES && !self.places.contains(&place) {
            self.messages.push(format!("some files cannot be read by this process: {place}"));
            self.places.insert(place);
        }
    }

    /// True if a further field is kept; warns if necessary.
    pub(super) fn keeps(&mut self, key: &str, value: &Value) -> bool {
        if first_time(&mut self.looked_at, key) {
            let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
            if let Some(name) = suggestion::find(key, &known) {
                self.messages.push(format!(
                    "unknown field {key:?} is kept as metadata; did you mean {name:?}?"
                ));
            }
        }
        let fits = fits(value);
        if !fits && first_time(&mut self.left_out, key) {
            self.messages.push(format!(
                "field {key:?} has more than {MAX_METADATA_BYTES} bytes in some lines and is \
                 omitted there"
            ));
        }
        fits
    }
}

/// A writer that discards its input, and fails above this many bytes.
struct ByteLimit(usize);

impl Write for ByteLimit {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.checked_sub(bytes.len()) {
            Some(left) => self.0 = left,
            None => return Err(io::ErrorKind::FileTooLarge.into()),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn first_time(seen: &mut HashSet<String>, key: &str) -> bool {
    seen.len() < MAX_KEYS && !seen.contains(key) && seen.insert(key.to_owned())
}

fn fits(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        _ => serde_json::to_writer(ByteLimit(MAX_METADATA_BYTES), value).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_field_is_kept_up_to_one_kilobyte_of_json() {
        let mut warnings = Warnings::new(&[]);
        assert!(warnings.keeps("fits", &json!("x".repeat(1022))));
        for _ in 0..2 {
            assert!(!warnings.keeps("large", &json!("x".repeat(1023))));
        }
        assert!(!warnings.keeps("list", &json!(vec![1; 600])));
        assert_eq!(warnings.messages().len(), 2);
        assert!(warnings.messages()[0].contains("\"large\""));
    }

    #[test]
    fn a_near_miss_is_one_warning_and_kept() {
        let mut warnings = Warnings::new(&["screenshot"]);
        for _ in 0..3 {
            assert!(warnings.keeps("screenshots", &json!("1.png")));
        }
        assert!(warnings.keeps("facts", &json!({})));
        assert_eq!(
            warnings.messages(),
            ["unknown field \"screenshots\" is kept as metadata; did you mean \"screenshot\"?"]
        );
    }

    #[test]
    fn data_like_keys_are_not_collected() {
        let mut warnings = Warnings::new(&["screenshot"]);
        for number in 0..5 * MAX_KEYS {
            warnings.keeps(&format!("screenshot{}", number % 7), &json!("x".repeat(2000)));
            warnings.keeps(&format!("key-{number}"), &json!("x".repeat(2000)));
        }
        assert!(warnings.looked_at.len() <= MAX_KEYS);
        assert!(warnings.messages().len() <= 2 * MAX_KEYS);
    }
}
