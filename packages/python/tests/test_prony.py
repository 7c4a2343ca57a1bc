"""The module against a real prony: a reference server on loopback is loaded. PRONY names the program."""

import contextlib
import re
import subprocess

import pytest

import prony


@contextlib.contextmanager
def serving(*options):
    """A reference server on a port that the system gives."""
    command = [prony.binary(), "reference", "--listen", "127.0.0.1:0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"listening on (\S+)", server.stderr.readline()).group(1)
            yield f"http://{address}/"
        finally:
            server.kill()


def loaded(url, **options):
    return prony.load(url, requests=200, connections=2, **options)


def test_counts_and_times_are_those_of_the_result():
    with serving("--mean", "1ms") as url:
        result = loaded(url)
    assert result.scheduled == result.completed == 200
    assert (result.failed, result.errors) == (0, 0.0)
    assert result.p50 == result.raw["latency_ns"]["response"]["p50"] / 1e9
    assert result.p50 >= 1e-3
    assert "<table>" in result._repr_html_()


def test_a_limit_that_does_not_hold_says_the_value():
    with serving("--mean", "2ms") as url:
        result = loaded(url)
    # A busy host voids the numbers, which `require` says before anything else: judged by a copy that is valid.
    valid = prony.Result({**result.raw, "validity": {"ok": True, "reasons": []}})
    assert valid.require("p50 > 1ms", "errors < 1%") is valid
    with pytest.raises(AssertionError, match=r"p50 < 1ms does not hold: p50 is [0-9.]+ ms"):
        valid.require("p50 < 1ms")
    for wrong in ("p50", "p42 < 1ms", "p50 < 1", "throughput > 1ms"):
        with pytest.raises(ValueError):
            valid.require(wrong)


def test_void_numbers_are_void():
    with serving() as url:
        result = loaded(url)
    gate = {"gate": "steal", "text": {"id": "x", "args": {}, "text": "the host was busy"}}
    void = prony.Result({**result.raw, "validity": {"ok": False, "reasons": [gate]}})
    with pytest.raises(prony.Void, match="the host was busy"):
        void.require("p50 < 1s")
    assert "must not be used: the host was busy" in void._repr_html_()


def test_options_become_flags_and_refusals_errors():
    assert prony._flags({"max_connections": 8, "errors_ok": True, "header": ["A: b", "C: d"], "rate": None}) == [
        "--max-connections=8",
        "--errors-ok",
        "--header=A: b",
        "--header=C: d",
    ]
    with pytest.raises(prony.Error, match="--no-such-option"):
        prony.load("http://127.0.0.1:1/", no_such_option=1)


def test_failures_are_counted():
    with serving("--error-rate", "1") as url:
        result = loaded(url, errors_ok=True)
    assert (result.completed, result.failed, result.errors) == (0, 200, 1.0)
    assert not result.is_valid
    assert any("no request was answered rightly" in reason for reason in result.reasons)


def test_percentiles_are_a_frame():
    pandas = pytest.importorskip("pandas")
    with serving() as url:
        frame = loaded(url).frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["response", "service"]


def test_the_fixture_skips_what_is_void(pytester):
    pytester.makepyfile(
        """
        import prony as module

        def test_void(prony):
            raise module.Void("the host was busy")

        def test_is_load(prony):
            assert prony is module.load
        """
    )
    outcome = pytester.runpytest("-rs", "-p", "prony.pytest_plugin")
    outcome.assert_outcomes(skipped=1, passed=1)
    outcome.stdout.fnmatch_lines(["*void: the host was busy*"])
