//! A run's report in every format that the command line writes.

use crate::api::{
    extract::{RunOf, blocking},
    openapi::published,
};
use crate::{problem::Problem, state::AppState, view::RunView};
use axum::{
    body::Body,
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use juror_report::{OutputFormat, write_report};
use juror_types::id::RunId;
use std::{
    fs::File,
    io::{self, BufWriter, Seek as _, SeekFrom, Write as _},
};
use tokio::sync::Semaphore;
use tokio_util::io::ReaderStream;

/// So many reports are written at once: each takes a processor.
static WRITING: Semaphore = Semaphore::const_new(2);

/// Content security policy of a report's page: its own policy, inside it, allows just its own
/// script and style of what this one lets pass.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
                           script-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                           form-action 'none'; frame-ancestors 'none'";

macro_rules! report {
    ($(#[$attribute:meta])* $name:ident, $format:ident) => {
        $(#[$attribute])*
        pub async fn $name(site: State<AppState>, run: RunOf) -> Result<Response, Problem> {
            report(site, run, OutputFormat::$format).await
        }
    };
}

report! {
    /// The report as `report.json`
    #[utoipa::path(
        get, path = "/runs/{run}/report.json", tag = "reports",
        params(("run" = String, Path, description = "The run's name")),
        responses((status = 200, description = "The report", body = published::Report),
                  (status = 404, description = "No such run", body = Problem,
                   content_type = "application/problem+json"))
    )]
    json, Json
}

report! {
    /// The results that count, one a line
    #[utoipa::path(
        get, path = "/runs/{run}/report.jsonl", tag = "reports",
        params(("run" = String, Path, description = "The run's name")),
        responses((status = 200, description = "Results, one a line, each as in results.jsonl",
                   body = String, content_type = "application/jsonl"),
                  (status = 404, description = "No such run", body = Problem,
                   content_type = "application/problem+json"))
    )]
    jsonl, Jsonl
}

report! {
    /// The results as a table
    #[utoipa::path(
        get, path = "/runs/{run}/report.csv", tag = "reports",
        params(("run" = String, Path, description = "The run's name")),
        responses((status = 200, description = "The results", body = String,
                   content_type = "text/csv"),
                  (status = 404, description = "No such run", body = Problem,
                   content_type = "application/problem+json"))
    )]
    csv, Csv
}

report! {
    /// The report as one page
    #[utoipa::path(
        get, path = "/runs/{run}/report.html", tag = "reports",
        params(("run" = String, Path, description = "The run's name")),
        responses((status = 200, description = "The page", body = String,
                   content_type = "text/html"),
                  (status = 404, description = "No such run", body = Problem,
                   content_type = "application/problem+json"))
    )]
    html, Html
}

report! {
    /// The report for a pull request
    #[utoipa::path(
        get, path = "/runs/{run}/report.md", tag = "reports",
        params(("run" = String, Path, description = "The run's name")),
        responses((status = 200, description = "The comment", body = String,
                   content_type = "text/markdown"),
                  (status = 404, description = "No such run", body = Problem,
                   content_type = "application/problem+json"))
    )]
    markdown, Markdown
}

report! {
    /// The report for a CI system
    #[utoipa::path(
        get, path = "/runs/{run}/report.junit.xml", tag = "reports",
        params(("run" = String, Path, description = "The run's name")),
        responses((status = 200, description = "Test cases", body = String,
                   content_type = "application/xml"),
                  (status = 404, description = "No such run", body = Problem,
                   content_type = "application/problem+json"))
    )]
    junit, Junit
}

/// Writes the report into a file that nobody else sees and sends that: whoever reads slowly keeps
/// no processor and no memory.
async fn report(
    State(site): State<AppState>,
    RunOf(run): RunOf,
    format: OutputFormat,
) -> Result<Response, Problem> {
    let view = site.views.of(&run).await?;
    let turn = WRITING.acquire().await.map_err(|error| Problem::internal(&error))?;
    let written = blocking(move || {
        // Until it is written, even if nobody waits for it any more.
        let _turn = turn;
        write(&site, &view, format).map_err(|error| Problem::internal(&error))
    });
    let (file, length) = written.await?;
    let stream = ReaderStream::with_capacity(tokio::fs::File::from_std(file), 1 << 16);
    let mut response = Body::from_stream(stream).into_response();
    let headers = response.headers_mut();
    let (media_type, disposition) = labels(&run, format);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::CONTENT_LENGTH, length.into());
    headers.extend(disposition.map(|value| (header::CONTENT_DISPOSITION, value)));
    if format == OutputFormat::Html {
        let policy = HeaderValue::from_static(PAGE_POLICY);
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

fn write(site: &AppState, view: &RunView, format: OutputFormat) -> io::Result<(File, u64)> {
    let (report, files) = (&view.report, &view.files);
    let exhibits = site.item_source.exhibits(files.record(), &report.rubric);
    let mut out = BufWriter::new(tempfile::tempfile()?);
    write_report(format, report, files, &*exhibits, &mut out)?;
    out.flush()?;
    let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    let length = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    Ok((file, length))
}

fn labels(run: &RunId, format: OutputFormat) -> (&'static str, Option<HeaderValue>) {
    let (media_type, place, ending) = match format {
        OutputFormat::Json => ("application/json", "inline", "json"),
        OutputFormat::Jsonl => ("application/jsonl", "attachment", "jsonl"),
        OutputFormat::Csv => ("text/csv; charset=utf-8", "attachment", "csv"),
        OutputFormat::Html => ("text/html; charset=utf-8", "inline", "html"),
        OutputFormat::Markdown => ("text/markdown; charset=utf-8", "inline", "md"),
        OutputFormat::Junit => ("application/xml", "inline", "junit.xml"),
    };
    let disposition = format!("{place}; filename=\"{run}.{ending}\"");
    (media_type, HeaderValue::from_str(&disposition).ok())
}
