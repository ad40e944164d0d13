// Why something was detected, or why it was not: a small timeline for each match, or for each attempt that came near.

const SIGNS = {event: "•", timer: "┄", collected: "•", window: "▫", absent: "∅", row: "▫", condition: "✓", time: "✓", note: ""};

function whyOf(why, goToLine) {
  const made = element("div", "answers");
  for (const detected of why.found ?? []) made.append(detectedOf(detected, goToLine));
  if (why.more) made.append(element("p", "lead", `… and ${why.more.toLocaleString("en")} more that fit.`));
  if (why.missing) made.append(missingOf(why.missing, goToLine));
  for (const note of why.notes ?? []) made.append(prose("p", "lead", note));
  return made;
}

function detectedOf(detected, goToLine) {
  const card = element("article", "card detected");
  const {start, end} = detected.event;
  const [first, last] = [start, end].map((time) => shownTime(String(time)));
  const head = element("header", "", detected.event.text);
  head.append(element("span", "when", first === last ? first : `${first} – ${last}`));
  card.append(head);
  for (const {rule, lines} of detected.derivations) card.append(placeOfRule(rule, goToLine), linesOf(lines ?? [], goToLine));
  if (detected.more) card.append(element("p", "detail", `… and by ${detected.more.toLocaleString("en")} more matches.`));
  return card;
}

function missingOf(missing, goToLine) {
  const card = element("article", "card missing");
  card.append(element("header", "", `There is no ${missing.text}`));
  for (const note of missing.notes ?? []) card.append(prose("p", "detail", note));
  for (const {rule, attempts, more, limited} of missing.rules ?? []) {
    card.append(placeOfRule(rule, goToLine));
    for (const attempt of attempts ?? []) {
      const tried = element("div", "attempt");
      for (const stop of attempt.stops ?? []) {
        tried.append(prose("div", "stop", stop.text));
        for (const inner of stop.inner ?? []) tried.append(inner.derivations ? detectedOf(inner, goToLine) : missingOf(inner, goToLine));
      }
      tried.append(linesOf(attempt.lines ?? [], goToLine));
      card.append(tried);
    }
    if (more) card.append(element("p", "detail", `… and ${more.toLocaleString("en")} more attempts, which come less near.`));
    if (limited) card.append(element("p", "detail", "There was too much to look at all of it."));
  }
  return card;
}

function placeOfRule(rule, goToLine) {
  const place = element("div", "place");
  const line = element("button", "link", `line ${rule.line}`);
  line.addEventListener("click", () => goToLine(rule.line));
  place.append(element("span", "", rule.name ? `rule ${rule.name}` : `rule for ${rule.event}`), line);
  return place;
}

function linesOf(lines, goToLine) {
  const list = element("ol", "lines");
  for (const line of lines) {
    const item = element("li", `happened ${line.kind}`);
    const [start, end] = [line.start, line.end].map((time) => (time === undefined ? "" : shownTime(String(time))));
    item.append(element("span", "when", start && end && start !== end ? `${start} – ${end}` : start || end),
      element("span", "sign", SIGNS[line.kind] ?? ""), prose("span", "text", line.text));
    for (const inner of line.inner ?? []) {
      const unfolded = element("details");
      unfolded.open = lines.length < 6;
      unfolded.append(element("summary", "", "why?"), detectedOf(inner, goToLine));
      item.append(unfolded);
    }
    list.append(item);
  }
  return list;
}

function whyDetection(row) {
  state.question = {detection: row.raw};
  const {type, start, end, ...rest} = row.values;
  byId("why-type").value = type;
  byId("why-key").value = Object.entries(rest).filter(([, value]) => value !== null).map(([name, value]) => `${name}=${cellOf(value)}`).join(", ");
  byId("why-at").value = cellOf(end);
  choose("why");
}

function askWhy() {
  state.question = {type: byId("why-type").value, key: paramsOf(byId("why-key").value), at: byId("why-at").value.trim()};
  showWhy();
}

async function showWhy() {
  const answer = byId("why-answer");
  if (!state.question) {
    return answer.replaceChildren(element("p", "nothing", "Click a detection to see what it came from. For one that is missing, enter above what should have been detected, and press Ask."));
  }
  const current = newest("why");
  const busy = setTimeout(() => current() && answer.replaceChildren(element("p", "nothing busy", "Looking…")), 500);
  const found = await evaluate("why", state.question);
  clearTimeout(busy);
  if (!current() || found.superseded || found.wrong) return;
  if (found.failure) return answer.replaceChildren(prose("p", "lead failed", found.failure));
  answer.replaceChildren(whyOf(found.why, goToLine));
}
