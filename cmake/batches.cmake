# Batches: the files of a stage that a compiler reads several at a time, and so the headers that they share once, which are most
# of its work. Two files of a batch cannot have a private name in common; a file for which that is natural stands here, and
# is compiled alone, as are all of the folders below (each command has its `Options`, each recipe its `micro_batch`).
set(OOMPLAN_ALONE_FOLDERS commands dialects recipes)
set(OOMPLAN_ALONE_estimate mesh modules/delta_rule_by_rows modules/fla modules/kimi_delta modules/linear_torchao
                           modules/unsloth_lora objectives/entropy_aware objectives/linear_cross_entropy ops/llama4_moe ops/scale
                           ops/stack_embedding ops/stack_positions ops/take_features ops/torchtune_attention
                           optimizers/newton_schulz policies/fsdp2 policies/zero12 recording/recording repetition
                           reservation rising_cards torch/attention torch/logsumexp)
set(OOMPLAN_ALONE_diagnose causes/vram_exhausted escapes findings gpu_numbers hole join launchers margin prefix prose
                           request sentence unfold)
set(OOMPLAN_ALONE_report diagnosis/join diagnosis/json gate/junit gate/markdown gate/sarif gate/text html/answers
                         sections/more sections/runtime sweep/json sweep/text views/json)
set(OOMPLAN_ALONE_catalog models optimizer_file preset_file)
set(OOMPLAN_ALONE_survey axes)
set(OOMPLAN_ALONE_ingest rows value_codec)
set(OOMPLAN_ALONE_measure column_values cost json_row parquet_footer sample saved_dataset shards size_sketch
                          sources/arrow_ipc sources/csv sources/parquet tar text_writers value_bytes verify)
set(OOMPLAN_ALONE_data tokens)
set(OOMPLAN_ALONE_read byte_source log_text requirements tape toml toml_scalar toml_text unpackers utf16 yaml_scalar
                       yaml_scan_property yaml_scan_scalar)
set(OOMPLAN_ALONE_core quantity)
set(OOMPLAN_ALONE_cli baseline host host_check outlook plain_loop replayed screen written)
set(OOMPLAN_ALONE_watch watch)
set(OOMPLAN_ALONE_arguments completion)

# oomplan_in_batches(STAGE SOURCES)
function(oomplan_in_batches stage sources)
  set_target_properties(oomplan_${stage} PROPERTIES UNITY_BUILD ${OOMPLAN_BATCHES} UNITY_BUILD_BATCH_SIZE 12)
  set(alone ${OOMPLAN_ALONE_${stage}})
  list(TRANSFORM alone PREPEND "${PROJECT_SOURCE_DIR}/src/${stage}/")
  list(TRANSFORM alone APPEND ".cpp")
  foreach(path IN LISTS alone)
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "cmake/batches.cmake lists ${path}, which is not there")
    endif()
  endforeach()
  list(JOIN OOMPLAN_ALONE_FOLDERS "|" folders)
  list(FILTER sources INCLUDE REGEX "/(${folders})/")
  set_source_files_properties(${alone} ${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
