#!/usr/bin/env node
// The page's program from a command line, for tests and to pack the page: oomplan.cjs BUILD WORDS… answers in this folder
// as the program would; with --lines in place of words it answers one JSON list of words a line, all in one instance.
const fs = require("fs");
const path = require("path");

async function load(build) {
  const program = await require(path.resolve(build, "oomplan_page.js"))({ wasmBinary: fs.readFileSync(path.join(build, "oomplan_page.wasm")) });
  const { FS, NODEFS } = program;
  for (const name of fs.readdirSync("/")) {  // under their own names, so that paths read the same
    const root = `/${name}`;
    if (["dev", "proc", "sys"].includes(name) || !fs.statSync(root, { throwIfNoEntry: false })?.isDirectory()) continue;
    if (!FS.analyzePath(root).exists) FS.mkdir(root);
    FS.mount(NODEFS, { root }, root);
  }
  FS.chdir(process.cwd());
  return words => {
    const line = Buffer.from(words.map(word => word + "\0").join(""));
    const at = program._malloc(line.length);
    program.HEAPU8.set(line, at);
    const code = program._ask(at, line.length);
    program._free(at);
    const text = stream => Buffer.from(program.HEAPU8.slice(program._text(stream), program._text(stream) + program._size(stream)));
    return { code, out: text(1), err: text(2) };
  };
}

async function main([build, ...words]) {
  const ask = await load(build);
  if (words[0] !== "--lines") {
    const { code, out, err } = ask(words);
    fs.writeSync(1, out);
    fs.writeSync(2, err);
    process.exitCode = code;
    return;
  }
  for await (const line of require("readline").createInterface({ input: process.stdin })) {
    const began = performance.now();
    const { code, out, err } = ask(JSON.parse(line));
    const milliseconds = performance.now() - began;
    console.log(JSON.stringify({ code, out: out.toString("base64"), err: err.toString("base64"), milliseconds }));
  }
}

main(process.argv.slice(2));
