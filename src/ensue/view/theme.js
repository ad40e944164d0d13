// Theme: colours come from the style sheet, light or dark as the system prefers. Warm ones are detections, cool ones
// were given.

const COLOURS = 8;

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const list = (kind) => Array.from({ length: COLOURS }, (_, i) => read(`${kind}-${i + 1}`));
  return {
    found: list("found"), given: list("given"),
    ink: read("ink"), soft: read("soft"), faint: read("faint"), line: read("line"), surface: read("surface"), raised: read("raised"), accent: read("accent"),
    dark: read("scheme") === "dark",
    font: style.fontFamily,
  };
}

function colourTracks(store, theme) {
  const next = { true: 0, false: 0 };
  for (const track of store.tracks) {
    track.colour = (track.derived ? theme.found : theme.given)[next[track.derived]++ % COLOURS];
  }
}
