// The editor: a text area above a painted copy of its text. The browser keeps its undo, selection and input methods; the
// copy below has colours and marks. Lines and columns of the server count characters from one; places here count UTF-16.

class Editor {
  constructor(root, {label, onInput, onComplete, onHover}) {
    this.root = root;
    this.onInput = onInput;
    this.onComplete = onComplete;
    this.onHover = onHover;
    this.words = new Map();
    this.seen = new Map();
    this.tokens = null;
    this.marks = [];
    this.lines = [];
    this.gutter = element("div", "gutter");
    this.gutter.setAttribute("aria-hidden", "true");
    this.paint = element("pre", "paint");
    this.paint.setAttribute("aria-hidden", "true");
    this.area = element("textarea", "area");
    this.area.placeholder = "# Declare events, then write rules; or choose an example above.\nevent order(id: int, qty: int).\nbig(id) <- order(id, q), q > 10.";
    for (const [name, value] of Object.entries({spellcheck: "false", autocapitalize: "off", autocomplete: "off",
      autocorrect: "off", wrap: "off", "aria-label": label})) this.area.setAttribute(name, value);
    const code = element("div", "code");
    code.append(this.paint, this.area);
    root.append(this.gutter, code);
    this.last = "";
    this.area.addEventListener("input", () => this.changed());
    this.area.addEventListener("keydown", (event) => this.key(event));
    this.area.addEventListener("blur", () => setTimeout(() => this.closeCompletions(), 150));
    this.area.addEventListener("click", () => this.closeCompletions());
    this.root.addEventListener("scroll", () => { hideHover(); if (this.completing) this.showCompletions(); });
    this.area.addEventListener("mousemove", (event) => this.hovering(event));
    this.area.addEventListener("mouseleave", () => { clearTimeout(this.hoverTimer); hideHover(); });
    new ResizeObserver(() => document.activeElement === this.area && this.reveal()).observe(root);
    this.draw();
  }

  get text() { return this.area.value; }

  set(text) {
    this.area.value = text;
    this.tokens = null;
    this.marks = [];
    this.last = text;
    this.area.setSelectionRange(0, 0);
    this.root.scrollTop = 0;
    this.draw();
  }

  // Replace a part of the text so that it can be undone.
  replace(from, to, text) {
    this.area.focus();
    this.area.setSelectionRange(from, to);
    if (!document.execCommand("insertText", false, text)) {
      this.area.setRangeText(text, from, to, "end");
      this.changed();
    }
  }

  changed() {
    const before = this.last, after = this.text;
    let start = 0;
    while (start < before.length && start < after.length && before[start] === after[start]) start++;
    let end = 0;
    while (end < before.length - start && end < after.length - start &&
      before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
    const moved = after.length - before.length, edge = before.length - end;
    const move = (at) => (at <= start ? at : at >= edge ? at + moved : start);
    this.marks = this.marks.map((mark) => ({...mark, from: move(mark.from), to: move(mark.to)})).filter((mark) => mark.to > mark.from);
    this.tokens = null;
    this.last = after;
    this.draw();
    this.reveal();
    hideHover();
    this.onInput();
    this.maybeComplete(before.length, after.length);
  }

  // Colours and problems that the server found for a text; nothing happens if that is not the text any more.
  show(text, tokens, problems) {
    if (text !== this.text) return;
    const units = unitsOf(text);
    this.tokens = tokens.map(([from, to, kind]) => [units(from), units(to), kind]);
    this.seen = new Map(this.tokens.filter(([from]) => WORD.test(text[from])).map(([from, to, kind]) => [text.slice(from, to), kind]));
    const starts = startsOf(text);
    this.marks = problems.map((problem) => ({...problem,
      from: placeOf(text, starts, problem.line, problem.column),
      to: placeOf(text, starts, problem.end_line, problem.end_column)}));
    this.draw();
  }

  // What to paint: [from, to, kind] in order. While the server has not answered, words keep the kind they last had.
  kinds(text) {
    if (this.tokens) return this.tokens;
    const found = [];
    for (const match of text.matchAll(LEXER)) {
      const kind = LEXED[match.findIndex((part, at) => at > 0 && part !== undefined)];
      const word = kind === "word" || kind === "quoted" ? this.seen.get(match[0]) ?? this.words.get(match[0]) ?? "variable" : kind;
      found.push([match.index, match.index + match[0].length, word]);
    }
    return found;
  }

  draw() {
    const text = this.text, kinds = this.kinds(text);
    const starts = startsOf(text);
    let at = 0;
    const marks = [...this.marks].sort((one, other) => one.from - other.from);
    const lines = [];
    for (let number = 0; number < starts.length; number++) {
      const from = starts[number], to = number + 1 < starts.length ? starts[number + 1] - 1 : text.length;
      while (at < kinds.length && kinds[at][1] <= from) at++;
      const pieces = [];
      for (let next = at; next < kinds.length && kinds[next][0] < to; next++) {
        pieces.push([Math.max(from, kinds[next][0]), Math.min(to, kinds[next][1]), kinds[next][2]]);
      }
      const own = marks.filter((mark) => mark.from < to + 1 && mark.to > from);
      lines.push(lineOf(text, from, to, pieces, own));
    }
    // Only lines that differ are painted anew: those between what is the same at the beginning and at the end.
    let head = 0;
    while (head < lines.length && head < this.lines.length && lines[head].key === this.lines[head].key) head++;
    let tail = 0;
    while (tail < lines.length - head && tail < this.lines.length - head &&
      lines[lines.length - 1 - tail].key === this.lines[this.lines.length - 1 - tail].key) tail++;
    for (let drop = this.lines.length - tail - head; drop > 0; drop--) this.paint.children[head].remove();
    const after = this.paint.children[head] ?? null;
    for (const line of lines.slice(head, lines.length - tail)) this.paint.insertBefore(line.make(), after);
    this.lines = lines;
    while (this.gutter.children.length < lines.length) {
      this.gutter.append(element("div", "", String(this.gutter.children.length + 1)));
    }
    while (this.gutter.children.length > lines.length) this.gutter.lastChild.remove();
    lines.forEach((line, number) => {
      if (this.gutter.children[number].dataset.severity !== line.severity) this.gutter.children[number].dataset.severity = line.severity;
    });
  }

  // The place of the caret on the screen.
  rect(place = this.area.selectionStart) {
    const starts = startsOf(this.text);
    let line = starts.findIndex((start) => start > place);
    line = line < 0 ? starts.length - 1 : line - 1;
    const row = this.paint.children[line];
    let left = place - starts[line];
    const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (left <= node.length) {
        const range = document.createRange();
        range.setStart(node, left);
        range.collapse(true);
        const found = range.getClientRects()[0] ?? range.getBoundingClientRect();
        if (found.height) return found;
        break;
      }
      left -= node.length;
    }
    return row.getBoundingClientRect();
  }

  // Scroll so that the caret can be seen.
  reveal() {
    const caret = this.rect(), box = this.root.getBoundingClientRect(), margin = 24;
    if (caret.bottom > box.bottom - margin) this.root.scrollTop += caret.bottom - box.bottom + margin;
    if (caret.top < box.top + margin) this.root.scrollTop -= box.top + margin - caret.top;
    if (caret.left > box.right - margin) this.root.scrollLeft += caret.left - box.right + 4 * margin;
    if (caret.left < box.left + 3 * margin) this.root.scrollLeft -= box.left + 3 * margin - caret.left;
  }

  go(place) {
    this.area.focus({preventScroll: true});
    this.area.setSelectionRange(place, place);
    this.reveal();
  }

  goToLine(line) { this.go(startsOf(this.text)[line - 1] ?? 0); }

  // Line and column of a place, as the server counts them.
  position(place = this.area.selectionStart) {
    const before = this.text.slice(0, place).split("\n");
    return {line: before.length, column: [...before[before.length - 1]].length + 1};
  }

  key(event) {
    if (this.completing && this.completionKey(event)) return;
    const {selectionStart: from, selectionEnd: to} = this.area;
    const command = event.ctrlKey || event.metaKey;
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      this.complete(true);
    } else if (event.key === "Escape") {
      this.leaving = true; // then Tab leaves the editor
      return;
    } else if (event.key === "Tab" && !this.leaving && !command && !event.altKey) {
      event.preventDefault();
      if (from === to && !event.shiftKey) this.replace(from, to, "  ");
      else this.eachLine(from, to, (line) => (event.shiftKey ? line.replace(/^ {1,2}|^\t/, "") : line && `  ${line}`));
    } else if (event.key === "Enter" && !command && !event.isComposing) {
      event.preventDefault();
      const line = this.text.slice(this.text.lastIndexOf("\n", from - 1) + 1, from);
      const indent = /^[ \t]*/.exec(line)[0];
      const deeper = /(<-|:-|,)\s*$/.test(line) && !indent ? "    " : indent;
      this.replace(from, to, `\n${/\.\s*(#.*)?$/.test(line) ? "" : deeper}`);
    } else if (event.key === "/" && command) {
      event.preventDefault();
      const lines = this.text.slice(...this.wholeLines(from, to)).split("\n");
      const off = lines.every((line) => !line.trim() || line.trimStart().startsWith("#"));
      this.eachLine(from, to, (line) => (off ? line.replace(/^(\s*)# ?/, "$1") : line.trim() ? `# ${line}` : line));
    }
    this.leaving = false;
  }

  wholeLines(from, to) {
    const end = this.text.indexOf("\n", Math.max(from, to - 1));
    return [this.text.lastIndexOf("\n", from - 1) + 1, end < 0 ? this.text.length : end];
  }

  eachLine(from, to, change) {
    const [start, end] = this.wholeLines(from, to);
    const lines = this.text.slice(start, end).split("\n").map(change).join("\n");
    this.replace(start, end, lines);
    this.area.setSelectionRange(start, start + lines.length);
  }

  // Completion: asked for with Ctrl+Space, or while a word is typed.
  maybeComplete(before, after) {
    const place = this.area.selectionStart, typed = this.text[place - 1] ?? "";
    clearTimeout(this.completionTimer);
    if (after < before && !this.completing) return;
    if (!/[\p{L}\p{N}_.`]/u.test(typed)) return this.closeCompletions();
    this.completionTimer = setTimeout(() => this.complete(false), 60);
  }

  async complete(asked) {
    const text = this.text, place = this.area.selectionStart;
    const found = await this.onComplete(text, this.position(place));
    if (this.text !== text || this.area.selectionStart !== place || document.activeElement !== this.area) return;
    if (!found.length) return this.closeCompletions();
    const starts = startsOf(text);
    this.completing = {found, at: 0, chosen: asked, place, starts, text};
    this.showCompletions();
  }

  showCompletions() {
    const {found, at, place} = this.completing, popup = byId("completions");
    popup.replaceChildren(...found.map((each, number) => {
      const row = element("div", "option");
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", String(number === at));
      row.append(element("span", `word k-${each.kind}`, each.text), element("span", "detail", each.detail || each.kind));
      if (number === at && each.sentence) row.append(element("span", "sentence", each.sentence));
      row.addEventListener("mousedown", (event) => { event.preventDefault(); this.accept(number); });
      return row;
    }));
    popup.hidden = false;
    placeBelow(popup, this.rect(place));
    popup.children[at]?.scrollIntoView({block: "nearest"});
  }

  closeCompletions() {
    this.completing = null;
    byId("completions").hidden = true;
  }

  completionKey(event) {
    const {found, at, chosen} = this.completing;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.completing.at = (at + (event.key === "ArrowDown" ? 1 : found.length - 1)) % found.length;
      this.completing.chosen = true;
      this.showCompletions();
      return true;
    }
    if ((event.key === "Tab" && !event.shiftKey) || (event.key === "Enter" && chosen)) {
      event.preventDefault();
      this.accept(at);
      return true;
    }
    if (event.key === "Escape") {
      event.preventDefault();
      this.closeCompletions();
      return true;
    }
    if (["ArrowLeft", "ArrowRight", "Home", "End", "Enter"].includes(event.key)) this.closeCompletions();
    return false;
  }

  accept(number) {
    const {found, text, starts} = this.completing, each = found[number];
    const from = placeOf(text, starts, each.replaces.line, each.replaces.column);
    const to = placeOf(text, starts, each.replaces.end_line, each.replaces.end_column);
    this.closeCompletions();
    this.replace(from, to, each.text);
    clearTimeout(this.completionTimer);
  }

  hovering(event) {
    clearTimeout(this.hoverTimer);
    if (event.buttons) return;
    const {clientX: x, clientY: y} = event;
    this.hoverTimer = setTimeout(() => this.hover(x, y), 300);
  }

  async hover(x, y) {
    const text = this.text, starts = startsOf(text);
    const row = [...this.paint.children].findIndex((line) => y < line.getBoundingClientRect().bottom);
    if (row < 0 || this.completing) return hideHover();
    const end = row + 1 < starts.length ? starts[row + 1] - 1 : text.length;
    const left = this.paint.getBoundingClientRect().left + parseFloat(getComputedStyle(this.paint).paddingLeft);
    const place = starts[row] + Math.floor((x - left) / this.width());
    if (place < starts[row] || place >= end) return hideHover();
    const problems = this.marks.filter((mark) => mark.from <= place && place < mark.to);
    const found = await this.onHover(text, this.position(place));
    if (this.text !== text) return;
    showHover(problems, found, this.rect(place));
  }

  width() {
    if (!this.letter) {
      const probe = element("span", "probe", "0".repeat(100));
      this.paint.parentNode.append(probe);
      this.letter = probe.getBoundingClientRect().width / 100;
      probe.remove();
    }
    return this.letter;
  }
}

function showHover(problems, found, rect) {
  const popup = byId("hover");
  const parts = [];
  for (const problem of problems) {
    const part = element("div", `problem ${problem.severity}`);
    part.append(prose("b", "", problem.message), element("span", "code-of", problem.code));
    if (problem.hint) part.append(prose("div", "hint", problem.hint));
    parts.push(part);
  }
  if (found) {
    const part = element("div", "about");
    part.append(element("code", "", found.code));
    for (const sentence of found.sentences) part.append(prose("div", "", sentence));
    parts.push(part);
  }
  if (!parts.length) return hideHover();
  popup.replaceChildren(...parts);
  popup.hidden = false;
  placeBelow(popup, rect);
}

function hideHover() { byId("hover").hidden = true; }
