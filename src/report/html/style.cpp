#include "page.hpp"

namespace oomplan::report::html {

std::string_view style() {
  return R"css(
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --card: #ffffff; --ink: #1d1f23; --soft: #62666e; --line: #dddbd6; --good: #1a7f4b; --bad: #b3261e;
  --accent: #2f5d9e;
  --weights: #4477aa; --optimizer: #66aadd; --gradients: #228833; --activations: #e0a526; --attention_scores: #cc6677;
  --logits_and_loss: #aa3377; --autocast_copies: #88ccaa; --temporaries: #ee7733; --inputs: #777777; --gathered: #ddaa33; --communication: #997700; --slack: #b8b4aa;
  --fragmentation: #8d8577; --paged: #b9a6cf; --runtime: #55606e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181c; --card: #1f2228; --ink: #e8e6e1; --soft: #a0a4ad; --line: #363a42; --good: #5fc990; --bad: #ff8a7e;
    --accent: #8ab4f0; --slack: #6d6a63; --fragmentation: #8d8577; --paged: #b9a6cf; --runtime: #8793a3; --inputs: #9a9a9a;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
p { margin: .25rem 0 .75rem; overflow-wrap: anywhere; }
section > :last-child { margin-bottom: 0; }
.soft { color: var(--soft); }
.good { color: var(--good); } .bad { color: var(--bad); }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem; margin: 1rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; width: 100%; }
th { text-align: left; color: var(--soft); font-weight: 500; }
th, td { padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.strong td { font-weight: 600; }
code, pre { font: .82rem/1.45 ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", Menlo, monospace; }
pre { overflow-x: auto; margin: .5rem 0; padding: .75rem; background: var(--paper); border: 1px solid var(--line);
  border-radius: .4rem; }
.wrap { white-space: pre-wrap; overflow-wrap: anywhere; }
.add { color: var(--good); } .cut { color: var(--bad); }
.bar { display: grid; grid-template-columns: 10.5rem 1fr 6rem; gap: .6rem; align-items: center; margin: .3rem 0;
  font-size: .875rem; }
.bar .name { overflow-wrap: anywhere; }
.bar .value { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.track { position: relative; height: 1.1rem; background: var(--paper); border-radius: .2rem; }
.fill { position: absolute; top: 0; bottom: 0; border-radius: .2rem; min-width: 1px; }
.limit { position: absolute; top: -.15rem; bottom: -.15rem; width: 0; border-left: 2px dashed var(--ink); }
.key { display: flex; flex-wrap: wrap; gap: .2rem .9rem; font-size: .8rem; margin: .5rem 0 0; }
.key span::before { content: ""; display: inline-block; width: .75rem; height: .75rem; margin-right: .35rem;
  border-radius: .15rem; background: var(--colour); vertical-align: -.06rem; }
svg { display: block; width: 100%; height: auto; touch-action: pan-y; }
svg text { fill: var(--soft); font-size: 12px; }
.tip { min-height: 3em; margin: .4rem 0 0; font-size: .85rem; }
details { margin: 1rem 0; } summary { cursor: pointer; color: var(--soft); }
a { color: var(--accent); }
@media (max-width: 40rem) {
  body { padding: .6rem; font-size: 15px; } section { padding: .75rem; } h1 { font-size: 1.25rem; }
  .bar { grid-template-columns: 1fr auto; gap: 0 .6rem; margin: .55rem 0; }
  .bar .track { grid-column: 1 / -1; grid-row: 2; }
}
@media print {
  :root { --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; }
  body { max-width: none; font-size: 11pt; } section { break-inside: avoid; border: 0; padding: 0; }
  .scroll, pre { overflow: visible; white-space: pre-wrap; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } #text, .tip { display: none; }
}
)css";
}

}  // namespace oomplan::report::html
