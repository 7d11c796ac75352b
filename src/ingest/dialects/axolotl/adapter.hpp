// Axolotl's LoRA.
#pragma once

#include <string>
#include <string_view>

#include "../../dialect.hpp"

namespace oomplan::ingestion::axolotl {

/// The answer waits for `feature`, which `key` asks for.
void cannot(Draft& draft, std::string feature, std::string_view key, const Origin& origin);

/// Whether `fsdp` or `fsdp_config` asks for anything.
bool is_sharded(const Inputs& inputs);

bool has_adapter(const Arguments& axolotl);
bool is_qlora(const Arguments& axolotl);

/// What is adapted, and by which of Axolotl's kernels.
void plan_adapter(const Arguments& axolotl, const Inputs& inputs, Draft& draft, const Document& document);

/// What Axolotl refuses of adapters and quantized weights together.
void check_adapter(const Arguments& axolotl, Draft& draft, const Document& document);

}  // namespace oomplan::ingestion::axolotl
