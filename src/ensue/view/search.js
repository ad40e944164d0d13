// Search: `tea` finds it in any value or name of a type, `id=42` finds exactly that value.

function search(store, query) {
  const wanted = query.trim();
  if (!wanted) return null;
  const found = new Uint8Array(store.total);
  const [, name, value] = /^([^=]+)=(.*)$/.exec(wanted) || [];
  const needle = wanted.toLowerCase();
  const known = name !== undefined && store.tracks.some((track) => track.attributes.some((each) => each.name === name.trim()));
  for (const track of store.tracks) {
    if (!known && track.name.toLowerCase().includes(needle)) found.fill(1, track.first, track.first + track.count);
    for (const attribute of track.attributes) {
      if (known && attribute.name !== name.trim()) continue;
      const fits = known ? (text) => text === value.trim() : (text) => text.toLowerCase().includes(needle);
      markFitting(store, track, attribute, fits, known ? null : needle, found);
    }
  }
  return found;
}

// Numbers are written out only for what may be in one.
const couldBeNumber = (kind, needle) => ({ int: /^[-\d]+$/, float: /^[-+.\dnaifty]+$|e/i, moment: /^[-:. \d]+$/ })[kind].test(needle);

function markFitting(store, track, attribute, fits, digits, found) {
  if (attribute.kind === "text") {  // each different value is looked at once
    const fitting = attribute.texts.map(fits);
    for (let i = 0; i < track.count; i++) {
      const code = attribute.values[i];
      if (code && fitting[code - 1]) found[track.first + i] = 1;
    }
    return;
  }
  if (digits && !couldBeNumber(attribute.kind, digits)) return;
  for (let i = 0; i < track.count; i++) {
    const text = valueText(store, attribute, i);
    if (text !== null && fits(text)) found[track.first + i] = 1;
  }
}

function countMarked(marks) {
  let count = 0;
  for (let i = 0; i < marks.length; i++) count += marks[i];
  return count;
}

// The marked event after (or before) another one in the order of time, around the end.
function nextMarked(store, marks, from, backward) {
  const order = (a, b) => store.end[a] - store.end[b] || a - b;
  let best = -1, outermost = -1;
  const better = (a, b) => (backward ? order(a, b) > 0 : order(a, b) < 0);
  for (let event = 0; event < store.total; event++) {
    if (!marks[event]) continue;
    if (outermost < 0 || better(event, outermost)) outermost = event;
    if (from >= 0 && (backward ? order(event, from) >= 0 : order(event, from) <= 0)) continue;
    if (best < 0 || better(event, best)) best = event;
  }
  return best < 0 ? outermost : best;
}
