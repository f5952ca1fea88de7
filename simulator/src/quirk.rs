//! Quirks: what real servers and gateways do beside the documentation of OpenAI's API, by name.

mod imitation;

pub(crate) use imitation::{ANSWERING_MODEL, Imitation, SubstituteResponse};

use crate::deviation_share::named;

named! {
    /// Deviation of a server that the simulator imitates. A request is either always or never
    /// affected. `imitation.rs` implements the deviations.
    Quirk, "quirk", "--quirk";
    GatewayTimeout = "gateway-timeout": "504 with nginx's HTML page; the upstream finishes and bills the call";
    CloudflareTimeout = "cloudflare-timeout": "524 with a line of plain text; the upstream finishes and bills the call";
    EmptyTimeout = "empty-timeout": "408 without a body; the upstream finishes and bills the call";
    LitellmTimeout = "litellm-timeout": "408 with LiteLLM's own JSON error; the upstream finishes and bills the call";
    FallbackModel = "fallback-model": "gpt-4o answers and is billed, whatever model was asked for (LiteLLM's fallbacks)";
    DeploymentNames = "deployment-names": "every model name is taken, and gpt-4o answers (Azure's deployments)";
    ZeroUsage = "zero-usage": "every count of usage is 0; the call is billed all the same";
    NoUsage = "no-usage": "the answer holds no usage; the call is billed all the same";
    UsageCost = "usage-cost": "the answer reports its cost in usage.cost, 5 % above the list price (OpenRouter)";
    CostHeader = "cost-header": "x-litellm-response-cost reports the cost, 5 % above the list price (LiteLLM)";
    LoginPage = "login-page": "200 with the HTML of a log-in page; nothing is billed";
    ErrorIn200 = "error-in-200": "200 with an error and no choice (OpenRouter); nothing is billed";
    Gzip = "gzip": "the answer is compressed, although the request does not allow it";
    ByteOrderMark = "byte-order-mark": "a byte-order mark precedes the JSON";
    Thinking = "thinking": "a think block with braces and a draft of the verdict precedes the answer";
    Drafts = "drafts": "two drafts of the verdict precede the answer, without a mark";
    JsonValidateFailed = "json-validate-failed": "400 json_validate_failed for the first request of each question (Groq)";
    GrammarFailed = "grammar-failed": "400 failed to parse grammar wherever a schema is sent (llama.cpp)";
    IgnoredSchema = "ignored-schema": "a schema in response_format is ignored, and the model answers in prose (Anthropic's compatible endpoint)";
    Moderation = "moderation": "403 with moderation metadata (OpenRouter); give the share of items, as in moderation=0.1";
    BudgetExceeded = "budget-exceeded": "400 budget_exceeded (LiteLLM)";
    InvalidModel = "invalid-model": "400 Invalid model name passed in model= (LiteLLM)";
    KeyNotValid = "key-not-valid": "400 API key not valid, in a list (Gemini's compatible endpoint)";
    NoCredit = "no-credit": "422 insufficient credits";
    WrappedQuota = "wrapped-quota": "429 with insufficient_quota in the message alone (LiteLLM)";
    GeminiDayLimit = "gemini-day-limit": "429 RESOURCE_EXHAUSTED with a quota per day, in a list (Gemini's compatible endpoint)";
    WaitInBody = "wait-in-body": "429 for the first request of each question, with the wait in the body alone (Gemini's compatible endpoint)";
    OpenrouterDayLimit = "openrouter-day-limit": "429 free-models-per-day (OpenRouter)";
    NoImageEndpoints = "no-image-endpoints": "404 no endpoints that support image input (OpenRouter)";
    OpenrouterTextModel = "openrouter-text-model": "the list of models says that none takes images (OpenRouter)";
    LitellmTextModel = "litellm-text-model": "/model/info says that no model takes images (LiteLLM)";
    NoCacheOptions = "no-cache-options": "400 Unknown parameter: 'prompt_cache_options', whatever the model";
    IgnoredTier = "ignored-tier": "service_tier is ignored: flex is answered and billed as any call";
    FlexUnavailable = "flex-unavailable": "429 resource_unavailable for the first flex request of each question; nothing is billed";
    OllamaTextModel = "ollama-text-model": "/api/show names no vision (Ollama)";
}
