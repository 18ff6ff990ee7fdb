"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const make = (tag, text, into) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (into) into.append(element);
  return element;
};

// Parameters by the last word of their key, where that is enough to tell them apart.
const last = (key) => key.split(".").pop();
const names = data.parameters.map((key) => data.parameters.filter((other) => last(other) === last(key)).length > 1 ? key : last(key));
const hasTest = data.days.some((day) => day[1]), hasDays = data.days[0][0] !== "";
const figure = (value) => value === null ? "–" : Math.abs(value) < 1e-9 ? "0" : Math.abs(value) >= 1e5 ? value.toFixed(0) : String(Number(value.toPrecision(4)));

const choose = (label, options, chosen) => {
  const box = make("label", label, byId("controls")), select = make("select", undefined, box);
  options.forEach(([value, text]) => { const option = make("option", text, select); option.value = value; });
  select.value = chosen;
  select.addEventListener("change", draw);
  return select;
};
const parameters = names.map((name, index) => [String(index), name]);
const varied = parameters.filter((_, index) => data.values[index].length > 1).map((one) => one[0]);
const measure = choose("measure", data.measures.map((name, index) => [String(index), name]), String(Math.max(0, data.measures.indexOf(data.measure))));
const across = choose("across", parameters, varied[0] ?? "0");
const down = choose("down", [["none", "nothing"], ...parameters], varied[1] ?? "none");
const over = choose("days", [
  ["train", hasTest ? "to train with" : hasDays ? "all" : "as the platform says"],
  ...(hasTest ? [["test", "test"], ["all", "all"]] : []),
  ...(hasDays ? data.days.map((day, index) => [String(index), day[0]]) : []),
], "train");
const rule = choose("of the other parameters", [["mean", "mean over their values"], ["best", "best of their values"]], "mean");
const fixed = data.parameters.map((_, index) => choose(names[index], [["any", "all values"], ...data.values[index].map((value, at) => [String(at), value])], "any"));

// Where the mean over the others has no figure at the best combination, the map opens on the values of that one.
if (data.open) data.open.forEach((at, index) => { if (data.values[index].length > 1 && String(index) !== across.value && String(index) !== down.value) fixed[index].value = String(at); });

const goal = () => data.goals[measure.value];
const better = (one, other) => goal() === "max" ? one > other : one < other;
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// A combination's mean over days; null where a day is missing.
const figures = (isDay) => {
  const found = new Map();
  for (const [choice, day, values] of data.rows) {
    if (!isDay(day)) continue;
    const key = choice.join(), value = values[measure.value];
    if (!found.has(key)) found.set(key, { choice, values: [] });
    found.get(key).values.push(value);
  }
  return [...found.values()].map((one) => ({ choice: one.choice, value: one.values.includes(null) ? null : mean(one.values) }));
};

// The map as rows of cells: the others by the rule, or as they are fixed.
const grid = (isDay) => {
  const x = Number(across.value), y = down.value === "none" || down.value === across.value ? null : Number(down.value);
  const kept = figures(isDay).filter((one) => one.choice.every((at, index) => index === x || index === y || fixed[index].value === "any" || Number(fixed[index].value) === at));
  const cell = (column, row) => {
    const those = kept.filter((one) => one.choice[x] === column && (y === null || one.choice[y] === row));
    const values = those.map((one) => one.value);
    if (!values.length) return { value: null, of: 0, lacks: 0 };
    const there = values.filter((value) => value !== null), lacks = values.length - there.length;
    // A mean over fewer than all would compare what is not alike; the best of those that are there is one of them.
    if (!there.length || (lacks && rule.value === "mean")) return { value: null, of: values.length, lacks };
    const value = rule.value === "best" ? there.reduce((one, other) => better(other, one) ? other : one) : mean(there);
    return { value, of: values.length, lacks };
  };
  const rows = y === null ? [0] : data.values[y].map((_, index) => index);
  return { x, y, cells: rows.map((row) => data.values[x].map((_, column) => cell(column, row))) };
};

// Both sides of zero: two colours that meet at the page's own. One side: from the page's own to one colour.
const scale = (maps) => {
  const values = maps.flatMap((map) => map.cells.flat()).map((cell) => cell.value).filter((value) => value !== null);
  let low = Math.min(...values), high = Math.max(...values);
  if (!values.length) [low, high] = [0, 0];
  const isBoth = low < 0 && high > 0, most = Math.max(-low, high);
  const good = goal() === "max";
  const colour = (value) => {
    if (isBoth) {
      const part = 62 * Math.abs(value) / most, side = (value > 0) === good ? "--high" : "--low";
      return `color-mix(in srgb, var(${side}) ${part.toFixed(0)}%, var(--back))`;
    }
    const part = high > low ? (value - low) / (high - low) : 0.5;
    return `color-mix(in srgb, var(--high) ${(8 + 54 * (good ? part : 1 - part)).toFixed(0)}%, var(--back))`;
  };
  return { low, high, isBoth, colour, isEmpty: !values.length };
};

const drawMap = (map, colours, isSmall, what) => {
  const table = make("table");
  table.className = "map";
  const label = (parameter, at) => names[parameter] + " " + data.values[parameter][at];
  const head = make("tr", undefined, make("thead", undefined, table));
  if (!isSmall) {
    make("th", map.y === null ? "" : names[map.y] + " ↓", head).className = "name";
    data.values[map.x].forEach((value) => { make("th", value, head).scope = "col"; });
  }
  let best = null;
  map.cells.flat().forEach((cell) => { if (cell.value !== null && (best === null || better(cell.value, best))) best = cell.value; });
  const body = make("tbody", undefined, table);
  map.cells.forEach((cells, row) => {
    const line = make("tr", undefined, body);
    if (!isSmall) { const side = make("th", map.y === null ? data.measures[measure.value] : data.values[map.y][row], line); side.className = "side"; side.scope = "row"; }
    cells.forEach((cell, column) => {
      const box = make("td", figure(cell.value), line);
      const where = label(map.x, column) + (map.y === null ? "" : ", " + label(map.y, row));
      const lacks = cell.lacks ? `; ${cell.lacks} of ${cell.of} combinations lack a run` : "";
      const text = `${what}${where}: ${figure(cell.value)}${cell.of > 1 ? " (" + rule.value + " of " + cell.of + " combinations)" : ""}${lacks}`;
      box.title = text;
      if (cell.value === null) box.className = "none";
      else {
        box.style.background = colours.colour(cell.value);
        if (cell.value === best && !isSmall) box.className = "best";
      }
      if (!isSmall) {
        box.tabIndex = 0;
        for (const event of ["pointerenter", "focus"]) box.addEventListener(event, () => { byId("reading").textContent = text; });
      }
    });
  });
  return table;
};

const drawScale = (legend, colours, unit) => {
  legend.replaceChildren();
  if (colours.isEmpty) { make("span", "no figure: each cell lacks a run; choose values of the other parameters", legend); return; }
  make("span", figure(colours.low), legend);
  const bar = make("i", undefined, legend);
  const stops = [0, 0.25, 0.5, 0.75, 1].map((part) => colours.colour(colours.low + part * (colours.high - colours.low)));
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  make("span", figure(colours.high) + " " + (unit || data.measures[measure.value]), legend);
};

function draw() {
  fixed.forEach((select, index) => {
    select.parentElement.hidden = data.values[index].length < 2 || String(index) === across.value || (String(index) === down.value);
    select.parentElement.style.display = select.parentElement.hidden ? "none" : "";
  });
  const others = fixed.filter((select) => !select.parentElement.hidden && select.value === "any").length;
  rule.parentElement.style.display = others ? "" : "none";
  const isDay = (day) => over.value === "all" || (over.value === "train" ? !data.days[day][1] : over.value === "test" ? data.days[day][1] : day === Number(over.value));
  const map = grid(isDay);
  const small = hasDays && data.days.length > 1 ? data.days.map((day, index) => [day, grid((other) => other === index)]) : [];
  const colours = scale([map]), dayColours = scale(small.map((one) => one[1]));
  byId("map").replaceChildren(drawMap(map, colours, false, ""));
  const unit = data.units[measure.value];
  byId("about").textContent = `Across: ${names[map.x]}. ${map.y === null ? "" : "Down: " + names[map.y] + ". "}Each cell: ${data.measures[measure.value]}${unit ? " (" + unit + ")" : ""}, ` +
    `${goal() === "max" ? "larger" : "smaller"} is better; ${hasDays ? "mean over the days" : "one day"}${data.seeds > 1 ? ", and over " + data.seeds + " seeds" : ""}. The best cell is outlined; a hatched one lacks a run. A good cell among bad neighbours is more likely luck than a good corner is.`;
  drawScale(byId("legend"), colours, unit);
  drawScale(byId("day-legend"), dayColours, unit);
  byId("by-day").hidden = !small.length;
  byId("days").replaceChildren(...small.map(([day, one]) => {
    const box = make("figure");
    make("figcaption", day[0] + (day[1] ? " (test)" : ""), box);
    box.append(drawMap(one, dayColours, true, day[0] + ", "));
    return box;
  }));
}
draw();

for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, index) => head.firstElementChild.addEventListener("click", () => {
    const isDown = head.getAttribute("aria-sort") === "descending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", isDown ? "ascending" : "descending");
    const key = (row) => row.cells[index].textContent, number = (text) => text === "–" ? NaN : Number(text);
    const rows = [...body.rows].sort((one, other) => {
      const [a, b] = [number(key(one)), number(key(other))];
      if (Number.isNaN(a) && Number.isNaN(b)) return key(one).localeCompare(key(other)) * (isDown ? 1 : -1);
      // What has no figure comes last either way.
      if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) ? 1 : -1;
      return (a - b) * (isDown ? 1 : -1);
    });
    body.append(...rows);
  }));
}
