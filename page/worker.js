"use strict";
// Runs the program: command lines and files in; exit codes, both streams and the files that it wrote out.
const here = "/run";

function bytes_of(base64) {
  const text = atob(base64), out = new Uint8Array(text.length);
  for (let i = 0; i < out.length; ++i) out[i] = text.charCodeAt(i);
  return out;
}

/// Unpacks the base64 text that the page holds (unpacker.cpp), and compiles it.
async function start(packed, unpacker) {
  const nothing = () => 0;
  const { instance: { exports } } = await WebAssembly.instantiate(bytes_of(unpacker),
    { env: { emscripten_notify_memory_growth: nothing }, wasi_snapshot_preview1: { proc_exit: nothing } });
  const bytes = bytes_of(packed), at = exports.malloc(bytes.length);
  new Uint8Array(exports.memory.buffer).set(bytes, at);
  const size = exports.unpacked_size(at, bytes.length), to = exports.malloc(size);
  if (exports.unpack(to, size, at, bytes.length) !== size) throw new Error("the page is damaged");
  return oomplan({ wasmBinary: new Uint8Array(exports.memory.buffer, to, size) });
}

function remove(FS, path) {
  for (const name of FS.readdir(path).filter(name => name !== "." && name !== "..")) {
    const inner = `${path}/${name}`;
    if (FS.isDir(FS.stat(inner).mode)) { remove(FS, inner); FS.rmdir(inner); } else FS.unlink(inner);
  }
}

function reply(program, words) {
  const line = new TextEncoder().encode(words.map(word => word + "\0").join(""));
  const at = program._malloc(line.length);
  program.HEAPU8.set(line, at);
  const code = program._ask(at, line.length);
  program._free(at);
  const text = stream => new TextDecoder("utf-8", { ignoreBOM: true }).decode(program.HEAPU8.slice(program._text(stream), program._text(stream) + program._size(stream)));
  return { code, out: text(1), err: text(2) };
}

/// Each line's reply, in an empty folder that holds the files; and those that were written, by name.
async function answer(program, { lines, files, wanted }) {
  const { FS } = program;
  const read = await Promise.all(files.map(async ([name, blob]) => [name, new Uint8Array(await blob.arrayBuffer())]));
  if (!FS.analyzePath(here).exists) FS.mkdir(here);
  FS.chdir(here);
  remove(FS, here);
  for (const [name, bytes] of read) FS.writeFile(name, bytes, { canOwn: true });
  const replies = lines.map(words => reply(program, words));
  const written = wanted.map(name => FS.analyzePath(name).exists ? FS.readFile(name) : null);
  remove(FS, here);
  return { replies, written };
}

let program;
onmessage = async ({ data }) => {
  try {
    if (data.packed) program = start(data.packed, data.unpacker);
    const loaded = await program;
    postMessage({ id: data.id, ...(data.lines ? await answer(loaded, data) : {}) });
  } catch (error) {
    postMessage({ id: data.id, failed: String(error) });
  }
};
