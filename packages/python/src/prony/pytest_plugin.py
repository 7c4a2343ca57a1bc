"""For pytest: the fixture `prony`, and results that must not be used as skipped tests with their reason."""

import pytest

import prony as _prony


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """A test whose numbers are void says nothing about the service: it is skipped, not failed."""
    outcome = yield
    error = outcome.excinfo[1] if outcome.excinfo else None
    if isinstance(error, _prony.Void):
        outcome.force_exception(pytest.skip.Exception(f"void: {error}", _use_item_location=True))


@pytest.fixture(name="prony")
def prony_fixture():
    """`prony.load`."""
    return _prony.load
