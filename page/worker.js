"use strict";
// Runs the program: command lines and files in; exit codes, both streams and the files that it wrote out.
const here = "/run";

/// Gunzips the base64 text that the page holds, and compiles it.
async function start(packed) {
  const bytes = Uint8Array.from(atob(packed), letter => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return oomplan({ wasmBinary: await new Response(unpacked).arrayBuffer() });
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
    if (data.packed) program = start(data.packed);
    const loaded = await program;
    postMessage({ id: data.id, ...(data.lines ? await answer(loaded, data) : {}) });
  } catch (error) {
    postMessage({ id: data.id, failed: String(error) });
  }
};
