"""Drives files and batches by OpenAI's own SDK, and reads every answer with its types."""

import json
import sys

from openai import OpenAI
from openai.types import Batch, FileObject
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

base_url, rows_path = sys.argv[1:]
client = OpenAI(base_url=base_url, api_key="any", max_retries=0)

with open(rows_path, encoding="utf-8") as rows:
    requests = [json.loads(line) for line in rows]
params = TypeAdapter(CompletionCreateParamsNonStreaming)
for request in requests:
    assert sorted(request) == ["body", "custom_id", "method", "url"], request.keys()
    params.validate_python(request["body"])

with open(rows_path, "rb") as rows:
    uploaded = client.files.create(file=rows, purpose="batch")
assert isinstance(uploaded, FileObject) and uploaded.purpose == "batch"


def create(mark: str) -> Batch:
    return client.batches.create(
        input_file_id=uploaded.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"mark": mark},
    )


first, second = create("first"), create("second")
ended = client.batches.retrieve(first.id)
assert ended.status == "completed", ended
assert ended.request_counts.completed == len(requests)
content = client.files.content(ended.output_file_id).text
answers = [json.loads(line) for line in content.splitlines()]
completions = [ChatCompletion.model_validate(answer["response"]["body"]) for answer in answers]
spent = sum(completion.usage.prompt_tokens for completion in completions)
assert ended.usage.input_tokens == spent, (ended.usage, spent)

cancelled = client.batches.cancel(second.id)
assert cancelled.status == "cancelling"
assert client.batches.retrieve(second.id).status == "cancelled"
# Pages of one batch each.
listed = [batch.id for batch in client.batches.list(limit=1)]
assert listed == [second.id, first.id], listed
assert client.files.delete(uploaded.id).deleted
assert uploaded.id not in [file.id for file in client.files.list()]
print(len(completions))
