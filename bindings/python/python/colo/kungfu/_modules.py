"""Kungfu's modules under their names, and a strategy's file as a module."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType

from colo.kungfu import constants, time, utils

_NAMES: dict[str, ModuleType | None] = {
    "kungfu": None,
    "kungfu.wingchun": None,
    "kungfu.wingchun.constants": constants,
    "kungfu.wingchun.utils": utils,
    "kungfu.yijinjing": None,
    "kungfu.yijinjing.time": time,
    "pykungfu": None,
    "pykungfu.wingchun": None,
    "pykungfu.wingchun.utils": utils,
}


def _install() -> None:
    """What a strategy imports is found here, whatever else is installed: it runs on this platform."""
    for name, module in _NAMES.items():
        made = module if module is not None else ModuleType(name)
        made.__dict__.setdefault("__path__", [])
        sys.modules[name] = made
        above, _, last = name.rpartition(".")
        if above:
            setattr(sys.modules[above], last, made)


def load(path: Path) -> ModuleType:
    """Runs a strategy's file. Modules beside it are found too."""
    _install()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no strategy {path}: name a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    for name, value in vars(module).items():
        if name.startswith(("on_", "pre_", "post_")) and inspect.iscoroutinefunction(value):
            raise TypeError(f"`{name}` in {path} is a coroutine, which this platform does not run: write a plain function")
    return module
