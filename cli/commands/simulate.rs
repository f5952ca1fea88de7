//! `juror simulate`: a simulated vision API.

use crate::{
    args::{GlobalFlags, SimulateArguments},
    demo_data,
    exit::{Exit, Failure},
    interactive::until_signal,
    signals::SignalStream,
    terminal,
};
use juror_simulator::{
    BatchEnd, BatchFault, BatchSettings, Bias, Fault, FaultPlan, Latency, Named, Quirk,
    SimulatorConfig, TokenCount,
};
use juror_types::{event::Events, rubric::builtin, shutdown::Shutdown};
use std::{sync::Arc, time::Duration};
use tokio::net::TcpListener;

/// Runs `juror simulate` until it is stopped.
pub async fn run(arguments: &SimulateArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
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
    let listener = TcpListener::bind(arguments.listen).await.map_err(|error| {
        Failure::error(format!("cannot listen on {}: {error}", arguments.listen))
    })?;
    let address = listener.local_addr().map_err(Failure::error)?;
    terminal::print(&format!("http://{address}/v1"))?;
    if !global.quiet {
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
    terminal::print_json(&served.map_err(Failure::usage)?)?;
    Ok(Exit::Done)
}

fn config(arguments: &SimulateArguments) -> Result<SimulatorConfig, Failure> {
    let rates = arguments.fault.iter().map(|fault| fault.parse().map_err(Failure::usage));
    Ok(SimulatorConfig {
        key: arguments.key.clone(),
        requests_per_minute: arguments.rpm,
        tokens_per_minute: arguments.tpm,
        token_count: arguments.count.as_deref().map(token_count),
        max_parallel: arguments.max_parallel,
        latency: latency(&arguments.latency_ms)?,
        faults: FaultPlan {
            rates: rates.collect::<Result<_, _>>()?,
            seed: arguments.seed,
            ..FaultPlan::default()
        },
        quirks: arguments
            .quirk
            .iter()
            .map(|quirk| quirk.parse().map_err(Failure::usage))
            .collect::<Result<_, _>>()?,
        batches: BatchSettings {
            end: batch_end(&arguments.batch_end)?,
            faults: arguments
                .batch_fault
                .iter()
                .map(|fault| fault.parse().map_err(Failure::usage))
                .collect::<Result<_, _>>()?,
            enqueued_tokens: arguments.batch_tokens,
        },
        biases: biases(&arguments.bias)?,
        seed: arguments.seed,
        book: Arc::new(demo_data::verdict_book()?),
        ..SimulatorConfig::default()
    })
}

/// Prints names with their descriptions.
fn list<Kind: Named>() -> Result<Exit, Failure> {
    let width = Kind::ALL.iter().map(|kind| kind.name().len()).max().unwrap_or_default();
    for kind in Kind::ALL {
        terminal::print(&format!("{:width$}  {}", kind.name(), kind.description()))?;
    }
    Ok(Exit::Done)
}

fn batch_end(text: &str) -> Result<BatchEnd, Failure> {
    match text {
        "held" => Ok(BatchEnd::OnRequest),
        polls => polls.parse().map(BatchEnd::AfterPolls).map_err(|_| {
            Failure::usage(format!("--batch-end {text:?}: give a number of polls, or held"))
        }),
    }
}

fn token_count(rule: &str) -> TokenCount {
    match rule {
        "input" => TokenCount::Input,
        "max" => TokenCount::Max,
        _ => TokenCount::Sum,
    }
}

fn biases(texts: &[String]) -> Result<Vec<Bias>, Failure> {
    texts.iter().map(|text| text.parse().map_err(Failure::usage)).collect()
}

/// Prints biases of criteria that no built-in rubric has, which may be misspelled.
fn print_unknown_biases(biases: &[Bias]) -> Result<(), Failure> {
    let rubrics = builtin().iter().map(|rubric| rubric.parse().map_err(Failure::error));
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

fn latency(text: &str) -> Result<Latency, Failure> {
    let milliseconds = |text: &str| text.trim().parse().ok().map(Duration::from_millis);
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let bounds = milliseconds(least).zip(milliseconds(most)).filter(|(least, most)| least <= most);
    let (least, most) = bounds.ok_or_else(|| {
        Failure::usage(format!("--latency-ms {text:?}: give milliseconds as N or MIN-MAX"))
    })?;
    Ok(Latency { least, most })
}
