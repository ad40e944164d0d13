// Places in a text, and its lines as they are painted. The server counts characters, the browser UTF-16 units.

const WORD = /[\p{L}_][\p{L}\p{N}_]*/u;
const LEXER = /(#[^\n]*)|("(?:\\.|[^"\\\n])*"?)|(`[^`\n]*`?)|(\d[\d.]*(?:us|ms|s|m|h|d)[\dusmhd.]*)|(\d+(?:\.\d+)?)|([\p{L}_][\p{L}\p{N}_]*)|([^\s\p{L}\p{N}_#"`]+)/gu;
const LEXED = [null, "comment", "string", "quoted", "duration", "number", "word", "operator"];

// One line to paint: its key tells whether it changed.
function lineOf(text, from, to, pieces, marks) {
  const severity = marks.some((mark) => mark.severity === "error") ? "error" : marks.some((mark) => mark.severity === "warning") ? "warning" : "";
  const lens = marks.find((mark) => mark.severity !== "note" && mark.from >= from)?.message ?? "";
  const shown = marks.filter((mark) => mark.severity !== "note" || mark.to <= to);
  const key = JSON.stringify([text.slice(from, to), pieces.map((p) => [p[0] - from, p[1] - from, p[2]]),
    shown.map((mark) => [mark.from - from, mark.to - from, mark.severity]), lens]);
  return {key, severity, make: () => {
    const line = element("div", "line");
    if (lens) line.dataset.lens = lens;
    if (severity) line.classList.add(severity);
    const edges = new Set([from, to]);
    for (const [start, end] of pieces) edges.add(start).add(end);
    for (const mark of shown) for (const edge of [mark.from, mark.to]) if (edge > from && edge < to) edges.add(edge);
    const places = [...edges].sort((one, other) => one - other);
    for (let at = 0; at + 1 < places.length; at++) {
      const start = places[at], end = places[at + 1];
      const kind = pieces.find((piece) => piece[0] <= start && start < piece[1])?.[2];
      const mark = shown.find((each) => each.from <= start && start < each.to);
      const span = element("span", [kind && `k-${kind}`, mark && `mark ${mark.severity}`].filter(Boolean).join(" "), text.slice(start, end));
      line.append(span);
    }
    if (from === to) line.append(document.createTextNode("\u200b"));
    return line;
  }};
}

function startsOf(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

// The place of a line and a column that counts characters.
function placeOf(text, starts, line, column) {
  if (line > starts.length) return text.length;
  const from = starts[line - 1], to = line < starts.length ? starts[line] - 1 : text.length;
  const own = text.slice(from, to);
  if (!/[\ud800-\udbff]/.test(own)) return Math.min(from + column - 1, to);
  return from + [...own].slice(0, column - 1).join("").length;
}

// A function from characters to UTF-16 units.
function unitsOf(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (place) => place;
  const units = [];
  let at = 0;
  for (const sign of text) { units.push(at); at += sign.length; }
  units.push(at);
  return (place) => units[place] ?? at;
}
