// One line of JSON as Docker, Kubernetes, journald and structured loggers write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace oomplan::diagnose {

/// What `line` says where it is an object with a message ("log", "message", "msg", "MESSAGE", "text" …): that, and
/// beside it every text that has lines of its own, such as a traceback; escapes resolved. Empty otherwise.
std::vector<std::string> messages_of_json(std::string_view line);

}  // namespace oomplan::diagnose
