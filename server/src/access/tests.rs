use super::*;
use crate::test_site::{PageResponse, TestSite, ask, get};
use axum::{Router, body::Body};

const READ: &str = "read-token-0123456789";
const WRITE: &str = "write-token-0123456789";
const JSON: (&str, &str) = ("content-type", "application/json");
const OWN: (&str, &str) = ("sec-fetch-site", "same-origin");
const RUNS: &str = "/api/v1/runs";

fn access(listen: &str, read: Option<&str>, write: Option<&str>) -> Result<Access, AccessError> {
    let secret = |token: &str| Secret::new(token).unwrap();
    Access::new(listen.parse().unwrap(), read.map(secret), write.map(secret), Vec::new())
}

async fn estimate(router: &Router, headers: &[(&str, &str)]) -> PageResponse {
    let headers = [&[JSON], headers].concat();
    ask(router, "POST", "/api/v1/estimate", &headers, r#"{"dataset":"golden"}"#).await
}

async fn log_in(
    router: &Router,
    token: &str,
    next: &str,
    headers: &[(&str, &str)],
) -> PageResponse {
    let form = ("content-type", "application/x-www-form-urlencoded");
    let body = format!("token={token}&next={next}");
    let sets_origin = headers.iter().any(|(name, _)| *name == OWN.0);
    let own = if sets_origin { ("accept", "text/html") } else { OWN };
    ask(router, "POST", "/login", &[&[form, own], headers].concat(), body).await
}

#[test]
fn public_address_requires_a_token() {
    for listen in ["0.0.0.0:80", "[::]:80", "192.168.1.7:80"] {
        let error = access(listen, None, None).unwrap_err();
        assert!(matches!(error, AccessError::Unprotected { .. }), "{error}");
        assert!(error.to_string().contains("serve.read_token_file"), "{error}");
        assert!(!access(listen, Some(READ), None).unwrap().is_open());
        assert!(!access(listen, None, Some(WRITE)).unwrap().is_open());
    }
    for listen in ["127.0.0.1:80", "127.8.0.1:80", "[::1]:80"] {
        assert!(access(listen, None, None).unwrap().is_open());
    }
    assert_eq!(access("[::1]:80", Some(READ), Some(READ)).unwrap_err(), AccessError::SameTokens);
    let listen = "127.0.0.1:80".parse().unwrap();
    let hosts = || vec!["juror.example".to_owned()];
    let error = Access::new(listen, None, None, hosts()).unwrap_err();
    assert_eq!(error, AccessError::UnprotectedHost("juror.example".to_owned()));
    assert!(error.to_string().contains("serve.write_token_file"), "{error}");
    Access::new(listen, Some(Secret::new(READ).unwrap()), None, hosts()).unwrap();
    for host in ["", "https://juror.example", "a b", "a/b"] {
        let error = Access::new(listen, None, None, vec![host.to_owned()]).unwrap_err();
        assert_eq!(error, AccessError::InvalidHost(host.to_owned()));
    }
}

#[test]
fn tokens_are_long_plain_text_and_never_shown() {
    for bad in
        ["", "short", "with a space in the middle", "ключ-ключ-ключ-ключ", "a\nbcdefghijklmnopqrst"]
    {
        let error = Secret::new(bad).unwrap_err().to_string();
        assert!(bad.is_empty() || !error.contains(bad), "{error}");
    }
    let secret = Secret::new(&format!(" {READ}\n")).unwrap();
    assert!(secret.is(READ) && !secret.is(WRITE) && !secret.is(""));
    let shown = format!("{:?} {secret:?}", access("[::]:80", Some(READ), Some(WRITE)));
    assert!(!shown.contains(READ) && !shown.contains(WRITE), "{shown}");
}

#[tokio::test]
async fn open_server_serves_only_local_host_names() {
    let router = TestSite::new().open();
    for host in ["localhost", "LocalHost:8080", "127.0.0.1:8080", "127.0.0.1", "[::1]:8080"] {
        let answer = get(&router, RUNS, &[("host", host)]).await;
        assert_eq!(answer.status, 200, "{host}: {}", answer.body);
    }
    for host in ["evil.example", "localhost.evil.example:8080", "127.0.0.1.nip.io", "10.0.0.1", ""]
    {
        let answer = get(&router, RUNS, &[("host", host)]).await;
        assert!(answer.problem(421, RUNS).contains("serve.hosts"), "{host}");
        let page = get(&router, "/runs", &[("host", host), ("accept", "text/html")]).await;
        assert_eq!(
            (page.status.as_u16(), page.header("content-type")),
            (421, "text/html; charset=utf-8")
        );
    }
    assert_eq!(get(&router, "/healthz", &[("host", "10.0.0.1")]).await.body, "ok\n");
}

#[tokio::test]
async fn open_server_refuses_cross_origin_writes() {
    let router = TestSite::new().open();
    for headers in
        [&[][..], &[OWN], &[("sec-fetch-site", "none")], &[("origin", "http://127.0.0.1:8080")]]
    {
        assert_eq!(estimate(&router, headers).await.status, 200, "{headers:?}");
    }
    for headers in [
        &[("sec-fetch-site", "cross-site")][..],
        &[("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:8080")],
        &[("origin", "http://evil.example")],
        &[("origin", "http://127.0.0.1:9090")],
        &[("origin", "null")],
    ] {
        estimate(&router, headers).await.problem(403, "/api/v1/estimate");
    }
    // A form of another site cannot send JSON, and an old browser may send no origin.
    let path = "/api/v1/runs/a/cancel";
    let form = ("content-type", "text/plain");
    ask(&router, "POST", path, &[form], Body::empty()).await.problem(403, path);
}

#[tokio::test]
async fn tokens_permit_their_scope() {
    let router = TestSite::new().with_tokens(Some(READ), Some(WRITE));
    let bearer = |token: &str| format!("Bearer {token}");
    let (read, write) = (bearer(READ), bearer(WRITE));
    for wrong in ["", "Bearer", "Bearer wrong", "Basic cmVhZA==", "Bearer read-token-012345678"] {
        let answer = get(&router, RUNS, &[("authorization", wrong)]).await;
        answer.problem(401, RUNS);
        assert_eq!(answer.header("www-authenticate"), "Bearer");
        estimate(&router, &[("authorization", wrong)]).await.problem(401, "/api/v1/estimate");
    }
    for token in [&read, &write] {
        assert_eq!(get(&router, RUNS, &[("authorization", token)]).await.status, 200);
    }
    let refused = estimate(&router, &[("authorization", &read)]).await;
    assert!(refused.problem(403, "/api/v1/estimate").contains("write token"));
    assert_eq!(estimate(&router, &[("authorization", &write)]).await.status, 200);
    // A bearer token is valid from any origin.
    let headers = [("authorization", &*write), ("origin", "http://other.example")];
    assert_eq!(estimate(&router, &headers).await.status, 200);
    // With tokens the server serves any host.
    let headers = [("authorization", &*read), ("host", "juror.example")];
    assert_eq!(get(&router, RUNS, &headers).await.status, 200);
    assert_eq!(get(&router, "/healthz", &[]).await.status, 200);
}

#[tokio::test]
async fn a_server_may_have_only_a_read_token_or_only_a_write_token() {
    let site = TestSite::new();
    let reading = site.with_tokens(Some(READ), None);
    let read = format!("Bearer {READ}");
    let refused = estimate(&reading, &[("authorization", &read)]).await;
    assert!(refused.problem(403, "/api/v1/estimate").contains("no write token"));
    let writing = site.with_tokens(None, Some(WRITE));
    get(&writing, RUNS, &[]).await.problem(401, RUNS);
    let write = format!("Bearer {WRITE}");
    assert_eq!(get(&writing, RUNS, &[("authorization", &write)]).await.status, 200);
}

#[tokio::test]
async fn a_browser_logs_in_and_out() {
    let router = TestSite::new().with_tokens(Some(READ), Some(WRITE));
    let redirected = get(&router, "/runs?page=2", &[]).await;
    assert_eq!(redirected.status, 303);
    assert_eq!(redirected.header("location"), "/login?next=%2Fruns%3Fpage%3D2");
    let form = get(&router, redirected.header("location"), &[]).await;
    assert!(form.status == 200 && form.body.contains(r#"value="/runs?page=2""#), "{}", form.body);
    let wrong = log_in(&router, "wrong", "/runs", &[]).await;
    assert_eq!((wrong.status.as_u16(), wrong.header("set-cookie")), (303, ""));
    assert_eq!(wrong.header("location"), "/login?refused=token&next=%2Fruns");
    let entered = log_in(&router, READ, "/runs?page=2", &[]).await;
    assert_eq!((entered.status.as_u16(), entered.header("location")), (303, "/runs?page=2"));
    let cookie = entered.header("set-cookie").to_owned();
    assert!(cookie.contains("; Path=/; HttpOnly; SameSite=Strict; Max-Age="), "{cookie}");
    assert!(!cookie.contains("Secure") && !cookie.contains(READ), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(get(&router, RUNS, &[("cookie", cookie)]).await.status, 200);
    assert_eq!(get(&router, RUNS, &[("cookie", &format!("a=b; {cookie}"))]).await.status, 200);
    estimate(&router, &[("cookie", cookie), OWN]).await.problem(403, "/api/v1/estimate");
    let left = ask(&router, "POST", "/logout", &[("cookie", cookie), OWN], Body::empty()).await;
    assert!(left.header("set-cookie").starts_with("juror_session_8080=; "), "{:?}", left.headers);
    assert!(left.header("set-cookie").contains("Max-Age=0"));
    get(&router, RUNS, &[("cookie", cookie)]).await.problem(401, RUNS);
}

#[tokio::test(start_paused = true)]
async fn a_session_expires_on_the_server_too() {
    let router = TestSite::new().with_tokens(Some(READ), None);
    let entered = log_in(&router, READ, "/", &[]).await;
    let cookie = entered.header("set-cookie");
    let (name, seconds) = (cookie.split(';').next().unwrap(), cookie.split("Max-Age=").nth(1));
    let seconds: u64 = seconds.unwrap().parse().unwrap();
    assert_eq!(get(&router, RUNS, &[("cookie", name)]).await.status, 200);
    tokio::time::advance(std::time::Duration::from_secs(seconds)).await;
    get(&router, RUNS, &[("cookie", name)]).await.problem(401, RUNS);
}

#[tokio::test]
async fn session_cookies_of_two_servers_on_one_host_differ() {
    let site = TestSite::new();
    let (one, other) = (site.with_tokens(Some(READ), None), site.with_tokens(Some(READ), None));
    let servers = [(&one, "evals.example:8081"), (&other, "evals.example:8082")];
    let mut cookies = Vec::new();
    for (router, host) in servers {
        let entered = log_in(router, READ, "/", &[("host", host)]).await;
        cookies.push(entered.header("set-cookie").split(';').next().unwrap().to_owned());
    }
    assert!(cookies[0].starts_with("juror_session_8081="), "{cookies:?}");
    assert!(cookies[1].starts_with("juror_session_8082="), "{cookies:?}");
    // A browser sends both to both.
    let both = cookies.join("; ");
    for (router, host) in servers {
        let headers = [("host", host), ("cookie", &*both)];
        assert_eq!(get(router, RUNS, &headers).await.status, 200);
    }
}

#[tokio::test]
async fn open_server_refuses_proxied_requests() {
    let site = TestSite::new();
    let router = site.open();
    for header in ["x-forwarded-for", "x-real-ip", "forwarded"] {
        let refused = get(&router, RUNS, &[(header, "203.0.113.9")]).await;
        assert!(refused.problem(403, RUNS).contains("serve.write_token_file"), "{header}");
    }
    let headers =
        [("x-forwarded-for", "203.0.113.9"), ("authorization", &format!("Bearer {READ}"))];
    assert_eq!(get(&site.with_tokens(Some(READ), None), RUNS, &headers).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn login_attempts_are_counted_by_the_client_of_a_trusted_proxy() {
    let site = TestSite::new().site();
    let access = access("127.0.0.1:8080", Some(READ), None).unwrap();
    // Requests of these tests have no peer, which counts as 0.0.0.0.
    let proxies = TrustedProxies::parse(&["0.0.0.0".to_owned()]).unwrap();
    let router = crate::router::router(site, access.with_trusted_proxies(proxies));
    let guess = async |client: &str| {
        log_in(&router, "wrong", "/", &[("x-forwarded-for", client)]).await.status.as_u16()
    };
    let mut guesses = 0;
    while guess("203.0.113.9").await == 303 {
        guesses += 1;
        assert!(guesses < 1_000, "guessing is not limited");
    }
    assert_eq!(guess("198.51.100.7, 203.0.113.9").await, 429);
    assert_eq!(guess("203.0.113.9, 198.51.100.7").await, 303, "another client");
}

#[tokio::test]
async fn navigation_is_hidden_from_unauthorized_requesters() {
    const NAVIGATION: &str = "aria-label=\"Pages\"";
    let router = TestSite::new().with_tokens(Some(READ), Some(WRITE));
    let page = ("accept", "text/html");
    let form = get(&router, "/login", &[page]).await;
    assert!(form.status == 200 && !form.body.contains(NAVIGATION), "{}", form.body);
    let foreign = [page, ("origin", "https://elsewhere.example")];
    let refused = ask(&router, "POST", "/logout", &foreign, Body::empty()).await;
    assert!(refused.status == 403 && refused.body.contains("href=\"/login\""), "{}", refused.body);
    assert!(!refused.body.contains(NAVIGATION) && !refused.body.contains("href=\"/runs\""));
    let entered = log_in(&router, READ, "", &[]).await;
    let cookie = ("cookie", entered.header("set-cookie").split(';').next().unwrap());
    for (path, status) in [("/nowhere", 404), ("/runs/nothing", 404), ("/login", 200)] {
        let shown = get(&router, path, &[page, cookie]).await;
        assert_eq!(shown.status, status);
        assert!(shown.body.contains(NAVIGATION) && shown.body.contains("Log out"), "{path}");
    }
    let refused = ask(&router, "POST", "/start", &[page, cookie, OWN], Body::empty()).await;
    assert!(refused.status == 403 && refused.body.contains(NAVIGATION), "{}", refused.body);
    let open = TestSite::new().open();
    assert!(get(&open, "/login", &[page]).await.body.contains(NAVIGATION));
    let elsewhere = get(&open, "/", &[page, ("host", "elsewhere.example")]).await;
    assert!(elsewhere.status == 421 && !elsewhere.body.contains(NAVIGATION), "{}", elsewhere.body);
}

#[tokio::test]
async fn a_cookie_permits_writing_only_from_pages_of_this_server() {
    let router = TestSite::new().with_tokens(Some(READ), Some(WRITE));
    let entered = log_in(&router, WRITE, "", &[("x-forwarded-proto", "https")]).await;
    assert_eq!(entered.header("location"), "/");
    assert!(entered.header("set-cookie").ends_with("; Secure"));
    let cookie = ("cookie", entered.header("set-cookie").split(';').next().unwrap());
    assert_eq!(estimate(&router, &[cookie, OWN]).await.status, 200);
    for headers in [
        &[cookie][..],
        &[cookie, ("sec-fetch-site", "cross-site")],
        &[cookie, ("origin", "http://evil.example")],
    ] {
        estimate(&router, headers).await.problem(403, "/api/v1/estimate");
    }
    let foreign = [("sec-fetch-site", "cross-site")];
    assert_eq!(log_in(&router, WRITE, "/", &foreign).await.status, 403);
}

#[tokio::test]
async fn login_redirects_to_no_other_server() {
    let router = TestSite::new().with_tokens(Some(READ), None);
    for next in ["//evil.example", "/%5Cevil.example", "https://evil.example", "/a%0d%0ab", "x"] {
        let entered = log_in(&router, READ, next, &[]).await;
        assert_eq!((entered.status.as_u16(), entered.header("location")), (303, "/"), "{next}");
    }
}

#[tokio::test(start_paused = true)]
async fn token_guessing_is_rate_limited() {
    let router = TestSite::new().with_tokens(Some(READ), None);
    let mut refused = 0;
    let answer = loop {
        let answer = log_in(&router, "wrong", "/", &[]).await;
        if answer.status != 303 {
            break answer;
        }
        refused += 1;
        assert!(refused < 1_000, "guessing is not limited");
    };
    assert_eq!(answer.status, 429);
    let wait: u64 = answer.header("retry-after").parse().unwrap();
    assert_eq!(log_in(&router, READ, "/", &[]).await.status, 429, "the right token waits too");
    tokio::time::advance(std::time::Duration::from_secs(wait)).await;
    assert_eq!(log_in(&router, READ, "/", &[]).await.status, 303);
}

#[tokio::test]
async fn every_response_has_security_headers() {
    let site = TestSite::new();
    site.add("judged", 21, 3, true);
    let router = site.open();
    for path in ["/", RUNS, "/api/v1/nothing", "/nothing", "/login", "/healthz"] {
        let answer = get(&router, path, &[]).await;
        assert!(
            answer.header("content-security-policy").starts_with("default-src 'none'"),
            "{path}"
        );
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
    }
}

#[tokio::test]
async fn large_bodies_are_refused() {
    let router = TestSite::new().open();
    let body = format!(r#"{{"dataset":"{}"}}"#, "a".repeat(70_000));
    let path = "/api/v1/estimate";
    ask(&router, "POST", path, &[JSON], body.clone()).await.problem(413, path);
    let form = ("content-type", "application/x-www-form-urlencoded");
    assert_eq!(ask(&router, "POST", "/login", &[form, OWN], body).await.status, 413);
}
