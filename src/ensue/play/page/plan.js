// The plan of each rule as a tree: what each part takes, keeps and costs.

function planOf(plan, goToLine, colour) {
  const made = element("div", "plans");
  if (plan.events !== null) made.append(element("p", "lead", `Counted with ${plan.events.toLocaleString("en")} events.`));
  for (const rule of plan.rules) {
    const card = element("article", "card");
    const head = element("header");
    const name = element("span", "type", rule.event);
    name.style.setProperty("--hue", String(colour(rule.event)));
    const line = element("button", "link", `line ${rule.line}`);
    line.addEventListener("click", () => goToLine(rule.line));
    head.append(name);
    if (rule.name !== rule.event) head.append(element("b", "", rule.name));
    head.append(line, element("span", rule.bounded ? "badge" : "badge warn", rule.bounded ? `memory: ${rule.memory}` : "memory grows without bound"));
    card.append(head);
    if (rule.title) card.append(element("p", "title", rule.title));
    if (rule.details.length) card.append(element("p", "detail", rule.details.join(" · ")));
    const tree = element("ul", "tree");
    tree.append(partOf(rule.tree));
    card.append(tree);
    made.append(card);
  }
  if (plan.stages.length) {
    const card = element("article", "card stages");
    card.append(element("header", "", "On Spark"));
    const list = element("ol");
    for (const stage of plan.stages) list.append(element("li", "", stage));
    card.append(list);
    made.append(card);
  }
  if (!plan.rules.length) made.append(element("p", "nothing", "There are no rules for events yet."));
  return made;
}

function partOf(part) {
  const item = element("li", `part ${part.kind}`);
  const box = element("div", "box");
  box.append(element("code", "", part.title));
  if (part.observed) box.append(element("span", "observed", part.observed));
  for (const note of part.notes) box.append(prose("div", note.unbounded ? "note warn" : "note", note.text));
  box.append(element("div", "cost", part.cost));
  item.append(box);
  if (part.parts.length) {
    const inner = element("ul");
    inner.append(...part.parts.map(partOf));
    item.append(inner);
  }
  return item;
}
