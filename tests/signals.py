"""Signals of programs that tests start."""

from __future__ import annotations

import signal


def listen_to_ctrl_c() -> None:
    """What a shell starts in the background ignores SIGINT, and so does all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
