"""Which model answers: `KODA_MODEL` says."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from shared.errors import Misconfigured
from shared.settings import Settings
from worker.models.port import Model
from worker.models.scripted import ScriptedModel


@asynccontextmanager
async def open_model(environment: Mapping[str, str], settings: Settings) -> AsyncIterator[Model]:
    """Hold the chosen model open while the block lasts. Nothing is asked of it yet.

    Raises:
        Misconfigured: there is no such model, or what it needs from the environment is missing.
    """
    if settings.model == "scripted":
        yield ScriptedModel(settings.fragment_pace)
    elif settings.model == "openai":
        # Here and not above: nobody else shall wait for an HTTP client.
        from worker.models.endpoint import Endpoint
        from worker.models.openai import OpenAIModel

        async with OpenAIModel.open(Endpoint.from_environment(environment)) as model:
            yield model
    else:
        problem = f"KODA_MODEL={settings.model!r} is neither scripted nor openai"
        raise Misconfigured("settings", problem, "change KODA_MODEL or unset it")
