//! The text of a reply, or the reason why it has none to read.

use crate::vision::{Completion, Finish};

/// The text to read a verdict from. A truncated reply is rejected even if it parses.
pub fn reply_text(answer: &Completion) -> Result<&str, String> {
    match (&answer.refusal, answer.finish, &answer.content) {
        (Some(refusal), _, _) => Err(format!("the judge refused to answer: {refusal}")),
        (None, Finish::Length, _) => {
            Err("the reply was truncated at the output limit; raise judge.max_output_tokens"
                .to_owned())
        }
        (None, Finish::ContentFilter, _) => {
            Err("the provider's content filter withheld the reply".to_owned())
        }
        (None, _, None) => Err("the reply has no content".to_owned()),
        (None, _, Some(content)) => Ok(content),
    }
}
