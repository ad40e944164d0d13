// Files: what is changed, saving, and examples to start from.

function nameOf(which, name) {
  state.names[which] = name;
  state.dirty[which] = false;
  showNames();
}

function showNames() {
  for (const which of ["rules", "events"]) {
    const at = byId(`${which}-name`);
    at.textContent = state.names[which] ?? "";
    at.classList.toggle("dirty", state.dirty[which]);
    at.title = state.dirty[which] ? "changed since it was saved" : "";
  }
}

function markDirty(which) {
  if (state.dirty[which]) return;
  state.dirty[which] = true;
  byId(`${which}-name`).classList.add("dirty");
}

async function save(which) {
  const text = which === "rules" ? editor.text : state.events;
  let name = null, replace = false;
  if (!state.names[which]) {
    name = await question(`Save the ${which} in the folder in which the playground was started, as:`, which === "rules" ? "rules.ensue" : "events.jsonl", "Save");
    if (name === null) return;
  }
  for (;;) {
    const answer = await ask("save", {which, text, name, replace});
    if (answer.ask) {
      if ((await question(answer.ask, null, "Replace")) === null) return;
      replace = true;
      continue;
    }
    if (answer.failure) return toast(answer.failure, true);
    nameOf(which, answer.saved);
    return toast(`Saved ${answer.saved}`);
  }
}

// Asks for a name, or for yes or no where none is needed; null if it is cancelled.
function question(text, name, yes) {
  const dialog = byId("ask"), input = byId("ask-name");
  byId("ask-text").textContent = text;
  byId("ask-yes").textContent = yes;
  input.hidden = name === null;
  input.value = name ?? "";
  dialog.returnValue = "";
  dialog.showModal();
  if (name !== null) { input.focus(); input.setSelectionRange(0, name.lastIndexOf(".")); }
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes" ? input.value.trim() : null), {once: true});
  });
}

async function takeExample(name) {
  if ((state.dirty.rules || state.dirty.events) && (await question("Replace what you have written with the example?", null, "Replace")) === null) {
    byId("examples").value = "";
    return;
  }
  const found = await ask("example", {name});
  if (found.failure) return showMessage(found.failure);
  state.hidden.clear();
  state.hues.clear();
  state.question = null;
  for (const id of ["why-key", "why-at"]) byId(id).value = "";
  state.cut = false;
  editor.set(found.rules);
  setSettings(found.until, found.params);
  setEvents(found.events ?? "", false);
  for (const which of ["rules", "events"]) nameOf(which, null);
  if (found.test) byId("events-name").textContent = `of the test “${found.test}”`;
  byId("tests").replaceChildren(element("p", "lead", "Run tests to see whether they pass."));
  byId("tests-count").textContent = "";
  check();
  run();
}
