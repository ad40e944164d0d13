// Detections, plan and timeline of the rules as they are.

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
  if (found.wrong) return showMessage(found.wrong === 1 ? "Fix the error in the rules to see what they find." : "Fix the errors in the rules to see what they find.", true);
  hideMessage();
  showFound(found);
  byId("took").textContent = `${plural(Object.values(found.counts).reduce((sum, count) => sum + count, 0), "detection")} in ${plural(found.events, "event")} · ${Math.round(performance.now() - started)} ms`;
  showTab();
}
const runSoon = later(run, RUN_DELAY);

const foundGrid = new Grid(byId("found"), {empty: "Write a rule, and what it finds is shown here.", colour: hueOf, onRow: whyDetection});

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
  foundGrid.nothing.textContent = state.found.length ? "No detection fits the filter."
    : Object.keys(state.counts ?? {}).length ? "Nothing is found. Why shows what stopped it." : foundGrid.empty;
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
