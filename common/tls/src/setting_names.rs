//! Names of TLS settings in errors.

/// The settings of TLS connections to one server.
#[derive(Clone, Copy, Debug)]
pub struct TlsSettingNames {
    /// The server's URL.
    pub url: &'static str,
    /// The URL scheme with TLS.
    pub scheme: &'static str,
    /// The usual TLS port.
    pub port: u16,
    /// The file of certificate authorities.
    pub ca_file: &'static str,
    /// The files of the client certificate and its key, if there are such settings.
    pub client_files: Option<[&'static str; 2]>,
}

impl TlsSettingNames {
    /// The settings of the judge.
    pub const JUDGE: Self = Self {
        url: "judge.base_url",
        scheme: "https",
        port: 443,
        ca_file: "judge.ca_file",
        client_files: None,
    };
    /// The settings of RabbitMQ.
    pub const BROKER: Self = Self {
        url: "fleet.broker",
        scheme: "amqps",
        port: 5671,
        ca_file: "fleet.broker_ca_file",
        client_files: Some([
            "fleet.broker_client_certificate_file",
            "fleet.broker_client_key_file",
        ]),
    };
    /// The settings of Redis.
    pub const REDIS: Self = Self {
        url: "fleet.redis",
        scheme: "rediss",
        port: 6379,
        ca_file: "fleet.redis_ca_file",
        client_files: Some(["fleet.redis_client_certificate_file", "fleet.redis_client_key_file"]),
    };
}
