//! Certificates and private keys, read from PEM files.

use super::{TlsFiles, TlsSettingNames};
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer,
    pem::{Error as PemError, PemObject as _},
};
use std::path::Path;

/// An unusable file of certificates or keys: the setting, the file, the problem and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsFileError(String);

impl TlsFileError {
    fn new(setting: &str, file: &Path, problem: &str) -> Self {
        Self(format!("{setting} {}: {problem}", file.display()))
    }

    pub(super) fn without_tls(setting: &str, names: &TlsSettingNames) -> Self {
        let TlsSettingNames { url, scheme, .. } = names;
        Self(format!(
            "{setting} is set, and the URL in {url} asks for no TLS: write it as {scheme}://…, or \
             remove {setting}"
        ))
    }

    /// Certificates that rustls does not take.
    pub(super) fn unusable(
        names: &TlsSettingNames,
        files: &TlsFiles,
        error: &rustls::Error,
    ) -> Self {
        match (error, names.client_files, &files.client_key) {
            (rustls::Error::InconsistentKeys(_), Some([certificate, key]), Some(file)) => {
                Self::new(
                    key,
                    file,
                    &format!("it is not the key of the certificate in {certificate}"),
                )
            }
            _ => {
                let ca_file = names.ca_file;
                Self(format!(
                    "TLS cannot be set up ({error}): install the system's CA certificates, or \
                     correct the file in {ca_file}"
                ))
            }
        }
    }
}

/// The certificates of a PEM file; `setting` names it in errors.
///
/// # Errors
/// A [`TlsFileError`] if it cannot be read or holds none.
pub fn read_certificates(
    setting: &str,
    file: &Path,
) -> Result<Vec<CertificateDer<'static>>, TlsFileError> {
    let error = |problem: &str| TlsFileError::new(setting, file, problem);
    let pem = read(setting, file)?;
    let certificates = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|reason| error(&damage(&reason)))?;
    if certificates.is_empty() {
        return Err(error(
            "it holds no certificate in PEM format; a DER file is converted by \
             `openssl x509 -inform der -in FILE -out FILE.pem`",
        ));
    }
    Ok(certificates)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The client's certificates and key, if the settings name them.
pub(super) fn read_identity(
    files: &TlsFiles,
    names: &TlsSettingNames,
) -> Result<Option<Identity>, TlsFileError> {
    let [certificate, key] = names.client_files.unwrap_or_default();
    match (&files.client_certificate, &files.client_key) {
        (Some(certificate_file), Some(key_file)) => {
            let chain = read_certificates(certificate, certificate_file)?;
            Ok(Some((chain, read_key(key, key_file)?)))
        }
        (Some(_), None) => {
            Err(TlsFileError(format!("{certificate} is set without {key}: set both, or neither")))
        }
        (None, Some(_)) => {
            Err(TlsFileError(format!("{key} is set without {certificate}: set both, or neither")))
        }
        (None, None) => Ok(None),
    }
}

fn read_key(setting: &str, file: &Path) -> Result<PrivateKeyDer<'static>, TlsFileError> {
    let error = |problem: &str| TlsFileError::new(setting, file, problem);
    let pem = read(setting, file)?;
    let is_encrypted = pem.windows(b"ENCRYPTED".len()).any(|part| part == b"ENCRYPTED");
    if is_encrypted {
        return Err(error(
            "the key is protected by a password, which Juror does not take: write it without one \
             by `openssl pkey -in FILE -out PLAIN`, and let nobody else read that file",
        ));
    }
    PrivateKeyDer::from_pem_slice(&pem).map_err(|reason| match reason {
        PemError::NoItemsFound => error(
            "it holds no private key in PEM format; a PKCS#12 file (.p12, .pfx) is converted by \
             `openssl pkcs12 -in FILE -nodes -out FILE.pem`",
        ),
        reason => error(&damage(&reason)),
    })
}

fn read(setting: &str, file: &Path) -> Result<Vec<u8>, TlsFileError> {
    std::fs::read(file)
        .map_err(|reason| TlsFileError::new(setting, file, &format!("it cannot be read: {reason}")))
}

/// A damage of the file. No reason quotes it, since it may hold a key.
fn damage(reason: &PemError) -> String {
    let place = match reason {
        PemError::MissingSectionEnd { .. } => "a section has no END line",
        PemError::IllegalSectionStart { .. } => "a BEGIN line is damaged",
        PemError::Base64Decode(_) => "a section is no base64",
        _ => "a section cannot be read",
    };
    format!("it is no sound PEM file: {place}")
}
