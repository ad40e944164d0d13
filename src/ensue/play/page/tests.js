// Tests of the rules, run with a click; their events can be tried.

async function runTests() {
  choose("tests");
  byId("tests").replaceChildren(element("p", "lead busy", "Running the tests…"));
  const rules = editor.text, current = newest("test");
  const found = await evaluate("test");
  if (!current()) return;
  if (found.superseded) return byId("tests").replaceChildren();
  if (found.wrong) found.failure = "Fix the errors in the rules to run their tests.";
  if (found.failure) return byId("tests").replaceChildren(prose("p", "lead failed", found.failure));
  const passed = found.tests.filter((test) => test.passed).length, failed = found.tests.length - passed;
  byId("tests-count").textContent = found.tests.length ? (failed ? `${failed} failed` : String(passed)) : "";
  byId("tests-count").className = failed ? "count failed" : "count passed";
  state.tested = rules;
  const text = found.tests.length ? `${passed} passed, ${failed} failed` : "The rules have no tests yet. One is written: test \"…\" given … expect ….";
  byId("tests").replaceChildren(element("p", failed ? "lead failed" : "lead", text), ...found.tests.map(testOf));
}

function testOf(test) {
  const row = element("article", `test ${test.passed ? "passed" : "failed"}`);
  const head = element("header");
  const line = element("button", "link", `line ${test.line}`);
  line.addEventListener("click", () => goToLine(test.line));
  const take = element("button", "small", "Try its events");
  take.title = "Put the events of this test into the table, to look at them and change them";
  take.addEventListener("click", () => tryTest(test.title));
  head.append(element("span", "mark", test.passed ? "passed" : "failed"), element("b", "", test.title), line, take);
  row.append(head);
  if (test.error) row.append(element("pre", "", test.error));
  for (const event of test.missing) row.append(element("pre", "missing", `missing     ${event}`));
  for (const event of test.unexpected) row.append(element("pre", "unexpected", `unexpected  ${event}`));
  return row;
}

async function tryTest(title) {
  const found = await evaluate("given", title === null ? {} : {test: title});
  if (found.failure || found.superseded || found.wrong) return found.failure && showMessage(found.failure);
  if (!found.events) return;
  setSettings(found.until, found.params);
  setEvents(found.events, true);
  state.cut = false;
  nameOf("events", null);
  byId("events-name").textContent = `of the test “${found.test}”`;
  choose("detections");
}
