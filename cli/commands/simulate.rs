//! `juror simulate`: a simulated vision API.

use crate::{
    args::SimulateArguments,
    demo_data,
    exit::{AppError, Exit},
    interactive::{listen, until_signal},
    signals::SignalStream,
    terminal,
};
use juror_simulator::{
    BatchFault, BatchSettings, Bias, Fault, FaultPlan, Named, Quirk, SimulatorConfig,
};
use juror_types::{event::Events, rubric::builtin, shutdown::Shutdown};
use std::{error::Error, str::FromStr, sync::Arc};

/// Runs `juror simulate` until it is stopped.
pub async fn run(arguments: &SimulateArguments) -> Result<Exit, AppError> {
    if arguments.fault.iter().any(|fault| fault == "list") {
        return list::<Fault>();
    }
    if arguments.quirk.iter().any(|quirk| quirk == "list") {
        return list::<Quirk>();
    }
    if arguments.batch_fault.iter().any(|fault| fault == "list") {
        return list::<BatchFault>();
    }
    let config = config(arguments)?;
    let listener = listen(arguments.listen).await?;
    let address = listener.local_addr().map_err(AppError::internal)?;
    terminal::print(&format!("http://{address}/v1"))?;
    if !terminal::is_quiet() {
        print_unknown_biases(&config.biases)?;
        terminal::print_notice(&format!(
            "try: OPENAI_API_KEY=any juror run DATASET --enable-llm-judge --base-url \
             http://{address}/v1\nbilling: http://{address}/stats"
        ));
    }
    let (served, _) =
        until_signal(SignalStream::open(), Events::silent(), async |shutdown: &Shutdown| {
            juror_simulator::serve(listener, config, shutdown.clone()).await
        })
        .await;
    terminal::print_json(&served.map_err(AppError::invalid)?)?;
    Ok(Exit::Done)
}

fn config(arguments: &SimulateArguments) -> Result<SimulatorConfig, AppError> {
    Ok(SimulatorConfig {
        key: arguments.key.clone(),
        requests_per_minute: arguments.rpm,
        tokens_per_minute: arguments.tpm,
        token_count: arguments.count,
        max_parallel: arguments.max_parallel,
        latency: arguments.latency_ms,
        faults: FaultPlan {
            rates: parse_all(&arguments.fault)?,
            seed: arguments.seed,
            ..FaultPlan::default()
        },
        quirks: parse_all(&arguments.quirk)?,
        batches: BatchSettings {
            end: arguments.batch_end,
            faults: parse_all(&arguments.batch_fault)?,
            enqueued_tokens: arguments.batch_tokens,
        },
        biases: arguments.bias.clone(),
        seed: arguments.seed,
        book: Arc::new(demo_data::verdict_book()?),
        ..SimulatorConfig::default()
    })
}

fn parse_all<T: FromStr<Err: Into<Box<dyn Error + Send + Sync>>>>(
    texts: &[String],
) -> Result<Vec<T>, AppError> {
    texts.iter().map(|text| text.parse().map_err(AppError::invalid)).collect()
}

/// Prints names with their descriptions.
fn list<Kind: Named>() -> Result<Exit, AppError> {
    let width = Kind::ALL.iter().map(|kind| kind.name().len()).max().unwrap_or_default();
    for kind in Kind::ALL {
        terminal::print(&format!("{:width$}  {}", kind.name(), kind.description()))?;
    }
    Ok(Exit::Done)
}

/// Prints biases of criteria that no built-in rubric has, which may be misspelled.
fn print_unknown_biases(biases: &[Bias]) -> Result<(), AppError> {
    let rubrics = builtin().iter().map(|rubric| rubric.parse().map_err(AppError::internal));
    let rubrics = rubrics.collect::<Result<Vec<_>, _>>()?;
    let keys: Vec<&str> = rubrics
        .iter()
        .flat_map(|rubric| &rubric.criteria)
        .map(|criterion| criterion.key.as_str())
        .collect();
    for bias in biases.iter().filter(|bias| !keys.contains(&bias.criterion.as_str())) {
        terminal::print_notice(&format!(
            "--bias {}: no built-in rubric has this criterion; it has no effect unless your own \
             rubric has it. Built-in criteria: {}",
            bias.criterion,
            keys.join(", ")
        ));
    }
    Ok(())
}
