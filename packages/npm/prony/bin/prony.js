#!/usr/bin/env node
// Runs the binary of this platform, which npm installs as an optional dependency. Signals reach it by the terminal; this
// process waits until it has ended, so that an interrupted load keeps its results.
"use strict";
const { spawn } = require("node:child_process");

const name = `@prony/linux-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/prony`);
} catch {
  console.error(`prony: the package ${name} is missing\n  remedy: install without --no-optional, on linux x64 or arm64`);
  process.exit(1);
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {});
}
spawn(program, process.argv.slice(2), { stdio: "inherit" })
  .on("error", (error) => {
    console.error(`prony: ${program} cannot be run: ${error.message}`);
    process.exitCode = 1;
  })
  .on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
  });
