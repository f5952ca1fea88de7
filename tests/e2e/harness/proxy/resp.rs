//! Redis's protocol, RESP2: requests are arrays of words, and replies come in their order.

use super::{FlowDirection, Moment, Piece, Protocol, ScriptStep, Wire};
use juror_ledger::redis::test_server::hashes_of_steps;
use std::{
    collections::{HashMap, VecDeque},
    sync::LazyLock,
};

static STEPS: LazyLock<HashMap<String, ScriptStep>> = LazyLock::new(|| {
    let named = |(name, hash)| match name {
        "claim" => (hash, ScriptStep::Claim),
        "admit" => (hash, ScriptStep::Admit),
        _ => (hash, ScriptStep::Settle),
    };
    hashes_of_steps().into_iter().map(named).collect()
});

#[derive(Default)]
pub struct Resp {
    requests: Vec<u8>,
    replies: Vec<u8>,
    /// Commands that have no reply yet.
    requested: VecDeque<Option<ScriptStep>>,
}

impl Protocol for Resp {
    fn read(&mut self, direction: FlowDirection, bytes: &[u8], wire: &Wire) -> Vec<Piece> {
        let waiting = match direction {
            FlowDirection::ToServer => &mut self.requests,
            FlowDirection::ToProcess => &mut self.replies,
        };
        waiting.extend_from_slice(bytes);
        let mut values = Vec::new();
        while let Some(length) = length_of_first(waiting) {
            values.push(waiting.drain(..length).collect::<Vec<u8>>());
        }
        let piece = |bytes: Vec<u8>| {
            let moment = match direction {
                FlowDirection::ToServer => self.request(&bytes, wire),
                FlowDirection::ToProcess => self.reply(&bytes),
            };
            Piece { bytes, moment }
        };
        values.into_iter().map(piece).collect()
    }
}

impl Resp {
    fn request(&mut self, bytes: &[u8], wire: &Wire) -> Option<Moment> {
        let words = words_of(bytes);
        let step = match words.as_slice() {
            // The number of keys, 0, and the common arguments of every script follow: prefix,
            // server, time.
            ["EVALSHA", hash, "0", _, _, _, arguments @ ..] => STEPS.get(*hash).map(|step| {
                let owner = match step {
                    ScriptStep::Claim => arguments.get(3),
                    ScriptStep::Admit => arguments.get(1),
                    ScriptStep::Settle => None,
                };
                owner.into_iter().for_each(|owner| wire.record_owner(owner));
                *step
            }),
            _ => None,
        };
        self.requested.push_back(step);
        step.map(Moment::Request)
    }

    /// A script that is not loaded yet is refused, and sent again.
    fn reply(&mut self, bytes: &[u8]) -> Option<Moment> {
        let step = self.requested.pop_front().flatten()?;
        (!bytes.starts_with(b"-")).then_some(Moment::Reply(step))
    }
}

/// The words of a request.
fn words_of(request: &[u8]) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = request;
    while let Some(head) = line_of(rest) {
        let after = &rest[head.len() + 2..];
        let length = match head.strip_prefix('$') {
            Some(length) => length.parse().unwrap_or(0),
            None => {
                rest = after;
                continue;
            }
        };
        words.push(std::str::from_utf8(&after[..length]).unwrap_or_default());
        rest = &after[length + 2..];
    }
    words
}

/// Length of the first whole value, if there is one.
fn length_of_first(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut wanted) = (0, 1_usize);
    while wanted > 0 {
        let line = line_of(bytes.get(at..)?)?;
        at += line.len() + 2;
        wanted -= 1;
        let (kind, rest) = line.split_at_checked(1)?;
        match kind {
            "$" => at += rest.parse().map_or(0, |length: usize| length + 2),
            // Nothing is of length -1.
            "*" => wanted += rest.parse().unwrap_or(0),
            _ => {}
        }
    }
    (at <= bytes.len()).then_some(at)
}

/// Text before the first end of a line.
fn line_of(bytes: &[u8]) -> Option<&str> {
    let length = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    std::str::from_utf8(&bytes[..length]).ok()
}
