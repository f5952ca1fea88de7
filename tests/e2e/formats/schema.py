"""Checks files against a JSON Schema; of .jsonl, every line. Says what is wrong, and ends with 1."""

import json
import sys

from jsonschema import Draft202012Validator

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
failed = False
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        texts = file.read().splitlines() if path.endswith(".jsonl") else [file.read()]
    assert texts, path + " is empty"
    for number, text in enumerate(texts, start=1):
        for error in validator.iter_errors(json.loads(text)):
            failed = True
            print(f"{path}:{number}: {error.json_path}: {error.message}")
sys.exit(failed)
