"""Puts the binary named by PRONY_BINARY into the wheel, and the platform that it is for into the wheel's name."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BinaryHook(BuildHookInterface):
    """The binary becomes a script of the wheel, so that installing it puts `prony` on PATH."""

    def initialize(self, version, build_data):
        if version == "editable":
            return
        binary = os.environ.get("PRONY_BINARY")
        platform = os.environ.get("PRONY_WHEEL_PLATFORM")
        if not binary or not platform:
            raise RuntimeError("PRONY_BINARY and PRONY_WHEEL_PLATFORM name the binary and its platform: use `make dist`")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["shared_scripts"] = {binary: "prony"}
