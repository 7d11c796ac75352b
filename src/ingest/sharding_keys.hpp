// The keys of FSDP and DeepSpeed, wherever a config or a launcher has them.
#pragma once

#include <deque>

#include "dialect.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::ingestion {

/// Misses the number of GPUs where nothing says it; `who` shards over them.
void need_world(Draft& draft, const Document& document, std::string_view who);

/// Null where no input is called that.
const Input* find_input(const Inputs& inputs, std::string_view key);

/// The entries of a fsdp_config by the names of dialects/fsdp: accelerate and transformers take them with the prefix
/// fsdp_ and without it.
Inputs fsdp_inputs(const Document& document, const Node& mapping);

/// The same of a config's `fsdp_config`, a mapping or the name of a file; none where that cannot be read.
Inputs fsdp_inputs_of(const Input& input, const Loader& loader, std::deque<Document>& documents);

/// Reads the inputs by a table of dialects/; what is unmodelled has a key that says in which mapping it stands.
Arguments read_within(std::string_view table, const Inputs& inputs, const std::string& within, Findings& findings);

/// The mapping that an input holds, or that the file holds which it names: beside the working directory, as the
/// frameworks take a path, or beside the file that says it; where neither is there and it is searched for above, in one
/// of at most eight folders above that. Null where there is none.
struct Named {
  const Document* document = nullptr;
  const Node* mapping = nullptr;
  bool above = false;  ///< In a folder above the file that says it, from which the run is taken to be started.
};
enum class Search { beside, above };
Named named_by(const Input& input, const Loader& loader, std::deque<Document>& documents,
               Search search = Search::beside);

/// Facts that were said beside the config go to the plan, and an error where that says another; the command line goes
/// before both.
void put_said(const TrainingPlan& said, const Document& config, Draft& draft);

/// What a config's `deepspeed` asks for, a mapping or a file. A file that cannot be read is named as unmodelled.
/// Warning, in the plan: ingest/assumed-file, of one that was found above the config's folder.
void plan_deepspeed(const Inputs& inputs, const Document& config, const Loader& loader, std::deque<Document>& documents,
                    Draft& draft);

}  // namespace oomplan::ingestion
