// Rows of the table of facts: what the loaders' processes hold on the host.
#pragma once

#include <array>

#include "fact_row.hpp"
#include "matters.hpp"

namespace oomplan::planning {

inline constexpr std::array loader_rows{
    fact<&Plan::loader, &LoaderPlan::ranks, as::positive>(
        "ranks", {"training processes on the machine, each with a loader of its own"}),
    fact<&Plan::loader, &LoaderPlan::workers, as::count>("loader_workers",
                                                         {"`num_workers` of the DataLoader; 0: the rank reads itself"}),
    fact<&Plan::loader, &LoaderPlan::prefetch, as::positive>(
        "loader_prefetch", {"`prefetch_factor`: batches that each worker is ahead", {}, has_workers}),
    fact<&Plan::loader, &LoaderPlan::start, as::worker_start>("loader_start",
                                                              {"how workers are started", {}, has_workers}),
    fact<&Plan::loader, &LoaderPlan::persistent, as::boolean>("loader_persistent",
                                                              {"workers live over epochs", {}, has_workers}),
    fact<&Plan::loader, &LoaderPlan::epochs, as::positive>(
        "loader_epochs", {"epochs in which persistent workers look at a list again", {}, has_workers}),
    fact<&Plan::loader, &LoaderPlan::shuffle, as::boolean>("loader_shuffle",
                                                           {"rows come in random order", {}, has_workers}),
    fact<&Plan::loader, &LoaderPlan::pin_memory, as::boolean>("loader_pin_memory",
                                                              {"batches are copied to pinned memory"}),
    fact<&Plan::loader, &LoaderPlan::rows_as, as::rows_as>(
        "loader_rows_as", {"how the dataset is held: Python objects; one array; Arrow in memory; memory-mapped Arrow "
                           "files, as Hugging Face's datasets; not at all"}),
    fact<&Plan::loader, &LoaderPlan::values, as::row_values>(
        "loader_values", {"what a row is made of: token ids of a width, or one text"}),
    fact<&Plan::loader, &LoaderPlan::row_values, as::count>(
        "loader_row_values", {"tokens (or bytes of text) in a row on average; 0: as many as the profile's bytes of a "
                              "row hold of `loader_values`"}),
    fact<&Plan::loader, &LoaderPlan::padded, as::boolean>(
        "loader_padded", {"the rows of a batch are as long as `sequence_length`, of int64"}),
    fact<&Plan::loader, &LoaderPlan::packed, as::boolean>("loader_packed",
                                                          {"a row of a batch is many of the dataset's"}),
    fact<&Plan::loader, &LoaderPlan::columns, as::positive>(
        "loader_columns", {"tensors of that size in a batch (`input_ids`, `attention_mask`, `labels`)"}),
    fact<&Plan::loader, &LoaderPlan::shuffle_buffer, as::count>(
        "loader_shuffle_buffer", {"rows in the shuffle buffer of a stream",
                                  {},
                                  [](const Plan& plan) { return plan.loader.rows_as.value == RowsAs::stream; }}),
    fact<&Plan::loader, &LoaderPlan::map_processes, as::count>("loader_map_processes",
                                                               {"`num_proc` of `map()` before training"}),
    fact<&Plan::loader, &LoaderPlan::map_a_core, as::boolean>(
        "loader_map_a_core", {"where `loader_map_processes` is 0: `map()` has a process for each core, so that the "
                              "machine decides what it takes",
                              {},
                              [](const Plan& plan) { return plan.loader.map_processes.value == 0; }}),
    fact<&Plan::loader, &LoaderPlan::weights_on, as::weights_on>(
        "weights_on", {"where a rank has the model once it is loaded: on its GPU; on the host, until the trainer moves "
                       "it; or on the host only in a world of several that is not FSDP's, as TRL has it"}),
    fact<&Plan::loader, &LoaderPlan::weights_before_rows, as::boolean>("weights_before_rows",
                                                                       {"the model is loaded before `map()`"}),
    fact<&Plan::loader, &LoaderPlan::libraries, as::names>("loader_libraries",
                                                           {"what each process imports: names in `models/libraries`"}),
};

}  // namespace oomplan::planning
