#include "codes.hpp"

#include <algorithm>
#include <array>

namespace oomplan::cli {
namespace {

constexpr auto rows = std::to_array<CodeRow>({
    {"advise/bad-fix", Verdict::bug,
     "A file of the fix ladder, which came with the program, is not what it should be. Please report it."},
    {"advise/no-patch", Verdict::invalid,
     "The config cannot be changed in place: a value is not on one line of its own, or there is nothing beside which a "
     "key could stand. The advice says in words what to write."},
    {"calibrate/applied", Verdict::answered,
     "The figures rest on a calibration, --calibration: what runs of the card took that cannot be known from outside. "
     "docs/calibrate.md says what is fitted."},
    {"calibrate/bad-profile", Verdict::invalid,
     "The file given with --calibration is not what `oomplan calibrate --output` writes."},
    {"calibrate/bad-runs", Verdict::invalid,
     "The file is no runs.jsonl as oomplan's trainer callback writes it: one JSON object a line, sizes in bytes."},
    {"calibrate/not-applied", Verdict::answered,
     "The calibration is of another card or another version of PyTorch, or of several that the question does not tell "
     "apart, or no GPU is named: it changes nothing of this answer."},
    {"catalog/ambiguous-gpu", Verdict::usage,
     "Cards of several sizes are sold under that name. The message lists them with what CUDA reports of each."},
    {"catalog/assumed-total", Verdict::answered,
     "No figure of what CUDA reports of this card under Linux was found, so its total is worked out of others. "
     "`torch.cuda.mem_get_info()[1]` says it on the card; give that as a size."},
    {"catalog/bad-file", Verdict::invalid,
     "A data file that describes a model, an architecture or a GPU is not what it should be. If it is your own,"
     " from --models, mend it as docs/catalog.md says; if it came with the program, please report it."},
    {"catalog/bad-value", Verdict::invalid,
     "The model's config.json has a value of the wrong type or out of range, so its shapes cannot be known. "
     "Mend the file, or name the model by its hub id."},
    {"catalog/missing-key", Verdict::invalid,
     "The model's config.json lacks a key that decides its shapes. A config.json that transformers saved has "
     "it; a hand-written one needs it added."},
    {"catalog/no-config", Verdict::invalid,
     "The directory named as the model holds no config.json, so it is not a Hugging Face model. For an "
     "adapter's directory, name the model that the adapter was made for."},
    {"catalog/unknown-architecture", Verdict::undecided,
     "The model's model_type is one that oomplan has no description of, so no number is given. The message "
     "lists the known ones; docs/catalog.md says how to describe another."},
    {"catalog/unknown-gpu", Verdict::usage,
     "No GPU of that name is known. `oomplan gpus` lists them; a size such as 24GiB is taken as well."},
    {"catalog/unknown-library", Verdict::undecided,
     "What a library of loader_libraries takes of a process is not in models/libraries. A file of that name in a "
     "folder "
     "of --models says it; `oomplan measure --exec` measures it."},
    {"catalog/unknown-model", Verdict::undecided,
     "The model is neither a path that exists, nor a hub id that oomplan knows or that the local Hugging Face cache "
     "has, "
     "and it never asks the network. "
     "Give the path of the model's directory or of its config.json in the config, or for a what-if with --set."},
    {"catalog/unreadable-directory", Verdict::invalid,
     "The directory given with --models does not exist or may not be read."},
    {"cli/bad-size", Verdict::usage, "A size is a number with a unit (24GiB, 512MiB, 1.5G), or a number of bytes."},
    {"cli/bug", Verdict::bug,
     "Something happened in oomplan that should not be possible. Please report it with the config and the command "
     "line."},
    {"cli/no-baseline", Verdict::invalid,
     "The state that --baseline names cannot be read: it is no directory, and git is not there, this is no repository, "
     "or "
     "it has no such revision. A shallow clone lacks the others; fetch with their history."},
    {"cli/no-data-program", Verdict::invalid,
     "The commands stream, dedupe and measure are a program of their own, oomplan-data, beside oomplan. It was not "
     "built, "
     "or not put there. It needs Arrow C++, which scripts/setup brings as the pyarrow wheel."},
    {"cli/no-memory", Verdict::invalid,
     "The system gave no more memory, so there is no answer. Nothing half-written is left. A limit of the shell "
     "(ulimit -v) or of a cgroup may be smaller than what is free."},
    {"cli/not-applied", Verdict::invalid,
     "--apply changed nothing: there is no patch, or the file is read-only, is no longer as it was read, or cannot be "
     "replaced. The message has the reason."},
    {"cli/not-written", Verdict::invalid,
     "A report or a log could not be written: the folder is not there or may not be written, the path is no regular "
     "file, it is one of the files that are judged, or the disk took no more. What was there before is as it was; "
     "`oomplan run` overwrites nothing at all."},
    {"cli/outside", Verdict::invalid,
     "A config, or a file that it names, lies outside of the repository that the gate runs in, links followed. A gate "
     "judges configs of strangers, which could have it read any file of the machine. --allow-outside DIR names a "
     "folder that they may read too."},
    {"cli/unknown-bucket", Verdict::usage, "--explain takes the name of a bucket, as the rows of the table have it."},
    {"cli/unknown-dialect", Verdict::usage,
     "--dialect takes the name of a config format that oomplan reads. Without it the format is recognised from "
     "the content."},
    {"cli/unknown-fix", Verdict::usage,
     "--allow and --forbid take the id of a fix, --keep what no fix may change. docs/ladder.md lists them."},
    {"cli/usage", Verdict::usage,
     "The command line cannot be understood. `oomplan --help` and `oomplan COMMAND --help` say what there is."},
    {"diagnose/bad-rule", Verdict::invalid,
     "A file of sentences, causes or moments is not what it should be. If it is your own, from --rules, mend it as "
     "docs/diagnose.md says; if it came with the program, please report it."},
    {"diagnose/left-out", Verdict::answered,
     "A directory holds more files than are read of one: name those that matter, or a directory further down."},
    {"diagnose/unreadable-rules", Verdict::invalid,
     "The directory given with --rules does not exist or may not be read."},
    {"estimate/any-length", Verdict::answered,
     "Nothing says how long rows are, and the verdict is the same for all that there can be; the figures are those of "
     "the longest that the model takes where all fit, of the shortest where none does."},
    {"estimate/assumed-kernels", Verdict::answered,
     "The model has state-space or linear-attention layers, and nothing says whether mamba-ssm, causal-conv1d or "
     "flash-linear-attention is installed. transformers takes their kernels where they are; the figure is that of its "
     "own code, which needs more. `--set scan_packages=false` says that none is. Axolotl asks for "
     "flash-linear-attention, so that the gated delta rules of Qwen3-Next and Qwen3.5 are taken to be its kernels "
     "there."},
    {"estimate/bad-alloc-conf", Verdict::usage,
     "PYTORCH_ALLOC_CONF is key:value pairs with commas between them, each value one that PyTorch takes. PyTorch "
     "itself would stop with an error, or read something else than was meant."},
    {"estimate/bad-architecture", Verdict::invalid,
     "An architecture file asks for an op that does not exist, or gives an op a size that it cannot have. If the "
     "file is your own, from --models, mend it as docs/catalog.md says; if it came with the program, please report "
     "it."},
    {"estimate/bad-attention", Verdict::invalid,
     "The attention that the config asks for stops at the types that it is given: FlashAttention 2 takes bf16 and fp16 "
     "alone. Train in bf16 or fp16 (autocast, or weights of that type), or take another attention, such as sdpa."},
    {"estimate/bad-mesh", Verdict::invalid,
     "The numbers of ranks do not go together: groups that do not divide the world, or parts that do not divide a "
     "group. "
     "fully_shard or its device mesh would stop with an error."},
    {"estimate/host-unknown", Verdict::undecided,
     "A limit of the host was named, and not all that takes host memory is known. What is known fits; that says "
     "nothing. "
     "The message says what would tell: most often a profile of the dataset, --loader."},
    {"estimate/no-target", Verdict::invalid,
     "None of the modules that LoRA is asked for is in the model, and peft stops with a ValueError. A target is a "
     "module's name or the end of its path (q_proj), all-linear, or peft-default."},
    {"estimate/open-layers", Verdict::answered,
     "A checkpoint in 4 bits leaves layers in 16 bits, and nothing says which: all are counted, and the answer is a "
     "range."},
    {"estimate/ready-made", Verdict::answered,
     "A denoiser (Stable Diffusion, Flux, DiT) is played as scripts train it that have cached latents and embeddings "
     "of "
     "texts. A script that holds the VAE and the text encoders on the GPU needs them, and what they make, beside the "
     "figure."},
    {"estimate/too-large", Verdict::invalid,
     "A size in the config is beyond anything that a machine has; probably a typo."},
    {"estimate/too-long", Verdict::invalid,
     "The sequence is longer than the positions that the model can address. The run itself would stop with an "
     "index error. Shorten the sequence or take another model."},
    {"estimate/unknown-alloc-key", Verdict::usage,
     "PyTorch knows no allocator setting of that name, and would stop with an error. docs/allocator.md lists them."},
    {"estimate/unmatched-target", Verdict::answered,
     "One of several LoRA targets is the name of no module. peft goes on without a word; is it spelled as the model "
     "has "
     "it?"},
    {"estimate/unmodelled", Verdict::undecided,
     "The config asks for something that changes memory and that oomplan does not play yet. A number that "
     "ignores it would be wrong, so none is given. Without that key there is an answer."},
    {"estimate/vllm-cache", Verdict::answered,
     "vLLM on the GPU that trains stops at its start where its part of the GPU has no room for its weights and a cache "
     "of one row of vllm_max_model_length tokens. The weights are looked at, the cache is not."},
    {"estimate/vllm-stops", Verdict::undecided,
     "vLLM on the GPU that trains may take a part of it that has no room for its own copy of the weights: it stops at "
     "its start, before a step is made. A larger part (vllm_gpu_memory_utilization), a larger GPU, or a server."},
    {"ingest/ambiguous-dialect", Verdict::undecided,
     "The keys of the config belong to two formats as well as to one. Name the format with --dialect."},
    {"ingest/ambiguous-trainer", Verdict::undecided,
     "The config has keys of two trainers that differ much in memory, such as a block_size of transformers' examples "
     "beside TRL's packing. --trainer (or a key `trainer`) says which reads it."},
    {"ingest/assumed-file", Verdict::answered,
     "A config names a file by a path that leads to nothing from the working directory and from the config's folder. "
     "The one that lies at that path from a folder above is read; the message says which."},
    {"ingest/assumed-trainer", Verdict::answered,
     "Nothing says whose trainer read the config that a diagnosis is held against, so it was estimated as TRL's SFT. "
     "--trainer says whose it is."},
    {"ingest/assumed-version", Verdict::answered,
     "Nobody names one version of a framework, and the newest known does not have the file's keys, or is not what a "
     "list of requirements leaves. The newest that does is taken; --framework says which version runs."},
    {"ingest/bad-override", Verdict::usage,
     "--set takes key=value: a key of the config's own format, or a field of the plan."},
    {"ingest/bad-profile", Verdict::invalid,
     "The file of --loader is not what `oomplan measure PATH --json` writes of a dataset, or a value in it is out of "
     "range."},
    {"ingest/bad-value", Verdict::invalid,
     "A key has a value of the wrong type or out of range. The message says what was expected; the framework "
     "would refuse it too, or misread it."},
    {"ingest/conflict", Verdict::invalid, "Two values are each right but refused together by the framework."},
    {"ingest/extends-cycle", Verdict::invalid,
     "Configs that extend one another lead back to the first. Cut the circle."},
    {"ingest/extends-missing", Verdict::invalid,
     "The config extends another file that cannot be read. Its path is taken from the folder of the config that"
     " names it."},
    {"ingest/lengths-missing", Verdict::invalid,
     "The file that `lengths` names cannot be read. Its path is taken from the folder of the config that names it, or "
     "from the current one with --set."},
    {"ingest/missing-fact", Verdict::undecided,
     "The estimate needs a fact that the config does not say and that no default settles. The message names the"
     " key; --set gives it for a what-if."},
    {"ingest/nearest-version", Verdict::answered,
     "A version was named, with --framework or in a file of --requirements, whose defaults oomplan does not have. "
     "Those "
     "of the nearest one of the same major version are taken; docs/dialects.md lists what there is."},
    {"ingest/no-training", Verdict::undecided,
     "The file says no training run: a launcher's config, DeepSpeed's, a model's, one of inference or export. Or a "
     "script trains nothing that is read: it loads no model by the framework, makes no trainer, or never calls its "
     "train()."},
    {"ingest/not-a-mapping", Verdict::invalid,
     "A training config is a mapping of keys to values; this file is a list or a single value."},
    {"ingest/not-read", Verdict::undecided,
     "An argument of a script is an expression: scripts are read, never run, so that only values that they write down "
     "are"
     " known. --set says it."},
    {"ingest/overruled", Verdict::answered,
     "--gpu 8xh100 says how many GPUs the run has, and a file says another number. The command line's is taken, as "
     "launchers take theirs; --gpu h100 keeps the file's."},
    {"ingest/partial-profile", Verdict::answered,
     "The profile of --loader lacks rows of the dataset: some could not be read, or a file is broken. The host memory "
     "is counted without them. Mend the dataset, and measure it again."},
    {"ingest/refused", Verdict::invalid,
     "The framework, in the version that the message names, stops at this key: alone, or beside the others that the "
     "message names. With an older version take the key out, or say it as the new one wants it, for an estimate."},
    {"ingest/renamed-key", Verdict::answered,
     "The framework has renamed this key. It is read as the new one; your version of the framework may need the"
     " other spelling."},
    {"ingest/several-runs", Verdict::undecided,
     "A script calls what loads, adapts or trains a model more than once with different arguments, so that no one run "
     "is"
     " to estimate. Keep the calls of one."},
    {"ingest/unknown-dialect", Verdict::undecided,
     "The file's keys are those of no training config that oomplan reads. It may be a config of another tool, "
     "or --dialect can say what it is. Of tools that are told by their keys the hint says what would work."},
    {"ingest/unknown-key", Verdict::usage,
     "No version of the framework knows this key, so it has no effect; a near name is given where there is one."
     " In a config it is a warning, with --set an error."},
    {"ingest/unused-key", Verdict::undecided,
     "A key sets a length, a batch or a model, and the trainer that the config is read for does not read it: the file "
     "may be another trainer's, or the key may be meant for another. --trainer says whose it is; a key that is not "
     "needed can be left out."},
    {"ingest/unused-version", Verdict::answered,
     "--framework names a package that this config takes no defaults of, so that its version changes nothing."},
    {"measure/bad-file", Verdict::invalid,
     "A data file is not what its format asks for. It may be damaged, or be taken for another format than it is in: "
     "--format says which."},
    {"measure/bad-row", Verdict::invalid,
     "A row cannot be read; the message says which and why. --on-error skip leaves such rows out, says of each why, "
     "and "
     "counts them."},
    {"measure/broken-budget", Verdict::bug,
     "The process took more memory than --budget. That is a promise of oomplan's, so please report it."},
    {"measure/cannot-run", Verdict::invalid, "The command of --exec cannot be started."},
    {"measure/cannot-write", Verdict::invalid,
     "A file cannot be written: a full disk, a directory that is not there or may not be written to. Nothing "
     "half-written "
     "is left. Hashes past the budget go to --tmp."},
    {"measure/changed", Verdict::invalid,
     "An output takes two readings of the inputs, and the second found them changed, or they can be read only once. "
     "Nothing is written."},
    {"measure/failed", Verdict::invalid,
     "What was measured ended with an error. With --exec the figures up to its end are there all the same."},
    {"measure/no-data", Verdict::invalid,
     "A path names no file: a directory without files, or a pattern that nothing matches."},
    {"measure/no-sample", Verdict::invalid, "--sample draws parts of files; a pipe has none that can be drawn."},
    {"measure/not-text", Verdict::invalid, "JSON Lines cannot hold bytes that are not UTF-8. Parquet can."},
    {"measure/output-exists", Verdict::invalid,
     "A file of the output's name is there already. It is never replaced: remove it, or choose another name."},
    {"measure/output-kind", Verdict::invalid,
     "The name of an output says what is written: .jsonl, .jsonl.zst or .parquet. Parquet is written of Parquet and "
     "Arrow inputs with one schema, as other formats name no types."},
    {"measure/over-budget", Verdict::invalid,
     "A row, a page or a batch needs more memory at one time than --budget leaves. It was refused before that was "
     "taken. The message says how much it needs. --on-error skip leaves out such rows of text, JSON, CSV and tar."},
    {"measure/row-count", Verdict::invalid,
     "A file says in its metadata that it has another number of rows than were read from it. It is damaged, or its "
     "writer is wrong."},
    {"measure/small-budget", Verdict::invalid,
     "--budget is less than what the program itself takes before it has read a row. The message says the least."},
    {"measure/unknown-column", Verdict::invalid, "No row has a column that --key names."},
    {"measure/unknown-format", Verdict::invalid,
     "The file's content is of no kind that is read: docs/data.md lists them. --format says what it is; opaque takes "
     "each "
     "file as one row."},
    {"read/bad-event", Verdict::invalid,
     "A line of an event list is none of 'a ID BYTES', 'f ID', 'm CODE' and 'e', or a number in it is out of range."},
    {"read/bad-pickle", Verdict::invalid,
     "A memory snapshot is a pickle, and this one is broken: what stands at the byte named does not go together with "
     "what"
     " stands before it."},
    {"read/binary", Verdict::invalid,
     "The file has bytes that no config has. It is probably not the file that was meant."},
    {"read/damaged", Verdict::invalid,
     "A compressed file is cut short or broken. Of a log, what stands before the damage was read, and the diagnosis "
     "rests "
     "on that."},
    {"read/duplicate-key", Verdict::invalid,
     "A key stands twice in one mapping. Parsers silently keep one of the two; remove the other."},
    {"read/empty", Verdict::invalid, "The file is empty, or all comments; an event list has at least one event."},
    {"read/encoding", Verdict::invalid, "The file is not UTF-8. Save it as UTF-8."},
    {"read/forbidden-opcode", Verdict::invalid,
     "Python would import, call or build something while it loads this pickle, which a memory snapshot never asks for."
     " Nothing of it was executed. Do not load a file like that from someone you do not trust."},
    {"read/inconsistent-snapshot", Verdict::invalid,
     "Taken back from the snapshot's segments, the trace says something that cannot have been: recording was stopped "
     "and "
     "begun anew between, or the file was edited. What a replay would say of it is worth nothing."},
    {"read/many-documents", Verdict::invalid,
     "The YAML file holds more than one document (a line of three dashes begins another). A config is one."},
    {"read/missing", Verdict::invalid, "There is no file of that name."},
    {"read/needs-memory", Verdict::invalid,
     "The file is packed with so large a dictionary that unpacking it takes more memory than there may be. The message "
     "says how much; a larger --budget gives more."},
    {"read/no-library", Verdict::invalid,
     "The file is packed with xz or bzip2, and this oomplan was built where liblzma or libbz2 was not."},
    {"read/no-match", Verdict::invalid,
     "A pattern with * or ? names no file at all, or a directory holds no file that may be a log. A misspelt pattern "
     "must not pass for configs that fit: mend it, or "
     "name "
     "the files."},
    {"read/no-packages", Verdict::invalid,
     "--requirements names a folder without *.dist-info: no virtual environment, and no site-packages."},
    {"read/not-a-file", Verdict::invalid,
     "The path is a directory, a device or a pipe. For standard input give - as the config."},
    {"read/not-a-snapshot", Verdict::invalid,
     "The pickle holds something other than what torch.cuda.memory._dump_snapshot writes."},
    {"read/not-live", Verdict::invalid,
     "An event list frees what is not allocated at that point: it was never allocated, or is freed already."},
    {"read/still-live", Verdict::invalid,
     "An event list allocates under an id that is still in use. An id may be used again once it is freed."},
    {"read/syntax", Verdict::invalid,
     "The file is not valid YAML, JSON or TOML. The caret shows where the parser stopped; the slip is there or "
     "just before."},
    {"read/too-deep", Verdict::invalid, "The file is nested deeper than any config is."},
    {"read/too-large", Verdict::invalid,
     "The file is larger than any config is, or becomes so once its aliases are expanded. Of an event list: more is "
     "allocated at one time than any run has. Of a memory snapshot: it holds more than any that PyTorch writes."},
    {"read/too-many-nodes", Verdict::invalid,
     "The file has more keys and values than any config has, or comes to that once its aliases are expanded."},
    {"read/truncated", Verdict::invalid,
     "The file ends within a line, a pickle or compressed data, so the rest of it is missing. Copy or record it again; "
     "of a list written by hand, end the last line."},
    {"read/unreadable", Verdict::invalid,
     "The system refuses to open or to read the file; the message has its reason, often a missing permission."},
    {"survey/bad-axis", Verdict::usage,
     "--over takes axes with commas between them, each KEY=1..64, KEY=1024:65536:x2, KEY=64:512:+64, KEY=1,2,4 or "
     "KEY=bf16|fp16; "
     "the "
     "key is one that --set takes."},
    {"survey/bad-layout", Verdict::invalid, "A file of models/layouts is not as docs/planner.md has it."},
    {"survey/bad-policy", Verdict::invalid,
     "The policy of a gate has a key that it does not know, or a value of the wrong type. docs/gate.md describes it."},
    {"survey/idle-pattern", Verdict::answered,
     "A pattern of the policy matches none of the configs that were judged: it may be misspelt, or they are "
     "elsewhere."},
    {"survey/no-bound", Verdict::undecided,
     "No micro-batch was found that is too large for the GPU, or one on the way there cannot be decided."},
    {"survey/no-rule", Verdict::invalid,
     "A config is to be judged that no rule of the policy is for. Add a rule, or name GPUs at the policy's top for all "
     "the "
     "others; a config that nobody looks at must not pass."},
    {"survey/other-layout", Verdict::undecided,
     "`oomplan plan` starts a config in several ways. What this one says itself, or --set, leads to another plan than "
     "was asked "
     "for, or it is of a framework that is started otherwise."},
    {"survey/too-many-points", Verdict::usage,
     "The grid of --over is larger than any answer that could be read. Take larger steps or fewer axes."},
    {"watch/not-found", Verdict::invalid,
     "There is no program of that name: neither such a path nor one in PATH. `oomplan run` exits with 127, as a shell "
     "does."},
    {"watch/not-started", Verdict::invalid,
     "The program is there and cannot be run; the message has the system's reason, often a missing permission. "
     "`oomplan run` exits with 126, as a shell does."},
});

constexpr int urgency(Verdict verdict) {
  switch (verdict) {
    case Verdict::bug:
      return 4;
    case Verdict::usage:
      return 3;
    case Verdict::invalid:
      return 2;
    case Verdict::undecided:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

std::span<const CodeRow> code_rows() { return rows; }

const CodeRow* find_code(std::string_view code) {
  const auto* row =
      std::lower_bound(rows.begin(), rows.end(), code, [](const CodeRow& r, auto c) { return r.code < c; });
  return row != rows.end() && row->code == code ? row : nullptr;
}

Verdict verdict_of(const Diagnostics& diagnostics) {
  Verdict worst = Verdict::answered;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::error) continue;
    const CodeRow* row = find_code(diagnostic.code);
    const Verdict verdict = row ? row->verdict : Verdict::bug;
    if (urgency(verdict) > urgency(worst)) worst = verdict;
  }
  return worst;
}

}  // namespace oomplan::cli
