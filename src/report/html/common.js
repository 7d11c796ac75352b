// What every page is drawn with. Text of the answer only ever becomes a text node, never markup.
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");

function make(name, attributes, ...children) {
  const out = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) out.setAttribute(key, value);
  for (const child of children.flat()) if (child !== null && child !== undefined) out.append(child);
  return out;
}
function draw(name, attributes, text) {
  const out = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
  if (text !== undefined) out.textContent = text;
  return out;
}
function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let value = Math.abs(bytes), unit = 0;
  while (value >= 1024 && unit + 1 < units.length) { value /= 1024; ++unit; }
  return (bytes < 0 ? "-" : "") + (unit ? value.toFixed(2) : value) + " " + units[unit];
}
/// What `one` needs, which may be known as a bound alone.
const atLeast = one => (one.at_least ? "> " : "") + size(one.needed);
const words = text => String(text).replaceAll("_", " ");
const colour = bucket => `var(--${bucket})`;
function section(title, ...children) {
  const out = make("section", {}, make("h2", {}, title), ...children);
  page.append(out);
  return out;
}
/// A line may end behind the joints of a name, and within what has none for long.
function breakable(text) {
  const parts = String(text).split(/(?<=[_/.:=>])(?=[^\s\d])|(?<=×)/).flatMap(part => part.match(/\S{1,18}|\s+/gu) ?? []);
  return parts.flatMap((part, i) => i && !/\s/.test(part[0] + parts[i - 1][0]) ? [make("wbr"), part] : [part]);
}
function table(heads, rows) {
  const cell = (kind, item) => {
    const number = item !== null && typeof item === "object" && "number" in item;
    return make(kind, number ? { class: "number" } : {}, number ? item.number : breakable(item ?? ""));
  };
  return make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, heads.map(head => cell("th", head)))),
    make("tbody", {}, rows.map(row => make("tr", { ...(row.strong && { class: "strong" }), ...(row.id && { id: row.id }) },
      (row.cells || row).map(item => cell("td", item)))))));
}
/// One bar of several parts against a limit; `most` is the right end of the track.
function bar(name, parts, most, limit, value) {
  const track = make("div", { class: "track" });
  let left = 0;
  for (const part of parts) {
    const fill = make("div", { class: "fill", title: part.title || "", "data-bytes": part.bytes });
    fill.style.left = 100 * left / most + "%";
    fill.style.width = 100 * part.bytes / most + "%";
    fill.style.background = part.colour;
    left += part.bytes;
    track.append(fill);
  }
  if (limit) {
    const mark = make("div", { class: "limit", title: "limit " + size(limit) });
    mark.style.left = 100 * limit / most + "%";
    track.append(mark);
  }
  return make("div", { class: "bar" }, make("div", { class: "name" }, name), track,
    make("div", { class: "value" }, value));
}
function head(verdict, good, ...lines) {
  page.append(make("h1", { class: good === null ? "" : good ? "good" : "bad" }, verdict));
  for (const line of lines.filter(Boolean)) page.append(make("p", { class: "soft" }, line));
}
function problems(list) {
  if (!list || !list.length) return;
  section("Messages", table(["", "place", "what"], list.map(one => {
    const file = one.file ?? one.where?.file, line = one.line ?? one.where?.line;
    return [one.severity, file ? file + (line ? ":" + line : "") : "", one.message + " [" + one.code + "]"];
  })));
}

const nothing = bytes => bytes ? size(bytes) : "–";
