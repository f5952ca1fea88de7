//! A run's report in every format that the command line writes.

use crate::{
    api::extract::{RunSubpath, blocking},
    app_state::AppState,
    problem::Problem,
    published,
    view::RunView,
};
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

/// Limit of concurrently written reports, each of which occupies a CPU core.
static WRITE_PERMITS: Semaphore = Semaphore::const_new(2);

/// Content security policy of an HTML report, which restricts itself further to its own script and
/// style.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
                           script-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                           form-action 'none'; frame-ancestors 'none'";

/// File extension, name, format, media type and disposition of the served reports.
#[rustfmt::skip]
pub const FORMATS: [(&str, &str, OutputFormat, &str, &str); 6] = [
    ("html", "HTML", OutputFormat::Html, "text/html; charset=utf-8", "inline"),
    ("json", "JSON", OutputFormat::Json, "application/json", "inline"),
    ("jsonl", "JSON lines", OutputFormat::Jsonl, "application/jsonl", "attachment"),
    ("csv", "CSV", OutputFormat::Csv, "text/csv; charset=utf-8", "attachment"),
    ("md", "Markdown", OutputFormat::Markdown, "text/markdown; charset=utf-8", "inline"),
    ("junit.xml", "JUnit", OutputFormat::Junit, "application/xml", "inline"),
];

/// A report; the file's extension picks the format
#[utoipa::path(
    get, path = "/runs/{run}/{file}", tag = "reports",
    params(("run" = String, Path, description = "The run's name"),
           ("file" = String, Path, description = "The file",
            pattern = r"^report\.(json|jsonl|csv|html|md|junit\.xml)$")),
    responses((status = 200, description = "The report; JSON Lines and CSV contain its results",
               content((published::Report = "application/json"), (String = "application/jsonl"),
                       (String = "text/csv"), (String = "text/html"), (String = "text/markdown"),
                       (String = "application/xml"))),
              (status = 404, description = "No such run, or no such file"))
)]
pub async fn file(
    site: State<AppState>,
    RunSubpath(run, file): RunSubpath,
) -> Result<Response, Problem> {
    let extension = file.strip_prefix("report.");
    match FORMATS.into_iter().find(|(known, ..)| extension == Some(*known)) {
        Some(served) => report(site, run, served).await,
        None => Err(Problem::missing(
            "No such file: use report.json, .jsonl, .csv, .html, .md or .junit.xml.",
        )),
    }
}

/// Writes the report into an anonymous temporary file and streams that, so that a slow client
/// occupies no processor and no memory.
async fn report(
    State(site): State<AppState>,
    run: RunId,
    (ending, _, format, media_type, disposition): (&str, &str, OutputFormat, &'static str, &str),
) -> Result<Response, Problem> {
    let view = site.views.get(&run).await?;
    let permit = WRITE_PERMITS.acquire().await.map_err(|error| Problem::internal(&error))?;
    let written = blocking(move || {
        // Held until the file is written, even if the request is dropped.
        let _permit = permit;
        write(&site, &view, format).map_err(|error| Problem::internal(&error))
    });
    let (file, length) = written.await?;
    let stream = ReaderStream::with_capacity(tokio::fs::File::from_std(file), 1 << 16);
    let mut response = Body::from_stream(stream).into_response();
    let headers = response.headers_mut();
    let disposition = format!("{disposition}; filename=\"{run}.{ending}\"");
    let disposition = HeaderValue::from_str(&disposition).ok();
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
    let attachments = site.item_source.attachments(files.record(), &report.rubric);
    let mut out = BufWriter::new(tempfile::tempfile()?);
    write_report(format, report, files, &*attachments, &mut out)?;
    out.flush()?;
    let mut file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    let length = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    Ok((file, length))
}
