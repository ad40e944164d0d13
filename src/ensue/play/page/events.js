// Events: JSON lines, shown as a table whose cells can be edited.

const eventsGrid = new Grid(byId("events-table"), {
  empty: "No events yet. Write JSON lines, start from an example, or take the events of a test.",
  colour: hueOf,
  onEdit: (row, name, value) => {
    const values = {...row.values};
    if (value === undefined) delete values[name]; else values[name] = value;
    replaceLine(row.line, jsonOf(values));
  },
  onDelete: (row) => replaceLine(row.line, null),
});

function replaceLine(number, text) {
  const lines = state.events.split("\n");
  lines.splice(number - 1, 1, ...(text === null ? [] : [text]));
  setEvents(lines.join("\n"), true);
}

function setEvents(text, changed) {
  state.events = text;
  state.version = null;
  state.rows = parseLines(text);
  state.bad = new Map();
  if (byId("events").value !== text) byId("events").value = text;
  for (const {values} of state.rows.slice(0, 1000)) if (typeof values?.type === "string") hueOf(values.type);
  showEvents();
  if (changed) { markDirty("events"); runSoon(); }
}

function showEvents() {
  const words = byId("events-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = words.length ? state.rows.filter((row) => words.every((word) => row.raw.toLowerCase().includes(word))) : state.rows;
  eventsGrid.show(rows, state.bad, ["type", "time", "start", "end"]);
  const cut = state.cut ? "; the file has more" : "";
  byId("events-notice").textContent = words.length ? `${plural(rows.length, "event")} of ${state.rows.length.toLocaleString("en")}${cut}` : `${plural(rows.length, "event")}${cut}`;
}

function addRow() {
  const last = state.rows.at(-1);
  const text = state.events && !state.events.endsWith("\n") ? `${state.events}\n` : state.events;
  setEvents(`${text}${last ? last.raw : '{"type": "event", "time": 0}'}\n`, true);
  byId("events-filter").value = "";
  showEvents();
  byId("events-table").scrollTop = 1e9;
}

function showAs(form) {
  const table = form === "table";
  byId("as-table").setAttribute("aria-selected", String(table));
  byId("as-text").setAttribute("aria-selected", String(!table));
  byId("events-table").hidden = !table;
  byId("events-text").hidden = table;
  byId("events-filter").disabled = !table;
  if (table) eventsGrid.draw();
}

function paramsOf(text) {
  const found = {};
  for (const each of text.split(/[,;]\s*(?=[\p{L}_]\w*\s*=)/u)) {
    const at = each.indexOf("=");
    if (at > 0) found[each.slice(0, at).trim()] = each.slice(at + 1).trim();
  }
  return found;
}

function setSettings(until, params) {
  byId("until").value = until ?? "";
  byId("params").value = Object.entries(params ?? {}).map(([name, value]) => `${name}=${value}`).join(", ");
}
