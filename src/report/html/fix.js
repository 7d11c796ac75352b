// The page of a fix.
function advice(answer) {
  const limit = answer.gpu ? Math.floor(answer.gpu.total * (1 - answer.headroom)) : 0;
  const verdict = { fits: "It fits already", fixed: answer.found && "It fits with " + answer.found.fixes.map(times).join(", ")
      + (answer.whole ? "" : "; there may be a cheaper set"),
    nothing_fits: (answer.whole ? "Nothing that can be estimated makes it fit" : "No set of fixes was found that makes it fit") + (answer.lowest
      ? `: it still needs ${answer.lowest.at_least ? "at least " : ""}${size(answer.lowest.needed)} with ${answer.lowest.fixes.map(times).join(", ")}` : ""), none: "No answer" }[answer.verdict];
  head(verdict, answer.verdict === "fits" || answer.verdict === "fixed",
    answer.gpu ? `on ${answer.gpu.name}${/^[\d.]+ [KMGT]iB$/.test(answer.gpu.name) ? "" : ", " + size(answer.gpu.total)}, with ${100 * answer.headroom} % left free` : "", answer.config);
  if (answer.now) waterfall(answer, limit);
  if (answer.keys.length || answer.changes.length) section("What to change", answer.keys.length
    ? table(["key", "value"], answer.keys.map(one => [one.key, one.value]))
    : table(["fact", "before", "after"], answer.changes.map(one => [one.fact, one.before, one.after])));
  if (answer.patch) section("The patch", patch(answer.patch));
  else if (answer.launcher) section(answer.launcher.name, make("pre", {}, answer.launcher.text));
  if (answer.launcher) section("Start the script with", make("pre", {}, `accelerate launch --config_file ${answer.launcher.name} …`));
  for (const fix of answer.fixes) section(fix.title, make("p", {}, fix.how || ""), make("p", { class: "soft" },
    [`science: ${words(fix.science)}`, slower(fix.slower), fix.verify ? "verify: " + fix.verify : ""].filter(Boolean).join(" · ")));
  const instead = answer.alternatives.map(one => [one.name, one.trial.fixes.map(times).join(", "), size(one.trial.needed)]);
  if (answer.larger_gpus.length) instead.push(["as it is, on a larger card",
    answer.larger_gpus.slice(0, 3).map(gpu => `${gpu.name} (${size(gpu.total)})`).join(", "), atLeast(answer.now)]);
  if (instead.length) section("Or instead", table(["", "with", "needs"], instead));
  if (answer.tried.length) {
    const most = 1.02 * Math.max(limit, ...answer.tried.map(one => one.needed));
    section("Each fix by itself", answer.tried.map(one => trialBar(one.fixes.map(times).join(", "), one, most, limit)),
      legend(answer.tried));
  }
  const passed = answer.passed.filter(one => !one.unneeded);
  if (passed.length) section("Left out", table(["fix", "why"], passed.map(one => [one.id, one.why])));
  if (!answer.found && answer.not_estimated.length) section("Effect not estimated",
    table(["fix", "how"], answer.not_estimated.map(one => [one.title, one.how])));
  problems(answer.diagnostics);
}
const slower = one => one && one.most_percent
  ? `slower: ${one.least_percent} to ${one.most_percent} % (${one.source})` : "";
const times = taken => taken.id + (taken.times > 1 ? " ×" + taken.times : "");
/// What a trial needs, bucket by bucket at its highest moment; what lies beside the tensors and between them is the rest.
function partsOf(trial) {
  const out = Object.entries(trial.by_bucket).filter(([bucket, bytes]) => bytes > 0 && bucket !== "paged");
  const rest = trial.needed - out.reduce((sum, [, bytes]) => sum + bytes, 0);
  if (rest > 0) out.push(["runtime", rest]);
  return out.map(([bucket, bytes]) => ({ bytes, colour: colour(bucket),
    title: `${bucket === "runtime" ? "beside the tensors, and between them" : words(bucket)} ${size(bytes)}` }));
}
function trialBar(name, trial, most, limit, taken = 0) {
  const parts = partsOf(trial);
  if (taken > 0) parts.push({ bytes: taken, colour: "var(--line)", title: `${size(taken)} less` });
  const out = bar(name, parts, most, limit, atLeast(trial));
  out.lastChild.classList.add(trial.fits ? "good" : "bad");
  return out;
}
/// The bars' colours.
function legend(trials) {
  const used = new Set(trials.flatMap(partsOf).map(part => part.colour));
  return make("div", { class: "key" }, [...used].map(colour => {
    const bucket = colour.slice("var(--".length, -1);
    const item = make("span", {}, bucket === "runtime" ? "beside and between the tensors" : words(bucket));
    item.style.setProperty("--colour", colour);
    return item;
  }));
}
/// What is left after each fix, and how much it took off.
function waterfall(answer, limit) {
  const trials = [answer.now, ...answer.steps];
  const most = 1.02 * Math.max(answer.gpu.total, ...trials.map(trial => trial.needed));
  const out = section("Down the ladder", trialBar("as it is", answer.now, most, limit));
  let before = answer.now.needed;
  for (const step of answer.steps) {
    out.append(trialBar("+ " + times(step.fixes[step.fixes.length - 1]), step, most, limit, before - step.needed));
    before = step.needed;
  }
  out.append(legend(trials), make("p", { class: "soft" }, `The dashed line is what the headroom leaves, ${size(limit)}.`));
}
function patch(text) {
  const out = make("pre", {});
  for (const line of text.trimEnd().split("\n"))
    out.append(make("span", { class: line[0] === "+" ? "add" : line[0] === "-" ? "cut" : "" }, line + "\n"));
  return out;
}
