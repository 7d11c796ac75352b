// One line of JSON as Docker, Kubernetes and structured loggers write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace oomplan::diagnose {

/// The text of `line`'s "log", "message", "msg", "MESSAGE" or "text" where the line is an object that begins with '{'
/// and has one; escapes resolved. Nothing otherwise.
std::optional<std::string> message_of_json(std::string_view line);

}  // namespace oomplan::diagnose
