//! Meaning and remedy of TLS errors.

use super::{HandshakeTimeout, TlsFiles, TlsSettingNames};
use jiff::Timestamp;
use rustls::{AlertDescription, CertificateError, Error as TlsError, pki_types::UnixTime};
use std::{error::Error, io, sync::Arc};

/// A TLS failure with its remedy, as the end of a sentence that begins with the server's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFailure {
    /// The problem and the remedy.
    pub message: String,
    /// True if retrying does not help.
    pub is_permanent: bool,
}

/// The TLS failure in an error's chain, if there is one; `names` and `files` are the settings of
/// the connection.
pub fn explain(
    error: &(dyn Error + 'static),
    names: &TlsSettingNames,
    files: &TlsFiles,
) -> Option<TlsFailure> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<TlsError>() {
            return Some(tls_failure(error, names, files));
        }
        if error.is::<HandshakeTimeout>() {
            let message = format!("{error}: {}", without_tls(names));
            return Some(TlsFailure { message, is_permanent: false });
        }
        next = cause(error);
    }
    None
}

/// The cause of an error. I/O errors and shared errors do not report the error that they wrap as
/// their source.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    if let Some(error) = error.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
        return Some(&**error);
    }
    let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    wrapped.map(|error| error as &(dyn Error + 'static)).or_else(|| error.source())
}

fn tls_failure(error: &TlsError, names: &TlsSettingNames, files: &TlsFiles) -> TlsFailure {
    let message = match error {
        TlsError::InvalidCertificate(error) => certificate_message(error, names, files),
        TlsError::AlertReceived(alert) => alert_message(*alert, names, files),
        TlsError::InvalidMessage(_) => {
            format!("it does not speak TLS: {}", without_tls(names))
        }
        TlsError::PeerIncompatible(_) => {
            format!("it offers neither TLS 1.2 nor 1.3 with a safe cipher ({error})")
        }
        error => format!("the TLS connection failed: {error}"),
    };
    TlsFailure { message, is_permanent: true }
}

/// The remedy for a server that may not speak TLS.
fn without_tls(names: &TlsSettingNames) -> String {
    let TlsSettingNames { url, scheme, port, .. } = names;
    format!(
        "set its TLS port in {url} (usually {port}); for a server without TLS, leave out \
         {scheme}://"
    )
}

fn certificate_message(
    error: &CertificateError,
    names: &TlsSettingNames,
    files: &TlsFiles,
) -> String {
    let TlsSettingNames { url, ca_file, .. } = names;
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => match &files.ca {
            None => format!(
                "its certificate is from an unknown authority: put the \
                 authority's certificate (PEM) into a file and set {ca_file} to it"
            ),
            Some(file) => format!(
                "its certificate is not signed by an authority in {} ({ca_file}) or by one of this \
                 machine: add the certificate (PEM) of its authority to that file",
                file.display()
            ),
        },
        CertificateError::NotValidForNameContext { expected, presented } => format!(
            "its certificate is not for {}, but for {}: use one of its names in {url}, or give \
             the server a certificate for this one",
            expected.to_str(),
            names_text(presented)
        ),
        CertificateError::NotValidForName => format!(
            "its certificate is not for this host: use one of its names in {url}, or give the \
             server another certificate"
        ),
        CertificateError::ExpiredContext { time, not_after } => format!(
            "its certificate expired at {} (it is {} here): renew it on the server",
            time_text(*not_after),
            time_text(*time)
        ),
        CertificateError::Expired => "its certificate expired: renew it on the server".to_owned(),
        CertificateError::NotValidYetContext { time, not_before } => format!(
            "its certificate is not valid before {} (it is {} here): set this machine's clock, or \
             correct the certificate",
            time_text(*not_before),
            time_text(*time)
        ),
        error => {
            let error = TlsError::InvalidCertificate(error.clone());
            format!("its certificate cannot be accepted ({error}): give the server another one")
        }
    }
}

/// The names of a certificate without rustls's notation, as in `DnsName("localhost")`.
fn names_text(names: &[String]) -> String {
    let bare = |name: &String| {
        let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        inner.unwrap_or(name).trim_matches('"').to_owned()
    };
    match names {
        [] => "no name".to_owned(),
        names => names.iter().map(bare).collect::<Vec<_>>().join(", "),
    }
}

fn time_text(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

fn alert_message(alert: AlertDescription, names: &TlsSettingNames, files: &TlsFiles) -> String {
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
            "it requires a client certificate ({alert:?}): set \
             {certificate} and {key}"
        ),
        (true, Some([certificate, _]), Some(file)) => format!(
            "it refused the client certificate {} ({alert:?}): set {certificate} to one that \
             is signed by an authority of the server and not expired",
            file.display()
        ),
        (true, None, _) => format!(
            "it refused the TLS connection ({alert:?}): if it requires a client certificate, \
             connect through a proxy that has one"
        ),
        (false, ..) => format!("it ended the TLS handshake ({alert:?}): see the server's log"),
    }
}
