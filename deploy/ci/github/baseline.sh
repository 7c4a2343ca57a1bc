#!/usr/bin/env bash
# Keeps the answer on a branch of its own, one file a commit of head, so that values over time can be read from it.
#
# The branch shares no history with the code. The commit is made without a working tree and without a local branch, so this
# repository stays as it was. Two runs that push at a time: the second takes in the first and tries again.
set -euo pipefail
answers=(prony-ci/runs/*/ci.json)
answer=${answers[-1]}
if [ ! -f "$answer" ]; then
  echo "there is no answer to keep"
  exit 0
fi
head=$(git rev-parse HEAD)
remote=${REMOTE:-origin}
index=$(mktemp -d)
trap 'rm -r "$index"' EXIT
export GIT_INDEX_FILE=$index/index
blob=$(git hash-object -w "$answer")

for _ in 1 2 3; do
  parent=()
  rm -f "$GIT_INDEX_FILE"
  if [ -n "$(git ls-remote --heads "$remote" "$BRANCH")" ]; then
    git fetch --quiet "$remote" "$BRANCH"
    parent=(-p "$(git rev-parse FETCH_HEAD)")
    git read-tree FETCH_HEAD
  fi
  git update-index --add --cacheinfo "100644,$blob,commits/$head.json"
  tree=$(git write-tree)
  if [ ${#parent[@]} -gt 0 ] && [ "$tree" = "$(git rev-parse "FETCH_HEAD^{tree}")" ]; then
    echo "the answer for $head is kept already"
    exit 0
  fi
  commit=$(git -c user.name=prony -c user.email=prony@localhost commit-tree "${parent[@]}" -m "prony: $head" "$tree")
  if git push --quiet "$remote" "$commit:refs/heads/$BRANCH"; then
    exit 0
  fi
done
echo "the branch $BRANCH could not be pushed: others push to it at the same time, or it is protected" >&2
exit 1
