//! A simulator of a story's own, in a thread of its own.

use juror_common::shutdown::Shutdown;
use juror_simulator::{SimulatorConfig, Stats};
use serde_json::Value;
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    thread::JoinHandle,
};
use tokio::{net::TcpListener, runtime::Builder};

pub struct Simulator {
    pub address: SocketAddr,
    shutdown: Shutdown,
    serving: Option<JoinHandle<Stats>>,
}

impl Simulator {
    pub fn start(config: SimulatorConfig) -> Self {
        let shutdown = Shutdown::new();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let stop = shutdown.clone();
        let serving = std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                juror_simulator::serve(listener, config, stop).await.unwrap()
            })
        });
        Self { address, shutdown, serving: Some(serving) }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What it counted so far.
    pub fn stats(&self) -> Value {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request =
            format!("GET /stats HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Returns as soon as so many requests have come in.
    pub fn await_requests(&self, count: u64) {
        while self.stats()["requests"].as_u64().unwrap() < count {
            std::thread::yield_now();
        }
    }

    /// Ends it, and tells what it counted.
    pub fn stop(mut self) -> Stats {
        self.shutdown.escalate();
        self.shutdown.escalate();
        self.serving.take().unwrap().join().unwrap()
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.shutdown.drain.cancel();
        self.shutdown.now.cancel();
        if let Some(serving) = self.serving.take() {
            let served = serving.join();
            assert!(served.is_ok() || std::thread::panicking(), "the simulator broke off");
        }
    }
}
