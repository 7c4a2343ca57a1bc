"""Loads services with prony: the result of a load as an object.

The binary does all measuring; this module passes options on and reads the JSON that it writes (`prony schema load`).
Times are seconds here, nanoseconds in `Result.raw`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

__version__ = "0.1.0"
__all__ = ["Error", "Result", "Void", "binary", "load"]

#: Exit code of wrong arguments, of an unusable result, and of a limit of `--fail` that was crossed.
_USAGE, _FAILED, _LIMIT = 1, 2, 3
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
_LIMIT_OF = re.compile(r"^\s*([a-z0-9]+)\s*(<=|>=|<|>)\s*([0-9.]+)\s*([a-zµ%/]*)\s*$")


class Error(Exception):
    """prony refused the arguments, or the load could not be made."""


class Void(Exception):
    """The numbers must not be used; the text says why."""


def _time(name: str, doc: str) -> property:
    """A response time of a result, in seconds."""
    return property(lambda result: _seconds(result.raw["latency_ns"]["response"].get(name)), doc=doc)


@dataclass(frozen=True)
class Result:
    """What a load did."""

    #: The whole result, as of `prony schema load`.
    raw: dict[str, Any]

    @property
    def is_valid(self) -> bool:
        """Whether the numbers may be used."""
        return bool(self.raw["validity"]["ok"])

    @property
    def reasons(self) -> list[str]:
        """Why they must not be."""
        return [gate["text"]["text"] for gate in self.raw["validity"]["reasons"]]

    @property
    def throughput(self) -> float:
        """Right answers per second."""
        return float(self.raw["throughput_per_s"])

    @property
    def scheduled(self) -> int:
        """Requests that were to be sent: completed, failed and censored together."""
        return int(self.raw["requests"]["scheduled"])

    @property
    def completed(self) -> int:
        """Right answers."""
        return int(self.raw["requests"]["completed"])

    @property
    def failed(self) -> int:
        """Requests without a right answer."""
        return int(self.raw["requests"]["failed"])

    @property
    def errors(self) -> float:
        """Failed over completed and failed, 0 to 1."""
        ended = self.completed + self.failed
        return self.failed / ended if ended else 0.0

    mean = _time("mean", "Mean response time; None without an answer.")
    p50 = _time("p50", "Median response time; None where too few requests support it.")
    p90 = _time("p90", "90th percentile of response time, likewise.")
    p95 = _time("p95", "95th percentile of response time, likewise.")
    p99 = _time("p99", "99th percentile of response time, likewise.")
    p999 = _time("p999", "99.9th percentile of response time, likewise.")
    max = _time("max", "Longest response time.")

    def require(self, *limits: str) -> "Result":
        """Holds the result to limits such as ``"p99 < 50ms"``, ``"errors < 0.1%"``, ``"throughput >= 1k"``.

        Raises Void where the numbers must not be used or the value is not known, AssertionError where a limit does not
        hold, ValueError for what is no limit. Gives the result back.
        """
        if not self.is_valid:
            raise Void("; ".join(self.reasons))
        for limit in limits:
            name, holds, bound = _limit(limit)
            value = getattr(self, name)
            if value is None:
                raise Void(f"{name} is not known: too few requests support it; load longer")
            if not holds(value, bound):
                raise AssertionError(f"{limit} does not hold: {name} is {_shown(name, value)}")
        return self

    def frame(self):
        """Response and service time by quantile, in seconds, as a pandas.DataFrame (needs pandas)."""
        import pandas

        kinds = ("response", "service")
        times = {kind: self.raw["latency_ns"][kind] for kind in kinds}
        rows = [
            {"quantile": quantile, **{kind: _seconds(times[kind].get(name)) for kind in kinds}}
            for name, quantile in _QUANTILES.items()
        ]
        return pandas.DataFrame(rows).set_index("quantile")

    def _repr_html_(self) -> str:
        rows = [("throughput", self.throughput), ("errors", self.errors)]
        rows += [(name, getattr(self, name)) for name in ("mean", "p50", "p90", "p99", "max")]
        cells = "".join(
            f"<tr><th>{name}</th><td>{escape(_shown(name, value))}</td></tr>" for name, value in rows
        )
        why = "" if self.is_valid else f"<p>These numbers must not be used: {escape('; '.join(self.reasons))}</p>"
        return f"<table>{cells}</table>{why}"


def binary() -> str:
    """The program: PRONY, the one that this package has installed, or the one on PATH."""
    named = os.environ.get("PRONY")
    if named:
        return named
    installed = Path(sysconfig.get_path("scripts")) / "prony"
    if installed.is_file():
        return str(installed)
    found = shutil.which("prony")
    if found is None:
        raise Error("there is no prony: install the wheel of this platform, or set PRONY to the program")
    return found


def load(url: str, **options: Any) -> Result:
    """Loads a URL with the options of `prony load` (``rate=500``, ``connections=16``, ``duration="10s"``).

    ``True`` is a flag, a list an option that is repeated, None and False nothing. Loopback and private addresses need no
    word; any other host needs ``consent="HOST"``. Raises Error where prony refuses, with what it says.
    """
    with tempfile.TemporaryDirectory(prefix="prony-") as folder:
        file = Path(folder) / "result.json"
        command = [binary(), "load", url, *_flags(options), "--quiet", "--output", str(file)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode not in (0, _FAILED, _LIMIT) or not file.is_file():
            raise Error(done.stderr.strip() or f"prony ended with exit code {done.returncode}")
        return Result(json.loads(file.read_text(encoding="utf-8")))


def _flags(options: dict[str, Any]) -> list[str]:
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                flags.append(flag)
            elif one is not None and one is not False:
                flags.append(f"{flag}={one}")
    return flags


def _limit(text: str):
    found = _LIMIT_OF.match(text)
    names = ["throughput", "errors", "mean", "max", *_QUANTILES]
    if not found or found.group(1) not in names:
        raise ValueError(f"{text!r} is no limit: write NAME < VALUE, NAME one of {', '.join(names)}")
    name, sign, number, unit = found.groups()
    holds = {
        "<": lambda value, bound: value < bound,
        "<=": lambda value, bound: value <= bound,
        ">": lambda value, bound: value > bound,
        ">=": lambda value, bound: value >= bound,
    }[sign]
    if name == "throughput":
        units = {"": 1.0, "/s": 1.0, "k": 1e3, "k/s": 1e3, "m": 1e6}
    elif name == "errors":
        units = {"": 1.0, "%": 0.01}
    else:
        units = _SECONDS
    if unit not in units:
        raise ValueError(f"{text!r}: {name} needs a unit: one of {', '.join(repr(unit) for unit in units)}")
    return name, holds, float(number) * units[unit]


def _seconds(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e9


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "not known"
    if name == "throughput":
        return f"{value:,.0f}/s"
    if name == "errors":
        return f"{value:.2%}"
    return f"{value * 1e3:.3g} ms"
