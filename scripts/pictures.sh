#!/usr/bin/env bash
# Remakes the pictures of the README from a real run: docs/pictures/terminal.svg (the run in progress),
# summary.svg (what it prints at its end), report.png and report.zh.png (report.html in a browser).
#
# Usage: scripts/pictures.sh [RUN]   with RUN the pages are made of that run folder and no load is sent
# Environment: PRONY (target/release/prony), EXPERIMENT (experiments/demo.toml)
# Needs tmux, chromium, node and a Chinese font (apt-get install tmux chromium nodejs fonts-noto-cjk). It takes about two minutes of load, so keep the
# machine quiet. It ends only the terminal and the browser that it started, and its files are under a temporary folder.
set -euo pipefail
cd "$(dirname "$0")/.."
prony=$(realpath "${PRONY:-target/release/prony}")
experiment=$(realpath "${EXPERIMENT:-experiments/demo.toml}")
out=docs/pictures
bytes_max=300000

for program in tmux chromium node "$prony"; do
  command -v "$program" >/dev/null || { echo "$program is missing: apt-get install tmux chromium nodejs, make build" >&2; exit 2; }
done
# Without a Chinese font the page in Chinese is drawn as empty boxes, and nothing else fails.
fc-list :lang=zh 2>/dev/null | grep -q . || { echo "no font has Chinese characters: apt-get install fonts-noto-cjk fontconfig" >&2; exit 2; }
work=$(mktemp -d)
# A server for each terminal: one that is just ending refuses new ones.
tmux() { command tmux -L "prony-pictures-$$-$1" -f /dev/null "${@:2}"; }
trap 'tmux run kill-server 2>/dev/null || true; tmux end kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir -p "$out"

# The run in a terminal, wide enough for a trial's line. A screen is kept every second, so that one from its midst can be taken whatever
# the progress looks like; the end is shown by the shell in the terminal itself.
terminal() {
  tmux run new-session -d -x 90 -y 40 -c "$work" \
    "env TERM=tmux-256color COLORTERM=truecolor '$prony' run '$experiment'; echo \$? > '$work/code'; sleep 600"
  tmux run set-option -g history-limit 20000
  local n=0
  while [ ! -s "$work/code" ] && [ "$n" -lt 1800 ]; do
    tmux run capture-pane -e -p > "$work/screen.$(printf %05d "$n")"
    n=$((n + 1))
    sleep 1
  done
  [ -s "$work/code" ] || { echo "the run did not end within half an hour" >&2; exit 2; }
  node scripts/ansi-to-svg.js < "$work/screen.$(printf %05d $((n * 7 / 10)))" > "$out/terminal.svg"
}

# What stands at the end, printed once more for a terminal: its first screen says the answer and whether to believe it.
summary() {
  tmux end new-session -d -x 80 -y 300 \
    "env TERM=tmux-256color COLORTERM=truecolor '$prony' report '$1' --format text; echo done > '$work/printed'; sleep 600"
  local n=0
  while [ ! -s "$work/printed" ] && [ "$n" -lt 600 ]; do n=$((n + 1)); sleep 0.1; done
  tmux end capture-pane -e -p > "$work/summary"
  head -n 46 "$work/summary" | node scripts/ansi-to-svg.js > "$out/summary.svg"
}

# A page as a picture of its first screen.
page() {
  timeout 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb \
    --user-data-dir="$work/chromium" --window-size=1120,1300 --virtual-time-budget=5000 \
    --screenshot="$work/page.png" "file://$1" >/dev/null 2>&1
  mv "$work/page.png" "$2"
}

if [ $# -gt 0 ]; then
  run=$(realpath "$1")
else
  terminal
  run=$(find "$work/runs" -mindepth 1 -maxdepth 1 -type d)
fi
summary "$run"
"$prony" report "$run" --format html > "$work/report.html"
page "$work/report.html" "$out/report.png"
if "$prony" report "$run" --lang zh --format html > "$work/report.zh.html" 2>/dev/null; then
  page "$work/report.zh.html" "$out/report.zh.png"
fi
for file in "$out"/*.svg "$out"/*.png; do
  bytes=$(stat -c %s "$file")
  printf '%8d bytes  %s\n' "$bytes" "$file"
  [ "$bytes" -le "$bytes_max" ] || { echo "$file is larger than $bytes_max bytes" >&2; exit 1; }
done
