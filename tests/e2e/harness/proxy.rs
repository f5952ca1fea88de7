//! TCP proxies, one for each process and server. They parse enough of the traffic to hold it at
//! chosen moments, and they cut connections and refuse new ones.

mod amqp;
mod http;
mod resp;
mod wire;

#[cfg(test)]
mod tests;

pub use wire::{BrokerExchange, Moment, ScriptStep, Wire};

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, LazyLock},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
    runtime::{Builder, Runtime},
    sync::watch,
    task::{JoinHandle, JoinSet},
};

/// Runtime of all proxies of a test program.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

/// Direction of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowDirection {
    ToServer,
    ToProcess,
}

/// Part of a stream that is forwarded as a whole.
#[derive(Debug)]
pub struct Piece {
    bytes: Vec<u8>,
    /// Moment that it represents, if tests can wait for it.
    moment: Option<Moment>,
}

/// Parser of one connection's protocol.
pub trait Protocol: Send {
    /// Parses the next bytes of one direction and returns the completed pieces.
    fn read(&mut self, direction: FlowDirection, bytes: &[u8], wire: &Wire) -> Vec<Piece>;
}

/// Protocol that a proxy parses.
#[derive(Clone, Copy, Debug)]
pub enum ProxiedProtocol {
    Amqp,
    Resp,
    Http,
}

/// Proxy of one local port. It cuts all connections when dropped.
pub struct FaultProxy {
    address: SocketAddr,
    gates: watch::Sender<Gates>,
    accepting: JoinHandle<()>,
}

/// Switches for a proxy's connections.
#[derive(Clone, Copy, Debug)]
struct Gates {
    /// Raised by each cut: connections of an earlier count end.
    cuts: u64,
    /// True if new connections are taken.
    open: bool,
}

/// Inputs of every connection of a proxy.
#[derive(Clone)]
struct Forwarding {
    target: u16,
    parsed_protocol: ProxiedProtocol,
    wire: Arc<Wire>,
    gates: watch::Receiver<Gates>,
}

impl FaultProxy {
    /// Forwards to this port and reports the traffic to `wire`.
    pub fn start(target: u16, parsed_protocol: ProxiedProtocol, wire: &Arc<Wire>) -> Self {
        let (gates, seen) = watch::channel(Gates { cuts: 0, open: true });
        let wire = Arc::clone(wire);
        let forwarding = Forwarding { target, parsed_protocol, wire, gates: seen };
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let accepting = RUNTIME.spawn(accept(listener, forwarding));
        Self { address, gates, accepting }
    }

    /// Address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Resets every connection; new ones are accepted as before.
    pub fn cut(&self) {
        self.gates.send_modify(|gates| gates.cuts += 1);
    }

    /// Resets every connection and accepts none until [`restore`](Self::restore).
    pub fn shut(&self) {
        self.gates.send_modify(|gates| *gates = Gates { cuts: gates.cuts + 1, open: false });
    }

    /// Accepts connections again.
    pub fn restore(&self) {
        self.gates.send_modify(|gates| gates.open = true);
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Accept loop, which owns the connections.
async fn accept(listener: std::net::TcpListener, forwarding: Forwarding) {
    let listener = TcpListener::from_std(listener).unwrap();
    let mut connections = JoinSet::new();
    loop {
        let (near, _) = listener.accept().await.unwrap();
        let mut forwarding = forwarding.clone();
        if !forwarding.gates.borrow_and_update().open {
            reset(&near);
            forwarding.wire.record_passed(Moment::Refusal);
            continue;
        }
        connections.spawn(forward(near, forwarding));
        while connections.try_join_next().is_some() {}
    }
}

async fn forward(mut near: TcpStream, forwarding: Forwarding) {
    let Forwarding { target, parsed_protocol, wire, mut gates } = forwarding;
    let cuts = gates.borrow().cuts;
    let Ok(mut far) = TcpStream::connect((Ipv4Addr::LOCALHOST, target)).await else {
        return reset(&near);
    };
    for stream in [&near, &far] {
        stream.set_nodelay(true).unwrap();
    }
    let protocol: Box<dyn Protocol> = match parsed_protocol {
        ProxiedProtocol::Amqp => Box::<amqp::Amqp>::default(),
        ProxiedProtocol::Resp => Box::<resp::Resp>::default(),
        ProxiedProtocol::Http => Box::new(http::HttpProtocol),
    };
    let protocol = tokio::sync::Mutex::new(protocol);
    let was_cut = {
        let (from_near, to_near) = near.split();
        let (from_far, to_far) = far.split();
        // A cut takes precedence: held traffic never passes, even if released right after.
        tokio::select! {
            biased;
            _ = gates.wait_for(|now| now.cuts > cuts) => true,
            () = pump(from_near, to_far, FlowDirection::ToServer, &protocol, &wire) => false,
            () = pump(from_far, to_near, FlowDirection::ToProcess, &protocol, &wire) => false,
        }
    };
    if was_cut {
        reset(&near);
        reset(&far);
    }
}

/// Forwards pieces until one side has ended.
async fn pump(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    direction: FlowDirection,
    protocol: &tokio::sync::Mutex<Box<dyn Protocol>>,
    wire: &Wire,
) {
    let mut buffer = vec![0; 64 * 1_024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let pieces = protocol.lock().await.read(direction, &buffer[..length], wire);
        for Piece { bytes, moment } in pieces {
            if let Some(moment) = moment
                && wire.arrives(moment).await
            {
                // It may be released in the step that held it: lets a cut be observed first.
                tokio::task::yield_now().await;
            }
            if to.write_all(&bytes).await.is_err() {
                return;
            }
            if let Some(moment) = moment {
                wire.record_passed(moment);
            }
        }
    }
}

/// Makes a connection end with a reset when dropped, as a cut does, not with an orderly close.
fn reset(stream: &TcpStream) {
    // The connection may have ended already.
    let _ = stream.set_zero_linger();
}
