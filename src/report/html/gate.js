// The page of a gate.
const failing = ["does_not_fit", "over_budget", "undecided", "invalid"];

/// The check that leaves least room, or the first that was not decided.
const tightest = config => config.checks.find(check => check.undecided)
  || config.checks.reduce((worst, check) => !worst || check.needed - check.limit > worst.needed - worst.limit ? check : worst, null);
const neededOf = check => check.undecided ? "undecided" : atLeast(check);

function gate(answer) {
  const counts = Object.entries(answer.counts).filter(([, count]) => count)
    .map(([verdict, count]) => `${count} ${count > 1 && { fits: "fit", does_not_fit: "do not fit" }[verdict] || words(verdict)}`);
  const good = !answer.diagnostics.length && failing.every(verdict => !answer.counts[verdict]);
  head(good ? "Every config passes" : answer.configs.length ? "Not every config passes" : "Nothing was judged", good,
    counts.join(", "), answer.policy ? "policy " + answer.policy : "", answer.baseline ? "against " + answer.baseline : "");
  const fails = config => failing.includes(config.verdict);
  const configs = [...answer.configs.filter(fails), ...answer.configs.filter(one => !fails(one))];
  if (configs.length) summary(configs, fails);
  problems(answer.diagnostics);
}
/// A line for each config, and below it what there is to say of it, folded.
function summary(configs, fails) {
  const details = configs.map(config => detail(config, fails(config)));
  const rows = configs.map((config, i) => {
    const check = tightest(config), open = make("a", { href: "#config-" + i }, config.config);
    open.addEventListener("click", () => { details[i].open = true; });
    details[i].id = "config-" + i;
    return make("tr", {}, make("td", { class: "name" }, open), make("td", { class: fails(config) ? "bad" : "good" }, words(config.verdict)),
      make("td", { class: "number" }, check ? neededOf(check) : ""), make("td", { class: "number" }, check ? size(check.limit) : ""),
      make("td", { class: "name" }, check ? check.gpu : ""));
  });
  const text = make("input", { type: "search", placeholder: "part of a name, a verdict or a GPU", "aria-label": "Filter the configs" });
  const failed = make("input", { type: "checkbox", id: "failed" });
  const count = make("span", { class: "soft", "aria-live": "polite" });
  const filter = () => {
    const wanted = text.value.trim().toLowerCase().split(/\s+/);
    let shown = 0;
    configs.forEach((config, i) => {
      const of = [config.config, words(config.verdict), ...config.checks.map(check => check.gpu)].join(" ").toLowerCase();
      const show = wanted.every(one => of.includes(one)) && (!failed.checked || fails(config));
      rows[i].hidden = details[i].hidden = !show;
      shown += show;
    });
    count.textContent = `${shown} of ${configs.length}`;
  };
  text.addEventListener("input", filter);
  failed.addEventListener("change", filter);
  section("The configs", make("div", { class: "tools" }, text, make("label", { for: "failed" }, failed, " only what does not pass"), count),
    make("div", { class: "scroll" }, make("table", { class: "summary" },
      make("thead", {}, make("tr", {}, ["config", "verdict", "needs", "may take", "GPU"].map((name, i) =>
        make("th", i === 2 || i === 3 ? { class: "number" } : {}, name)))), make("tbody", {}, rows))));
  page.append(...details);
  filter();
}
function detail(config, failed) {
  const out = make("details", { class: "config" }, make("summary", {}, config.config + ": ",
    make("span", { class: failed ? "bad" : "good" }, words(config.verdict))));
  if (config.lever && failed) out.append(make("p", {}, `Most of the peak is ${words(config.largest_bucket)} (${config.lever}, line ${config.where.line}).`));
  const most = 1.02 * Math.max(...config.checks.map(check => Math.max(check.total, check.needed || 0)), 1);
  for (const check of config.checks) out.append(bar(check.gpu, check.undecided ? [] :
    [{ bytes: check.needed, colour: check.fits ? "var(--good)" : "var(--bad)" }], most, check.limit, neededOf(check)));
  if (config.growth) out.append(make("p", {}, `The peak changes by ${config.growth.by > 0 ? "+" : ""}${size(config.growth.by)}`, config.growth.changes.length
    ? ": " + config.growth.changes.map(one => `${one.key} ${one.before || "nothing"} → ${one.after || "nothing"}`).join(", ") : ""));
  if (config.no_growth) out.append(make("p", { class: "soft" }, config.no_growth));
  for (const one of config.diagnostics) out.append(make("p", { class: one.severity === "error" && failed ? "bad" : "soft" },
    `${one.line ? "line " + one.line + ": " : ""}${one.message} [${one.code}]`));
  return out;
}
