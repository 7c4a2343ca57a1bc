#!/usr/bin/env bash
# Runs `prony ci` with the inputs of the Action; its exit code is that of the step.
#
# Leaves prony-ci/: comment.md, prony.xml, answer.json and the run folder. The verdict becomes an output of the step.
set -uo pipefail
mkdir -p prony-ci
# Arguments are words: nothing in them is expanded.
read -r -a more <<< "${PRONY_ARGUMENTS:-}"
prony ci --base "$PRONY_BASE" "$PRONY_FILE" --budget "$PRONY_BUDGET" --runs prony-ci/runs \
  --comment prony-ci/comment.md --junit prony-ci/prony.xml --summary "${GITHUB_STEP_SUMMARY:-prony-ci/summary.md}" \
  --format json "${more[@]}" > prony-ci/answer.json
code=$?
verdict=$(sed -n 's/^  "verdict": "\([a-z_]*\)",$/\1/p' prony-ci/answer.json)
echo "verdict=${verdict:-void}" >> "${GITHUB_OUTPUT:-/dev/stdout}"
exit $code
