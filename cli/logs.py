"""The operational log: one JSON object a line on standard error. It proves nothing."""

from __future__ import annotations

import logging
import sys

import structlog


def configure() -> None:
    """Send structlog's events to standard error as JSON, with their time and level."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
