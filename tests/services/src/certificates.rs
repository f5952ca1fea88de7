//! Certificates of a test authority, as PEM files.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};
use tempfile::TempDir;

/// Certificate authority and the folder of its certificates, which is removed with it.
pub struct Authority {
    folder: TempDir,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate with its key.
pub struct Identity {
    /// The file of the certificate.
    pub certificate: PathBuf,
    /// The file of its key.
    pub key: PathBuf,
}

impl Authority {
    /// New authority, unknown to the system.
    #[expect(clippy::new_without_default, reason = "each one is another")]
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut params = params(&[]);
        params.distinguished_name.push(DnType::CommonName, format!("authority {number}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("an authority");
        let folder = tempfile::tempdir().expect("a folder for certificates");
        fs::write(folder.path().join("ca.pem"), certificate.pem()).expect("its file");
        Self { folder, issuer: Issuer::new(params, key) }
    }

    /// The file of its own certificate.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Certificate for servers with these names and addresses, and for clients.
    pub fn issue(&self, name: &str, hosts: &[&str]) -> Identity {
        self.sign(name, params(hosts))
    }

    /// Expired certificate.
    pub fn issue_expired(&self, name: &str, hosts: &[&str]) -> Identity {
        let mut params = params(hosts);
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        self.sign(name, params)
    }

    fn sign(&self, name: &str, mut params: CertificateParams) -> Identity {
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let file = |ending: &str| self.folder.path().join(format!("{name}.{ending}"));
        let identity = Identity { certificate: file("pem"), key: file("key") };
        write(&identity.certificate, &certificate.pem());
        write(&identity.key, &key.serialize_pem());
        identity
    }
}

fn params(hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    CertificateParams::new(hosts).expect("names of hosts")
}

fn write(file: &Path, pem: &str) {
    fs::write(file, pem).expect("a file for a certificate");
}
