// Lanes: which events are drawn in which lane and row. A lane has bands: detections above what was given.
// Events of a band are in the order of their starts; `reach` is the largest end so far, so that a view finds its first.

const MARKS = { type: 26, key: 20 }, PADDING = 7, HEADING = 26, LEAST_LANE = 42;
const MOST_ROWS = { type: 20, key: 6 };

// The more rows there are, the flatter they get.
const rowHeight = (rows) => (rows <= 6 ? 20 : rows <= 9 ? 17 : rows <= 13 ? 13 : 9);

// The attributes that lanes can be values of: those that several types share first.
function keyNames(store) {
  const found = new Map();
  for (const track of store.tracks) {
    for (const attribute of track.attributes) {
      if (attribute.kind === "float" || !track.count) continue;
      found.set(attribute.name, (found.get(attribute.name) || 0) + 1);
    }
  }
  return [...found].sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

// `inset` is room for the name of a lane above its events, where there is none beside them.
function makeLanes(store, mode, hidden, matches, inset) {
  const lanes = mode === "type" ? lanesByType(store, hidden) : lanesByKey(store, mode, hidden, matches);
  const place = { lane: new Int32Array(store.total).fill(-1), band: new Uint8Array(store.total), row: new Uint8Array(store.total) };
  let y = 0;
  lanes.forEach((lane, number) => {
    lane.y = y;
    let inner = PADDING + inset;
    lane.bands.forEach((band, which) => {
      band.y = inner;
      inner += band.rowCount * band.rowHeight;
      for (let k = 0; k < band.members.length; k++) {
        const event = band.members[k];
        place.lane[event] = number; place.band[event] = which; place.row[event] = band.rows[k];
      }
    });
    lane.height = lane.heading ? HEADING : Math.max(inner + PADDING, LEAST_LANE);
    if (!lane.heading && lane.bands.length) {
      const spare = (lane.height - inner - PADDING) / 2;
      for (const band of lane.bands) band.y += Math.max(0, spare);
    }
    y += lane.height;
  });
  return { lanes, place, height: y, mode };
}

function lanesByType(store, hidden) {
  const lanes = [];
  for (const derived of [true, false]) {
    const tracks = store.tracks.filter((track) => track.derived === derived && !hidden.has(track.number));
    if (!tracks.length) continue;
    lanes.push({ heading: true, label: derived ? "Detections" : "Events", bands: [], derived });
    for (const track of tracks) {
      const members = new Int32Array(track.count);
      for (let i = 0; i < track.count; i++) members[i] = track.first + i;
      lanes.push({ label: track.name, note: countText(track), track, derived, bands: [makeBand(store, members, "type")] });
    }
  }
  return lanes;
}

const countText = (track) =>
  track.count === track.total ? grouped(String(track.total)) : `${grouped(String(track.count))} of ${grouped(String(track.total))}`;

function lanesByKey(store, name, hidden, matches) {
  const keys = new Map();
  const rest = { found: [], given: [] };
  for (const track of store.tracks) {
    if (hidden.has(track.number)) continue;
    const attribute = track.attributes.find((each) => each.name === name);
    for (let i = 0; i < track.count; i++) {
      const text = attribute ? valueText(store, attribute, i) : null;
      let key = rest;
      if (text !== null) {
        key = keys.get(text);
        if (!key) keys.set(text, key = { text, found: [], given: [], matched: false });
      }
      (track.derived ? key.found : key.given).push(track.first + i);
      if (matches && matches[track.first + i]) key.matched = true;
    }
  }
  const inOrder = (list) => Int32Array.from(list).sort((a, b) => store.start[a] - store.start[b] || a - b);
  const lane = (label, key) => ({
    label,
    note: key.found.length ? `${key.found.length} found` : "",
    derived: key.found.length > 0,
    bands: [
      ...(key.found.length ? [makeBand(store, inOrder(key.found), "key")] : []),
      ...(key.given.length ? [makeBand(store, inOrder(key.given), "key")] : []),
    ],
  });
  const wanted = [...keys.values()].filter((key) => !matches || key.matched);
  wanted.sort((a, b) => (b.found.length > 0) - (a.found.length > 0) || firstOf(store, a) - firstOf(store, b));
  const lanes = wanted.map((key) => lane(key.text === "" ? "(empty)" : key.text, key));
  if (rest.found.length + rest.given.length && !matches) lanes.push(lane(`without ${name}`, rest));
  return lanes;
}

const firstOf = (store, key) => Math.min(key.given.length ? store.start[key.given[0]] : Infinity, key.found.length ? store.start[key.found[0]] : Infinity);

function makeBand(store, members, kind) {
  const count = members.length, reach = new Float64Array(count), rows = new Uint8Array(count);
  const derived = count > 0 && trackOf(store, members[0]).derived;
  let intervals = false, far = -Infinity;
  for (let k = 0; k < count; k++) {
    const event = members[k];
    if (store.end[event] > store.start[event]) intervals = true;
    far = Math.max(far, store.end[event]);
    reach[k] = far;
  }
  const stacked = intervals || derived;
  const rowCount = stacked ? stack(store, members, rows, MOST_ROWS[kind]) : 1;
  return { members, rows, reach, rowCount, intervals, derived, rowHeight: stacked ? rowHeight(rowCount) : MARKS[kind] };
}

// The first row that is free; where none is, that which is free first.
function stack(store, members, rows, most) {
  const free = [];
  for (let k = 0; k < members.length; k++) {
    const start = store.start[members[k]];
    let row = free.findIndex((end) => end < start);
    if (row < 0) row = free.length < most ? free.length : free.indexOf(Math.min(...free));
    free[row] = Math.max(free[row] ?? -Infinity, store.end[members[k]]);
    rows[k] = row;
  }
  return Math.max(free.length, 1);
}

// The members of a band that a view may touch: from `low` on, before `high`.
function visibleRange(store, band, from, to) {
  return [
    firstWhere(band.members.length, (k) => band.reach[k] >= from),
    firstWhere(band.members.length, (k) => store.start[band.members[k]] > to),
  ];
}

function firstWhere(count, holds) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle; else low = middle + 1;
  }
  return low;
}
