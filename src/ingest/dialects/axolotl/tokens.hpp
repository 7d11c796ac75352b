// Tokens that Axolotl adds to the tokenizer.
#pragma once

#include "../../dialect.hpp"

namespace oomplan::ingestion::axolotl {

/// What `tokens` and `special_tokens` add, and how the vocabulary then grows. After the adapter.
void plan_tokens(const Arguments& axolotl, const Inputs& inputs, Draft& draft, const Document& document);

}  // namespace oomplan::ingestion::axolotl
