// The keys of FSDP and DeepSpeed, wherever a config or a launcher has them.
#pragma once

#include <deque>

#include "dialect.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::ingestion {

/// Null where no input is called that.
const Input* find_input(const Inputs& inputs, std::string_view key);

/// The entries of a fsdp_config by the names of dialects/fsdp: accelerate and transformers take them with the prefix
/// fsdp_ and without it.
Inputs fsdp_inputs(const Document& document, const Node& mapping);

/// The same of a config's `fsdp_config`, a mapping or the name of a file; none where that cannot be read.
Inputs fsdp_inputs_of(const Input& input, const Loader& loader, std::deque<Document>& documents);

/// Reads the inputs by a table of dialects/; what is unmodelled has a key that says in which mapping it stands.
Arguments read_within(std::string_view table, const Inputs& inputs, const std::string& within, Findings& findings);

/// Names what of DeepSpeed a mapping asks for.
void note_deepspeed(const Document& document, const Node& mapping, const std::string& within, Draft& draft);

/// The same of a file that an input names: beside the working directory, as DeepSpeed takes its path, or beside the
/// file that says it. One that cannot be read says nothing.
void note_deepspeed_file(const Input& input, const Loader& loader, std::deque<Document>& documents, Draft& draft);

/// Names what stands in the way within a config's `deepspeed`, a mapping or a file, where the dialect has found that it
/// asks for something.
void note_sharding(const Inputs& inputs, const Loader& loader, std::deque<Document>& documents, Draft& draft);

}  // namespace oomplan::ingestion
