// Draws the answer that the page holds. Text from it only ever becomes a text node, never markup.
"use strict";
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
const words = text => String(text).replaceAll("_", " ");
const colour = bucket => `var(--${bucket})`;
function section(title, ...children) {
  const out = make("section", {}, make("h2", {}, title), ...children);
  page.append(out);
  return out;
}
function table(heads, rows) {
  const cell = (kind, item) => {
    const number = item !== null && typeof item === "object" && "number" in item;
    return make(kind, number ? { class: "number" } : {}, number ? item.number : item ?? "");
  };
  return make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, heads.map(head => cell("th", head)))),
    make("tbody", {}, rows.map(row => make("tr", row.strong ? { class: "strong" } : {},
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

function estimate(answer) {
  const gpus = answer.gpus, footprint = answer.footprint;
  const first = gpus[0];
  const good = gpus.length ? gpus.every(gpu => gpu.fits) : footprint ? null : false;
  const verdict = !footprint ? "No answer: " + words(answer.verdict) : !gpus.length
    ? size(footprint.peak.total) + " at the peak" : gpus.length > 1
    ? `fits on ${gpus.filter(gpu => gpu.fits).length} of ${gpus.length} GPUs` : `${words(first.verdict)}${first.verdict !== "does_not_fit" && first.paged_to_host
      ? `, with ${size(first.paged_to_host)} paged to the host,` : ""} on ${first.title}`;
  head(verdict, good, gpus.length === 1 && first.verdict !== "undecided"
    ? `${size(first.needed)} needed of ${size(first.total)}${first.verdict === "at_the_edge"
      ? `; ${size(first.headroom)} free where ${size(first.headroom_wanted)} are wanted` : ""}` : "", answer.config);
  if (footprint) {
    cards(gpus, footprint);
    if (data.curve) timeline(data.curve, gpus);
    phases(footprint);
    section("Largest at the peak", table([{ number: "bytes" }, "bucket", "tensors", "in", "made by"],
      footprint.at_peak.slice(0, 20).map(group => [{ number: size(group.bytes) }, words(group.bucket),
        `${group.count} × ${group.shape.join("×") || "scalar"} ${group.dtype}`, place(group), group.op])));
  }
  if (answer.plan) section("What it rests on", table(["fact", "value", "from"], answer.plan.facts.map(fact =>
    [fact.name, Array.isArray(fact.value) ? fact.value.join(", ") : String(fact.value), origin(fact.origin)])));
  problems(answer.diagnostics);
}
function place(group) {
  if (group.first_layer === null) return group.module;
  const layers = group.first_layer === group.last_layer ? `layer ${group.first_layer}`
    : `layers ${group.first_layer}–${group.last_layer}`;
  return layers + (group.module.includes("*.") ? ": " + group.module.split("*.")[1] : "");
}
function origin(from) {
  const at = from.file ? `${from.file}:${from.line ?? ""}` : words(from.kind) + (from.source ? ": " + from.source : "");
  return at + (from.derivation ? " (" + from.derivation + ")" : "");
}
function cards(gpus, footprint) {
  const held = { ...footprint.peak.by_bucket };
  const context = gpus.length === 1 && gpus[0].runtime.find(term => term.name === "CUDA context");
  if (context) held.runtime += context.bytes;
  const nccl = gpus.length === 1 && gpus[0].runtime.find(term => term.name === "NCCL communicators");
  if (nccl) held.runtime += nccl.bytes;
  const peak = Object.entries(held).filter(([bucket, bytes]) => bytes > 0 && bucket !== "paged");
  const total = peak.reduce((sum, [, bytes]) => sum + bytes, 0);
  const limit = gpus.length === 1 ? gpus[0].total : 0;
  const most = 1.02 * Math.max(total, limit, ...gpus.map(gpu => Math.max(gpu.total, gpu.needed)));
  const parts = peak.map(([bucket, bytes]) => ({ bytes, colour: colour(bucket), title: `${words(bucket)} ${size(bytes)}` }));
  const out = section("The peak, bucket by bucket", bar("total", parts, most, limit, size(total)));
  for (const [bucket, bytes] of peak)
    out.append(bar(words(bucket), [{ bytes, colour: colour(bucket) }], most, limit, size(bytes)));
  if (gpus.length === 1) out.append(make("p", { class: "soft" }, `The dashed line is the card, ${size(limit)}. The total is`
    + " what it is with unlimited memory; near the limit the allocator gives some of slack and fragmentation back, so that "
    + `${size(gpus[0].needed)} are needed.`));
  if (gpus.length > 1) for (const gpu of gpus)
    out.append(bar(gpu.title, [{ bytes: gpu.needed, colour: gpu.fits ? "var(--good)" : "var(--bad)" }], most, gpu.total,
      gpu.verdict === "undecided" ? "undecided" : size(gpu.needed)));
}
function phases(footprint) {
  const byPhase = new Map();
  for (const peak of footprint.peaks)
    if (!byPhase.has(peak.phase) || byPhase.get(peak.phase).total < peak.total) byPhase.set(peak.phase, peak);
  const columns = [...byPhase.values()];
  const row = bucket => [words(bucket), ...columns.map(one => ({ number: nothing(one.by_bucket[bucket]) }))];
  const buckets = Object.keys(footprint.peak.by_bucket).filter(bucket => columns.some(one => one.by_bucket[bucket]));
  const rows = buckets.filter(bucket => bucket !== "paged").map(row);
  rows.push({ strong: true, cells: ["total", ...columns.map(one => ({ number: size(one.total) }))] });
  rows.push(...buckets.filter(bucket => bucket === "paged").map(row));
  section("The highest moment of each phase", table(["", ...columns.map(one =>
    ({ number: words(one.phase) + (one.step ? `, step ${one.step}` : "") }))], rows));
}

function timeline(curve, gpus) {
  const narrow = window.innerWidth < 640, width = narrow ? 420 : 1000, height = narrow ? 300 : 360;
  const left = 4, bottom = 26, top = 18, points = curve.points;
  const totals = points.map(point => point.levels.reduce((a, b) => a + b, 0));
  const runtime = gpus.length === 1 ? gpus[0].runtime.reduce((sum, term) => sum + term.bytes, 0) : 0;
  const limit = gpus.length === 1 ? gpus[0].total - runtime : 0;
  const highest = Math.max(...totals);
  const most = 1.05 * (limit && limit < 2 * highest ? Math.max(highest, limit) : highest);
  const x = i => left + (width - 2 * left) * i / Math.max(1, points.length - 1);
  const y = bytes => height - bottom - (height - bottom - top) * bytes / most;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "memory over one step",
    "data-zero": y(0), "data-scale": most / (height - bottom - top) });
  const used = curve.buckets.map((_, b) => b).filter(b => points.some(point => point.levels[b] > 0));
  const base = points.map(() => 0);
  for (const b of used) {
    const below = base.map((bytes, i) => `${x(i).toFixed(1)},${y(bytes).toFixed(1)}`).reverse();
    points.forEach((point, i) => { base[i] += point.levels[b]; });
    const above = base.map((bytes, i) => `${x(i).toFixed(1)},${y(bytes).toFixed(1)}`);
    svg.append(draw("path", { d: `M${above.join("L")}L${below.join("L")}Z`, fill: colour(curve.buckets[b]),
      "data-bucket": curve.buckets[b] }));
  }
  let labelled = -Infinity;
  points.forEach((point, i) => {
    if (i && points[i - 1].phase === point.phase) return;
    if (i) svg.append(draw("line", { x1: x(i), x2: x(i), y1: top, y2: height - bottom, stroke: "var(--line)" }));
    if (x(i) - labelled < 110 || x(i) > width - 90) return;
    labelled = x(i);
    svg.append(draw("text", { x: x(i) + 2, y: height - 7 }, words(point.phase)));
  });
  if (limit && limit < most) {
    svg.append(draw("line", { x1: 0, x2: width, y1: y(limit), y2: y(limit), stroke: "var(--bad)", "stroke-width": 2,
      "stroke-dasharray": "7 5" }));
    svg.append(draw("text", { x: width - 6, y: y(limit) - 5, "text-anchor": "end" }, `room for tensors ${size(limit)}`));
  }
  const cursor = draw("line", { y1: top, y2: height - bottom, stroke: "var(--ink)", visibility: "hidden" });
  svg.append(cursor);
  const tip = make("p", { class: "tip soft" }, "");
  const show = i => {
    const point = points[i];
    cursor.setAttribute("x1", x(i)); cursor.setAttribute("x2", x(i)); cursor.setAttribute("visibility", "visible");
    const levels = used.filter(b => point.levels[b]).map(b => `${words(curve.buckets[b])} ${size(point.levels[b])}`);
    const where = [point.layer === null ? "" : `layer ${point.layer}`, point.module].filter(Boolean).join(", ");
    tip.textContent = `${words(point.phase)}: ${size(totals[i])} held after ${point.op}${where ? " in " + where : ""}`
      + ` took ${size(point.bytes)} (${levels.join(", ")})`;
  };
  svg.addEventListener("pointermove", event => {
    const box = svg.getBoundingClientRect();
    const part = ((event.clientX - box.left) / box.width * width - left) / (width - 2 * left);
    show(Math.min(points.length - 1, Math.max(0, Math.round(part * (points.length - 1)))));
  });
  show(totals.indexOf(highest));
  section(`Step ${curve.step}, over time`, svg, make("div", { class: "key" }, used.map(b => {
    const item = make("span", {}, words(curve.buckets[b]));
    item.style.setProperty("--colour", colour(curve.buckets[b]));
    return item;
  })), tip);
}

function advice(answer) {
  const limit = answer.gpu ? Math.floor(answer.gpu.total * (1 - answer.headroom)) : 0;
  const verdict = { fits: "It fits already", fixed: answer.found && "It fits with " + answer.found.fixes.map(times).join(", "),
    nothing_fits: "Nothing that can be estimated makes it fit", none: "No answer" }[answer.verdict];
  head(verdict, answer.verdict === "fits" || answer.verdict === "fixed",
    answer.gpu ? `on ${answer.gpu.name}, ${size(answer.gpu.total)}, with ${100 * answer.headroom} % left free` : "", answer.config);
  if (answer.now) waterfall(answer, limit);
  if (answer.keys.length || answer.changes.length) section("What to change", answer.keys.length
    ? table(["key", "value"], answer.keys.map(one => [one.key, one.value]))
    : table(["fact", "before", "after"], answer.changes.map(one => [one.fact, one.before, one.after])));
  if (answer.patch) section("The patch", patch(answer.patch));
  for (const fix of answer.fixes) section(fix.title, make("p", {}, fix.how || ""), make("p", { class: "soft" },
    [`science: ${words(fix.science)}`, slower(fix.slower), fix.verify ? "verify: " + fix.verify : ""].filter(Boolean).join(" · ")));
  if (answer.tried.length) {
    const most = 1.02 * Math.max(limit, ...answer.tried.map(one => one.needed));
    section("Each fix by itself", answer.tried.map(one => bar(one.fixes.map(times).join(", "),
      [{ bytes: one.needed, colour: one.fits ? "var(--good)" : "var(--slack)" }], most, limit,
      (one.at_least ? "> " : "") + size(one.needed))));
  }
  if (answer.passed.length) section("Left out", table(["fix", "why"], answer.passed.map(one => [one.id, one.why])));
  if (!answer.found && answer.not_estimated.length) section("Effect not estimated",
    table(["fix", "how"], answer.not_estimated.map(one => [one.title, one.how])));
  problems(answer.diagnostics);
}
const slower = one => one && one.most_percent
  ? `slower: ${one.least_percent} to ${one.most_percent} % (${one.source})` : "";
const times = taken => taken.id + (taken.times > 1 ? " ×" + taken.times : "");
/// What is left after each fix, and how much it took off.
function waterfall(answer, limit) {
  const most = 1.02 * Math.max(answer.gpu.total, answer.now.needed, ...answer.steps.map(step => step.needed));
  const bound = trial => (trial.at_least ? "> " : "") + size(trial.needed);
  const out = section("Down the ladder", bar("as it is",
    [{ bytes: answer.now.needed, colour: answer.now.fits ? "var(--good)" : "var(--bad)" }], most, limit, bound(answer.now)));
  let before = answer.now.needed;
  for (const step of answer.steps) {
    const taken = Math.max(0, before - step.needed);
    const row = bar("+ " + times(step.fixes[step.fixes.length - 1]), [
      { bytes: step.needed, colour: step.fits ? "var(--good)" : "var(--bad)" },
      { bytes: taken, colour: "var(--line)", title: `${size(taken)} less` }], most, limit, bound(step));
    out.append(row);
    before = step.needed;
  }
  out.append(make("p", { class: "soft" }, `The dashed line is what the headroom leaves, ${size(limit)}.`));
}
function patch(text) {
  const out = make("pre", {});
  for (const line of text.trimEnd().split("\n"))
    out.append(make("span", { class: line[0] === "+" ? "add" : line[0] === "-" ? "cut" : "" }, line + "\n"));
  return out;
}

function gate(answer) {
  const failing = ["does_not_fit", "over_budget", "undecided", "invalid"];
  const counts = Object.entries(answer.counts).filter(([, count]) => count)
    .map(([verdict, count]) => `${count} ${{ fits: "fit", does_not_fit: "do not fit" }[verdict] || words(verdict)}`);
  const good = !answer.diagnostics.length && failing.every(verdict => !answer.counts[verdict]);
  head(good ? "Every config passes" : answer.configs.length ? "Not every config passes" : "Nothing was judged", good,
    counts.join(", "), answer.policy ? "policy " + answer.policy : "", answer.baseline ? "against " + answer.baseline : "");
  const fails = config => failing.includes(config.verdict);
  for (const config of [...answer.configs.filter(fails), ...answer.configs.filter(one => !fails(one))]) {
    const out = section(config.config, make("p", { class: fails(config) ? "bad" : "good" }, words(config.verdict)
      + (config.lever && fails(config) ? `: most of the peak is ${words(config.largest_bucket)} (${config.lever}, line ${config.where.line})` : "")));
    const most = 1.02 * Math.max(...config.checks.map(check => Math.max(check.total, check.needed || 0)), 1);
    for (const check of config.checks) out.append(bar(check.gpu, check.undecided ? [] :
      [{ bytes: check.needed, colour: check.fits ? "var(--good)" : "var(--bad)" }], most, check.limit,
      check.undecided ? "undecided" : (check.at_least ? "> " : "") + size(check.needed)));
    if (config.growth) out.append(make("p", {}, `The peak changes by ${config.growth.by > 0 ? "+" : ""}${size(config.growth.by)}`, config.growth.changes.length
      ? ": " + config.growth.changes.map(one => `${one.key} ${one.before || "nothing"} → ${one.after || "nothing"}`).join(", ") : ""));
    if (config.no_growth) out.append(make("p", { class: "soft" }, config.no_growth));
    for (const one of config.diagnostics) out.append(make("p", { class: one.severity === "error" && fails(config) ? "bad" : "soft" },
      `${one.line ? "line " + one.line + ": " : ""}${one.message} [${one.code}]`));
  }
  problems(answer.diagnostics);
}

function diagnose(answer) {
  head(answer.headline, answer.out_of_memory ? false : null,
    `${words(answer.verdict.cause)}, ${words(answer.verdict.confidence)}: ${answer.verdict.reason}`);
  const line = one => `${one.where.file}:${one.where.line}  ${one.text}`;
  if (answer.root) section("The evidence", make("pre", { class: "wrap" }, [answer.root, ...answer.supporting].map(line).join("\n")));
  if (answer.facts.length) section("Its numbers", table(["what", { number: "value" }], answer.facts.map(fact =>
    [words(fact.name), { number: fact.bytes !== undefined ? size(fact.bytes) : fact.text }])));
  const list = (title, items) => items.length && section(title, make("ul", {}, items.map(item => make("li", {}, item))));
  list("The arithmetic", answer.verdict.arithmetic);
  list("What speaks against it", answer.verdict.against);
  section("When", make("p", {}, [words(answer.moment.phase), answer.moment.step !== null ? `step ${answer.moment.step}` : "",
    answer.moment.reason].filter(Boolean).join(", ")), answer.meaning.map(text => make("p", { class: "soft" }, text)));
  list("What to do", answer.to_do.map(fix => fix.text));
  list("What not to do", answer.not_to_do.map(fix => fix.text));
  list("What would prove it", answer.to_prove);
  list("Also", answer.also.map(one => one.text));
  if (answer.alternatives.length) section("Other causes looked at", table(["cause", "how sure", "why"],
    answer.alternatives.map(one => [words(one.cause), one.confidence, one.reason])));
  if (answer.consequences.length) section("What followed", make("pre", { class: "wrap" }, answer.consequences.map(line).join("\n")));
  problems(answer.diagnostics);
}

({ estimate, fix: advice, gate, diagnose })[data.kind](data.answer);
