//! HTTP of the judge's API. A request and a response each start a separate read, since no request
//! follows before the response.

use super::{FlowDirection, Moment, Piece, Protocol, Wire};

pub struct HttpProtocol;

impl Protocol for HttpProtocol {
    fn read(&mut self, direction: FlowDirection, bytes: &[u8], _: &Wire) -> Vec<Piece> {
        let moment = match direction {
            FlowDirection::ToServer => bytes.starts_with(b"POST ").then_some(Moment::Call),
            FlowDirection::ToProcess => bytes.starts_with(b"HTTP/1.1 ").then_some(Moment::Response),
        };
        vec![Piece { bytes: bytes.to_vec(), moment }]
    }
}
