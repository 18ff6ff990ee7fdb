"""Strategies with Kungfu's shape, as they are: `docs/kungfu.md` says what is the same and what is not there.

    # demo_on_colo.py, the `program` of a platform file
    from colo import kungfu

    kungfu.run("demo.py", symbols={"600000": "SIM001"}, accounts={"15040910": 1})
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

from colo import _strategy
from colo.kungfu._adapter import adapted
from colo.kungfu._modules import load

__all__ = ["load_strategy", "run"]


def load_strategy(
    program: str | Path, *, symbols: dict[str, str] | None = None, accounts: dict[str, int] | None = None
) -> type[_strategy.Strategy]:
    """The strategy in a file with Kungfu's functions, as a class for `colo.run` or `colo.testing.Harness`. `symbols`: what the
    platform calls an instrument that has another name there; `accounts`: the number of an account in the platform's desk."""
    return adapted(load(Path(program)), symbols or {}, accounts or {})


def run(
    program: str | Path,
    *,
    symbols: dict[str, str] | None = None,
    accounts: dict[str, int] | None = None,
    arguments: list[str] | None = None,
) -> NoReturn:
    """As `colo.run`, with the strategy in a file with Kungfu's functions; a relative path is relative to the program itself."""
    place = Path(sys.argv[0]).resolve().parent / program
    _strategy.run(load_strategy(place, symbols=symbols, accounts=accounts), arguments=arguments)
