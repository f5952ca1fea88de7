//! Where a broker is, taken from its URL; shown without the password.

use super::super::QueueError;
use lapin::uri::{AMQPScheme, AMQPUri};
use std::fmt;

/// Seconds between heartbeats, so that a silent cut is noticed within half a minute.
const HEARTBEAT: u16 = 15;

/// A broker's address with what is needed to log in.
#[derive(Clone)]
pub(super) struct Address(AMQPUri);

impl Address {
    /// Reads `amqp://user:password@host:port/vhost`.
    pub(super) fn parse(url: &str) -> Result<Self, QueueError> {
        // The reason is left out: it may quote the URL, and with it the password.
        let mut uri: AMQPUri = url.parse().map_err(|_| {
            let remedy = "write it as amqp://user:password@host:5672/vhost";
            QueueError::Refused(format!("the broker's URL cannot be read; {remedy}"))
        })?;
        if uri.scheme == AMQPScheme::AMQPS {
            let remedy = "use amqp:// through a private network or a TLS tunnel";
            let problem =
                format!("the broker's URL asks for amqps, which is not built in; {remedy}");
            return Err(QueueError::Refused(problem));
        }
        uri.query.heartbeat.get_or_insert(HEARTBEAT);
        Ok(Self(uri))
    }

    pub(super) fn uri(&self) -> AMQPUri {
        self.0.clone()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authority = &self.0.authority;
        write!(formatter, "RabbitMQ at {}:{}", authority.host, authority.port)?;
        if self.0.vhost != "/" {
            write!(formatter, ", vhost {}", self.0.vhost)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        let address = Address::parse("amqp://juror:secret@broker:5673/nightly").unwrap();
        assert_eq!(address.to_string(), "RabbitMQ at broker:5673, vhost nightly");
        let address = Address::parse("amqp://127.0.0.1").unwrap();
        assert_eq!(address.to_string(), "RabbitMQ at 127.0.0.1:5672");
    }

    #[test]
    fn what_cannot_be_used_is_refused_without_its_password() {
        for url in ["http://juror:secret@broker", "amqps://juror:secret@broker", "secret", ""] {
            let refused = Address::parse(url).err().unwrap();
            assert!(matches!(refused, QueueError::Refused(_)), "{url}");
            assert!(!refused.to_string().contains("secret"), "{refused}");
        }
    }
}
