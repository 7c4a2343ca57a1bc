#!/usr/bin/env bash
# Keeps one comment of prony in the pull request: the one that begins with its mark is replaced, else one is made.
set -euo pipefail
file=prony-ci/comment.md
if [ ! -s "$file" ]; then
  echo "there is no answer to comment on"
  exit 0
fi
mark=$(head -n 1 "$file")
comments="repos/$REPOSITORY/issues/$PULL_REQUEST/comments"
known=$(MARK="$mark" gh api --paginate "$comments" --jq '.[] | select(.body | startswith(env.MARK)) | .id' | head -n 1)
if [ -n "$known" ]; then
  gh api --method PATCH "repos/$REPOSITORY/issues/comments/$known" --field "body=@$file" > /dev/null
else
  gh api --method POST "$comments" --field "body=@$file" > /dev/null
fi
