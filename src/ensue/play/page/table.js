// Tables of JSON lines. Only the rows that can be seen are in the page, so that tens of thousands scroll as a few do.

const ROW = 30;

// A number as it is written: 9007199254740993 stays what it is.
class Digits {
  constructor(source) { this.source = source; }
}

function exactly(key, value, context) {
  return typeof value === "number" ? new Digits(context?.source ?? String(value)) : value;
}

// The objects of JSON lines: {line, values} each, values is null where a line is no object.
function parseLines(text) {
  const rows = [];
  let number = 0;
  for (const line of text.split("\n")) {
    number++;
    if (line.trim()) rows.push(parseLine(line, number));
  }
  return rows;
}

function parseLine(line, number) {
  try {
    const values = JSON.parse(line, exactly);
    if (values !== null && typeof values === "object" && !Array.isArray(values) && !(values instanceof Digits)) return {line: number, raw: line, values};
  } catch { /* shown as it is */ }
  return {line: number, raw: line, values: null};
}

function jsonOf(value) {
  if (value instanceof Digits) return value.source;
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}: ${jsonOf(inner)}`).join(", ")}}`;
  }
  return JSON.stringify(value);
}

// A value as a cell shows it.
function cellOf(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  return jsonOf(value);
}

function kindOf(value) {
  if (value === undefined || value === null) return "none";
  if (value instanceof Digits) return "number";
  return typeof value;
}

// A moment without what says nothing: 2026-03-02T07:05:00Z is shown as 2026-03-02 07:05:00.
function shownTime(text) {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) ? text.slice(0, -1).replace("T", " ") : text;
}

class Grid {
  constructor(root, {empty, onRow, onEdit, onDelete, colour}) {
    Object.assign(this, {root, empty, onRow, onEdit, onDelete, colour});
    this.rows = [];
    this.columns = [];
    this.bad = new Map();
    this.table = element("table");
    this.headRow = element("tr");
    const head = element("thead");
    head.append(this.headRow);
    this.body = element("tbody");
    this.table.append(head, this.body);
    this.nothing = element("div", "nothing", empty);
    root.append(this.table, this.nothing);
    root.tabIndex = 0;
    root.addEventListener("scroll", () => this.drawSoon());
    new ResizeObserver(() => this.drawSoon()).observe(root);
    this.body.addEventListener("click", (event) => this.clicked(event));
    this.body.addEventListener("dblclick", (event) => this.edit(event.target.closest("td[data-column]")));
    this.body.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.matches("tr")) this.clicked(event);
    });
  }

  show(rows, bad = new Map(), first = []) {
    this.rows = rows;
    this.bad = bad;
    const names = new Set(first);
    this.numbers = new Set();
    const letters = new Map();
    for (const {values} of rows) {
      if (!values) continue;
      for (const name in values) {
        names.add(name);
        const size = Math.min(shownTime(cellOf(values[name])).length, 44);
        if (size > (letters.get(name) ?? 0)) letters.set(name, size);
        if (values[name] instanceof Digits) this.numbers.add(name);
      }
    }
    this.columns = [...names].filter((name) => letters.has(name));
    this.widths = this.columns.map((name) => Math.max(letters.get(name), name.length + 1));
    this.headRow.replaceChildren(element("th", "line-number", ""),
      ...this.columns.map((name, at) => {
        const cell = element("th", this.numbers.has(name) ? "number" : "", name);
        cell.scope = "col";
        cell.style.minWidth = `${0.92 * this.widths[at] + 2.6}ch`;
        return cell;
      }), element("th", "rest"));
    this.nothing.hidden = rows.length > 0;
    this.table.hidden = rows.length === 0;
    this.drawn = null;
    this.draw();
  }

  drawSoon() {
    if (!this.soon) this.soon = requestAnimationFrame(() => { this.soon = 0; this.draw(); });
  }

  draw() {
    const height = this.root.clientHeight || 600;
    const from = Math.max(0, Math.floor(this.root.scrollTop / ROW) - 8);
    const to = Math.min(this.rows.length, from + Math.ceil(height / ROW) + 16);
    if (this.drawn && this.drawn[0] === from && this.drawn[1] === to) return;
    if (this.body.querySelector("input")) return; // a cell is being edited
    this.drawn = [from, to];
    this.body.replaceChildren(this.gap(from), ...this.rows.slice(from, to).map((row, at) => this.row(row, from + at)), this.gap(this.rows.length - to));
  }

  gap(rows) {
    const gap = element("tr", "gap");
    gap.style.height = `${rows * ROW}px`;
    return gap;
  }

  row(row, at) {
    const made = element("tr", at % 2 ? "odd" : "");
    made.dataset.row = at;
    const number = element("td", "line-number", String(row.line));
    made.append(number);
    const bad = this.bad.get(row.line);
    if (bad || !row.values) {
      made.classList.add("bad");
      made.title = bad ?? "not a JSON object";
    }
    if (!row.values) {
      const cell = element("td", "", row.raw);
      cell.colSpan = this.columns.length + 1;
      made.append(cell);
      return made;
    }
    for (const name of this.columns) {
      const value = row.values[name], text = cellOf(value);
      const cell = element("td", kindOf(value));
      cell.dataset.column = name;
      if (name === "type") {
        const chip = element("span", "type", text);
        chip.style.setProperty("--hue", String(this.colour?.(text) ?? 0));
        cell.append(chip);
      } else {
        cell.textContent = typeof value === "string" ? shownTime(text) : text;
        if (text.length > 40) cell.title = text;
      }
      made.append(cell);
    }
    const rest = element("td", "rest");
    if (this.onDelete) {
      const button = element("button", "delete", "×");
      button.title = "Delete this event";
      button.setAttribute("aria-label", `Delete event ${row.line}`);
      rest.append(button);
    } else if (this.onRow) {
      rest.append(element("span", "open", "why?"));
      made.tabIndex = 0;
    }
    made.append(rest);
    return made;
  }

  clicked(event) {
    const row = this.rows[event.target.closest("tr")?.dataset.row];
    if (!row) return;
    if (event.target.closest(".delete")) this.onDelete(row);
    else this.onRow?.(row);
  }

  edit(cell) {
    if (!cell || !this.onEdit) return;
    const row = this.rows[cell.closest("tr").dataset.row], name = cell.dataset.column;
    const input = element("input", "cell");
    input.value = cellOf(row.values[name]);
    input.setAttribute("aria-label", name);
    cell.replaceChildren(input);
    input.focus();
    input.select();
    let done = false;
    const end = (keep) => {
      if (done) return;
      done = true;
      const text = input.value;
      input.remove();
      this.drawn = null;
      if (keep && text !== cellOf(row.values[name])) this.onEdit(row, name, this.valueOf(text, row.values[name], name));
      else this.draw();
    };
    input.addEventListener("blur", () => end(true));
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") end(true);
      else if (event.key === "Escape") end(false);
    });
  }

  // The value that a text stands for: of the kind that was there, or that its column has.
  valueOf(text, before, name) {
    if (text === "") return undefined;
    const text_ = typeof before === "string" || (kindOf(before) === "none" && !this.numbers.has(name));
    if (text_ && kindOf(before) !== "none") return text;
    try {
      const value = JSON.parse(text, exactly);
      return typeof value === "string" ? text : value;
    } catch {
      return text;
    }
  }
}
