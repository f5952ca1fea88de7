#!/usr/bin/env python3
"""Writes prices.toml anew from LiteLLM's price table, and checks models.toml by modelparams.dev's.

    config/update_prices.py [--litellm FILE] [--modelparams FILE] [--check]

Without FILE, the table is taken out of the newest litellm on PyPI, and the catalog out of the newest
modelparams on npm; both are MIT. A model is priced if it takes images and a family of models.toml
names it, so that a new member of a known family needs no hand. The rest is listed: a family for it
goes into models.toml by hand, with its source. --check writes nothing, and exits with 1 where
prices.toml is not what the table says.
"""

import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile

FOLDER = pathlib.Path(__file__).parent
PROVIDERS = ("anthropic", "gemini", "openai")
TABLE = "litellm/model_prices_and_context_window_backup.json"
# Keys of an entry, each with the keys of LiteLLM's that tell it, the first that is there.
AMOUNTS = {
    "input": ["input_cost_per_token"],
    "output": ["output_cost_per_token"],
    "cached_input": ["cache_read_input_token_cost"],
    "cache_write": ["cache_creation_input_token_cost"],
    "batch_input": ["input_cost_per_token_batches"],
    "batch_output": ["output_cost_per_token_batches"],
    "flex_input": ["input_cost_per_token_flex"],
    "flex_output": ["output_cost_per_token_flex"],
    "flex_cached_input": ["cache_read_input_token_cost_flex"],
    "flex_cache_write": ["cache_creation_input_token_cost_flex"],
    "long_input": [
        "input_cost_per_token_above_200k_tokens",
        "input_cost_per_token_above_272k_tokens",
    ],
}
FACTS = {
    "max_input_tokens": "max_input_tokens",
    "max_output_tokens": "max_output_tokens",
    "retires": "deprecation_date",
    "source": "source",
}


def litellm_table(file):
    if file:
        return json.loads(pathlib.Path(file).read_text())
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, "litellm"]
        subprocess.run(pip, check=True)
        (wheel,) = pathlib.Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return json.loads(archive.read(TABLE))


def modelparams_catalog(file):
    """The catalog's models: a list of {provider, model, params: [{path, …}]}."""
    script = "import(process.argv[1]).then(m => console.log(JSON.stringify(Object.values(m.BY_ID))))"
    with tempfile.TemporaryDirectory() as folder:
        module = file
        if not module:
            subprocess.run(["npm", "pack", "-s", "modelparams"], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            (package,) = pathlib.Path(folder).glob("*.tgz")
            subprocess.run(["tar", "xzf", package.name], cwd=folder, check=True)
            module = pathlib.Path(folder) / "package/dist/generated/data.js"
        module = str(pathlib.Path(module).resolve())
        node = subprocess.run(["node", "-e", script, module], check=True, capture_output=True)
    return json.loads(node.stdout)


def family_of(name, families):
    """The family that names this model, as juror_types::model::Models finds it."""
    undated = re.sub(r"-(\d{4}-\d{2}-\d{2}|\d{8})$", "", name)
    exact = [family for family in families if {name, undated} & set(family["names"])]
    stars = [
        (len(pattern), family)
        for family in families
        for pattern in family["names"]
        if pattern.endswith("*") and name.startswith(pattern[:-1])
    ]
    if exact:
        return exact[0]
    return max(stars, key=lambda star: star[0])[1] if stars else None


def entries(table, families):
    """Priced models by name, and the names that no family takes."""
    priced, unknown = {}, set()
    for key, facts in table.items():
        provider = facts.get("litellm_provider")
        if provider not in PROVIDERS or facts.get("mode") not in ("chat", "responses"):
            continue
        if not facts.get("supports_vision") or not facts.get("input_cost_per_token"):
            continue
        name = key.removeprefix(f"{provider}/")
        family = family_of(name, families)
        if "/" in name or ":" in name or family is None or family["provider"] != provider:
            unknown.add(name)
            continue
        entry = {"provider": provider, "endpoint": facts["mode"]}
        for own, theirs in AMOUNTS.items():
            amount = next((facts[key] for key in theirs if facts.get(key) is not None), None)
            # Only OpenAI's own service tier is asked for.
            if own.startswith("flex_") and provider != "openai":
                continue
            if amount is not None:
                entry[own] = round(amount * 1e12)
        for own, theirs in FACTS.items():
            if facts.get(theirs) is not None:
                entry[own] = facts[theirs]
        priced[name] = entry
    return priced, sorted(unknown)


def page(priced, old):
    head = old[: old.index("schema = ")]
    today = datetime.date.today().isoformat()
    lines = ["schema = 1", f'date = "{today}"', 'origin = "LiteLLM\'s open price table (MIT)"']
    for name in sorted(priced):
        lines += ["", f"[prices.{json.dumps(name)}]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in priced[name].items()]
    return head + "\n".join(lines) + "\n"


def contradictions(catalog, priced, families):
    """Models whose temperature or output limit the catalog tells otherwise than models.toml."""
    told = []
    for model in catalog:
        name = model["model"]
        if name not in priced:
            continue
        family = family_of(name, families)
        # Gemini's stand in generationConfig.
        paths = {each["path"].split(".")[-1] for each in model["params"]}
        if family["temperature"] != ("temperature" in paths):
            told.append(f"{name}: models.toml says temperature = {family['temperature']}")
        if not {"max_tokens", "max_completion_tokens", "max_output_tokens"} & paths:
            continue
        if family["provider"] == "openai" and family["output_limit"] not in paths:
            told.append(f"{name}: models.toml says output_limit = {family['output_limit']}")
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--litellm", metavar="FILE")
    parser.add_argument("--modelparams", metavar="FILE")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    families = tomllib.loads((FOLDER / "models.toml").read_text())["family"]
    target = FOLDER / "prices.toml"
    old = target.read_text()
    priced, unknown = entries(litellm_table(arguments.litellm), families)
    before = tomllib.loads(old)["prices"]
    for name in sorted(before.keys() | priced.keys()):
        if before.get(name) != priced.get(name):
            print(f"{name}: {before.get(name, 'new')} -> {priced.get(name, 'gone')}")
    print(f"{len(priced)} models priced; no family in models.toml: {', '.join(unknown)}")
    for line in contradictions(modelparams_catalog(arguments.modelparams), priced, families):
        print(f"modelparams.dev differs: {line}")
    if arguments.check:
        sys.exit(before != priced)
    if before != priced:
        target.write_text(page(priced, old))


if __name__ == "__main__":
    main()
