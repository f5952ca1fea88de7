//! Warnings about a dataset that stop nothing: one warning a key.

use super::near_miss;
use juror_files::fetch_policy::NotAllowed;
use serde_json::Value;
use std::{
    collections::HashSet,
    io::{self, Write},
};

/// The largest further field that travels with a job, in bytes of JSON.
const MAX_METADATA_BYTES: usize = 1024;

/// Only so many different keys are looked at, so that a manifest whose keys are data does not
/// fill the memory.
const MAX_KEYS: usize = 1000;

/// Hosts and buckets that are warned of: the rest of a long list says nothing new.
const MAX_PLACES: usize = 20;

/// Collects warnings over all lines.
#[derive(Debug)]
pub(super) struct Warnings {
    known: Vec<String>,
    messages: Vec<String>,
    looked_at: HashSet<String>,
    left_out: HashSet<String>,
    places: HashSet<NotAllowed>,
}

impl Warnings {
    /// Warns of names that are nearly one of these.
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

    /// Warns once of each place that this process may not read from.
    pub(super) fn not_allowed(&mut self, place: NotAllowed) {
        if self.places.len() < MAX_PLACES && !self.places.contains(&place) {
            self.messages.push(format!("not every file can be read here: {place}"));
            self.places.insert(place);
        }
    }

    /// True if a further field is kept; warns of it where that is called for.
    pub(super) fn keeps(&mut self, key: &str, value: &Value) -> bool {
        if first_time(&mut self.looked_at, key) {
            let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
            if let Some(name) = near_miss::meant(key, &known) {
                self.messages.push(format!(
                    "field {key:?} means nothing here and is kept as metadata; was {name:?} meant?"
                ));
            }
        }
        let fits = fits(value);
        if !fits && first_time(&mut self.left_out, key) {
            self.messages.push(format!(
                "field {key:?} holds more than {MAX_METADATA_BYTES} bytes in some lines and is \
                 left out there"
            ));
        }
        fits
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

/// Writes nothing, and fails beyond this many bytes.
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
            ["field \"screenshots\" means nothing here and is kept as metadata; was \
                 \"screenshot\" meant?"]
        );
    }

    #[test]
    fn keys_that_are_data_do_not_pile_up() {
        let mut warnings = Warnings::new(&["screenshot"]);
        for number in 0..5 * MAX_KEYS {
            warnings.keeps(&format!("screenshot{}", number % 7), &json!("x".repeat(2000)));
            warnings.keeps(&format!("key-{number}"), &json!("x".repeat(2000)));
        }
        assert!(warnings.looked_at.len() <= MAX_KEYS);
        assert!(warnings.messages().len() <= 2 * MAX_KEYS);
    }
}
