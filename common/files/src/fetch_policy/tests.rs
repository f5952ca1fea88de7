use super::*;

fn texts(entries: &[&str]) -> Vec<String> {
    entries.iter().map(|&entry| entry.to_owned()).collect()
}

fn allows(allowed: &FetchPolicy, reference: &str) -> bool {
    allowed.check(&Reference::parse(reference).unwrap()).is_ok()
}

#[test]
fn host_is_matched_by_scheme_name_and_port() {
    let hosts =
        ["images.example.com", "*.cdn.example.com", "a.test:8443", "http://b.test", "[::1]:9"];
    let allowed = FetchPolicy::parse(&texts(&hosts), &[], &[]).unwrap();
    for reference in [
        "https://images.example.com/1.png",
        "https://IMAGES.example.com.:443/1.png",
        "https://eu.cdn.example.com/1.png",
        "https://a.eu.cdn.example.com/1.png",
        "https://a.test:8443/1.png",
        "http://b.test/1.png",
        "https://[::1]:9/1.png",
        "shots/1.png",
    ] {
        assert!(allows(&allowed, reference), "{reference}");
    }
    for reference in [
        "http://images.example.com/1.png",
        "https://images.example.com:8443/1.png",
        "https://images.example.com.evil.test/1.png",
        "https://evil-images.example.com/1.png",
        "https://cdn.example.com/1.png",
        "https://evilcdn.example.com/1.png",
        "https://a.test/1.png",
        "https://b.test/1.png",
        "http://b.test:8080/1.png",
        "s3://bucket/1.png",
    ] {
        assert!(!allows(&allowed, reference), "{reference}");
    }
}

#[test]
fn bucket_is_matched_by_whole_key_segments() {
    let buckets = texts(&["s3://shots", "s3://team/golden/", "gs://shots"]);
    let allowed = FetchPolicy::parse(&[], &[], &buckets).unwrap();
    for reference in ["s3://shots/1.png", "s3://team/golden/a/1.png", "gs://shots/1.png"] {
        assert!(allows(&allowed, reference), "{reference}");
    }
    for reference in [
        "s3://team/1.png",
        "s3://team/golden",
        "s3://team/golden2/1.png",
        "s3://other/1.png",
        "az://shots/1.png",
    ] {
        assert!(!allows(&allowed, reference), "{reference}");
    }
}

#[test]
fn refusal_names_the_setting_that_would_allow_it() {
    let allowed = FetchPolicy::default();
    for (reference, message) in [
        ("https://host/1.png?sig=abc", "add \"host\" to files.hosts"),
        ("https://host:8443/1.png", "add \"host:8443\" to files.hosts"),
        ("http://host:8080/1.png", "add \"http://host:8080\" to files.hosts"),
        ("s3://bucket/a/1.png", "add \"s3://bucket\", or a prefix in it, to files.buckets"),
    ] {
        let reference = Reference::parse(reference).unwrap();
        let error = allowed.check(&reference).unwrap_err().to_string();
        assert!(error.contains(message) && !error.contains("sig"), "{error}");
    }
}

#[test]
fn invalid_entry_is_reported_with_its_setting() {
    for entry in ["", "*", "*.", "ftp://a", "a/b", "u@a", "a.*.b", "*.1.2.3.4", "a:x", "a?b", "a b"]
    {
        let error = FetchPolicy::parse(&texts(&[entry]), &[], &[]).unwrap_err();
        assert_eq!((error.key, error.value), ("files.hosts", format!("{entry:?}")));
    }
    for entry in ["", "*.a", "http://a", "a:80", "10.0.0.0/8"] {
        let error = FetchPolicy::parse(&[], &texts(&[entry]), &[]).unwrap_err();
        assert_eq!((error.key, error.value), ("files.private_hosts", format!("{entry:?}")));
    }
    for entry in ["", "bucket", "s3://", "s3://a//b", "s3://a/../b", "http://a", "s3://a:b"] {
        let error = FetchPolicy::parse(&[], &[], &texts(&[entry])).unwrap_err();
        assert_eq!((error.key, error.value), ("files.buckets", format!("{entry:?}")));
    }
}

#[test]
fn private_hosts_are_names_or_addresses() {
    let private = texts(&["Images.Internal", "10.0.0.5", "::1", "[fd00::1]"]);
    let allowed = FetchPolicy::parse(&[], &private, &[]).unwrap();
    assert!(allowed.is_private_host("images.internal."));
    assert!(!allowed.is_private_host("10.0.0.5") && !allowed.is_private_host("internal"));
    for address in ["10.0.0.5", "::1", "fd00::1"] {
        assert!(allowed.is_private_address(address.parse().unwrap()), "{address}");
    }
    assert!(!allowed.is_private_address("10.0.0.6".parse().unwrap()));
}
