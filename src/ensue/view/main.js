// The page: reads its data, sets up what can be pressed, and draws when something has changed.

const byId = (id) => document.getElementById(id);

async function start() {
  const store = readStore(await unpack(byId("data").textContent));
  store.times = makeTimes(store);
  const pad = store.last ? store.last * 0.02 : store.times.lonely;
  const whole = { from: -pad, to: store.last + pad };
  const app = {
    store, whole, view: { ...whole }, scroll: 0, hidden: new Set(), mode: store.header.lanes,
    selected: -1, between: [], hover: -1, lit: null, matches: null, matchCount: 0, query: "", frames: 0,
    plot: byId("plot"), strip: byId("strip"), tip: byId("tip"), panel: byId("panel"), live: byId("live"),
    size: { width: 1, height: 1 }, gutter: 0, labelWidth: 0, narrow: false, gliding: null,
  };
  app.ctx = app.plot.getContext("2d", { alpha: false });
  equip(app);
  setUpHeader(app);
  app.recolour();
  app.relane();
  listenToPlot(app);
  listenToStrip(app);
  listenToPage(app);
  window.ensueTimeline = exposed(app);
  document.body.classList.add("ready");
}

// What other parts ask of the page.
function equip(app) {
  const { store } = app;
  let asked = false;
  app.draw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; app.drawNow(); });
  };
  app.drawNow = () => {
    const began = performance.now();
    if (app.narrow !== app.plot.parentElement.clientWidth < NARROW) {
      app.narrow = !app.narrow;
      app.relane();
    }
    drawPlot(app);
    drawOverview(app);
    app.frames++;
    app.frameTime = performance.now() - began;
  };
  app.recolour = () => {
    app.theme = readTheme();
    colourTracks(store, app.theme);
    showLegend(app);
    showPanel(app);
    app.draw();
  };
  app.relane = () => {
    app.layout = makeLanes(store, app.mode, app.hidden, app.mode === "type" ? null : app.matches, app.narrow ? 13 : 0);
    app.ctx.font = `600 13px ${app.theme.font}`;
    const widths = app.layout.lanes.slice(0, 400).flatMap((lane) => [lane.label, lane.note || ""].map((text) => app.ctx.measureText(text.slice(0, 40)).width));
    app.labelWidth = Math.max(0, ...widths);
    app.draw();
  };
  app.select = (event, moving) => {
    app.selected = event;
    app.between = event >= 0 && trackOf(store, event).derived ? betweenOf(store, event) : [];
    app.lit = null;
    if (event >= 0) {
      app.lit = new Uint8Array(store.total);
      app.lit[event] = 1;
      for (const other of sourcesOf(store, event)) app.lit[other] = 1;
      for (const other of app.between) app.lit[other] = 1;
      if (!trackOf(store, event).derived) for (const other of partsOf(store, event)) app.lit[other] = 1;
      announce(app, spoken(app, event));
    }
    showPanel(app);
    if (moving) reveal(app, event);
    else if (event >= 0 && app.narrow) revealLane(app, event);
    app.draw();
  };
  app.zoomTo = (event) => {
    const sources = sourcesOf(store, event);
    let from = store.start[event], to = store.end[event];
    for (const other of sources) { from = Math.min(from, store.start[other]); to = Math.max(to, store.end[other]); }
    const margin = Math.max((to - from) * 0.12, to === from ? store.times.lonely : 0, store.times.smallest);
    glideTo(app, from - margin, to + margin);
    revealLane(app, event);
  };
  app.find = (query) => {
    app.query = query;
    app.matches = search(store, query);
    app.matchCount = app.matches ? countMarked(app.matches) : 0;
    byId("matches").textContent = app.matches ? (app.matchCount ? grouped(String(app.matchCount)) : "none") : "";
    byId("matches").title = app.matches ? `${counted(app.matchCount, "match").replace("matchs", "matches")}; Enter goes to the next` : "";
    if (app.mode !== "type") app.relane(); else app.draw();
  };
  app.step = (backward) => {  // to the next match, or else the next detection
    const marks = app.matches || Uint8Array.from(store.trackOf, (track) => (store.tracks[track].derived && !app.hidden.has(track) ? 1 : 0));
    const next = nextMarked(store, marks, app.selected, backward);
    if (next >= 0) app.select(next, true);
  };
  app.laneBy = (mode) => {
    app.mode = mode;
    app.scroll = 0;
    byId("lanes").value = mode;
    app.relane();
    if (app.selected >= 0) revealLane(app, app.selected);
  };
  app.toggle = (number) => {
    if (!app.hidden.delete(number)) app.hidden.add(number);
    showLegend(app);
    app.relane();
  };
}

// Moves the view as little as it takes to show an event.
function reveal(app, event) {
  const { store, view } = app, from = store.start[event], to = store.end[event], span = view.to - view.from;
  if (from < view.from || to > view.to) {
    const wide = Math.max(span, (to - from) * 1.3), middle = (from + to) / 2;
    glideTo(app, middle - wide / 2, middle + wide / 2);
  }
  revealLane(app, event);
}

function revealLane(app, event) {
  const lane = app.layout.lanes[app.layout.place.lane[event]];
  if (!lane) return;
  const covered = app.narrow && app.selected >= 0 ? app.panel.getBoundingClientRect().height : 0;
  const room = app.size.height - AXIS - covered;
  if (lane.y < app.scroll || lane.y + lane.height > app.scroll + room) app.scroll = Math.max(0, lane.y - room / 4);
  app.draw();
}

function setUpHeader(app) {
  const { store } = app, { header } = store, sum = (derived) => store.tracks.filter((track) => track.derived === derived).reduce((all, track) => all + track.total, 0);
  byId("title").textContent = header.title;
  const parts = [counted(sum(false), "event"), counted(sum(true), "detection")];
  if (store.total) parts.push(store.times.rangeText(0, store.last));
  byId("summary").textContent = parts.join("  ·  ");
  app.plot.setAttribute("aria-label", `Timeline of ${header.title}: ${parts.join(", ")}`);
  const notes = byId("notes");
  notes.hidden = !header.notes.length;
  notes.replaceChildren(...header.notes.map((note) => element("p", {}, note)));
  const lanes = byId("lanes");
  lanes.append(element("option", { value: "type" }, "type"));
  const names = keyNames(store);
  if (names.length) {
    const group = element("optgroup", { label: "value of" }, ...names.map((name) => element("option", { value: name }, name)));
    lanes.append(group);
  }
  lanes.value = app.mode;
  lanes.addEventListener("change", () => app.laneBy(lanes.value));
  byId("zoom-in").addEventListener("click", () => zoomBy(app, 0.6));
  byId("zoom-out").addEventListener("click", () => zoomBy(app, 1 / 0.6));
  byId("zoom-all").addEventListener("click", () => glideTo(app, app.whole.from, app.whole.to));
  const box = byId("search");
  let waiting;
  box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => app.find(box.value), store.total > 20000 ? 160 : 0); });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { clearTimeout(waiting); if (app.query !== box.value) app.find(box.value); app.step(event.shiftKey); event.preventDefault(); }
    if (event.key === "Escape") { clearTimeout(waiting); box.value = ""; app.find(""); app.plot.focus(); event.stopPropagation(); }
  });
  const help = byId("help"), keys = byId("keys");
  help.addEventListener("click", () => { keys.hidden = !keys.hidden; help.setAttribute("aria-expanded", String(!keys.hidden)); });
}

function showLegend(app) {
  byId("legend").replaceChildren(...app.store.tracks.map((track) => element("button", {
    class: "type", "aria-pressed": String(!app.hidden.has(track.number)), title: "Show or hide", on: () => app.toggle(track.number),
  }, chip(track), track.name, element("span", { class: "soft" }, countText(track)))));
}

function listenToPage(app) {
  new ResizeObserver(() => app.draw()).observe(byId("stage"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", app.recolour);
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key === "Escape") { byId("keys").hidden = true; app.select(-1); }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") { byId("search").focus(); event.preventDefault(); }
    else if (event.key === "?") byId("help").click();
    else if (event.target === document.body) pressed(app, event);
  });
}

// For scripts beside the page, such as tests: its state, and the ways to change it.
function exposed(app) {
  const { store } = app;
  return {
    state: () => ({
      view: { ...app.view }, whole: { ...app.whole }, mode: app.mode, selected: app.selected, hover: app.hover, scroll: app.scroll,
      lit: app.lit ? Array.from(app.lit.keys()).filter((event) => app.lit[event]) : [], between: Array.from(app.between),
      matches: app.matches ? app.matchCount : null, frames: app.frames, frameTime: app.frameTime, gutter: app.gutter,
      lanes: app.layout.lanes.map(({ label, y, height, dense, heading }) => ({ label, y, height, dense: Boolean(dense), heading: Boolean(heading) })),
      dark: app.theme.dark, total: store.total,
    }),
    event: (event) => ({ type: trackOf(store, event).name, derived: trackOf(store, event).derived, start: store.times.text(store.start[event]), end: store.times.text(store.end[event]), attributes: Object.fromEntries(attributesOf(store, event)), sources: Array.from(sourcesOf(store, event)) }),
    events: (type) => store.tracks.filter((track) => track.name === type).flatMap((track) => Array.from({ length: track.count }, (_, i) => track.first + i)),
    place: (event) => { const box = boxOf(app, event), frame = app.plot.getBoundingClientRect(); return box && { x: frame.left + Math.min(Math.max((box.left + box.right) / 2, app.gutter), app.size.width), y: frame.top + box.y }; },
    axis: () => ({ ticks: app.ticks.map((tick) => tick.text), context: store.times.context(app.view.from, app.view.to, app.ticks.step).map((each) => each.text) }),
    select: app.select, laneBy: app.laneBy, find: app.find, drawNow: app.drawNow, show: (from, to) => moveView(app, from, to),
  };
}

start().catch((error) => {
  byId("summary").textContent = "This page could not be drawn: " + error.message;
  throw error;
});
