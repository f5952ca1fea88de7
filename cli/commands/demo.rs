//! `juror demo`: judges the golden set against the simulator.

use crate::{
    args::DemoArguments,
    commands::run,
    demo_data::{self, Golden, STYLESHEET},
    exit::{AppError, Exit},
    terminal,
};
use juror_app::{
    protected_files::ProtectedFiles,
    rendering::has_browser,
    run::{
        local_run::LocalRun,
        run_setup::{ItemSelection, RenderedBy, RunSetup},
        run_setup_request::{RunSetupRequest, new_run_id},
    },
    settings::{BaseLayers, Layer, integer},
};
use juror_simulator::{Latency, SimulatorConfig};
use juror_types::{evidence::EvidenceMode, shutdown::Shutdown, usage::Money};
use std::{sync::Arc, time::Duration};
use tokio::net::TcpListener;

/// Latency of the simulator: progress is visible, and the demo is short.
const LATENCY: Latency =
    Latency { least: Duration::from_millis(250), most: Duration::from_millis(900) };

/// Budget of the demo, $1, of which nothing is real money.
const DEMO_BUDGET: Money = Money::from_pico(1_000_000_000_000);

pub async fn run(arguments: &DemoArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let golden = if arguments.acrue { Golden::Restyled } else { Golden::Components };
    let config = SimulatorConfig {
        book: Arc::new(demo_data::verdict_book()?),
        latency: LATENCY,
        ..SimulatorConfig::default()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(AppError::internal)?;
    let address = listener.local_addr().map_err(AppError::internal)?;
    let shutdown = Shutdown::new();
    let serving = tokio::spawn(juror_simulator::serve(listener, config, shutdown.clone()));
    let judged = judge(arguments, base, golden, &format!("http://{address}/v1")).await;
    shutdown.escalate();
    shutdown.escalate();
    serving.await.map_err(AppError::internal)?.map_err(AppError::internal)?;
    judged
}

async fn judge(
    arguments: &DemoArguments,
    base: &BaseLayers,
    golden: Golden,
    base_url: &str,
) -> Result<Exit, AppError> {
    let mut flags = demo_settings(arguments, golden, base_url);
    let folder = base.resolve(flags.clone())?.run.runs_dir.join("golden");
    flags = flags.with("render.stylesheet", Some(&*folder.join(STYLESHEET).to_string_lossy()));
    let renders = has_browser(&base.resolve(flags.clone())?, &base.environment);
    let evidence = match (golden, arguments.evidence) {
        (Golden::Restyled, _) => EvidenceMode::None,
        (Golden::Components, Some(mode)) => mode,
        (Golden::Components, None) if renders => EvidenceMode::Facts,
        (Golden::Components, None) => EvidenceMode::None,
    };
    let dataset = folder.join(golden.manifest());
    let setup_request = RunSetupRequest {
        dataset: Some(dataset.clone()),
        items: ItemSelection { outputs: arguments.output.clone(), ..ItemSelection::default() },
        rubric: None,
        run_id: arguments.run_id.clone(),
        budget_usd: Some(DEMO_BUDGET),
        rendered_by: RenderedBy::ThisProcess,
        evidence: arguments.evidence,
        flags: flags.with("evidence.mode", Some(evidence.name())),
        base,
        on_item: &|_| (),
    };
    let settings = setup_request.settings()?;
    let run_id = setup_request.run_id(&settings)?.unwrap_or_else(|| new_run_id("demo-"));
    ProtectedFiles::from_settings(&settings, &base.settings_file)
        .and("the dataset", Some(&dataset))
        .check_reports(&arguments.output)?;
    demo_data::unpack(&folder)?;
    let setup = setup_request.setup(&run_id, None)?;
    print_introduction(&setup, golden == Golden::Components && !renders);
    let prepared = LocalRun::prepare(setup, &run_id, None)?.simulated();
    let exit = run::judge(prepared, arguments.evidence, &arguments.output).await?;
    terminal::print_hint(
        "next: judge your own screenshots with `juror run DATASET`; `juror doctor` checks what a \
         real judge needs",
    );
    Ok(exit)
}

/// Settings that the demo sets whatever the user's own are.
fn demo_settings(arguments: &DemoArguments, golden: Golden, base_url: &str) -> Layer {
    let max_concurrency = arguments.max_concurrency.map(|count| integer(count as u64));
    Layer::default()
        .with("run.rubric", Some(golden.rubric()))
        .with("run.enable_llm_judge", Some(true))
        .with("judge.base_url", Some(base_url))
        // The user's own baseline and gate are for other items.
        .with("run.baseline", Some(""))
        .with("run.gate", Some(""))
        // Simulated money counts towards no budget but the demo's own.
        .with("budget.day_usd", Some("unlimited"))
        .with("budget.month_usd", Some("unlimited"))
        .with("limits.max_concurrency", max_concurrency)
}

fn print_introduction(setup: &RunSetup, lacks_browser: bool) {
    terminal::print_hint(&format!(
        "judging {} bundled items by the rubric {} against the built-in simulator: nothing leaves \
         this machine, and no money is spent",
        setup.plan.items,
        setup.rubric.name()
    ));
    if lacks_browser {
        terminal::print_hint(
            "no browser found: with one (`apt-get install chromium`) the demo also renders the code \
             of each item and measures how it differs from its screenshot",
        );
    }
}
