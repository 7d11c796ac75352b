// The steps of ingest(), each in a file of its own name.
#pragma once

#include <deque>

#include "dialect.hpp"
#include "inputs.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion {

/// The dialect that knows the most of the keys (of two that know as many, the one with more keys that no other knows,
/// then the one whose key names the model), or the one of that name. Errors: ingest/unknown-dialect (none does, or
/// the file is of a known kind that is no dialect), ingest/ambiguous-dialect (two know as many).
Result<const Dialect*> recognise(const Inputs& inputs, const Document& document, std::string_view name);

// `lengths: FILE`.

/// Where a `lengths` among the inputs names a file, that file's numbers take the name's place: a list in any syntax of
/// a config, or numbers with space between them. A path is relative to the file that says it. The files go to
/// `documents`, whose elements never move. What cannot be used is taken out. Errors:
/// ingest/lengths-missing (and the loader's own), ingest/bad-value.
Diagnostics load_lengths(Inputs& inputs, const Loader& loader, std::deque<Document>& documents);

// What says how a run is started, beside its config: accelerate's launcher config and DeepSpeed's JSON.

/// Reads each file of `options.launch` as accelerate 1.15.0 does. Facts of the mesh, the ranks of a machine and, where
/// the trainer asks for none itself, mixed precision go to the draft with their place in that file; what is not played
/// goes to plan.unmodelled. The documents go to `documents`, whose elements never move. Errors, in the draft: the
/// loader's own, ingest/not-a-mapping, ingest/unknown-dialect for a file that is neither, ingest/refused,
/// ingest/bad-value, ingest/conflict where the config says another world.
void apply_launch(const IngestOptions& options, const Dialect& dialect, const Document& config,
                  std::deque<Document>& documents, Draft& draft);

// FSDP by the config's own keys.

/// Reads `fsdp` and `fsdp_config`, a mapping or a file's, as transformers or Axolotl does, and Axolotl's sizes of
/// groups. Facts go to the draft, over what a launcher says of data parallel and under --set. Errors, in the draft:
/// ingest/bad-value, ingest/conflict where a framework refuses it, ingest/missing-fact where nothing says the world.
void apply_own_fsdp(const Inputs& inputs, const IngestOptions& options, const Dialect& dialect,
                    const Document& document, std::deque<Document>& documents, Draft& draft);

// Keys of other scripts that set the sizes of a run.

/// Notes, as a missing fact (ingest/unused-key) in place of a warning, each key that no version of this framework knows
/// and that sets a length, a batch or a model elsewhere, unless the plan has that value anyway.
void note_foreign_sizes(const Inputs& inputs, const Dialect& dialect, Draft& draft);

// The ranks that train one model.

/// What of the mesh follows from other facts, which --set may have changed: a world as large as `ranks`.
void finish_mesh(TrainingPlan& plan);

/// Of a framework whose recipes for several GPUs are others than that for one: which of them the plan is for. A key of
/// theirs has said the sharding; else the number of GPUs does. Errors, in the draft: ingest/missing-fact where such a
/// key stands and nothing says how many there are.
void choose_recipe(const Dialect& dialect, const Document& document, Draft& draft);

// Facts that a plan can hold and that the estimator does not play yet.

/// Adds to plan.unmodelled what the plan asks for and no op plays. A row here goes when its op comes.
void note_unplayed(TrainingPlan& plan);

}  // namespace oomplan::ingestion
