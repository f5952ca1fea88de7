//! Reading of certificates and private keys from PEM files.

use super::{TlsFileError, TlsFiles, TlsSettingNames};
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer,
    pem::{Error as PemError, PemObject as _},
};
use std::path::Path;

/// Reads the certificates of a PEM file; `setting` names it in errors.
///
/// # Errors
/// A [`TlsFileError`] if it cannot be read or contains none.
pub fn read_certificates(
    setting: &str,
    file: &Path,
) -> Result<Vec<CertificateDer<'static>>, TlsFileError> {
    let error = |problem: &str| TlsFileError::in_file(setting, file, problem);
    let pem = read(setting, file)?;
    let certificates = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|reason| error(&damage(&reason)))?;
    if certificates.is_empty() {
        return Err(error(
            "it contains no certificate in PEM format; a DER file is converted by \
             `openssl x509 -inform der -in FILE -out FILE.pem`",
        ));
    }
    Ok(certificates)
}

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

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn read_key(setting: &str, file: &Path) -> Result<PrivateKeyDer<'static>, TlsFileError> {
    let error = |problem: &str| TlsFileError::in_file(setting, file, problem);
    let pem = read(setting, file)?;
    let is_encrypted = pem.windows(b"ENCRYPTED".len()).any(|part| part == b"ENCRYPTED");
    if is_encrypted {
        return Err(error(
            "the key is protected by a password, which is not supported: write it without one \
             by `openssl pkey -in FILE -out PLAIN`, and restrict access to that file",
        ));
    }
    PrivateKeyDer::from_pem_slice(&pem).map_err(|reason| match reason {
        PemError::NoItemsFound => error(
            "it contains no private key in PEM format; a PKCS#12 file (.p12, .pfx) is converted by \
             `openssl pkcs12 -in FILE -nodes -out FILE.pem`",
        ),
        reason => error(&damage(&reason)),
    })
}

fn read(setting: &str, file: &Path) -> Result<Vec<u8>, TlsFileError> {
    std::fs::read(file).map_err(|reason| {
        TlsFileError::in_file(setting, file, &format!("it cannot be read: {reason}"))
    })
}

/// The damage of a PEM file, without its content, which may be a key.
fn damage(reason: &PemError) -> String {
    let place = match reason {
        PemError::MissingSectionEnd { .. } => "a section has no END line",
        PemError::IllegalSectionStart { .. } => "a BEGIN line is damaged",
        PemError::Base64Decode(_) => "a section is not base64",
        _ => "a section cannot be read",
    };
    format!("it is not a valid PEM file: {place}")
}
