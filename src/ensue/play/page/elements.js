// Elements of the page. Text is always set as text, never as markup.

function placeBelow(popup, rect) {
  const {width, height} = popup.getBoundingClientRect();
  const below = rect.bottom + 4 + height < innerHeight;
  popup.style.left = `${Math.max(8, Math.min(rect.left, innerWidth - width - 8))}px`;
  popup.style.top = `${below ? rect.bottom + 4 : Math.max(8, rect.top - height - 4)}px`;
}

function element(tag, name = "", text = null) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== null) made.textContent = text;
  return made;
}

// A sentence in which code stands in backticks.
function prose(tag, name, text) {
  const made = element(tag, name);
  text.split("`").forEach((part, at) => made.append(at % 2 ? element("code", "inline", part) : document.createTextNode(part)));
  return made;
}

function byId(id) { return document.getElementById(id); }
