//! AMQP 0-9-1: frames and the methods that tests need.

use super::{BrokerExchange, FlowDirection, Moment, Piece, Protocol, Wire};
use std::collections::{BTreeMap, HashMap};

/// Length of the bytes that a client sends before its first frame: AMQP and its version.
const GREETING: usize = 8;
/// Type, channel and size before the payload, an end mark after it.
const BEFORE_PAYLOAD: usize = 7;
const AFTER_PAYLOAD: usize = 1;
const METHOD: u8 = 1;
const CONNECTION: u16 = 10;
const OPEN_OK: u16 = 41;
const BASIC: u16 = 60;
const PUBLISH: u16 = 40;
const DELIVER: u16 = 60;
const ACKNOWLEDGE: u16 = 80;

#[derive(Default)]
pub struct Amqp {
    greeted: bool,
    to_server: Vec<u8>,
    to_process: Vec<u8>,
    /// Number of the last message published on each channel, by which it is confirmed.
    numbers: HashMap<u16, u64>,
    /// Messages that are not confirmed yet, by channel and number.
    unconfirmed: BTreeMap<(u16, u64), BrokerExchange>,
}

impl Protocol for Amqp {
    fn read(&mut self, direction: FlowDirection, bytes: &[u8], _: &Wire) -> Vec<Piece> {
        let waiting = match direction {
            FlowDirection::ToServer => &mut self.to_server,
            FlowDirection::ToProcess => &mut self.to_process,
        };
        waiting.extend_from_slice(bytes);
        let mut frames = Vec::new();
        let mut greeting = None;
        if direction == FlowDirection::ToServer && !self.greeted && waiting.len() >= GREETING {
            self.greeted = true;
            greeting = Some(waiting.drain(..GREETING).collect::<Vec<u8>>());
        }
        while let Some(length) = length_of_first(waiting) {
            frames.push(waiting.drain(..length).collect::<Vec<u8>>());
        }
        let greeting = greeting.map(|bytes| Piece { bytes, moment: None });
        let frames = frames.into_iter().map(|bytes| {
            let moment = self.moment(direction, &bytes);
            Piece { bytes, moment }
        });
        greeting.into_iter().chain(frames).collect()
    }
}

impl Amqp {
    fn moment(&mut self, direction: FlowDirection, frame: &[u8]) -> Option<Moment> {
        let mut fields = Fields(frame);
        let (kind, channel, _size) = (fields.byte()?, fields.short()?, fields.long()?);
        if kind != METHOD {
            return None;
        }
        match (fields.short()?, fields.short()?) {
            (CONNECTION, OPEN_OK) => Some(Moment::Connection),
            (BASIC, method) => self.basic(direction, channel, method, fields),
            _ => None,
        }
    }

    fn basic(
        &mut self,
        direction: FlowDirection,
        channel: u16,
        method: u16,
        mut fields: Fields<'_>,
    ) -> Option<Moment> {
        match (method, direction) {
            (PUBLISH, FlowDirection::ToServer) => {
                let _reserved = fields.short()?;
                let exchange = exchange_of(fields.short_text()?);
                let number = self.numbers.entry(channel).or_default();
                *number += 1;
                self.unconfirmed.insert((channel, *number), exchange);
                Some(Moment::Publish(exchange))
            }
            (DELIVER, FlowDirection::ToProcess) => {
                let (_consumer, _tag) = (fields.short_text()?, fields.long_long()?);
                let _redelivered = fields.byte()?;
                Some(Moment::Delivery(exchange_of(fields.short_text()?)))
            }
            (ACKNOWLEDGE, FlowDirection::ToServer) => Some(Moment::Acknowledgement),
            (ACKNOWLEDGE, FlowDirection::ToProcess) => {
                let (last, multiple) = (fields.long_long()?, fields.byte()? & 1 == 1);
                self.confirmed(channel, last, multiple).map(Moment::Confirm)
            }
            _ => None,
        }
    }

    /// The exchange of the last letter that is confirmed.
    fn confirmed(&mut self, channel: u16, last: u64, multiple: bool) -> Option<BrokerExchange> {
        let first = if multiple { 0 } else { last };
        let numbers: Vec<_> = self
            .unconfirmed
            .range((channel, first)..=(channel, last))
            .map(|(key, _)| *key)
            .collect();
        numbers.into_iter().filter_map(|number| self.unconfirmed.remove(&number)).last()
    }
}

fn exchange_of(name: &str) -> BrokerExchange {
    match name.rsplit('.').next() {
        Some("jobs") => BrokerExchange::Jobs,
        Some("results") => BrokerExchange::Results,
        _ => BrokerExchange::Aside,
    }
}

/// Length of the first whole frame, if there is one.
fn length_of_first(bytes: &[u8]) -> Option<usize> {
    let mut fields = Fields(bytes);
    let (_kind, _channel, size) = (fields.byte()?, fields.short()?, fields.long()?);
    let length = BEFORE_PAYLOAD + size as usize + AFTER_PAYLOAD;
    (length <= bytes.len()).then_some(length)
}

/// Unread rest of a frame.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, bytes: usize) -> Option<u64> {
        Some(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn byte(&mut self) -> Option<u8> {
        self.number(1)?.try_into().ok()
    }

    fn short(&mut self) -> Option<u16> {
        self.number(2)?.try_into().ok()
    }

    fn long(&mut self) -> Option<u32> {
        self.number(4)?.try_into().ok()
    }

    fn long_long(&mut self) -> Option<u64> {
        self.number(8)
    }

    fn short_text(&mut self) -> Option<&'a str> {
        let length = self.byte()?;
        std::str::from_utf8(self.take(length.into())?).ok()
    }
}
