// Pointing: what lies under a point; wheel, drag, pinch and keys that move the view; the window in the strip.

const NEAR = 9, TAP = 5;

// What is at a point of the plot: an event, a count where there are too many, or null.
function hitAt(app, x, y) {
  if (y < AXIS || x < app.gutter) return null;
  const lane = app.layout.lanes.find((each) => each.seen && !each.heading && y >= each.top && y < each.top + each.height);
  if (!lane) return null;
  let best = null;
  for (const band of lane.bands) {
    const top = lane.top + band.y;
    if (y < top - 6 || y > top + band.rowCount * band.rowHeight + 6) continue;
    const found = eventIn(app, band, top, x, y);
    if (found && (!best || found.distance < best.distance)) best = found;
    if (!best && band.dense) best = countIn(app, lane, band, top, x);
  }
  return best;
}

function eventIn(app, band, top, x, y) {
  const { store } = app, reach = (NEAR * (app.view.to - app.view.from)) / (app.size.width - app.gutter);
  const time = timeAt(app, x), [low, high] = visibleRange(store, band, time - reach, time + reach);
  if (high - low > 5000) return null;
  const hits = [];
  for (let k = low; k < high; k++) {
    const event = band.members[k];
    if (store.end[event] < time - reach || (band.dense && !(emphasising(app) && emphasised(app, event)))) continue;
    const middle = top + (band.rows[k] + 0.5) * band.rowHeight;
    if (Math.abs(y - middle) > band.rowHeight / 2 + 1) continue;
    const left = xOf(app, store.start[event]), right = xOf(app, store.end[event]);
    const distance = Math.max(left - x, x - right, 0);
    if (distance <= NEAR) hits.push({ event, distance, left, right, y: middle, tall: band.rowHeight });
  }
  if (!hits.length) return null;
  hits.sort((a, b) => a.distance - b.distance || (a.right - a.left) - (b.right - b.left) || a.event - b.event);
  const same = hits.filter((hit) => hit.distance === hits[0].distance && hit.left === hits[0].left && hit.right === hits[0].right && hit.y === hits[0].y);
  const at = same.findIndex((hit) => hit.event === app.selected);
  const chosen = same[at >= 0 ? at : 0];
  return { ...chosen, x: Math.min(Math.max(x, chosen.left), chosen.right), more: same.length - 1, next: same[(at + 1) % same.length].event };
}

function countIn(app, lane, band, top, x) {
  const bin = Math.floor((x - app.gutter) / BIN), count = band.counts ? band.counts[bin] : 0;
  if (!count) return null;
  const left = app.gutter + bin * BIN, height = band.rowCount * band.rowHeight;
  return {
    count, heaped: band.heaped, distance: Infinity, x: left, y: top + height / 2, tall: height, from: timeAt(app, left), to: timeAt(app, left + BIN),
    label: lane.track ? lane.track.name : band.derived ? "detections" : "events",
  };
}

// --- moving the view

function moveView(app, from, to) {
  const { whole, store } = app, least = store.times.smallest, most = (whole.to - whole.from) * 1.2;
  const middle = (from + to) / 2, span = Math.min(Math.max(to - from, Math.min(least, whole.to - whole.from)), most);
  from = middle - span / 2;
  const margin = span * 0.5;  // there is always something of the events in view
  from = Math.min(Math.max(from, whole.from - margin), whole.to + margin - span);
  app.view = { from, to: from + span };
  app.draw();
}

function zoomBy(app, factor, x) {
  const { from, to } = app.view, at = x === undefined ? (from + to) / 2 : timeAt(app, x);
  moveView(app, at - (at - from) * factor, at + (to - at) * factor);
}

function panBy(app, pixels) {
  const step = (pixels * (app.view.to - app.view.from)) / (app.size.width - app.gutter);
  moveView(app, app.view.from + step, app.view.to + step);
}

function glideTo(app, from, to) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) { moveView(app, from, to); return; }
  const before = { ...app.view }, began = performance.now(), token = (app.gliding = {});
  const step = (now) => {
    if (app.gliding !== token) return;
    const part = Math.min(1, (now - began) / 220), eased = 1 - (1 - part) ** 3;
    moveView(app, before.from + (from - before.from) * eased, before.to + (to - before.to) * eased);
    if (part < 1) requestAnimationFrame(step); else app.gliding = null;
  };
  requestAnimationFrame(step);
}

function scrollBy(app, pixels) {
  app.scroll += pixels;
  app.draw();
}

// --- the plot

function listenToPlot(app) {
  const { plot } = app, down = new Map();
  let moved = 0;
  const point = (event) => {
    const frame = plot.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  };
  plot.addEventListener("pointerdown", (event) => {
    app.gliding = null;
    plot.setPointerCapture(event.pointerId);
    down.set(event.pointerId, point(event));
    if (down.size === 1) moved = 0;
    plot.classList.add("dragging");
  });
  plot.addEventListener("pointermove", (event) => {
    const now = point(event), before = down.get(event.pointerId);
    if (!before) { hover(app, now); return; }
    if (down.size === 1) {
      moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      if (moved <= TAP) return;
      app.gliding = null;
      panBy(app, before.x - now.x);
      scrollBy(app, before.y - now.y);
    } else {
      moved = Infinity;
      const [other] = [...down.entries()].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const spread = (at) => Math.max(24, Math.abs(at.x - other.x));
      zoomBy(app, spread(before) / spread(now), (now.x + other.x) / 2);
      scrollBy(app, (before.y - now.y) / 2);
    }
    down.set(event.pointerId, now);
    hover(app, null);
  });
  const up = (event) => {
    const at = down.get(event.pointerId);
    down.delete(event.pointerId);
    if (!down.size) plot.classList.remove("dragging");
    if (at && event.type === "pointerup" && moved <= TAP) click(app, point(event));
  };
  plot.addEventListener("pointerup", up);
  plot.addEventListener("pointercancel", up);
  plot.addEventListener("pointerleave", () => hover(app, null));
  plot.addEventListener("dblclick", (event) => zoomBy(app, 0.4, point(event).x));
  plot.addEventListener("wheel", (event) => {
    event.preventDefault();
    app.gliding = null;
    const { x } = point(event), size = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    if (x < app.gutter) scrollBy(app, event.deltaY * size);
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) panBy(app, (event.deltaX || event.deltaY) * size);
    else zoomBy(app, Math.exp(Math.max(-120, Math.min(120, event.deltaY * size)) * (event.ctrlKey ? 0.008 : 0.0025)), x);
    hover(app, null);
  }, { passive: false });
  plot.addEventListener("keydown", (event) => pressed(app, event));
}

function hover(app, at) {
  const hit = at && hitAt(app, at.x, at.y), event = hit && hit.event !== undefined ? hit.event : -1;
  app.tipped = hit;
  app.plot.style.cursor = event >= 0 ? "pointer" : "";
  if (event !== app.hover) {
    app.hover = event;
    app.draw();
  }
  showTip(app, hit);
}

function click(app, at) {
  const hit = hitAt(app, at.x, at.y);
  if (!hit) app.select(-1);
  else if (hit.event === undefined) glideTo(app, hit.from - (hit.to - hit.from) * 8, hit.to + (hit.to - hit.from) * 8);
  else app.select(hit.event === app.selected ? hit.next : hit.event);
  showTip(app, null);
}

const STEPS = {
  ArrowLeft: (app) => panBy(app, -80), ArrowRight: (app) => panBy(app, 80),
  ArrowUp: (app) => scrollBy(app, -48), ArrowDown: (app) => scrollBy(app, 48),
  PageUp: (app) => scrollBy(app, -app.size.height * 0.8), PageDown: (app) => scrollBy(app, app.size.height * 0.8),
  "+": (app) => zoomBy(app, 0.7), "=": (app) => zoomBy(app, 0.7), "-": (app) => zoomBy(app, 1 / 0.7),
  Home: (app) => glideTo(app, app.whole.from, app.whole.to), 0: (app) => glideTo(app, app.whole.from, app.whole.to),
  n: (app) => app.step(false), p: (app) => app.step(true), Enter: (app) => app.selected >= 0 && app.zoomTo(app.selected),
};

function pressed(app, event) {
  const step = STEPS[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  app.gliding = null;
  step(app);
}

// --- the strip of all of time

function listenToStrip(app) {
  const { strip } = app;
  let grip = null;
  const at = (event) => event.clientX - strip.getBoundingClientRect().left;
  const gripAt = (x) => {
    const left = stripX(app, app.view.from), right = stripX(app, app.view.to);
    if (Math.abs(x - left) < 9 && x < (left + right) / 2) return "left";
    if (Math.abs(x - right) < 9) return "right";
    return x > left && x < right && right - left < app.stripWidth * 0.97 ? "window" : "new";
  };
  strip.addEventListener("pointerdown", (event) => {
    app.gliding = null;
    strip.setPointerCapture(event.pointerId);
    grip = { kind: gripAt(at(event)), x: at(event), view: { ...app.view } };
  });
  strip.addEventListener("pointermove", (event) => {
    const x = at(event);
    if (!grip) {
      strip.style.cursor = { left: "ew-resize", right: "ew-resize", window: "grab", new: "crosshair" }[gripAt(x)];
      return;
    }
    const time = stripTime(app, x), { view } = grip, least = app.store.times.smallest;
    if (grip.kind === "window") {
      const shift = time - stripTime(app, grip.x);
      moveView(app, view.from + shift, view.to + shift);
    } else if (grip.kind === "left") moveView(app, Math.min(time, view.to - least), view.to);
    else if (grip.kind === "right") moveView(app, view.from, Math.max(time, view.from + least));
    else if (Math.abs(x - grip.x) > 4) moveView(app, Math.min(time, stripTime(app, grip.x)), Math.max(time, stripTime(app, grip.x)));
  });
  const up = (event) => {
    if (grip && grip.kind === "new" && Math.abs(at(event) - grip.x) <= 4) {  // a click moves the window there
      const span = app.view.to - app.view.from, middle = stripTime(app, at(event));
      glideTo(app, middle - span / 2, middle + span / 2);
    }
    grip = null;
  };
  strip.addEventListener("pointerup", up);
  strip.addEventListener("pointercancel", up);
  strip.addEventListener("dblclick", () => glideTo(app, app.whole.from, app.whole.to));
  strip.addEventListener("keydown", (event) => pressed(app, event));
}
