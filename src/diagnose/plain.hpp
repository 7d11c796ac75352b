// Characters as the rules write them: what terminals, browsers, chats and editors put in the place of a blank, a quote
// or a dash becomes that again. Nothing else changes, and no line is made or lost.
#pragma once

#include <string>
#include <string_view>

namespace oomplan::diagnose {

/// `text` with tabs and Unicode's spaces as blanks, its quotes and dashes as ASCII's, and without zero-width
/// characters.
std::string plain(std::string_view text);

/// `text` without the backslashes that Markdown puts before its own signs, where no path is in it.
std::string without_markdown(std::string text);

/// Whether most blanks of the text are of another kind, so that not even the words of a rule are found in it. Looks at
/// the first bytes only.
bool has_foreign_blanks(std::string_view text);

}  // namespace oomplan::diagnose
