// Data: the packed bytes of the page as typed arrays, and questions about single events.
// An event is its number, counted over all tracks; within a track, events are in the order of their starts.

const WIDTHS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array };

async function unpack(base64) {
  const packed = Uint8Array.from(atob(base64.trim()), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function readStore(buffer) {
  const headerLength = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, headerLength)));
  const base = 4 + headerLength;
  const column = (reference) =>
    reference && new WIDTHS[reference[0]](buffer, base + reference[1], reference[2]);

  const total = header.tracks.reduce((sum, track) => sum + track.start[2], 0);
  const store = {
    header, total, origin: BigInt(header.origin), last: header.last, timestamps: header.timestamps,
    start: new Float64Array(total), end: new Float64Array(total), trackOf: new Uint16Array(total),
    tracks: [], density: { given: column(header.density.given), derived: column(header.density.derived) },
  };
  let first = 0;
  header.tracks.forEach((written, number) => {
    const track = readTrack(written, first, column);
    track.number = number;
    store.tracks.push(track);
    const steps = column(written.start), lengths = column(written.length);
    let start = 0;
    for (let i = 0; i < track.count; i++) {
      start += steps[i];
      store.start[first + i] = start;
      store.end[first + i] = start + (lengths ? lengths[i] : 0);
    }
    store.trackOf.fill(number, first, first + track.count);
    first += track.count;
  });
  return store;
}

function readTrack(written, first, column) {
  const track = { ...written, first, count: written.start[2], instants: !written.length };
  track.attributes = written.attributes.map((attribute) => ({
    ...attribute, values: column(attribute.values), nulls: column(attribute.nulls),
  }));
  if (written.sources) {
    const counts = column(written.sources.counts);
    const ends = new Uint32Array(track.count + 1);
    for (let i = 0; i < track.count; i++) ends[i + 1] = ends[i] + counts[i];
    track.sources = { ends, events: column(written.sources.events), hidden: column(written.sources.hidden) };
  }
  return track;
}

const trackOf = (store, event) => store.tracks[store.trackOf[event]];

// The text of an attribute, or null.
function valueText(store, attribute, place) {
  const value = attribute.values[place];
  if (attribute.kind === "text") return value ? attribute.texts[value - 1] : null;
  if (attribute.nulls && attribute.nulls[place]) return null;
  return attribute.kind === "moment" ? store.times.momentText(value) : String(value);
}

function attributesOf(store, event) {
  const track = trackOf(store, event);
  return track.attributes.map((attribute) => [attribute.name, valueText(store, attribute, event - track.first)]);
}

// The given events that a detection came from.
function sourcesOf(store, event) {
  const { sources, first } = trackOf(store, event);
  return sources ? sources.events.subarray(sources.ends[event - first], sources.ends[event - first + 1]) : [];
}

function hiddenSources(store, event) {
  const { sources, first } = trackOf(store, event);
  return sources && sources.hidden ? sources.hidden[event - first] : 0;
}

// The detections that a given event is a source of.
function partsOf(store, event) {
  if (!store.owners) store.owners = invert(store);
  const { ends, events } = store.owners;
  return events.subarray(ends[event], ends[event + 1]);
}

function invert(store) {
  const ends = new Uint32Array(store.total + 1);
  const each = (visit) => {
    for (const track of store.tracks) {
      if (!track.sources) continue;
      for (let i = 0; i < track.count; i++) {
        for (let k = track.sources.ends[i]; k < track.sources.ends[i + 1]; k++) visit(track.sources.events[k], track.first + i);
      }
    }
  };
  each((source) => ends[source + 1]++);
  for (let i = 0; i < store.total; i++) ends[i + 1] += ends[i];
  const next = ends.slice(), events = new Uint32Array(ends[store.total]);
  each((source, owner) => { events[next[source]++] = owner; });
  return { ends, events };
}

// Detections of types that its rules use, made of nothing but its sources: what lies between it and what was given.
function betweenOf(store, event) {
  const sources = sourcesOf(store, event);
  if (!sources.length) return [];
  const own = new Set(sources), found = [], names = usedNames(store, trackOf(store, event).name);
  for (const track of store.tracks) {
    if (!track.derived || !track.sources || !names.has(track.name)) continue;
    for (let i = 0; i < track.count; i++) {
      const other = track.first + i, { ends, events } = track.sources;
      if (other === event || store.end[other] > store.end[event] || ends[i] === ends[i + 1]) continue;
      let inside = true;
      for (let k = ends[i]; inside && k < ends[i + 1]; k++) inside = own.has(events[k]);
      if (inside) found.push(other);
    }
  }
  return found;
}

function usedNames(store, name) {
  const found = new Set(), open = [name];
  while (open.length) {
    const track = store.tracks.find((each) => each.derived && each.name === open[open.length - 1]);
    open.pop();
    for (const used of track ? track.uses : []) {
      if (!found.has(used)) { found.add(used); open.push(used); }
    }
  }
  return found;
}
