import os

from litellm.integrations.custom_logger import CustomLogger


class SpendLog(CustomLogger):
    """One line for each answered call: LiteLLM's own figure of its cost, and whether it streamed."""

    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        with open(os.environ["SPEND_LOG"], "a") as log:
            log.write(f"{kwargs['response_cost']!r} {bool(kwargs.get('stream'))}\n")


spend_log = SpendLog()
