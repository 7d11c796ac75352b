// Memory over one step: bands of what is held, what is reserved, and the card. A drag zooms, a click holds the cursor.
const phaseRuns = points => points.reduce((runs, point, i) => {
  const last = runs[runs.length - 1];
  if (last && last.phase === point.phase) last.end = i + 1;
  else runs.push({ phase: point.phase, first: i, end: i + 1 });
  return runs;
}, []);

/// For each point what each group holds, the groups added up from the bottom: bands[group] is where it ends.
function bandsOf(curve) {
  const levels = curve.groups.map(() => 0);
  return curve.points.map(point => {
    for (const [group, bytes] of point.changes) levels[group] = bytes;
    let sum = 0;
    return levels.map(bytes => (sum += bytes));
  });
}

/// Round steps of an axis that ends at `most` bytes.
function ticksOf(most, wanted) {
  const unit = most >= 2 ** 30 ? 2 ** 30 : most >= 2 ** 20 ? 2 ** 20 : 1024;
  const raw = most / unit / wanted, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(one => one * power >= raw) * unit;
  const out = [];
  for (let at = 0; at <= most; at += step) out.push(at);
  return { out, text: at => `${Number((at / unit).toPrecision(6))} ${unit === 2 ** 30 ? "GiB" : unit === 2 ** 20 ? "MiB" : "KiB"}` };
}

/// Tells a drag over points of `svg` from a click: `over` while nothing is pressed, `along` and `to` with the first and
/// the last point (and one), `click` where the pointer stayed.
function drags(svg, index, { over, along, to, click }) {
  const ends = (a, b) => [Math.min(a, b), Math.max(a, b) + 1];
  svg.addEventListener("pointermove", event => { if (!event.buttons) over(event, index(event)); });
  svg.addEventListener("pointerdown", down => {
    const from = index(down), controller = new AbortController(), until = { signal: controller.signal };
    let moved = false;
    window.addEventListener("pointermove", event => {
      moved = moved || Math.abs(event.clientX - down.clientX) > 6;
      if (moved) along(...ends(from, index(event)));
    }, until);
    window.addEventListener("pointercancel", () => controller.abort(), until);
    window.addEventListener("pointerup", event => {
      controller.abort();
      moved ? to(...ends(from, index(event))) : click(event, index(event));
    }, until);
  });
}

function timeline(curve, gpus, explain) {
  const points = curve.points, groups = curve.groups, bands = bandsOf(curve), runs = phaseRuns(points);
  const gpu = gpus.length === 1 ? gpus[0] : null;
  const beside = gpu ? gpu.runtime.filter(term => term.name !== "cuBLAS workspaces")
    .reduce((sum, term) => sum + term.bytes, 0) : 0;
  const top = i => bands[i][groups.length - 1] + beside;
  const peak = points.reduce((best, _, i) => top(i) > top(best) ? i : best, 0);
  const view = { from: 0, to: points.length, cursor: peak, held: false };
  const host = make("div", { class: "plot" }), tip = make("p", { class: "tip", "aria-live": "polite" });
  const movers = make("p", { class: "tip soft" }), phases = make("p", { class: "soft phases" });

  /// The columns of the window: where each begins, and its highest point, so that no peak is lost.
  function chosen(from, to, columns) {
    const out = [];
    const wide = Math.max(1, (to - from) / columns);
    for (let at = from; at < to; at += wide) {
      let best = Math.floor(at);
      for (let i = best; i < Math.min(to, Math.floor(at + wide)); ++i) if (top(i) > top(best)) best = i;
      out.push({ first: Math.floor(at), best });
    }
    return out;
  }
  function draws() {
    const width = Math.max(280, host.clientWidth || 1000), narrow = width < 640, height = narrow ? 300 : 380;
    const left = narrow ? 46 : 58, right = 6, above = 16, strip = 24, floor = height - strip;
    const span = view.to - view.from;
    const x = i => left + (width - left - right) * (i - view.from) / span;
    const shown = chosen(view.from, view.to, (width - left - right) / 2);
    const reserved = i => points[i].reserved + beside;
    const highest = Math.max(...shown.map(({ best }) => Math.max(top(best), reserved(best))));
    const card = gpu && gpu.total < 2.2 * highest ? gpu.total : 0;
    const most = 1.06 * Math.max(highest, card);
    const y = bytes => floor - (floor - above) * bytes / most;
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", tabindex: 0,
      "aria-label": "Memory over one step. Arrow keys move the cursor, P goes to the peak, plus and minus zoom, Escape shows the whole step.",
      "data-zero": y(0), "data-scale": most / (floor - above) });
    const ticks = ticksOf(most, narrow ? 4 : 6);
    for (const at of ticks.out) {
      svg.append(draw("line", { x1: left, x2: width - right, y1: y(at), y2: y(at), stroke: "var(--line)" }));
      svg.append(draw("text", { x: left - 6, y: y(at) + 4, "text-anchor": "end" }, ticks.text(at)));
    }
    labels(svg, x, { left, right: width - right, floor });
    const steps = bytes => shown.map(({ best }, k) => {
      const end = x(k + 1 < shown.length ? shown[k + 1].first : view.to);
      return `${k ? "V" : `M${left},`}${y(bytes(best)).toFixed(1)}H${end.toFixed(1)}`;
    }).join("");
    const area = (low, high, attributes) => {
      if (!shown.some(({ best }) => high(best) > low(best))) return;
      const back = [...shown].reverse().map(({ first, best }) => `V${y(low(best)).toFixed(1)}H${x(first).toFixed(1)}`).join("");
      svg.append(draw("path", { d: `${steps(high)}${back}Z`, ...attributes }));
    };
    area(() => 0, () => beside, { fill: colour("runtime"), "data-beside": beside });
    const ofBucket = {};
    groups.forEach((group, g) => {
      const number = ofBucket[group.bucket] = (ofBucket[group.bucket] ?? -1) + 1;
      area(i => beside + (g ? bands[i][g - 1] : 0), i => beside + bands[i][g],
        { fill: colour(group.bucket), class: number % 2 ? "band odd" : "band", "data-group": g });
    });
    svg.append(draw("path", { d: steps(reserved), class: "reserved" }));
    if (card) {
      svg.append(draw("line", { x1: left, x2: width - right, y1: y(card), y2: y(card), class: "card" }));
      svg.append(draw("text", { x: width - right - 4, y: y(card) - 5, "text-anchor": "end" }, `the card, ${size(card)}`));
    } else if (gpu) {
      svg.append(draw("text", { x: width - right - 4, y: 11, "text-anchor": "end" }, `the card's ${size(gpu.total)} are above`));
    }
    const cursor = draw("line", { y1: above, y2: floor, class: "cursor" });
    const brush = draw("rect", { y: above, height: floor - above, class: "brush", visibility: "hidden" });
    svg.append(cursor, brush);
    const place = i => { const at = x(i + .5); cursor.setAttribute("x1", at); cursor.setAttribute("x2", at); };
    place(view.cursor);
    cursor.setAttribute("visibility", view.cursor >= view.from && view.cursor < view.to ? "visible" : "hidden");
    const index = event => {
      const box = svg.getBoundingClientRect();
      const part = ((event.clientX - box.left) * width / box.width - left) / (width - left - right);
      const i = view.from + Math.floor(part * span);
      return nearest(shown, Math.min(view.to - 1, Math.max(view.from, i)));
    };
    const group = (event, i) => {
      const box = svg.getBoundingClientRect();
      const bytes = (floor - (event.clientY - box.top) * height / box.height) / (floor - above) * most - beside;
      return bytes < 0 ? -1 : bands[i].findIndex(end => bytes < end);
    };
    drags(svg, index, {
      over: (event, i) => {
        if (view.held) return;
        view.cursor = i;
        place(i);
        cursor.setAttribute("visibility", "visible");
        say(group(event, i));
      },
      along: (a, b) => {
        brush.setAttribute("visibility", "visible");
        brush.setAttribute("x", x(a)); brush.setAttribute("width", Math.max(1, x(b) - x(a)));
      },
      to: zoom,
      click: (event, i) => {
        view.cursor = i;
        view.held = true;
        redraw(group(event, i));
      } });
    svg.addEventListener("dblclick", () => zoom(0, points.length));
    svg.addEventListener("keydown", event => {
      const far = event.shiftKey ? Math.max(1, Math.round(span / 20)) : 1;
      const act = { ArrowLeft: () => go(view.cursor - far), ArrowRight: () => go(view.cursor + far), Home: () => go(view.from),
        End: () => go(view.to - 1), p: () => go(peak), "+": () => closer(.5), "=": () => closer(.5), "-": () => closer(2),
        Escape: () => zoom(0, points.length) }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
      host.querySelector("svg").focus();
    });
    return [svg, overview(width, left, right)];
  }
  /// The column that shows this point.
  function nearest(shown, i) {
    let low = 0, high = shown.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (shown[middle].first <= i) low = middle; else high = middle - 1;
    }
    return shown[low].best;
  }
  /// The phases below the plot: their names where there is room, else numbers that a list explains.
  function labels(svg, x, box) {
    const listed = [];
    let free = -Infinity;  // from here on no label stands yet
    for (const run of runs.filter(one => one.end > view.from && one.first < view.to)) {
      const from = Math.max(box.left, x(run.first)), to = Math.min(box.right, x(run.end));
      svg.append(draw("line", { x1: from, x2: from, y1: 16, y2: box.floor + 6, stroke: "var(--line)" }));
      let text = words(run.phase);
      if (to - from < 6.6 * text.length + 6) {
        if (!listed.includes(run.phase)) listed.push(run.phase);
        text = String(listed.indexOf(run.phase) + 1);
      }
      const middle = (from + to) / 2, half = 3.3 * text.length;
      if (middle - half < free) continue;
      svg.append(draw("text", { x: middle, y: box.floor + 17, "text-anchor": "middle" }, text));
      free = middle + half + 3;
    }
    phases.textContent = listed.map((phase, i) => `${i + 1} ${words(phase)}`).join(" · ");
  }
  /// The whole step in little; a drag there chooses the window.
  function overview(width, left, right) {
    const height = 44, most = 1.05 * top(peak);
    const x = i => left + (width - left - right) * i / points.length, y = bytes => height - height * bytes / most;
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "overview", role: "img",
      "aria-label": "the whole step; drag to choose a part" });
    const path = chosen(0, points.length, width - left - right)
      .map(({ first, best }) => `${x(first).toFixed(1)},${y(top(best)).toFixed(1)}`).join("L");
    svg.append(draw("path", { d: `M${left},${height}L${path}L${width - right},${height}Z`, fill: "var(--soft)" }));
    const chosenPart = draw("rect", { y: 0, height, x: x(view.from), width: Math.max(2, x(view.to) - x(view.from)), class: "brush" });
    svg.append(chosenPart);
    const index = event => {
      const box = svg.getBoundingClientRect();
      const part = ((event.clientX - box.left) * width / box.width - left) / (width - left - right);
      return Math.min(points.length, Math.max(0, Math.round(part * points.length)));
    };
    drags(svg, index, { over: () => {}, to: zoom, click: (_, i) => zoom(i - (view.to - view.from) / 2, i + (view.to - view.from) / 2),
      along: (a, b) => { chosenPart.setAttribute("x", x(a)); chosenPart.setAttribute("width", Math.max(2, x(b) - x(a))); } });
    return svg;
  }
  function zoom(from, to) {
    const least = Math.min(8, points.length);
    const middle = (from + to) / 2;
    if (to - from < least) { from = Math.floor(middle - least / 2); to = from + least; }
    view.from = Math.round(Math.max(0, Math.min(from, points.length - least)));
    view.to = Math.round(Math.min(points.length, Math.max(to, view.from + least)));
    redraw();
  }
  const closer = factor => zoom(Math.round(view.cursor - (view.cursor - view.from) * factor),
    Math.round(view.cursor + (view.to - view.cursor) * factor));
  function go(i) {
    view.cursor = Math.min(points.length - 1, Math.max(0, i));
    view.held = true;
    const span = view.to - view.from;
    if (view.cursor < view.from) { view.from = view.cursor; view.to = view.from + span; }
    if (view.cursor >= view.to) { view.to = view.cursor + 1; view.from = view.to - span; }
    redraw();
  }
  /// What is held at the cursor, and of the group under it how much.
  function say(under = -1) {
    const i = view.cursor, point = points[i];
    const level = g => bands[i][g] - (g ? bands[i][g - 1] : 0);
    const byBucket = new Map();
    groups.forEach((group, g) => byBucket.set(group.bucket, (byBucket.get(group.bucket) || 0) + level(g)));
    const where = [point.layer === null ? "" : `layer ${point.layer}`, point.module].filter(Boolean).join(", ");
    const held = [...byBucket].filter(([, bytes]) => bytes > 0).map(([bucket, bytes]) => `${words(bucket)} ${size(bytes)}`);
    if (beside) held.push(`beside PyTorch ${size(beside)}`);
    tip.textContent = `${i === peak ? "The peak, " : ""}${words(point.phase)}: ${size(top(i))} held after ${point.op}`
      + `${where ? " in " + where : ""} took ${size(point.bytes)} (${held.join(", ")}); ${size(point.reserved + beside)} reserved.`;
    const group = groups[under];
    movers.replaceChildren(...(group ? [`Here: ${words(group.bucket)}${group.op ? `, ${group.op}${group.module ? " in " + group.module : ""}`
      : ", small ones together"}, ${size(level(under))}. `, ...(view.held ? explain(group.bucket) : ["Click for what moves it."])] : []));
  }
  function redraw(under) {
    host.replaceChildren(...draws());
    say(under);
  }
  const button = (text, act) => {
    const out = make("button", { type: "button" }, text);
    out.addEventListener("click", act);
    return out;
  };
  const buckets = [...new Set(groups.map(group => group.bucket))];
  section(`Step ${curve.step}, over time`, host, phases, make("div", { class: "tools" }, button("Peak", () => go(peak)),
    button("Closer", () => closer(.5)), button("Wider", () => closer(2)), button("Whole step", () => zoom(0, points.length)),
    make("span", { class: "soft" }, "Drag to zoom.")),
    make("div", { class: "key" }, [...buckets, ...(beside ? ["runtime"] : [])].map(bucket => {
      const item = make("span", {}, bucket === "runtime" ? "beside PyTorch" : words(bucket));
      item.style.setProperty("--colour", colour(bucket));
      return item;
    }), make("span", { class: "line" }, "reserved, with unlimited memory")), tip, movers);
  redraw();
  let wide = host.clientWidth;
  window.addEventListener("resize", () => { if (host.clientWidth !== wide) { wide = host.clientWidth; redraw(); } });
}
