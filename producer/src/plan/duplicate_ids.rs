//! Detection of duplicate ids, at 16 bytes per id.

use sha2::{Digest as _, Sha256};
use std::collections::{HashMap, hash_map::Entry};

/// 12 bytes of an id's SHA-256, and its line. The probability that two different ids among a
/// billion collide is below one in a hundred billion.
#[derive(Default)]
pub(super) struct SeenIds(HashMap<[u8; 12], u32>);

impl SeenIds {
    /// Adds an id. For a duplicate, the error is the line of the first one, if known.
    pub(super) fn insert(&mut self, id: &str, line: Option<u64>) -> Result<(), Option<u64>> {
        let mut key = [0; 12];
        for (byte, digest) in key.iter_mut().zip(Sha256::digest(id.as_bytes())) {
            *byte = digest;
        }
        // 0 is a line without a number, or a number that does not fit.
        let line = line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
        match self.0.entry(key) {
            Entry::Vacant(vacant) => {
                vacant.insert(line);
                Ok(())
            }
            Entry::Occupied(first) => Err(Some(u64::from(*first.get())).filter(|&line| line > 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_of_an_id_is_recorded() {
        let mut seen = SeenIds::default();
        assert_eq!(seen.insert("a", Some(7)), Ok(()));
        assert_eq!(seen.insert("b", None), Ok(()));
        assert_eq!(seen.insert("a", Some(9)), Err(Some(7)));
        assert_eq!(seen.insert("b", Some(9)), Err(None));
        assert_eq!(size_of::<([u8; 12], u32)>(), 16);
    }
}
