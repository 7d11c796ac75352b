
#include "../command.hpp"
#include "../replayed.hpp"

namespace oomplan::cli {
namespace {

struct Options {
  ReplayQuestion question{};
  bool json = false;
};

void add_options(const ArgumentParser& app, Options& options) {
  ReplayQuestion& question = options.question;
  app.option("EVENTS", question.lists,
             "Lists of allocation events, or memory snapshots; gzip, zstd, bzip2, xz too; - reads a list from "
             "standard input")
      .required();
  app.option("--alloc-conf", question.alloc_confs,
             "Settings as in PYTORCH_ALLOC_CONF, or default; again to see several side by side")
      .repeatable()
      .type_name("CONF");
  app.option("--capacity", question.capacity, "The card's memory, for example 24GiB; without it there is no limit")
      .type_name("SIZE");
  app.option("--context", question.context, "Of it, what lies beside PyTorch: the CUDA context, other processes")
      .type_name("SIZE");
  app.flag("--ascending", question.ascending,
           "New segments lie above the last one; without it below, as the driver mostly places them");
  app.flag("--json", options.json, "Print one JSON object (docs/replay.schema.json)");
}

Outcome run_replay(const Options& options, const Terminal& terminal) {
  const Replay replay = replayed(options.question);
  Outcome outcome{.code = exit_code_of(replay.verdict)};
  outcome.out = options.json ? replay_json(replay) : replay_text(replay, terminal.colour);
  if (options.json) return outcome;
  for (const Diagnostic& diagnostic : replay.diagnostics) outcome.err += to_text(diagnostic);
  return outcome;
}

}  // namespace

Command commands::replay(const ArgumentParser& program) {
  return command_with(program.command("replay", "Replay lists of allocations through PyTorch's caching allocator")
                          .in("Diagnose")
                          .examples({"oomplan replay snapshot.pickle --capacity 24GiB",
                                     "oomplan replay events.txt --alloc-conf expandable_segments:True"}),
                      add_options, run_replay);
}

}  // namespace oomplan::cli
