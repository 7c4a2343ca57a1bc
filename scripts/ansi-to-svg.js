// A captured terminal as an SVG: standard input is what `tmux capture-pane -e -p` printed, standard output the picture.
// Every run of characters of one look becomes one <text> with its length given, so that columns stay in line whatever
// monospaced font the reader has. Sequences other than colours and weights are dropped. Nothing is fetched.

"use strict";

const CELL = { width: 8.4, height: 18 };
const MARGIN = 18;
const PLAIN = { color: "#d8dee6", background: null, bold: false, dim: false };
const BACKGROUND = "#10151c";
// Eight colours and their bright forms, legible on the background.
const PALETTE = [
  "#4b5563", "#f2777a", "#7bc275", "#e5b567", "#6cb6ff", "#c792ea", "#56c8d8", "#d8dee6",
  "#8b949e", "#ff9a9c", "#a5d6a7", "#ffd587", "#99ccff", "#ddb3f8", "#8ee3ef", "#ffffff",
];

/** A colour of the 256: the sixteen, the cube of 216, the greys. */
function color256(n) {
  if (n < 16) return PALETTE[n];
  const hex = (v) => v.toString(16).padStart(2, "0");
  if (n > 231) return `#${hex(8 + 10 * (n - 232)).repeat(3)}`;
  const level = (v) => (v === 0 ? 0 : 55 + 40 * v);
  const [r, g, b] = [Math.floor((n - 16) / 36), Math.floor((n - 16) / 6) % 6, (n - 16) % 6];
  return `#${hex(level(r))}${hex(level(g))}${hex(level(b))}`;
}

/** The look after a sequence of `ESC [ … m`. */
function styled(look, codes) {
  let next = { ...look };
  const list = codes === "" ? [0] : codes.split(/[;:]/).map(Number);
  while (list.length > 0) {
    const code = list.shift();
    if (code === 0) next = { ...PLAIN };
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 22) [next.bold, next.dim] = [false, false];
    else if (code === 7) [next.color, next.background] = [BACKGROUND, next.color];
    else if (code === 27) [next.color, next.background] = [PLAIN.color, null];
    else if (code === 39) next.color = PLAIN.color;
    else if (code === 49) next.background = null;
    else if (code >= 30 && code <= 37) next.color = PALETTE[code - 30];
    else if (code >= 90 && code <= 97) next.color = PALETTE[code - 82];
    else if (code >= 40 && code <= 47) next.background = PALETTE[code - 40];
    else if (code === 38 || code === 48) {
      const kind = list.shift();
      const color =
        kind === 5 ? color256(list.shift()) : `rgb(${list.shift()},${list.shift()},${list.shift()})`;
      next[code === 38 ? "color" : "background"] = color;
    }
  }
  return next;
}

/** Columns that a character takes: East Asian ones take two. */
function columns(char) {
  const code = char.codePointAt(0);
  const isWide =
    (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60);
  return isWide ? 2 : 1;
}

/** One line as runs of one look: where each begins, how many columns it has, and its text. */
function runs(line, look) {
  const out = [];
  let column = 0;
  for (const part of line.split(/(\x1b\[[0-9;:?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9])/)) {
    const code = /^\x1b\[([0-9;:]*)m$/.exec(part);
    if (code) look = styled(look, code[1]);
    if (part === "" || part.startsWith("\x1b")) continue;
    const width = [...part].reduce((sum, char) => sum + columns(char), 0);
    out.push({ column, width, text: part, look });
    column += width;
  }
  return { out, look, width: column };
}

const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

/** One run as SVG; blanks without a background need none. */
function drawn(run, row) {
  const x = (MARGIN + run.column * CELL.width).toFixed(1);
  const y = MARGIN + row * CELL.height;
  const width = (run.width * CELL.width).toFixed(1);
  const { color, background, bold, dim } = run.look;
  const box = background
    ? `<rect x="${x}" y="${y}" width="${width}" height="${CELL.height}" fill="${background}"/>`
    : "";
  if (run.text.trim() === "") return box;
  const weight = bold ? ' font-weight="700"' : "";
  const faint = dim ? ' opacity="0.65"' : "";
  return `${box}<text x="${x}" y="${y + 13}" textLength="${width}" lengthAdjust="spacingAndGlyphs" fill="${color}"${weight}${faint} xml:space="preserve">${escaped(run.text)}</text>`;
}

function picture(text) {
  const lines = text.replace(/\s+$/, "").split("\n");
  let look = { ...PLAIN };
  let widest = 80;
  const rows = lines.map((line, row) => {
    const read = runs(line.replace(/\r/g, ""), look);
    look = read.look;
    widest = Math.max(widest, read.width);
    return read.out.map((run) => drawn(run, row)).join("");
  });
  const width = Math.ceil(widest * CELL.width + 2 * MARGIN);
  const height = lines.length * CELL.height + 2 * MARGIN;
  return [
    "<!-- Made by scripts/pictures.sh from a real terminal. -->",
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="A terminal with prony's output">`,
    `<rect width="${width}" height="${height}" rx="10" fill="${BACKGROUND}"/>`,
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="13.5">`,
    ...rows.filter((row) => row !== ""),
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

let input = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (part) => (input += part));
process.stdin.on("end", () => process.stdout.write(picture(input)));
