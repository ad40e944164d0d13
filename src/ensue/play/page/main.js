// The page: what is typed goes to the server after a moment, and the newest answer is shown.

const TOKEN = new URL(location.href).searchParams.get("token");
const CHECK_DELAY = 60, RUN_DELAY = 160;
const state = {names: {}, dirty: {rules: false, events: false}, version: null, events: "", rows: [], tab: "detections",
  found: [], hidden: new Set(), bad: new Map(), hues: new Map(), serial: {}, rules: ""};

async function ask(name, body = {}) {
  let answer;
  try {
    const response = await fetch(`/api/${name}`, {method: "POST", body: JSON.stringify(body),
      headers: {"Content-Type": "application/json", "X-Ensue-Token": TOKEN}});
    answer = await response.json();
  } catch {
    answer = {failure: "The playground does not answer. Start it again with `ensue play`, and open the address that it prints."};
  }
  return answer;
}

// A serial number for each kind of request: an answer counts only if nothing newer was asked.
function newest(kind) {
  const serial = (state.serial[kind] = (state.serial[kind] ?? 0) + 1);
  return () => state.serial[kind] === serial;
}

function later(run, delay) {
  let timer;
  return () => { clearTimeout(timer); timer = setTimeout(run, delay); };
}

function hueOf(type) {
  if (!state.hues.has(type)) state.hues.set(type, Math.round(210 + state.hues.size * 137.5) % 360);
  return state.hues.get(type);
}

function plural(number, noun) { return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`; }

// --- rules

const editor = new Editor(byId("editor"), {
  label: "Rules",
  onInput: () => { markDirty("rules"); checkSoon(); runSoon(); },
  onComplete: async (rules, position) => (await ask("complete", {rules, ...position})).completions ?? [],
  onHover: async (rules, position) => (await ask("hover", {rules, ...position})).hover ?? null,
});

async function check() {
  const rules = editor.text, current = newest("check");
  const found = await ask("check", {rules});
  if (!current() || found.superseded) return;
  if (found.failure) return showMessage(found.failure);
  editor.show(rules, found.tokens, found.problems);
  showProblems(rules, found.problems, found.more);
}
const checkSoon = later(check, CHECK_DELAY);

function showProblems(rules, problems, more) {
  const count = (severity) => problems.filter((problem) => problem.severity === severity).length;
  const errors = count("error"), warnings = count("warning");
  const said = byId("state");
  said.className = `state ${errors ? "error" : warnings ? "warning" : "fine"}`;
  said.textContent = errors ? plural(errors, "error") : warnings ? plural(warnings, "warning") : rules.trim() ? "no errors" : "";
  const order = {error: 0, warning: 1, note: 2};
  const shown = [...problems].sort((one, other) => order[one.severity] - order[other.severity]);
  byId("problems").replaceChildren(...shown.map((problem) => {
    const item = element("li", problem.severity);
    const button = element("button");
    button.append(element("span", "where", `${problem.line}:${problem.column}`), prose("span", "text", problem.message), element("span", "code-of", problem.code));
    if (problem.hint) button.append(prose("span", "hint", problem.hint));
    button.addEventListener("click", () => editor.go(placeOf(editor.text, startsOf(editor.text), problem.line, problem.column)));
    item.append(button);
    return item;
  }), ...(more ? [element("li", "note", `… and ${more} more`)] : []));
}

async function format() {
  const rules = editor.text, {formatted, failure} = await ask("format", {rules});
  if (failure) return showMessage(failure);
  if (formatted === null || formatted === undefined) return toast("Mend the errors first: rules that cannot be read are not formatted.");
  if (editor.text !== rules || formatted === rules) return toast("The rules are formatted already.");
  const {line} = editor.position();
  editor.replace(0, rules.length, formatted);
  editor.goToLine(Math.min(line, startsOf(formatted).length));
}

// --- events

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

// --- what is found

async function evaluate(name, more = {}) {
  const settings = {until: byId("until").value.trim(), params: paramsOf(byId("params").value)};
  for (let tries = 0; tries < 2; tries++) {
    const events = state.events;
    if (state.version === null) {
      const taken = await ask("events", {text: events});
      if (taken.failure) return taken;
      if (events === state.events) state.version = taken.version;
      else continue;
    }
    const found = await ask(name, {rules: editor.text, version: state.version, ...settings, ...more});
    if (!found.unknown) return found;
    state.version = null;
  }
  return {superseded: true};
}

async function run() {
  const current = newest("run"), started = performance.now();
  const slow = setTimeout(() => current() && byId("took").replaceChildren(element("span", "busy", "running…")), 400);
  const found = await evaluate("run");
  clearTimeout(slow);
  if (!current() || found.superseded) return;
  document.body.classList.toggle("stale", Boolean(found.failure || found.wrong));
  byId("took").textContent = "";
  if (found.failure) return showMessage(found.failure);
  if (found.wrong) return showMessage(found.wrong === 1 ? "Mend the error in the rules to see what they find." : "Mend the errors in the rules to see what they find.", true);
  hideMessage();
  showFound(found);
  byId("took").textContent = `${plural(Object.values(found.counts).reduce((sum, count) => sum + count, 0), "detection")} in ${plural(found.events, "event")} · ${Math.round(performance.now() - started)} ms`;
  showTab();
}
const runSoon = later(run, RUN_DELAY);

const foundGrid = new Grid(byId("found"), {empty: "Nothing is found. Why says what stopped it.", colour: hueOf, onRow: whyDetection});

function showFound(found) {
  state.found = found.lines.map((line, at) => parseLine(line, at + 1));
  state.counts = found.counts;
  const total = Object.values(found.counts).reduce((sum, count) => sum + count, 0);
  byId("found-count").textContent = total.toLocaleString("en");
  byId("types").replaceChildren(...Object.entries(found.counts).map(([type, count]) => {
    const chip = element("button", "chip");
    chip.style.setProperty("--hue", String(hueOf(type)));
    chip.append(element("span", "", type), element("b", "", count.toLocaleString("en")));
    chip.setAttribute("aria-pressed", String(!state.hidden.has(type)));
    chip.addEventListener("click", () => {
      if (!state.hidden.delete(type)) state.hidden.add(type);
      chip.setAttribute("aria-pressed", String(!state.hidden.has(type)));
      filterFound();
    });
    return chip;
  }));
  const notices = [...found.notices];
  if (found.lines.length < total) notices.push(`The first ${found.lines.length.toLocaleString("en")} detections are shown.`);
  byId("notices").replaceChildren(...notices.map((notice) => prose("li", "", notice)));
  const asked = byId("why-type").value;
  byId("why-type").replaceChildren(...Object.keys(found.counts).map((type) => new Option(type, type)));
  if (asked in found.counts) byId("why-type").value = asked;
  state.bad = new Map(found.bad.filter((row) => row.line !== null).map((row) => [row.line, row.reason]));
  eventsGrid.bad = state.bad;
  eventsGrid.drawn = null;
  eventsGrid.draw();
  filterFound();
}

function filterFound() {
  const words = byId("found-filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = state.found.filter((row) => !state.hidden.has(row.values?.type) && words.every((word) => row.raw.toLowerCase().includes(word)));
  foundGrid.nothing.textContent = state.found.length ? "No detection fits the filter." : foundGrid.empty;
  foundGrid.show(shown, new Map(), ["type", "start", "end"]);
}

async function showPlan() {
  const current = newest("plan");
  const found = await evaluate("plan");
  if (!current() || found.superseded || found.wrong) return;
  if (found.failure) return showMessage(found.failure);
  const at = byId("plan").scrollTop;
  byId("plan").replaceChildren(planOf(found.plan, goToLine, hueOf));
  byId("plan").scrollTop = at;
}

async function showTimeline() {
  const view = byId("timeline-page"), current = newest("timeline");
  const busy = setTimeout(() => current() && !view.firstChild && view.replaceChildren(element("p", "nothing busy", "Drawing…")), 400);
  const found = await evaluate("timeline", {theme: document.documentElement.dataset.theme});
  clearTimeout(busy);
  if (!current() || found.superseded || found.wrong) return;
  if (found.failure) return view.replaceChildren(prose("p", "nothing", found.failure));
  if (view.firstChild?.dataset?.shown === found.shown) return;
  byId("timeline-note").textContent = found.note ?? "";
  const frame = element("iframe", "waiting");
  frame.title = "Timeline";
  frame.dataset.shown = found.shown;
  frame.setAttribute("sandbox", "allow-scripts"); // it can reach neither this page nor the server
  frame.src = `/shown/${found.shown}`;
  frame.addEventListener("load", () => { // the one before stays until then
    for (const other of [...view.children]) if (other !== frame) other.remove();
    frame.classList.remove("waiting");
  });
  view.append(frame);
}

// --- why, and why not

function whyDetection(row) {
  state.question = {detection: row.raw};
  const {type, start, end, ...rest} = row.values;
  byId("why-type").value = type;
  byId("why-key").value = Object.entries(rest).filter(([, value]) => value !== null).map(([name, value]) => `${name}=${cellOf(value)}`).join(", ");
  byId("why-at").value = cellOf(end);
  choose("why");
}

function askWhy() {
  state.question = {type: byId("why-type").value, key: paramsOf(byId("why-key").value), at: byId("why-at").value.trim()};
  showWhy();
}

async function showWhy() {
  const answer = byId("why-answer");
  if (!state.question) {
    return answer.replaceChildren(element("p", "nothing", "Click a detection to see what it came from. For one that is missing, say above what should have been detected, and ask."));
  }
  const current = newest("why");
  const busy = setTimeout(() => current() && answer.replaceChildren(element("p", "nothing busy", "Looking…")), 500);
  const found = await evaluate("why", state.question);
  clearTimeout(busy);
  if (!current() || found.superseded || found.wrong) return;
  if (found.failure) return answer.replaceChildren(prose("p", "lead failed", found.failure));
  answer.replaceChildren(whyOf(found.why, goToLine));
}

async function runTests() {
  choose("tests");
  byId("tests").replaceChildren(element("p", "lead busy", "Running the tests…"));
  const rules = editor.text, current = newest("test");
  const found = await evaluate("test");
  if (!current()) return;
  if (found.superseded) return byId("tests").replaceChildren();
  if (found.wrong) found.failure = "Mend the errors in the rules to run their tests.";
  if (found.failure) return byId("tests").replaceChildren(prose("p", "lead failed", found.failure));
  const passed = found.tests.filter((test) => test.passed).length, failed = found.tests.length - passed;
  byId("tests-count").textContent = found.tests.length ? (failed ? `${failed} failed` : String(passed)) : "";
  byId("tests-count").className = failed ? "count failed" : "count passed";
  state.tested = rules;
  const said = found.tests.length ? `${passed} passed, ${failed} failed` : "The rules have no tests yet. One is written: test \"…\" given … expect ….";
  byId("tests").replaceChildren(element("p", failed ? "lead failed" : "lead", said), ...found.tests.map(testOf));
}

function testOf(test) {
  const row = element("article", `test ${test.passed ? "passed" : "failed"}`);
  const head = element("header");
  const line = element("button", "link", `line ${test.line}`);
  line.addEventListener("click", () => goToLine(test.line));
  const take = element("button", "small", "Try its events");
  take.title = "Put the events of this test on the left, to look at them and change them";
  take.addEventListener("click", () => tryTest(test.title));
  head.append(element("span", "mark", test.passed ? "passed" : "failed"), element("b", "", test.title), line, take);
  row.append(head);
  if (test.error) row.append(element("pre", "", test.error));
  for (const event of test.missing) row.append(element("pre", "missing", `missing     ${event}`));
  for (const event of test.unexpected) row.append(element("pre", "unexpected", `unexpected  ${event}`));
  return row;
}

async function tryTest(title) {
  const found = await evaluate("given", title === null ? {} : {test: title});
  if (found.failure || found.superseded || found.wrong) return found.failure && showMessage(found.failure);
  if (!found.events) return;
  setSettings(found.until, found.params);
  setEvents(found.events, true);
  state.cut = false;
  nameOf("events", null);
  byId("events-name").textContent = `of the test “${found.test}”`;
  choose("detections");
}

// --- files

function nameOf(which, name) {
  state.names[which] = name;
  state.dirty[which] = false;
  showNames();
}

function showNames() {
  for (const which of ["rules", "events"]) {
    const at = byId(`${which}-name`);
    at.textContent = state.names[which] ?? "";
    at.classList.toggle("dirty", state.dirty[which]);
    at.title = state.dirty[which] ? "changed since it was saved" : "";
  }
}

function markDirty(which) {
  if (state.dirty[which]) return;
  state.dirty[which] = true;
  byId(`${which}-name`).classList.add("dirty");
}

async function save(which) {
  const text = which === "rules" ? editor.text : state.events;
  let name = null, replace = false;
  if (!state.names[which]) {
    name = await question(`Save the ${which} in the folder in which the playground was started, as:`, which === "rules" ? "rules.ensue" : "events.jsonl", "Save");
    if (name === null) return;
  }
  for (;;) {
    const answer = await ask("save", {which, text, name, replace});
    if (answer.ask) {
      if ((await question(answer.ask, null, "Replace")) === null) return;
      replace = true;
      continue;
    }
    if (answer.failure) return toast(answer.failure, true);
    nameOf(which, answer.saved);
    return toast(`Saved ${answer.saved}`);
  }
}

// Asks for a name, or for yes or no where none is needed; null if it is cancelled.
function question(text, name, yes) {
  const dialog = byId("ask"), input = byId("ask-name");
  byId("ask-text").textContent = text;
  byId("ask-yes").textContent = yes;
  input.hidden = name === null;
  input.value = name ?? "";
  dialog.returnValue = "";
  dialog.showModal();
  if (name !== null) { input.focus(); input.setSelectionRange(0, name.lastIndexOf(".")); }
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes" ? input.value.trim() : null), {once: true});
  });
}

async function takeExample(name) {
  if ((state.dirty.rules || state.dirty.events) && (await question("Replace what you have written with the example?", null, "Replace")) === null) {
    byId("examples").value = "";
    return;
  }
  const found = await ask("example", {name});
  if (found.failure) return showMessage(found.failure);
  state.hidden.clear();
  state.hues.clear();
  state.question = null;
  for (const id of ["why-key", "why-at"]) byId(id).value = "";
  state.cut = false;
  editor.set(found.rules);
  setSettings(found.until, found.params);
  setEvents(found.events ?? "", false);
  for (const which of ["rules", "events"]) nameOf(which, null);
  if (found.test) byId("events-name").textContent = `of the test “${found.test}”`;
  byId("tests").replaceChildren(element("p", "lead", "Run tests to see whether they pass."));
  byId("tests-count").textContent = "";
  check();
  run();
}

// --- tabs, panes, messages

function choose(tab) {
  state.tab = tab;
  for (const button of document.querySelectorAll("[data-tab]")) {
    const own = button.dataset.tab === tab;
    button.setAttribute("aria-selected", String(own));
    byId(button.dataset.tab).hidden = !own;
  }
  showPane("results", false);
  showTab();
}

// Asks for what the tab shows, which the detections alone do not tell.
function showTab() {
  if (state.tab === "plan") showPlan();
  else if (state.tab === "why") showWhy();
  else if (state.tab === "timeline") showTimeline();
  else if (state.tab === "detections") foundGrid.draw();
}

function showPane(pane, phoneOnly = true) {
  if (!phoneOnly && !matchMedia("(max-width: 800px)").matches) return;
  document.body.dataset.pane = pane;
  for (const button of document.querySelectorAll("nav [data-pane]")) button.setAttribute("aria-pressed", String(button.dataset.pane === pane));
  editor.draw();
  eventsGrid.draw();
  foundGrid.draw();
}

function goToLine(line) {
  showPane("rules", false);
  editor.goToLine(line);
}

function showMessage(text, mild = false) {
  const message = byId("message");
  message.replaceChildren(prose("span", "", text));
  message.className = mild ? "message mild" : "message";
  message.hidden = false;
}

function hideMessage() { byId("message").hidden = true; }

let toasted;
function toast(text, bad = false) {
  clearTimeout(toasted);
  byId("toast").textContent = text;
  byId("toast").className = bad ? "toast bad" : "toast";
  byId("toast").hidden = false;
  toasted = setTimeout(() => { byId("toast").hidden = true; }, bad ? 8000 : 2500);
}

// A splitter moves a share of the page, by mouse, finger or arrow keys.
function splits(splitter, variable, share) {
  const main = document.querySelector("main");
  const set = (value) => {
    main.style.setProperty(variable, `${Math.min(85, Math.max(15, value))}%`);
    editor.draw();
    eventsGrid.drawSoon();
    foundGrid.drawSoon();
  };
  splitter.addEventListener("pointerdown", (down) => {
    down.preventDefault();
    splitter.setPointerCapture(down.pointerId);
    const move = (event) => set(share(event, main.getBoundingClientRect()));
    splitter.addEventListener("pointermove", move);
    splitter.addEventListener("pointerup", () => splitter.removeEventListener("pointermove", move), {once: true});
  });
  splitter.addEventListener("keydown", (event) => {
    const step = {ArrowLeft: -3, ArrowUp: -3, ArrowRight: 3, ArrowDown: 3}[event.key];
    if (!step) return;
    event.preventDefault();
    set((parseFloat(main.style.getPropertyValue(variable)) || 50) + step);
  });
}

function themed(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("ensue-theme", theme); } catch { /* it is forgotten */ }
  if (state.tab === "timeline") showTimeline();
}

async function begin() {
  let theme = null;
  try { theme = localStorage.getItem("ensue-theme"); } catch { /* as the system has it */ }
  themed(theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  const start = await ask("start");
  if (start.failure) return showMessage(start.failure);
  ask("words").then((found) => { editor.words = new Map(Object.entries(found.words ?? {})); });
  const examples = byId("examples");
  examples.append(new Option("Choose…", ""));
  const group = (label, own) => {
    if (!own.length) return;
    const made = element("optgroup");
    made.label = label;
    for (const each of own) made.append(new Option(each.title, each.name));
    examples.append(made);
  };
  group("With events", start.examples.filter((each) => each.events));
  group("Cookbook", start.examples.filter((each) => !each.events));
  examples.value = start.example ?? "";
  state.cut = start.cut;
  editor.set(start.rules);
  setSettings(start.until, start.params);
  setEvents(start.events, false);
  for (const which of ["rules", "events"]) nameOf(which, start.names[which]);
  document.title = start.names.rules ? `${start.names.rules} · ensue playground` : "ensue playground";
  check();
  if (!start.events && start.rules) await tryTest(null); // events to look at, until there are others
  state.dirty.events = false;
  await run();
}

function listen() {
  byId("examples").addEventListener("change", (event) => event.target.value && takeExample(event.target.value));
  byId("format").addEventListener("click", format);
  byId("test").addEventListener("click", runTests);
  byId("save").addEventListener("click", () => save("rules"));
  byId("save-events").addEventListener("click", () => save("events"));
  byId("theme").addEventListener("click", () => themed(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  byId("wide").addEventListener("click", (event) => {
    const wide = document.body.classList.toggle("wide");
    event.currentTarget.setAttribute("aria-pressed", String(wide));
    foundGrid.drawSoon();
  });
  byId("as-table").addEventListener("click", () => showAs("table"));
  byId("as-text").addEventListener("click", () => showAs("text"));
  byId("why-form").addEventListener("submit", (event) => { event.preventDefault(); askWhy(); });
  byId("add-row").addEventListener("click", addRow);
  byId("events").addEventListener("input", (event) => setEvents(event.target.value, true));
  byId("events-filter").addEventListener("input", showEvents);
  byId("found-filter").addEventListener("input", filterFound);
  for (const id of ["until", "params"]) byId(id).addEventListener("input", runSoon);
  for (const tab of document.querySelectorAll("[data-tab]")) tab.addEventListener("click", () => choose(tab.dataset.tab));
  for (const button of document.querySelectorAll("nav [data-pane]")) button.addEventListener("click", () => showPane(button.dataset.pane));
  splits(byId("split-x"), "--across", (event, box) => (100 * (event.clientX - box.left)) / box.width);
  splits(byId("split-y"), "--down", (event, box) => (100 * (event.clientY - box.top)) / box.height);
  document.addEventListener("keydown", (event) => {
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key.toLowerCase() === "s") { event.preventDefault(); save(byId("events-pane").contains(document.activeElement) ? "events" : "rules"); }
    else if (command && event.key === "Enter") { event.preventDefault(); runTests(); }
    else if (event.shiftKey && event.altKey && event.code === "KeyF") { event.preventDefault(); format(); }
  });
  window.addEventListener("beforeunload", (event) => {
    if (state.dirty.rules || state.dirty.events) event.preventDefault();
  });
}

listen();
begin();
