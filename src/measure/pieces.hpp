// Text as GPT-2's tokenizer cuts it before it looks for tokens (openai/gpt-2, src/encoder.py, `pat`).
#pragma once

#include <cstdint>
#include <string_view>

namespace oomplan::measure {

/// How many pieces UTF-8 text has: words, numbers, runs of marks, each with a space before it, and other white space. A
/// token never reaches over two of them. Of ASCII exact; beyond it, where letters are not told from marks, never more
/// than there are.
std::int64_t pieces_in(std::string_view text);

}  // namespace oomplan::measure
