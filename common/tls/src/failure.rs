//! Meaning and remedy of TLS errors.

use super::{HandshakeTimeout, TlsFiles, TlsSettingNames};
use jiff::Timestamp;
use rustls::{AlertDescription, CertificateError, Error as TlsError, pki_types::UnixTime};
use std::{error::Error, io, sync::Arc};

/// A failure of TLS with its remedy, to be put after the server's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFailure {
    /// The problem and the remedy.
    pub message: String,
    /// True if trying again is in vain until a person has mended it.
    pub is_permanent: bool,
}

/// The TLS failure among an error and its causes, if there is one; `names` and `files` are the
/// settings of the connection.
pub fn explain(
    error: &(dyn Error + 'static),
    names: &TlsSettingNames,
    files: &TlsFiles,
) -> Option<TlsFailure> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<TlsError>() {
            return Some(of_tls(error, names, files));
        }
        if error.is::<HandshakeTimeout>() {
            let message = format!("{error}: {}", without_tls(names));
            return Some(TlsFailure { message, is_permanent: false });
        }
        next = cause(error);
    }
    None
}

/// The cause of an error. Neither an I/O error nor a shared one counts the error that it wraps
/// among its causes.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    if let Some(error) = error.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
        return Some(&**error);
    }
    let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    wrapped.map(|error| error as &(dyn Error + 'static)).or_else(|| error.source())
}

fn of_tls(error: &TlsError, names: &TlsSettingNames, files: &TlsFiles) -> TlsFailure {
    let message = match error {
        TlsError::InvalidCertificate(error) => of_certificate(error, names, files),
        TlsError::AlertReceived(alert) => of_alert(*alert, names, files),
        TlsError::InvalidMessage(_) => {
            format!("it does not answer in TLS: {}", without_tls(names))
        }
        TlsError::PeerIncompatible(_) => {
            format!("it offers neither TLS 1.2 nor 1.3 with a cipher that is safe ({error})")
        }
        error => format!("the TLS connection failed: {error}"),
    };
    TlsFailure { message, is_permanent: true }
}

/// The remedy where a server may speak no TLS.
fn without_tls(names: &TlsSettingNames) -> String {
    let TlsSettingNames { url, scheme, port, .. } = names;
    format!(
        "give its port for TLS in {url} (usually {port}); only a server without TLS is reached \
         without {scheme}://"
    )
}

fn of_certificate(error: &CertificateError, names: &TlsSettingNames, files: &TlsFiles) -> String {
    let TlsSettingNames { url, ca_file, .. } = names;
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => match &files.ca {
            None => format!(
                "its certificate is from an authority that this machine does not know: put the \
                 authority's certificate (PEM) into a file and name that in {ca_file}"
            ),
            Some(file) => format!(
                "its certificate is from none of the authorities in {} ({ca_file}) and of this \
                 machine: put the certificate (PEM) of the authority that signed it there",
                file.display()
            ),
        },
        CertificateError::NotValidForNameContext { expected, presented } => format!(
            "its certificate is not for {}, but for {}: write one of its names in {url}, or give \
             the server a certificate for this one",
            expected.to_str(),
            listed(presented)
        ),
        CertificateError::NotValidForName => format!(
            "its certificate is not for this host: write one of its names in {url}, or give the \
             server another certificate"
        ),
        CertificateError::ExpiredContext { time, not_after } => format!(
            "its certificate expired at {} (it is {} here): renew it on the server",
            shown(*not_after),
            shown(*time)
        ),
        CertificateError::Expired => "its certificate expired: renew it on the server".to_owned(),
        CertificateError::NotValidYetContext { time, not_before } => format!(
            "its certificate is not valid before {} (it is {} here): set this machine's clock, or \
             correct the certificate",
            shown(*not_before),
            shown(*time)
        ),
        error => {
            let error = TlsError::InvalidCertificate(error.clone());
            format!("its certificate cannot be accepted ({error}): give the server another one")
        }
    }
}

/// The names of a certificate: rustls gives them as in `DnsName("localhost")`.
fn listed(names: &[String]) -> String {
    let bare = |name: &String| {
        let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        inner.unwrap_or(name).trim_matches('"').to_owned()
    };
    match names {
        [] => "no name".to_owned(),
        names => names.iter().map(bare).collect::<Vec<_>>().join(", "),
    }
}

fn shown(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

fn of_alert(alert: AlertDescription, names: &TlsSettingNames, files: &TlsFiles) -> String {
    use AlertDescription as Alert;
    let about_client = matches!(
        alert,
        Alert::CertificateRequired
            | Alert::HandshakeFailure
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::DecryptError
            | Alert::AccessDenied
    );
    match (about_client, names.client_files, &files.client_certificate) {
        (true, Some([certificate, key]), None) => format!(
            "it wants a certificate of the client ({alert:?}): name one and its key in \
             {certificate} and {key}"
        ),
        (true, Some([certificate, _]), Some(file)) => format!(
            "it refuses the client's certificate {} ({alert:?}): name one in {certificate} that \
             an authority of the server signed and that has not expired",
            file.display()
        ),
        (true, None, _) => format!(
            "it refuses the TLS connection ({alert:?}): if it wants a certificate of the client, \
             reach it through a proxy that has one"
        ),
        (false, ..) => format!("it ends the TLS handshake ({alert:?}): see the server's log"),
    }
}
