// Tabs, panes, messages, and all that is listened to.

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
