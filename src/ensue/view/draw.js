// Drawing: the axis, the lanes, links from a detection to what it came from, and the strip of all of time.
// Where a band has more events in view than there is room for, it is drawn as a density.

const AXIS = 46, DENSE = 5, CROWDED = 3, BIN = 3, MOST_LINES = 400, MOST_BARS = 1500, FEW_BARS = 300, NARROW = 560, CLOSE = 8;

function fitCanvas(canvas, ratio) {
  const { width, height } = canvas.parentElement.getBoundingClientRect();
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  return { width, height };
}

const xOf = (app, time) => app.gutter + ((time - app.view.from) / (app.view.to - app.view.from)) * (app.size.width - app.gutter);
const timeAt = (app, x) => app.view.from + ((x - app.gutter) / (app.size.width - app.gutter)) * (app.view.to - app.view.from);

function drawPlot(app) {
  const { ctx, theme, store, layout } = app, ratio = devicePixelRatio || 1;
  app.size = fitCanvas(app.plot, ratio);
  const { width, height } = app.size;
  app.gutter = width < NARROW ? 0 : Math.min(190, Math.max(120, app.labelWidth + 48));
  const covered = app.narrow && app.selected >= 0 ? app.panel.getBoundingClientRect().height : 0;
  app.scroll = Math.max(0, Math.min(app.scroll, layout.height + covered - (height - AXIS)));
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.fillStyle = theme.surface;
  ctx.fillRect(0, 0, width, height);
  const ticks = app.ticks = drawGrid(app);
  ctx.save();
  ctx.beginPath();
  ctx.rect(0, AXIS, width, height - AXIS);
  ctx.clip();
  for (const lane of layout.lanes) {
    lane.top = AXIS + lane.y - app.scroll;
    lane.seen = lane.top < height && lane.top + lane.height > AXIS;
    if (lane.seen) drawLane(app, lane);
  }
  if (app.selected >= 0) drawLinks(app);
  if (!store.total) centred(app, "There are no events to show.");
  else if (!layout.lanes.length) centred(app, app.matches ? "Nothing matches." : "All types are hidden.");
  ctx.restore();
  drawAxis(app, ticks);
  drawScrollbar(app);
}

function centred(app, text) {
  const { ctx, theme, size } = app;
  ctx.font = `14px ${theme.font}`;
  ctx.fillStyle = theme.soft;
  ctx.textAlign = "center";
  ctx.fillText(text, (app.gutter + size.width) / 2, size.height / 2);
  ctx.textAlign = "left";
}

// --- axis

function drawGrid(app) {
  const { ctx, theme, size, view } = app;
  const ticks = app.store.times.ticks(view.from, view.to, Math.max(2, (size.width - app.gutter) / 96));
  ctx.fillStyle = theme.line;
  for (const tick of ticks) {
    const x = Math.round(xOf(app, tick.time));
    if (x >= app.gutter) ctx.fillRect(x, AXIS, 1, size.height - AXIS);
  }
  return ticks;
}

function drawAxis(app, ticks) {
  const { ctx, theme, size, view, store } = app;
  ctx.fillStyle = theme.surface;
  ctx.fillRect(0, 0, size.width, AXIS);
  ctx.fillStyle = theme.line;
  ctx.fillRect(0, AXIS - 1, size.width, 1);
  ctx.font = `12px ${theme.font}`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  ctx.fillStyle = theme.soft;
  for (const tick of ticks) {
    const x = xOf(app, tick.time), width = ctx.measureText(tick.text).width;
    if (x < app.gutter || x + width + 8 > size.width) continue;
    ctx.fillText(tick.text, x + 5, 33);
    ctx.fillRect(Math.round(x), 27, 1, AXIS - 28);
  }
  const contexts = store.times.context(view.from, view.to, ticks.step);
  ctx.font = `600 12px ${theme.font}`;
  contexts.forEach((each, number) => {
    const x = Math.max(xOf(app, each.time), app.gutter);
    const next = number + 1 < contexts.length ? xOf(app, contexts[number + 1].time) : size.width;
    const text = [each.text, each.short].find((written) => ctx.measureText(written).width + 14 < next - x);
    ctx.fillStyle = theme.faint;
    if (xOf(app, each.time) > app.gutter) ctx.fillRect(Math.round(x), 4, 1, AXIS - 5);
    ctx.fillStyle = theme.ink;
    if (text) ctx.fillText(text, x + (number || xOf(app, each.time) >= app.gutter ? 6 : app.gutter ? 5 : 8), 14);
  });
  if (app.gutter && store.times.note) {
    ctx.font = `11px ${theme.font}`;
    ctx.fillStyle = theme.soft;
    ctx.fillText(store.times.note, 16, 33);
  }
}

function drawScrollbar(app) {
  const room = app.size.height - AXIS, { ctx, theme, layout } = app;
  if (layout.height <= room) return;
  const length = Math.max(28, (room * room) / layout.height);
  const top = AXIS + (app.scroll / (layout.height - room)) * (room - length);
  ctx.fillStyle = theme.faint;
  ctx.beginPath();
  ctx.roundRect(app.size.width - 7, top + 2, 4, length - 4, 2);
  ctx.fill();
}

// --- lanes

function drawLane(app, lane) {
  const { ctx, theme, size } = app;
  if (lane.heading) {
    ctx.fillStyle = theme.raised;
    ctx.fillRect(0, lane.top, size.width, lane.height);
    ctx.font = `600 10.5px ${theme.font}`;
    ctx.letterSpacing = "0.09em";
    ctx.fillStyle = theme.soft;
    ctx.textBaseline = "middle";
    ctx.fillText(lane.label.toUpperCase(), app.gutter ? 16 : 8, lane.top + lane.height / 2 + 0.5);
    ctx.letterSpacing = "0px";
    return;
  }
  ctx.fillStyle = theme.line;
  ctx.fillRect(0, Math.round(lane.top + lane.height) - 1, size.width, 1);
  ctx.save();
  ctx.beginPath();
  ctx.rect(app.gutter, lane.top, size.width - app.gutter, lane.height);
  ctx.clip();
  lane.dense = false;
  for (const band of lane.bands) drawBand(app, lane, band);
  ctx.restore();
  drawLabel(app, lane);
}

function drawLabel(app, lane) {
  const { ctx, theme } = app, gutter = app.gutter;
  ctx.textBaseline = "middle";
  if (!gutter) {
    ctx.font = `600 11px ${theme.font}`;
    const text = shortened(ctx, lane.label, app.size.width / 2), width = ctx.measureText(text).width;
    ctx.globalAlpha = 0.82;
    ctx.fillStyle = theme.surface;
    ctx.beginPath();
    ctx.roundRect(4, lane.top + 3, width + 10, 16, 4);
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.fillStyle = lane.track ? lane.track.colour : theme.ink;
    ctx.fillText(text, 9, lane.top + 11.5);
    return;
  }
  const middle = lane.top + lane.height / 2;
  ctx.fillStyle = theme.surface;
  ctx.fillRect(0, lane.top, gutter - 1, lane.height - 1);
  ctx.fillStyle = theme.line;
  ctx.fillRect(gutter - 1, lane.top, 1, lane.height);
  if (lane.track) drawChip(app, lane.track, 21, middle - (lane.note ? 7.5 : 0));
  const left = lane.track ? 32 : 16;
  ctx.font = `600 13px ${theme.font}`;
  ctx.fillStyle = theme.ink;
  ctx.fillText(shortened(ctx, lane.label, gutter - left - 10), left, middle - (lane.note ? 7.5 : 0));
  if (lane.note) {
    ctx.font = `11.5px ${theme.font}`;
    ctx.fillStyle = theme.soft;
    ctx.fillText(shortened(ctx, lane.note, gutter - left - 10), left, middle + 9);
  }
}

function drawChip(app, track, x, y) {
  const { ctx } = app;
  ctx.fillStyle = track.colour;
  ctx.beginPath();
  if (track.derived) ctx.roundRect(x - 5, y - 4, 10, 8, 2); else ctx.arc(x, y, 4.5, 0, 7);
  ctx.fill();
}

function shortened(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  let length = Math.min(text.length, 60);
  while (length > 1 && ctx.measureText(`${text.slice(0, length)}…`).width > room) length--;
  return `${text.slice(0, length)}…`;
}

const emphasising = (app) => app.lit !== null || app.matches !== null;
const emphasised = (app, event) => (app.lit ? app.lit[event] > 0 : app.matches[event] > 0);

function drawBand(app, lane, band) {
  const { store, view } = app;
  const [low, high] = visibleRange(store, band, view.from, view.to);
  let count = 0, covered = 0;
  for (let k = low; k < high; k++) {
    const event = band.members[k];
    if (store.end[event] < view.from) continue;
    count++;
    covered += Math.min(store.end[event], view.to) - Math.max(store.start[event], view.from);
  }
  const top = lane.top + band.y, room = app.size.width - app.gutter;
  const some = emphasising(app);
  band.heaped = covered > (view.to - view.from) * band.rowCount * 1.5;  // rows would be full from end to end
  band.dense = band.heaped || count > (band.intervals ? Math.min((room * band.rowCount) / DENSE, MOST_BARS) : room / CROWDED);
  band.plain = count > FEW_BARS;
  if (band.dense) {
    lane.dense = true;
    drawDensity(app, band, low, high, top, some ? 0.35 : 1);
  } else {
    drawMarks(app, band, low, high, top, some ? 0.16 : 1, some ? (event) => !emphasised(app, event) : null);
  }
  if (some) drawMarks(app, band, low, high, top, 1, (event) => emphasised(app, event));
}

function drawDensity(app, band, low, high, top, alpha) {
  const { ctx, store, view } = app, room = app.size.width - app.gutter, count = Math.ceil(room / BIN) + 1;
  const steps = new Float64Array(count + 1), scale = room / BIN / (view.to - view.from);
  for (let k = low; k < high; k++) {
    const event = band.members[k];
    if (store.end[event] < view.from) continue;
    const first = Math.max(0, Math.floor((store.start[event] - view.from) * scale));
    const last = Math.min(count - 1, Math.floor((store.end[event] - view.from) * scale));
    steps[first]++;
    steps[last + 1]--;
  }
  const counts = new Float64Array(count);
  let now = 0, most = 1;
  for (let i = 0; i < count; i++) most = Math.max(most, counts[i] = now += steps[i]);
  band.counts = counts;
  const height = band.rowCount * band.rowHeight, bottom = top + height;
  ctx.fillStyle = trackOf(store, band.members[low]).colour;
  ctx.globalAlpha = 0.75 * alpha;
  ctx.beginPath();
  for (let i = 0; i < count; i++) {
    if (!counts[i]) continue;
    const tall = Math.max(1.5, Math.sqrt(counts[i] / most) * (height - 2));
    ctx.rect(app.gutter + i * BIN, bottom - tall, BIN - 0.6, tall);
  }
  ctx.fill();
  ctx.globalAlpha = 1;
}

function drawMarks(app, band, low, high, top, alpha, chosen) {
  const { ctx, store, view } = app, before = new Float64Array(band.rowCount).fill(-Infinity);
  const flat = !band.intervals && !band.derived && crowded(app, band, low, high, chosen), bars = [];
  ctx.globalAlpha = alpha;
  for (let k = low; k < high; k++) {
    const event = band.members[k];
    if (store.end[event] < view.from || (chosen && !chosen(event))) continue;
    const row = band.rows[k], x = xOf(app, store.start[event]), end = xOf(app, store.end[event]);
    const special = event === app.hover || event === app.selected;
    if (end < before[row] + 1 && !special) continue;
    const middle = top + (row + 0.5) * band.rowHeight, track = trackOf(store, event);
    if (end - x >= 2.5) {
      if (band.plain && !special && band.rowHeight < 17) drawPlainBar(app, track, x, end, middle, band.rowHeight, alpha);
      else drawBar(app, event, track, x, end, middle, band.rowHeight, alpha);
      if (end - x > 44 && band.rowHeight > 12) bars.push([event, track, x, end, middle, row]);
    } else if (flat && !special) drawTick(app, track, x, middle);
    else drawMark(app, event, track, x, middle, x - before[row] < CLOSE, band.rowHeight);
    before[row] = Math.max(before[row], end);
  }
  writeBars(app, band, bars);
  ctx.globalAlpha = 1;
}

// Tells whether too many events of a band are too close for discs.
function crowded(app, band, low, high, chosen) {
  let close = 0, count = 0, before = -Infinity;
  for (let k = low; k < high; k++) {
    if (chosen && !chosen(band.members[k])) continue;
    const x = xOf(app, app.store.start[band.members[k]]);
    if (x - before < CLOSE) close++;
    before = x;
    count++;
  }
  return close > count * 0.3;
}

function drawTick(app, track, x, y) {
  app.ctx.fillStyle = track.colour;
  app.ctx.fillRect(x - 1, y - 8, 2, 16);
}

// A disc for what was given, a diamond for what was found; both smaller where they are close.
function drawMark(app, event, track, x, y, close, room) {
  const { ctx, theme } = app, special = event === app.hover || event === app.selected;
  const radius = Math.min(special ? 7 : close ? 3.6 : 5.2, Math.max(room / 2 - 1, 3));
  ctx.fillStyle = track.colour;
  ctx.beginPath();
  if (track.derived) { ctx.moveTo(x, y - radius - 1); ctx.lineTo(x + radius + 1, y); ctx.lineTo(x, y + radius + 1); ctx.lineTo(x - radius - 1, y); ctx.closePath(); }
  else ctx.arc(x, y, radius, 0, 7);
  ctx.fill();
  ctx.lineWidth = special ? 2 : 1.25;
  ctx.strokeStyle = special ? theme.ink : theme.surface;
  ctx.stroke();
}

// Without an outline, where there are many.
function drawPlainBar(app, track, x, end, middle, room, alpha) {
  const { ctx } = app, tall = room - 2, top = middle - tall / 2;
  const left = Math.max(x, app.gutter), right = Math.min(end - 1, app.size.width);
  ctx.fillStyle = track.colour;
  ctx.globalAlpha = alpha * 0.38;
  ctx.fillRect(left, top, Math.max(right - left, 1), tall);
  ctx.globalAlpha = alpha;
  if (end - 1 <= right) ctx.fillRect(Math.max(right - 2, left), top, Math.min(2, right - left), tall);
}

function drawBar(app, event, track, x, end, middle, room, alpha) {
  const { ctx, theme } = app, special = event === app.hover || event === app.selected, tall = room - (room > 12 ? 4 : 2);
  const left = Math.max(x, app.gutter - 8), right = Math.min(end, app.size.width + 8), width = Math.max(right - left - 1, 1.5);
  const top = middle - tall / 2, round = Math.min(tall > 8 ? 4 : 2, width / 2);
  ctx.beginPath();
  ctx.roundRect(left, top, width, tall, round);
  ctx.fillStyle = track.colour;
  ctx.globalAlpha = alpha * (special ? 0.5 : theme.dark ? 0.32 : 0.2);
  ctx.fill();
  ctx.globalAlpha = alpha;
  if (width > 3) {
    ctx.strokeStyle = special ? theme.ink : track.colour;
    ctx.lineWidth = special ? 1.75 : 1;
    ctx.stroke();
  }
  if (width > 9) {
    ctx.fillStyle = track.colour;  // the moment of detection
    ctx.beginPath();
    ctx.roundRect(left + width - 4, top, 4, tall, [0, round, round, 0]);
    ctx.fill();
  }
}

// The values of bars, up to where the next one of the row begins.
function writeBars(app, band, bars) {
  const { ctx, theme } = app, next = new Float64Array(band.rowCount).fill(Infinity);
  ctx.font = `${band.rowHeight > 17 ? 11.5 : 10}px ${theme.font}`;
  ctx.textBaseline = "middle";
  ctx.fillStyle = theme.ink;
  for (let k = bars.length - 1; k >= 0; k--) {
    const [event, track, x, end, middle, row] = bars[k];
    const from = Math.max(x, app.gutter) + 7, room = Math.min(end, app.size.width + 8, next[row]) - from - 10;
    next[row] = x;
    if (room > 26) ctx.fillText(barText(app, event, track, room), from, middle + 0.5);
  }
}

function barText(app, event, track, room) {
  const values = attributesOf(app.store, event).filter(([name, text]) => text !== null && name !== app.layout.mode);
  const written = (parts) => (app.layout.mode === "type" ? parts : [track.name, ...parts]).join(" · ") || track.name;
  const long = written(values.slice(0, 3).map(([name, text]) => `${name} ${text}`));
  if (app.ctx.measureText(long).width <= room) return long;
  return shortened(app.ctx, written(values.slice(0, 3).map(([, text]) => text)), room);
}

// Where an event is drawn; null if its type is hidden.
function boxOf(app, event) {
  const { place, lanes } = app.layout, lane = lanes[place.lane[event]];
  if (!lane) return null;
  const band = lane.bands[place.band[event]];
  const top = AXIS + lane.y - app.scroll;
  return {
    left: xOf(app, app.store.start[event]), right: xOf(app, app.store.end[event]), lane, band,
    y: top + band.y + (place.row[event] + 0.5) * band.rowHeight, shown: top + lane.height > AXIS && top < app.size.height,
  };
}

function drawLinks(app) {
  const { ctx, store, theme } = app, from = boxOf(app, app.selected);
  if (!from) return;
  const track = trackOf(store, app.selected);
  const others = track.derived ? sourcesOf(store, app.selected) : partsOf(store, app.selected);
  ctx.save();
  ctx.beginPath();
  ctx.rect(app.gutter, AXIS, app.size.width - app.gutter, app.size.height - AXIS);
  ctx.clip();
  ctx.lineWidth = 1.25;
  for (let k = 0; k < Math.min(others.length, MOST_LINES); k++) {
    const to = boxOf(app, others[k]);
    if (!to) continue;
    const [upper, lower, low] = track.derived ? [from, to, others[k]] : [to, from, app.selected];
    const x = (lower.left + lower.right) / 2, at = Math.min(Math.max(x, upper.left), upper.right);
    const top = upper.y + 8, bottom = lower.y - 7, bend = (top + bottom) / 2;
    ctx.strokeStyle = trackOf(store, low).colour;
    ctx.globalAlpha = others.length > 40 ? 0.28 : 0.7;
    ctx.beginPath();
    ctx.moveTo(at, top);
    ctx.bezierCurveTo(at, bend, x, bend, x, bottom);
    ctx.stroke();
  }
  ctx.restore();
  ctx.fillStyle = theme.ink;
}

// --- all of time

function drawOverview(app) {
  const { strip, theme, store } = app, ratio = devicePixelRatio || 1, { width, height } = fitCanvas(strip, ratio);
  const ctx = strip.getContext("2d");
  app.stripWidth = width;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  const first = stripX(app, 0), room = Math.max(stripX(app, store.last) - first, 3);
  drawDensityOf(ctx, store.density.given, first, room, height - 4, theme.given[0], 0.45);
  drawDensityOf(ctx, store.density.derived, first, room, height - 4, theme.found[0], 0.85);
  const inside = (x) => Math.min(Math.max(x, STRIP - 6), width - STRIP + 6);
  const left = inside(stripX(app, app.view.from)), right = Math.max(inside(stripX(app, app.view.to)), left + 3);
  ctx.fillStyle = theme.raised;
  ctx.globalAlpha = 0.66;
  ctx.fillRect(0, 0, left, height);
  ctx.fillRect(right, 0, width - right, height);
  ctx.globalAlpha = 1;
  ctx.strokeStyle = theme.accent;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.roundRect(left, 3, right - left, height - 6, 6);
  ctx.stroke();
  ctx.fillStyle = theme.accent;
  for (const x of [left, right]) {
    ctx.beginPath();
    ctx.roundRect(x - 3, height / 2 - 9, 6, 18, 3);
    ctx.fill();
  }
}

function drawDensityOf(ctx, counts, left, width, height, colour, alpha) {
  const bars = Math.max(1, Math.floor(width / 3)), sums = new Float64Array(bars);
  for (let i = 0; i < counts.length; i++) sums[Math.floor((i * bars) / counts.length)] += counts[i];
  const most = Math.max(1, ...sums);
  ctx.fillStyle = colour;
  ctx.globalAlpha = alpha;
  for (let i = 0; i < bars; i++) {
    const tall = sums[i] ? Math.max(2, Math.sqrt(sums[i] / most) * (height - 8)) : 0;
    ctx.fillRect(left + (i * width) / bars, height - tall + 2, width / bars - 0.8, tall);
  }
  ctx.globalAlpha = 1;
}

const STRIP = 16;  // beside the strip, so that its handles can be seen

const stripX = (app, time) => STRIP + ((time - app.whole.from) / (app.whole.to - app.whole.from)) * (app.stripWidth - 2 * STRIP);
const stripTime = (app, x) => app.whole.from + ((x - STRIP) / (app.stripWidth - 2 * STRIP)) * (app.whole.to - app.whole.from);
