// How Axolotl 0.18.0 reads its keys of FSDP: it hands them to transformers and to accelerate, and shards itself.
#pragma once

#include <array>
#include <string_view>

#include "../../dialect.hpp"

namespace oomplan::ingestion::axolotl {

/// utils/schemas/fsdp.py: FSDPConfig.
inline constexpr auto fsdp_fields = std::to_array<std::string_view>(
    {"version", "activation_checkpointing", "offload_params", "sync_module_states", "cpu_ram_efficient_loading",
     "cpu_offload_pin_memory", "use_orig_params", "state_dict_type", "final_state_dict_type", "auto_wrap_policy",
     "transformer_layer_cls_to_wrap", "min_num_params", "reshard_after_forward"});

/// check_fsdp_version_in_fsdp_config; utils/distributed.py: _get_parallel_config_kwargs; and
/// monkeypatch/accelerate/fsdp2.py: fsdp2_prepare_model, in place of accelerate's, in which the root does as the
/// blocks.
inline constexpr OwnFsdp fsdp{.version = 1,
                              .offload = "offload_params",
                              .fields = fsdp_fields,
                              .needs_config = "axolotl 0.18.0 stops at fsdp without fsdp_config",
                              .version_beside = true,
                              .has_groups = true,
                              .units = ShardUnits::adapters};

}  // namespace oomplan::ingestion::axolotl
