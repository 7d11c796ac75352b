// The page of a diagnosis.
function diagnose(answer) {
  head(answer.headline, answer.out_of_memory ? false : null,
    `${words(answer.verdict.cause)}, ${words(answer.verdict.confidence)}: ${answer.verdict.reason}`);
  const line = one => `${one.where.file}:${one.where.line}  ${one.text}`;
  if (answer.root) section("The evidence", make("pre", { class: "wrap" }, [answer.root, ...answer.supporting].map(line).join("\n")));
  memory(answer);
  predicted(answer.prediction);
  for (const snapshot of answer.snapshots) held(snapshot);
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
/// The GPU as the log has it: who held what of it, and what was asked for beyond.
function memory(answer) {
  const bytes = name => answer.facts.find(fact => fact.name === name)?.bytes;
  const [total, asked, free, own] = ["total", "requested", "free", "process_in_use"].map(bytes);
  const [allocated, kept] = ["allocated", "reserved_unallocated"].map(bytes);
  if (!total || allocated === undefined) return;
  const parts = [["allocated by PyTorch", allocated, "weights"], ["reserved, not allocated", kept, "slack"],
    ["this process, beside PyTorch", own - allocated - (kept || 0), "runtime"], ["other processes", total - free - own, "paged"]]
    .filter(([, size]) => size > 0);
  const used = parts.reduce((sum, [, size]) => sum + size, 0);
  if (used > 1.001 * total) return;
  const most = 1.02 * Math.max(total, used + (asked || 0));
  const drawn = parts.map(([name, held, bucket]) => ({ bytes: held, colour: colour(bucket), title: `${name} ${size(held)}` }));
  const out = section("What held the memory", bar("held", drawn, most, total, size(used)));
  if (asked) out.append(bar("and asked for", [{ bytes: used, colour: "transparent" }, { bytes: asked, colour: "var(--bad)", title: "asked for " + size(asked) }],
    most, total, size(asked)));
  for (const [name, held, bucket] of parts) out.append(bar(name, [{ bytes: held, colour: colour(bucket) }], most, total, size(held)));
  out.append(make("p", { class: "soft" }, `The dashed line is the GPU, ${size(total)}.`
    + (own === undefined ? " The log does not say what else lay on it." : "")));
}
/// What the config was expected to take, beside what the log shows.
function predicted(prediction) {
  if (!prediction || !prediction.compared.length) return;
  const most = 1.02 * Math.max(...prediction.compared.map(one => Math.max(one.predicted, one.observed)));
  const out = section(`Against ${prediction.config}`);
  for (const one of prediction.compared) {
    out.append(bar(`${words(one.what)}, predicted`, [{ bytes: one.predicted, colour: "var(--accent)" }], most, 0, size(one.predicted)),
      bar(`${words(one.what)}, observed`, [{ bytes: one.observed, colour: "var(--activations)" }], most, 0, size(one.observed)));
  }
  for (const text of prediction.contradictions) out.append(make("p", {}, `But ${text}.`));
}
/// What a snapshot held when it was taken, by category and by line of the program.
function held(snapshot) {
  const most = 1.02 * Math.max(snapshot.reserved, snapshot.held, 1);
  const out = section(`What GPU ${snapshot.device} held in ${snapshot.file}`,
    bar("reserved", [{ bytes: snapshot.reserved, colour: "var(--slack)" }], most, 0, size(snapshot.reserved)),
    bar("in use", [{ bytes: snapshot.held, colour: "var(--weights)" }], most, 0, size(snapshot.held)));
  for (const one of snapshot.categories)
    out.append(bar(words(one.name), [{ bytes: one.bytes, colour: colour(one.name) }], most, 0, size(one.bytes)));
  if (snapshot.lines.length) out.append(table([{ number: "bytes" }, { number: "blocks" }, "made at"], snapshot.lines.slice(0, 20).map(one =>
    [{ number: size(one.bytes) }, { number: one.blocks }, one.name])));
}
