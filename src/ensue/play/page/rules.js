// Rules: checked as they are typed, problems in a list below them.

const editor = new Editor(byId("editor"), {
  label: "Rules",
  onInput: () => { markDirty("rules"); checkSoon(); runSoon(); },
  onComplete: async (rules, position) => (await ask("complete", {rules, ...position})).completions ?? [],
  onHover: async (rules, position) => (await ask("hover", {rules, ...position})).hover ?? null,
});

async function check() {
  const rules = editor.text, current = newest("check");
  const found = await ask("check", {rules});
  if (!current() || found.superseded) return;
  if (found.failure) return showMessage(found.failure);
  editor.show(rules, found.tokens, found.problems);
  showProblems(rules, found.problems, found.more);
}
const checkSoon = later(check, CHECK_DELAY);

function showProblems(rules, problems, more) {
  const count = (severity) => problems.filter((problem) => problem.severity === severity).length;
  const errors = count("error"), warnings = count("warning");
  const badge = byId("state");
  badge.className = `state ${errors ? "error" : warnings ? "warning" : "fine"}`;
  badge.textContent = errors ? plural(errors, "error") : warnings ? plural(warnings, "warning") : rules.trim() ? "no errors" : "";
  const order = {error: 0, warning: 1, note: 2};
  const shown = [...problems].sort((one, other) => order[one.severity] - order[other.severity]);
  byId("problems").replaceChildren(...shown.map((problem) => {
    const item = element("li", problem.severity);
    const button = element("button");
    button.append(element("span", "where", `${problem.line}:${problem.column}`), prose("span", "text", problem.message), element("span", "code-of", problem.code));
    if (problem.hint) button.append(prose("span", "hint", problem.hint));
    button.addEventListener("click", () => editor.go(placeOf(editor.text, startsOf(editor.text), problem.line, problem.column)));
    item.append(button);
    return item;
  }), ...(more ? [element("li", "note", `… and ${more} more`)] : []));
}

async function format() {
  const rules = editor.text, {formatted, failure} = await ask("format", {rules});
  if (failure) return showMessage(failure);
  if (formatted === null || formatted === undefined) return toast("Fix the errors first: rules that cannot be read are not formatted.");
  if (editor.text !== rules || formatted === rules) return toast("The rules are formatted already.");
  const {line} = editor.position();
  editor.replace(0, rules.length, formatted);
  editor.goToLine(Math.min(line, startsOf(formatted).length));
}
