// What the page knows, and how it asks the server: the newest answer of each kind counts.

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
