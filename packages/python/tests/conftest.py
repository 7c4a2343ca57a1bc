"""pytester runs the plugin in a test session of its own."""

pytest_plugins = ["pytester"]
