use super::*;

#[test]
fn names_are_those_of_the_records() {
    for outcome in Outcome::ALL {
        assert_eq!(serde_json::json!(outcome), outcome.name());
    }
    for kind in [
        ErrorKind::Api,
        ErrorKind::Request,
        ErrorKind::Image,
        ErrorKind::Input,
        ErrorKind::Pipeline,
        ErrorKind::Output,
        ErrorKind::Poison,
        ErrorKind::Budget,
        ErrorKind::Deadline,
        ErrorKind::Cancelled,
        ErrorKind::Reply,
        ErrorKind::Account,
    ] {
        assert_eq!(serde_json::json!(kind), kind.name());
    }
}
