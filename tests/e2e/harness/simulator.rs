//! Simulator of a test, in a thread.

use juror_services::wait::poll;
use juror_simulator::{Fault, FaultPlan, Share, SimulatorConfig, Stats};
use juror_types::shutdown::Shutdown;
use serde_json::Value;
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    thread::JoinHandle,
};
use tokio::{net::TcpListener, runtime::Builder, sync::Semaphore};

/// Gate that holds the responses of a simulator.
pub struct CallGate(Arc<Semaphore>);

impl CallGate {
    pub fn closed() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    /// Semaphore for the settings of the simulator.
    pub fn config(&self) -> Option<Arc<Semaphore>> {
        Some(Arc::clone(&self.0))
    }

    /// Allows this many more responses.
    pub fn allow(&self, answers: u32) {
        self.0.add_permits(answers as usize);
    }

    /// Allows all responses from now on.
    pub fn open(&self) {
        self.0.close();
    }
}

pub struct TestSimulator {
    pub address: SocketAddr,
    /// Reserves the address between two simulators.
    listener: std::net::TcpListener,
    shutdown: Shutdown,
    serving: Option<JoinHandle<Stats>>,
}

impl TestSimulator {
    /// Starts a simulator with its default settings.
    pub fn new() -> Self {
        Self::start(SimulatorConfig::default())
    }

    /// Starts a simulator whose responses wait for the returned gate.
    pub fn gated() -> (Self, CallGate) {
        let gate = CallGate::closed();
        let config = SimulatorConfig { gate: gate.config(), ..SimulatorConfig::default() };
        (Self::start(config), gate)
    }

    pub fn start(config: SimulatorConfig) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self::serve(listener, config)
    }

    /// Starts a simulator with this fault plan.
    pub fn failing(faults: FaultPlan) -> Self {
        Self::start(SimulatorConfig { faults, ..SimulatorConfig::default() })
    }

    /// Starts a simulator with this fault in every response.
    pub fn always(fault: Fault) -> Self {
        let rates = vec![Share { of: fault, share: 1.0 }];
        Self::failing(FaultPlan { rates, ..FaultPlan::default() })
    }

    /// Stops the simulator and starts another one at the same address.
    pub fn restart_with(self, config: SimulatorConfig) -> Self {
        let listener = self.listener.try_clone().unwrap();
        self.stop();
        Self::serve(listener, config)
    }

    fn serve(own: std::net::TcpListener, config: SimulatorConfig) -> Self {
        let shutdown = Shutdown::new();
        let listener = own.try_clone().unwrap();
        let address = own.local_addr().unwrap();
        let stop = shutdown.clone();
        let serving = std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                juror_simulator::serve(listener, config, stop).await.unwrap()
            })
        });
        Self { address, listener: own, shutdown, serving: Some(serving) }
    }

    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Counters of the simulator so far.
    pub fn stats(&self) -> Value {
        self.get("/stats")
    }

    /// Number of received requests.
    pub fn requests(&self) -> u64 {
        self.stats()["requests"].as_u64().unwrap()
    }

    /// Amount that would have been billed, in pico-dollars.
    pub fn bill(&self) -> i64 {
        super::pico(&self.stats()["billed_usd"])
    }

    /// Waits for this many requests.
    pub fn await_requests(&self, count: u64) {
        self.await_count("requests", count);
    }

    /// Waits until this counter is at least `least`.
    pub fn await_count(&self, name: &str, least: u64) {
        self.get(&format!("/stats?{name}={least}"));
    }

    /// Waits until no request is in flight.
    pub fn await_idle(&self) {
        // The statistics announce that a number has grown, not that it has fallen.
        poll("no request is in flight", || (self.count("in_flight") == 0).then_some(()));
    }

    /// Value of a counter.
    pub fn count(&self, name: &str) -> u64 {
        self.stats()[name].as_u64().unwrap()
    }

    /// JSON of this path.
    pub fn get(&self, path: &str) -> Value {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Stops the simulator and returns its counters.
    pub fn stop(mut self) -> Stats {
        self.shutdown.escalate();
        self.shutdown.escalate();
        self.serving.take().unwrap().join().unwrap()
    }
}

impl Drop for TestSimulator {
    fn drop(&mut self) {
        self.shutdown.drain.cancel();
        self.shutdown.now.cancel();
        if let Some(serving) = self.serving.take() {
            let served = serving.join();
            assert!(served.is_ok() || std::thread::panicking(), "the simulator broke off");
        }
    }
}
