// Times: moments and lengths as text, and where an axis has its ticks.
// Times in the page are distances from the first one, in microseconds for timestamps, else in the unit of the events.

const US = { ms: 1e3, s: 1e6, m: 6e7, h: 3.6e9, d: 8.64e10 };
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTH = 30.4 * US.d;
const CLOCK_STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * US.s), ...[1, 2, 5, 10, 15, 30].map((n) => n * US.m),
  ...[1, 2, 3, 6, 12].map((n) => n * US.h), ...[1, 2, 7].map((n) => n * US.d),
];
const MONTH_STEPS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000];

const two = (number) => String(number).padStart(2, "0");
const grouped = (text) => text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");

function makeTimes(store) {
  return store.timestamps ? clockTimes(store) : numberTimes(store);
}

// --- timestamps

function clockTimes(store) {
  const origin = Number(store.origin);
  const zone = zoneOf(store.header.zone);
  const wall = (us) => new Date((us + zone.offset(us)) / 1e3);  // its UTC fields are those of the clock there

  function fraction(us) {
    const rest = ((us % US.s) + US.s) % US.s;
    return rest ? `.${String(Math.round(rest)).padStart(6, "0").replace(/(000)$/, "")}` : "";
  }
  const day = (us) => {
    const at = wall(us);
    return `${at.getUTCFullYear()}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`;
  };
  const clock = (us) => {
    const at = wall(us);
    return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}${fraction(us)}`;
  };
  const momentText = (us) => `${day(us)} ${clock(us)}`;

  // Ticks are round on the clock of the zone.
  function ticks(from, to, most) {
    const least = (to - from) / most, step = CLOCK_STEPS.find((each) => each >= least);
    if (step === undefined) return monthTicks(from, to, least);
    const found = [];
    const back = (on_wall) => on_wall - zone.offset(on_wall - zone.offset(on_wall));
    const monday = step === 7 * US.d ? 4 * US.d : 0;  // 1970 began on a Thursday
    const first = Math.ceil((origin + from + zone.offset(origin + from) - monday) / step) * step + monday;
    for (let at = first; found.length < 500; at += step) {
      const time = back(at) - origin;
      if (time > to) break;
      found.push({ time, text: tickText(back(at), step) });
    }
    found.step = step;
    return found;
  }
  function tickText(us, step) {
    const at = wall(us);
    if (step >= US.d) return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()].slice(0, 3)}`;
    if (step >= US.m) return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
    if (step >= US.s) return clock(us);
    const digits = Math.max(0, 6 - Math.floor(Math.log10(step) + 1e-9));
    const rest = String(Math.round(((us % US.s) + US.s) % US.s)).padStart(6, "0").slice(0, Math.min(digits, 6));
    return `${two(at.getUTCSeconds())}.${rest}`;
  }
  function monthTicks(from, to, least) {
    const step = MONTH_STEPS.find((each) => each * MONTH >= least) || MONTH_STEPS[MONTH_STEPS.length - 1];
    const at = wall(origin + from), found = [];
    let month = Math.floor((at.getUTCFullYear() * 12 + at.getUTCMonth()) / step) * step;
    for (; found.length < 500; month += step) {
      const moment = new Date(0);
      moment.setUTCFullYear(Math.floor(month / 12), ((month % 12) + 12) % 12, 1);
      const us = moment.getTime() * 1e3, time = us - zone.offset(us) - origin;
      if (time > to) break;
      if (time < from) continue;
      const year = String(moment.getUTCFullYear());
      found.push({ time, text: step < 12 ? `${MONTHS[moment.getUTCMonth()].slice(0, 3)} ${year}` : year });
    }
    return found;
  }
  // What ticks leave out: the days in view, the months where days are ticks themselves, the minutes below a second.
  function context(from, to, step) {
    const found = [], months = step >= US.d;
    if (step === undefined) return found;
    if (step < US.s) return minutes(from, to);
    const at = wall(origin + from), moment = new Date(0);
    moment.setUTCFullYear(at.getUTCFullYear(), at.getUTCMonth(), months ? 1 : at.getUTCDate());
    for (let count = 0; count < 400; count++) {
      const us = moment.getTime() * 1e3, time = us - zone.offset(us) - origin;
      if (time > to) break;
      const month = MONTHS[moment.getUTCMonth()], year = moment.getUTCFullYear(), date = moment.getUTCDate(), name = DAYS[moment.getUTCDay()];
      found.push(months
        ? { time, text: `${month} ${year}`, short: `${month.slice(0, 3)} ${year}` }
        : { time, text: `${name}, ${date} ${month} ${year}`, short: `${name.slice(0, 3)} ${date} ${month.slice(0, 3)}` });
      if (months) moment.setUTCMonth(moment.getUTCMonth() + 1); else moment.setUTCDate(date + 1);
    }
    return found;
  }
  function minutes(from, to) {
    const found = [];
    for (let us = Math.floor((origin + from) / US.m) * US.m; us <= origin + to && found.length < 100; us += US.m) {
      const clockText = clock(us).slice(0, 5);
      found.push({ time: us - origin, text: `${day(us)} ${clockText}`, short: clockText });
    }
    return found;
  }
  function rangeText(from, to) {
    const [a, b] = [day(origin + from), day(origin + to)];
    return a === b ? `${a} ${clock(origin + from).slice(0, 8)} – ${clock(origin + to).slice(0, 8)}` : `${a} – ${b}`;
  }
  return {
    ticks, context, momentText, rangeText, note: zone.name, clock: true,
    text: (time) => momentText(origin + time),
    clockText: (time) => clock(origin + time),
    lengthText: clockLength,
    smallest: 20, lonely: 60 * US.s,
  };
}

function zoneOf(name) {
  const utc = { name: "UTC", offset: () => 0 };
  if (!name || name === "UTC") return utc;
  const fixed = /^([+-])(\d\d):?(\d\d)$/.exec(name);
  if (fixed) {
    const offset = (fixed[1] === "-" ? -1 : 1) * (Number(fixed[2]) * US.h + Number(fixed[3]) * US.m);
    return { name, offset: () => offset };
  }
  let format;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: name, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric",
    });
  } catch {
    return utc;
  }
  const known = new Map();
  return {
    name,
    offset(us) {
      const quarter = Math.floor(us / (15 * US.m));
      if (!known.has(quarter)) {
        const ms = quarter * 15 * 6e4, parts = {};
        for (const { type, value } of format.formatToParts(new Date(ms))) parts[type] = Number(value);
        known.set(quarter, (Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second) - ms) * 1e3);
      }
      return known.get(quarter);
    },
  };
}

function clockLength(us) {
  if (!us) return "0";
  const units = [["d", US.d], ["h", US.h], ["min", US.m], ["s", US.s], ["ms", US.ms], ["µs", 1]], found = [];
  let rest = us;
  for (const [name, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count) found.push(`${count} ${name}`);
    if (found.length === 2) break;
  }
  return found.join(" ") || "0";
}

// --- plain numbers

function numberTimes(store) {
  const unit = store.header.unit ? ` ${store.header.unit}` : "";
  const text = (time) => grouped((store.origin + BigInt(Math.round(time))).toString()) + unit;
  const origin = Number(store.origin);

  function ticks(from, to, most) {
    const least = Math.max((to - from) / most, 1), power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least * 0.999);
    const found = [];
    for (let at = Math.ceil((origin + from) / step) * step; at <= origin + to && found.length < 500; at += step) {
      found.push({ time: at - origin, text: grouped(String(at)) });
    }
    return found;
  }
  return {
    ticks, text, clockText: text, note: store.header.unit ? `in ${store.header.unit}` : "",
    context: () => [], momentText: (us) => new Date(us / 1e3).toISOString().replace("T", " ").replace(/\.?0*Z$/, ""),
    rangeText: (from, to) => `${text(from)} – ${text(to)}`,
    lengthText: (length) => grouped(String(length)) + unit,
    smallest: 4, lonely: 10,
  };
}
