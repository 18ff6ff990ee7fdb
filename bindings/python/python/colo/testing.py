"""Runs a strategy without a platform: a test makes its events, and reads its orders.

    from colo.testing import Harness

    harness = Harness(Buyer, {"quantity": 2})
    instrument = harness.list("SIM001", tick="0.01", lot=100)
    harness.start()
    harness.quote(instrument, "9.99", "10.01", 300)
    order, = harness.sent()
    harness.accept(order)
    harness.fill(order)
    assert harness.position(instrument).quantity == 300

Nothing runs beside it and the clock stands still unless it is moved: the same events give the same orders. What the strategy raises
is raised by the call in which it happens. `deterministic=True` is the lock-step of a platform file; `data` as in its group.
"""

from colo._colo import Harness

__all__ = ["Harness"]
