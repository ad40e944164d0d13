// Details: the tip beside an event, and the panel about the one that was chosen. Values are always set as text.

const MOST_LISTED = 200;

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "on") made.addEventListener("click", value); else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function chip(track) {
  const made = element("span", { class: track.derived ? "chip found" : "chip", "aria-hidden": "true" });
  made.style.background = track.colour;
  return made;
}

function whenText(store, event) {
  const { times } = store, start = store.start[event], end = store.end[event];
  return start === end ? times.text(start) : `${times.text(start)} – ${sameDay(times, start, end)}`;
}

function sameDay(times, start, end) {
  const [a, b] = [times.text(start), times.text(end)];
  return times.clock && a.slice(0, 10) === b.slice(0, 10) ? times.clockText(end) : b;
}

function valueList(store, event, most) {
  const values = attributesOf(store, event), list = element("dl", {});
  for (const [name, text] of values.slice(0, most)) {
    list.append(element("dt", {}, name), element("dd", text === null ? { class: "null" } : {}, text === null ? "null" : text));
  }
  if (values.length > most) list.append(element("dt", {}, "…"), element("dd", {}, `${values.length - most} more`));
  return list;
}

// --- the tip

function showTip(app, hit) {
  const { tip, store } = app;
  if (!hit) { tip.hidden = true; return; }
  if (hit.event === undefined) {
    tip.replaceChildren(
      element("strong", {}, `${grouped(String(hit.count))} ${hit.label}`),
      element("p", {}, `${store.times.text(hit.from)} – ${store.times.clockText(hit.to)}`),
      element("p", { class: "soft" }, hit.heaped ? "They overlap: search, or choose lanes by a key, to see each of them." : "Zoom in to see each of them."));
  } else {
    const { event } = hit, track = trackOf(store, event), length = store.end[event] - store.start[event];
    const count = sourcesOf(store, event).length + hiddenSources(store, event);
    tip.replaceChildren(
      element("strong", {}, chip(track), track.name),
      element("p", {}, whenText(store, event)),
      length ? element("p", { class: "soft" }, store.times.lengthText(length)) : "",
      valueList(store, event, 8),
      count ? element("p", { class: "soft" }, `came from ${counted(count, "event")}`) : "",
      hit.more ? element("p", { class: "soft" }, `and ${hit.more} more here`) : "");
  }
  tip.hidden = false;
  placeTip(app, hit);
}

// Above what it describes, or below it where there is no room; never over it.
function placeTip(app, { x, y, tall }) {
  const { tip } = app, frame = app.plot.getBoundingClientRect();
  const { width, height } = tip.getBoundingClientRect(), gap = 12;
  const left = Math.min(Math.max(frame.left + x - width / 2, 8), innerWidth - width - 8);
  const above = frame.top + y - tall / 2 - gap - height;
  const below = frame.top + y + tall / 2 + gap;
  tip.style.left = `${left}px`;
  tip.style.top = `${above >= 8 || below + height > innerHeight ? Math.max(above, 8) : below}px`;
}

const counted = (count, noun) => `${grouped(String(count))} ${noun}${count === 1 ? "" : "s"}`;

// --- the panel

function showPanel(app) {
  const { panel, store, selected } = app;
  panel.hidden = selected < 0;
  document.body.classList.toggle("with-panel", selected >= 0);
  if (selected < 0) return;
  const track = trackOf(store, selected), length = store.end[selected] - store.start[selected];
  const sources = Array.from(sourcesOf(store, selected)), hidden = hiddenSources(store, selected);
  panel.replaceChildren(...[
    element("div", { class: "panel-head" },
      element("h2", {}, chip(track), track.name),
      element("button", { class: "plain", "aria-label": "Close", on: () => app.select(-1) }, "×")),
    element("p", { class: "when" }, whenText(store, selected), length ? element("span", { class: "soft" }, ` · ${store.times.lengthText(length)}`) : ""),
    valueList(store, selected, 100),
    element("button", { class: "wide", on: () => app.zoomTo(selected) }, "Zoom to it"),
    ...(track.derived ? listed(app, "Came from", sources, hidden) : listed(app, "Part of", Array.from(partsOf(store, selected)), 0)),
    ...(track.derived ? listed(app, "Detections made of these", app.between, 0) : []),
    ...rulesOf(track),
  ].filter((part) => part !== null));
  panel.scrollTop = 0;
}

function listed(app, title, events, hidden) {
  if (!events.length && !hidden) return [];
  const { store } = app, inOrder = events.slice().sort((a, b) => store.start[a] - store.start[b] || a - b);
  const items = inOrder.slice(0, MOST_LISTED).map((event) => {
    const track = trackOf(store, event);
    const values = attributesOf(store, event).filter(([, text]) => text !== null).slice(0, 3).map(([name, text]) => `${name} ${text}`);
    return element("li", {}, element("button", { class: "event", on: () => app.select(event, true) },
      chip(track), element("span", {}, element("b", {}, track.name), ` ${values.join(", ")}`, element("small", {}, store.times.text(store.start[event])))));
  });
  const more = events.length - items.length;
  return [
    element("h3", {}, title, element("span", { class: "soft" }, ` ${grouped(String(events.length + hidden))}`)),
    element("ol", {}, ...items),
    more > 0 ? element("p", { class: "soft" }, `and ${counted(more, "other")}`) : null,
    hidden ? element("p", { class: "soft" }, `${counted(hidden, "event")} of these ${hidden === 1 ? "is" : "are"} not in this page.`) : null,
  ];
}

function rulesOf(track) {
  return track.rules.flatMap((rule, number) => [
    number ? null : element("h3", {}, track.rules.length === 1 ? "Rule" : "Rules"),
    element("p", { class: "soft" }, [rule.name, rule.title, `line ${rule.line}`].filter(Boolean).join(" · ")),
    element("pre", {}, rule.text),
  ]);
}

// For those who hear the page.
function announce(app, text) {
  app.live.textContent = text;
}

function spoken(app, event) {
  const { store } = app, values = attributesOf(store, event).map(([name, text]) => `${name} ${text === null ? "null" : text}`);
  return `${trackOf(store, event).name}, ${whenText(store, event)}. ${values.join(", ")}`;
}
