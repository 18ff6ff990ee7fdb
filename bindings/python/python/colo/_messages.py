"""The messages and enumerations, which the native module makes from the table of fields; `_messages.pyi` has their types."""

from colo import _colo

_NATIVE = {"Context", "Position", "WorkingOrder", "Timer", "Registry", "Journal", "Writer", "Reader", "Frame", "Harness"}


def _is_message(name: str) -> bool:
    value = getattr(_colo, name)
    if name.isupper():
        return True
    return isinstance(value, type) and not issubclass(value, Exception) and name not in _NATIVE


__all__ = [name for name in dir(_colo) if not name.startswith("_") and _is_message(name)]
globals().update({name: getattr(_colo, name) for name in __all__})
