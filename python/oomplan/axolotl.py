"""A plugin for Axolotl.

    plugins:
      - oomplan.axolotl.OomplanPlugin

It adds oomplan.transformers.OomplanCallback, which predicts from the config as it was given, with what the command line
changed of it.
"""

from __future__ import annotations

from typing import Any

from axolotl.integrations.base import BasePlugin

from oomplan._objects import plain
from oomplan.transformers import OomplanCallback


class OomplanPlugin(BasePlugin):  # type: ignore[misc,unused-ignore]
    """Named in a config's `plugins`. Records go to `runs.jsonl`; the GPU is that of the process."""

    def __init__(self) -> None:
        super().__init__()
        self._config: dict[str, Any] = {}

    def register(self, cfg: Any) -> None:
        """Keeps the config as it is before Axolotl fills it in."""
        self._config = {key: value for key, value in cfg.items() if value is not None and key != "axolotl_config_path"}

    def add_callbacks_post_trainer(self, cfg: Any, trainer: Any) -> list[Any]:
        """The callback."""
        return [_Callback(self._config)]


class _Callback(OomplanCallback):
    """Predicts from Axolotl's config, which says more than the arguments that it makes of it."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(dialect="axolotl")
        self._config = config

    def predict(self, args: Any, model: Any) -> None:
        self.watch.predict(self._config)
