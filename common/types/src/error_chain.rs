//! An error with its causes.

use std::error::Error;

/// The messages of an error and its causes in one line. A cause whose message is already included
/// is left out: many errors end with the message of their cause.
pub fn with_causes(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
        source = cause.source();
    }
    message
}

/// The first of an error and its causes that is of this type.
pub fn find_cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        match error.downcast_ref() {
            Some(found) => return Some(found),
            None => next = error.source(),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt;

    #[derive(Debug, thiserror::Error)]
    #[error("{message}")]
    struct Told {
        message: &'static str,
        source: Option<Box<Told>>,
    }

    #[derive(Debug, thiserror::Error)]
    #[error("no reply")]
    struct Outer(#[source] Told);

    fn reported(messages: &[&'static str]) -> Told {
        let (message, causes) = messages.split_first().unwrap();
        let source = (!causes.is_empty()).then(|| Box::new(reported(causes)));
        Told { message, source }
    }

    #[test]
    fn every_cause_is_printed_once() {
        let error = reported(&["no connection", "refused", "connection", "port 1 is closed"]);
        assert_eq!(with_causes(&error), "no connection: refused: port 1 is closed");
    }

    #[test]
    fn cause_is_found_at_any_depth() {
        let error = Outer(reported(&["no connection", "refused"]));
        assert_eq!(find_cause::<Told>(&error).map(|told| told.message), Some("no connection"));
        assert!(find_cause::<Outer>(&error).is_some());
        assert!(find_cause::<fmt::Error>(&error).is_none());
    }
}
