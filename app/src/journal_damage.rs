//! Damage of journals that can be seen without parsing them.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader},
    path::Path,
};

/// Size of the read buffer, in bytes.
const BUFFER_BYTES: usize = 256 << 10;
/// Maximum size in bytes of a journal that is checked for a list: reading a larger one would take
/// too long.
const MAX_CHECKED_BYTES: u64 = 256 << 20;

/// Damage of a journal: an unreadable file, or a complete line that is not a JSON object. A last
/// line without its end is not damage: a crash leaves one.
pub fn find_damage(journal: &Path) -> Option<String> {
    match std::fs::metadata(journal) {
        Ok(metadata) if metadata.is_file() && metadata.len() <= MAX_CHECKED_BYTES => {}
        Ok(metadata) if metadata.is_file() => return None,
        Ok(_) => return Some("results.jsonl is not a regular file".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return Some(format!("results.jsonl cannot be read: {error}")),
    }
    let line = File::open(journal).and_then(first_bad_line);
    match line {
        Ok(line) => line.map(|line| format!("results.jsonl, line {line}: not a JSON object")),
        Err(error) => Some(format!("results.jsonl cannot be read: {error}")),
    }
}

fn first_bad_line(file: File) -> io::Result<Option<u64>> {
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let (mut line, mut first, mut last) = (1, None, 0);
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(None);
        }
        for &byte in buffer {
            match byte {
                b'\n' if first.is_none() || (first == Some(b'{') && last == b'}') => {
                    (line, first) = (line + 1, None);
                }
                b'\n' => return Ok(Some(line)),
                b'\r' => {}
                byte => (first, last) = (first.or(Some(byte)), byte),
            }
        }
        let length = buffer.len();
        reader.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_line_that_is_no_object_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("results.jsonl");
        assert_eq!(find_damage(&journal), None, "no result yet");
        for (text, bad_line) in [
            ("", None),
            ("{\"a\":1}\n{\"a\":2}\r\n", None),
            ("{\"a\":1}\n{\"a\":", None),
            ("{\"a\":1}\n\0\0\0\0\n{\"a\":2}\n", Some(2)),
            ("{\"a\":\n{\"a\":2}\n", Some(1)),
            ("{\"a\":1}\n\n", None),
        ] {
            std::fs::write(&journal, text).unwrap();
            let expected =
                bad_line.map(|line| format!("results.jsonl, line {line}: not a JSON object"));
            assert_eq!(find_damage(&journal), expected, "{text:?}");
        }
        // Sparse: it takes no room, and reading it would take minutes.
        File::options().write(true).open(&journal).unwrap().set_len(1 << 38).unwrap();
        assert_eq!(find_damage(&journal), None);
        assert!(find_damage(folder.path()).unwrap().contains("not a regular file"));
    }
}
