"use strict";
// The shell around the program. What it answers is shown as it is: text as text, the report as the page that it wrote.
const $ = id => document.getElementById(id);
const longest_shown = 1 << 18;  // bytes of a dropped text that are put into the box to be edited
const longest_link = 1 << 22;  // bytes that a link may unpack to
const state = { gpus: ["rtx-4090"], config: new Map(), log: new Map(), answer: null };

// The program, in a worker: the page never waits for it, and can stop it.
const source = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));
let worker, waiting = new Map(), count = 0;
function start() {
  worker = new Worker(source);
  worker.onmessage = ({ data }) => {
    waiting.get(data.id)?.(data);
    waiting.delete(data.id);
    if (data.failed) restart();
  };
  worker.postMessage({ id: 0, packed: $("program").textContent, unpacker: $("unpacker").textContent });
}
function restart() {
  worker.terminate();
  for (const [, done] of waiting) done({ failed: "stopped" });
  waiting = new Map();
  start();
}
/// What each line of words after `oomplan` comes to, one after the other in a folder that holds `files`, pairs of a name
/// and a Blob; and what is then written in the files `wanted`.
function ask(lines, files = [], wanted = []) {
  return new Promise(done => {
    waiting.set(++count, done);
    worker.postMessage({ id: count, lines, files, wanted });
  });
}

/// A command line's words, as a shell has them: quotes hold words together.
function words_of(line) {
  return [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replace(/["']/g, ""));
}
const quoted = word => /^[\w.,:=/%+@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
const plain_name = (text, otherwise) => text.replace(/^.*[/\\]/, "").replaceAll("\0", "").trim() || otherwise;

// What is asked.
function question(kind) {
  const config = plain_name($("name").value, "train.yaml"), files = new Map(state.config);
  const has_config = $("config").value.trim() !== "" || files.has(config);
  if ($("config").value.trim() !== "") files.set(config, new Blob([$("config").value]));
  const options = words_of($("options").value);
  if (kind !== "diagnose") {
    const gpus = kind === "fix" ? state.gpus.slice(0, 1) : state.gpus;
    return { words: [kind, config, ...gpus.flatMap(gpu => ["--gpu", gpu]), ...options], files };
  }
  const logs = [...state.log.keys()];
  for (const [name, file] of state.log) files.set(name, file);
  if ($("log").value.trim() !== "") files.set(logs[logs.push("pasted.log") - 1], new Blob([$("log").value]));
  const with_config = $("with-config").checked && has_config ? ["--config", config, "--gpu", state.gpus[0] ?? "", ...options] : [];
  return { words: [kind, ...logs, ...with_config.filter((word, at, all) => word !== "" && !(word === "--gpu" && all[at + 1] === ""))], files };
}

// What is answered.
async function answer(kind) {
  const { words, files } = question(kind), began = performance.now(), report = "oomplan-report.html";
  busy(true);
  $("verdict").textContent = "Working …";
  $("answer").focus({ preventScroll: true });  // the button that was pressed can hold it no longer, and Stop is next
  $("command").textContent = ["oomplan", ...words].map(quoted).join(" ");
  const { failed, replies, written } = await ask([[...words, "--html", report]], [...files], [report]);
  busy(false);
  if (failed) return show_failure(failed);
  state.answer = { kind, words, files, text: replies[0], html: written[0] };
  show(performance.now() - began);
}
/// The JSON is a second answer, which takes as long as the first: it is asked for where it is looked at.
async function fill_json() {
  const { answer: { words, files, json } } = state;
  if (json !== undefined) return;
  busy(true);
  $("json").textContent = "Working …";
  const { failed, replies } = await ask([[...words, "--json"]], [...files]);
  busy(false);
  state.answer.json = replies?.[0].out;
  $("json").textContent = state.answer.json ?? (failed === "stopped" ? "Stopped" : failed);
}
function busy(is) {
  for (const id of ["estimate", "fix", "diagnose", "apply", "save"]) $(id).disabled = is;
  $("stop").hidden = !is;
  $("answer").hidden = false;
  $("answer").ariaBusy = is;
}
function show_failure(why) {
  $("verdict").textContent = why === "stopped" ? "Stopped" : "This cannot be answered here: memory ran out, or a bug in oomplan";
  $("said").textContent = why === "stopped" ? "" : why;
  for (const id of ["tabs", "report", "text", "json", "errors"]) $(id).hidden = true;
  $("answer").focus();
}
function show(milliseconds) {
  const { kind, text, html } = state.answer;
  $("verdict").textContent = text.out.split("\n")[0] || text.err.split("\n")[0];
  $("said").textContent = `Exit code ${text.code}, after ${(milliseconds / 1000).toFixed(2)} s.`;
  $("errors").textContent = text.err;
  $("errors").hidden = text.err === "";
  $("text").textContent = text.out;
  // Another frame for each report: what one loads while it is hidden, Chromium does not draw when it is shown.
  const frame = $("report").cloneNode();
  frame.srcdoc = html ? new TextDecoder().decode(html) : "";
  $("report").replaceWith(frame);
  $("tab-report").hidden = !html;
  $("tabs").hidden = false;
  $("apply").hidden = !(kind === "fix" && /^\+\+\+ /m.test(text.out));
  choose(html ? "report" : "text");
  $("answer").focus({ preventScroll: true });
  $("answer").scrollIntoView({ block: "start" });
}
function choose(which) {
  for (const id of ["report", "text", "json"]) {
    $(id).hidden = id !== which;
    $(`tab-${id}`).ariaSelected = id === which;
    $(`tab-${id}`).tabIndex = id === which ? 0 : -1;
  }
  state.shown = which;
  if (which === "json") fill_json();
}
async function apply() {
  const { words, files } = state.answer, name = words[1];
  const { failed, written } = await ask([[...words, "--apply", "--yes"]], [...files], [name]);
  if (failed) return show_failure(failed);
  $("config").value = new TextDecoder().decode(written[0]);
  $("config").focus();
  $("said").textContent = "The config above has the patch.";
}
function save() {
  const { kind, text, json, html } = state.answer;
  const [bytes, ending] = { report: [html, "html"], text: [text.out, "txt"], json: [json ?? "", "json"] }[state.shown];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = `oomplan-${kind}.${ending}`;
  link.click();
  URL.revokeObjectURL(link.href);
}

// Links: the question, packed into the fragment, which browsers send to nobody.
async function through(stream, bytes, most = Infinity) {
  const parts = [];
  let size = 0;
  for (const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    if ((size += value.length) > most) throw new Error("too long");
    parts.push(value);
  }
}
async function share() {
  const asked = { ask: state.answer.kind, name: $("name").value, config: $("config").value, log: $("log").value, gpus: state.gpus,
    options: $("options").value, together: $("with-config").checked };
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(asked)));
  const text = btoa(Array.from(packed, byte => String.fromCharCode(byte)).join(""));
  history.replaceState(null, "", "#" + text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""));
  const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  const without = state.config.size + state.log.size ? " Files that were dropped are not in it." : "";
  $("said").textContent = (copied ? "The link is copied." : "The link is in the address bar.") + without;
}
async function open_link() {
  if (location.hash.length < 2) return;
  try {
    const packed = atob(location.hash.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(new DecompressionStream("deflate-raw"), Uint8Array.from(packed, letter => letter.charCodeAt(0)), longest_link);
    const asked = JSON.parse(new TextDecoder().decode(bytes));
    for (const id of ["name", "config", "log", "options"]) $(id).value = String(asked[id] ?? "");
    state.gpus = Array.isArray(asked.gpus) ? asked.gpus.map(String) : [];
    $("with-config").checked = asked.together !== false;
    draw();
    if (["estimate", "fix", "diagnose"].includes(asked.ask)) await answer(asked.ask);
  } catch {
    busy(false);
    show_failure("stopped");
    $("verdict").textContent = "This link is damaged: nothing can be read out of it";
  }
}

// Lists of files and of GPUs.
function chips(list, names, remove) {
  list.replaceChildren(...names.map(name => {
    const item = document.createElement("li"), label = document.createElement("span"), button = document.createElement("button");
    label.textContent = name;
    button.textContent = "×";
    button.type = "button";
    button.ariaLabel = `Remove ${name}`;
    button.onclick = () => {
      const at = names.indexOf(name);
      remove(name);
      draw();
      ([...list.querySelectorAll("button")].at(Math.min(at, names.length - 2)) ?? $(list.dataset.after)).focus();
    };
    item.append(label, button);
    return item;
  }));
}
function draw() {
  chips($("gpus"), state.gpus, gone => state.gpus = state.gpus.filter(name => name !== gone));
  for (const where of ["config", "log"]) chips($(`${where}-files`), [...state[where].keys()], name => state[where].delete(name));
}
function add_gpus() {
  for (const name of $("gpu").value.split(/[\s,]+/).filter(Boolean)) if (!state.gpus.includes(name)) state.gpus.push(name);
  $("gpu").value = "";
  draw();
}
/// A config goes into the box, where it is the first; what else there is stands beside it, under its own name.
async function take(files, where) {
  for (const file of files) {
    const name = plain_name(file.name, "file"), config = /\.(ya?ml|json|toml|py|ipynb)$/i.test(name);
    const to = where ?? (config ? "config" : "log");
    if (to === "config" && $("config").value.trim() === "" && file.size <= longest_shown) {
      $("config").value = await file.text();
      $("name").value = name;
    } else {
      state[to].set(name, file);
    }
  }
  draw();
}

// What is clicked, dropped and typed.
for (const kind of ["estimate", "fix", "diagnose"]) $(kind).onclick = () => { add_gpus(); answer(kind); };
$("apply").onclick = apply;
$("save").onclick = save;
$("share").onclick = share;
$("stop").onclick = restart;
$("example").onclick = () => {
  $("name").value = "train.yaml";
  $("config").value = example;
};
$("gpu").onchange = add_gpus;
$("gpu").onkeydown = event => { if (event.key === "Enter") add_gpus(); };
for (const where of ["config", "log"]) {
  const input = $(`open-${where}`);
  input.onchange = async () => { await take(input.files, where); input.value = ""; };
  input.parentElement.onkeydown = event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); input.click(); } };
  $(where).onkeydown = event => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $(where === "log" ? "diagnose" : "estimate").click(); };
}
const tabs = ["report", "text", "json"];
for (const which of tabs) {
  $(`tab-${which}`).onclick = () => choose(which);
  $(`tab-${which}`).onkeydown = event => {
    const open = tabs.filter(one => !$(`tab-${one}`).hidden), at = open.indexOf(which);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(open.at(to % open.length));
    $(`tab-${state.shown}`).focus();
  };
}
document.onkeydown = event => { if (event.key === "Escape" && !$("stop").hidden) restart(); };
const over = event => event.target.closest?.("[data-drop]");
document.ondragover = event => {
  event.preventDefault();
  for (const section of document.querySelectorAll("[data-drop]")) section.classList.toggle("over", section === over(event));
};
document.ondragleave = document.ondragend = () => { for (const section of document.querySelectorAll(".over")) section.classList.remove("over"); };
document.ondrop = event => {
  event.preventDefault();
  document.ondragleave();
  take([...event.dataTransfer.files], over(event)?.dataset.drop === "log" ? "log" : undefined);
};

const example = `# A 4-bit LoRA of Llama 3.1 8B with Axolotl.
base_model: meta-llama/Llama-3.1-8B
adapter: qlora
load_in_4bit: true
lora_r: 32
lora_alpha: 64
lora_target_linear: true
datasets:
  - path: mhenrichsen/alpaca_2k_test
    type: alpaca
sequence_len: 2048
sample_packing: true
micro_batch_size: 2
gradient_accumulation_steps: 4
optimizer: paged_adamw_8bit
bf16: auto
attn_implementation: flash_attention_2
gradient_checkpointing: true
`;
start();
draw();
open_link();
onhashchange = open_link;
ask([["gpus"]]).then(({ replies }) => $("known-gpus").replaceChildren(...(replies?.[0].out ?? "").split("\n").filter(line => / GiB /.test(line)).map(line => {
  const option = document.createElement("option");
  option.value = line.split(" ")[0];
  option.label = line.trim();
  return option;
})));
