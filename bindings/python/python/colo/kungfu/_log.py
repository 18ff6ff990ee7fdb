"""`context.log`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


class Log:
    """Lines in the node's log."""

    def __init__(self) -> None:
        self.write: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)

    def _say(self, level: str, message: object, *arguments: Any) -> None:
        text = str(message) % arguments if arguments else str(message)
        self.write(level + text)

    def trace(self, message: object, *arguments: Any) -> None:
        self._say("trace: ", message, *arguments)

    def debug(self, message: object, *arguments: Any) -> None:
        self._say("debug: ", message, *arguments)

    def info(self, message: object, *arguments: Any) -> None:
        self._say("", message, *arguments)

    def warning(self, message: object, *arguments: Any) -> None:
        self._say("warning: ", message, *arguments)

    warn = warning

    def error(self, message: object, *arguments: Any) -> None:
        self._say("error: ", message, *arguments)

    def critical(self, message: object, *arguments: Any) -> None:
        self._say("critical: ", message, *arguments)
