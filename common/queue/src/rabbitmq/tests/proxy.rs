//! TCP proxy that can cut connections and refuse new ones.

use std::net::SocketAddr;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{JoinHandle, JoinSet},
};

/// Proxy of one port. It cuts all connections on drop.
pub struct AmqpProxy {
    address: SocketAddr,
    /// Incremented by each cut; connections of an earlier count end.
    cuts: watch::Sender<u64>,
    /// True if new connections are accepted.
    open: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl AmqpProxy {
    /// Opens a proxy that accepts connections.
    pub async fn open(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (cuts, seen) = watch::channel(0);
        let (open, is_open) = watch::channel(true);
        let accepting = tokio::spawn(accept(listener, target, seen, is_open));
        Self { address, cuts, open, accepting }
    }

    pub fn url(&self) -> String {
        format!("amqp://guest:guest@{}", self.address)
    }

    /// Ends every connection; new ones are accepted.
    pub fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    /// Ends every connection and accepts none until [`restore`](Self::restore).
    pub fn shut(&self) {
        self.open.send_replace(false);
        self.cut();
    }

    /// Accepts connections again.
    pub fn restore(&self) {
        self.open.send_replace(true);
    }
}

impl Drop for AmqpProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(
    listener: TcpListener,
    target: u16,
    cuts: watch::Receiver<u64>,
    open: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        let (mut near, _) = listener.accept().await.unwrap();
        if !*open.borrow() {
            continue;
        }
        let mut cuts = cuts.clone();
        cuts.mark_unchanged();
        connections.spawn(async move {
            let Ok(mut far) = TcpStream::connect(("127.0.0.1", target)).await else { return };
            tokio::select! {
                _ = copy_bidirectional(&mut near, &mut far) => {}
                _ = cuts.changed() => {}
            }
        });
    }
}
