// The page of an estimate.
function estimate(answer) {
  const gpus = answer.gpus, footprint = answer.footprint;
  const first = gpus[0];
  const good = gpus.length ? gpus.every(gpu => gpu.fits) : footprint ? null : false;
  const verdict = !footprint ? "No answer: " + words(answer.verdict) : !gpus.length
    ? size(footprint.peak.total) + " at the peak" : gpus.length > 1
    ? `fits on ${gpus.filter(gpu => gpu.fits).length} of ${gpus.length} GPUs` : `${words(first.verdict)}${first.verdict !== "does_not_fit" && first.paged_to_host
      ? `, with ${size(first.paged_to_host)} paged to the host,` : ""} on ${cardsOf(answer)}${first.title}`;
  head(verdict, good, gpus.length === 1 && first.verdict !== "undecided"
    ? `${size(first.needed)} needed of ${size(first.total)}${first.verdict === "at_the_edge"
      ? `; ${size(first.headroom)} free where ${size(first.headroom_wanted)} are wanted` : ""}` : "", answer.config);
  if (footprint) {
    cards(gpus, footprint);
    if (data.curve) timeline(data.curve, gpus, bucket => whatMoves(bucket, answer));
    phases(footprint);
    section("Largest at the peak", table([{ number: "bytes" }, "bucket", "tensors", "in", "made by"],
      footprint.at_peak.slice(0, 20).map(group => [{ number: size(group.bytes) }, words(group.bucket),
        `${group.count} × ${group.shape.join("×") || "scalar"} ${group.dtype}`, place(group), group.op])));
  }
  for (const one of answer.lengths) numbers(`Rows on ${one.gpu}`, one.largest
    ? `Nothing says how long rows are. Those of up to ${one.largest.toLocaleString("en")} tokens fit.` : "Nothing says how long rows are. Not even the shortest fit.",
    one.points.map(point => ({ ...point, name: point.length.toLocaleString("en") + " tokens" })));
  for (const one of answer.worlds) numbers(`How many of ${one.gpu}`, "Nothing says how many GPUs there are. This is what each needs.",
    one.points.map(point => ({ ...point, name: point.gpus + " GPUs" })));
  if (answer.plan) section("What it rests on", table(["fact", "value", "from"], answer.plan.facts.map(fact =>
    ({ id: "fact-" + fact.name, cells: [fact.name, valueOf(fact), origin(fact.origin)] }))));
  problems(answer.diagnostics);
}
/// "ONE ", where nobody says how many there are; "each of 8 ".
function cardsOf(answer) {
  const world = answer.plan && answer.plan.facts.find(fact => fact.name === "world_size");
  if (answer.gpus[0].title.startsWith("a GPU")) return "";
  return world && world.value > 1 ? `each of ${world.value} ` : "ONE ";
}
/// What some values of a number need.
function numbers(title, text, points) {
  const most = 1.02 * Math.max(...points.map(point => point.needed));
  section(title, make("p", {}, text), points.map(point => bar(point.name, [{ bytes: point.needed, colour: point.fits ? "var(--good)" : "var(--bad)" }],
    most, 0, atLeast(point))));
}
const valueOf = fact => Array.isArray(fact.value) ? fact.value.join(", ") : String(fact.value);
/// The facts of this plan that move the bucket, each with its line in the config, as links to where they stand below.
function whatMoves(bucket, answer) {
  const facts = (data.movers[bucket] || []).map(name => answer.plan.facts.find(fact => fact.name === name)).filter(Boolean);
  if (!facts.length) return [];
  return ["Moved most by ", ...facts.slice(0, 6).flatMap((fact, i) => [i ? ", " : "",
    make("a", { href: "#fact-" + fact.name }, `${fact.name}=${valueOf(fact)}`),
    fact.origin.file ? ` (${fact.origin.file}:${fact.origin.line ?? ""})` : ""]), "."];
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
/// What the card has to hold, bucket by bucket: the tensors at the peak, what lies beside PyTorch, and what the
/// allocator reserves beyond both, up to what the verdict says is needed.
function needed(gpu, footprint) {
  const out = Object.entries(footprint.peak.by_bucket)
    .filter(([bucket, bytes]) => bytes > 0 && !["paged", "slack", "fragmentation", "runtime"].includes(bucket));
  out.push(["runtime", gpu.runtime.reduce((sum, term) => sum + term.bytes, 0)]);
  const rest = gpu.needed - out.reduce((sum, [, bytes]) => sum + bytes, 0);
  return rest > 0 ? [...out, ["slack", rest]] : out;
}
function cards(gpus, footprint) {
  const gpu = gpus.length === 1 && gpus[0].verdict !== "undecided" ? gpus[0] : null;
  const peak = gpu ? needed(gpu, footprint) : Object.entries(footprint.peak.by_bucket)
    .filter(([bucket, bytes]) => bytes > 0 && bucket !== "paged");
  const total = peak.reduce((sum, [, bytes]) => sum + bytes, 0);
  const most = 1.02 * Math.max(total, ...gpus.map(one => Math.max(one.total, one.needed)));
  const limit = gpus.length === 1 ? gpus[0].total : 0;
  const name = bucket => gpu && bucket === "slack" ? "reserved beyond them" : bucket === "runtime" ? "beside the tensors" : words(bucket);
  const parts = peak.map(([bucket, bytes]) => ({ bytes, colour: colour(bucket), title: `${name(bucket)} ${size(bytes)}` }));
  const out = section(gpu ? "What is needed" : "The peak, bucket by bucket",
    bar(gpu ? "needed" : "total", parts, most, limit, (gpu && gpu.at_least ? "> " : "") + size(total)));
  for (const [bucket, bytes] of peak)
    out.append(bar(name(bucket), [{ bytes, colour: colour(bucket) }], most, limit, size(bytes)));
  if (gpu) out.append(make("p", { class: "soft" }, `The dashed line is the card, ${size(limit)}.`
    + (gpu.max_memory_reserved ? ` Where it has more room than is needed, PyTorch's allocator keeps some of it: ${size(gpu.max_memory_reserved)} reserved,`
      + ` ${size(gpu.nvidia_smi)} in nvidia-smi.` : "")));
  if (gpus.length > 1) for (const one of gpus)
    out.append(bar(one.title, [{ bytes: one.needed, colour: one.fits ? "var(--good)" : "var(--bad)" }], most, one.total,
      one.verdict === "undecided" ? "undecided" : size(one.needed)));
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
    ({ number: words(one.phase) + (one.step ? `, step\u00a0${one.step}` : "") }))], rows));
}
