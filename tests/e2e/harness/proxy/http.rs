//! The judge's API. A request and an answer each begin a read of their own, since nothing follows
//! a request before its answer.

use super::{Moment, Piece, Protocol, Way, Wire};

pub struct HttpProtocol;

impl Protocol for HttpProtocol {
    fn read(&mut self, way: Way, bytes: &[u8], _: &Wire) -> Vec<Piece> {
        let moment = match way {
            Way::ToServer => bytes.starts_with(b"POST ").then_some(Moment::Call),
            Way::ToProcess => bytes.starts_with(b"HTTP/1.1 ").then_some(Moment::Answer),
        };
        vec![Piece { bytes: bytes.to_vec(), moment }]
    }
}
