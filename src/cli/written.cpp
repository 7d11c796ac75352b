#include "written.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "write_all.hpp"

namespace oomplan::cli {
namespace {

namespace fs = std::filesystem;

Diagnostics refused(const std::string& path, std::string message) {
  return {{.code = "cli/not-written", .message = std::move(message), .where = {path, 0, 0}}};
}

/// A symbolic link is written through: the file that it leads to is replaced.
fs::path target_of(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? fs::path(path) : real;
}

std::string objection(const std::string& path, const fs::path& target, const std::vector<std::string>& inputs) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (!fs::exists(status)) return {};
  if (!fs::is_regular_file(status)) return "this is no file that can be replaced";
  const auto same = [&](const std::string& input) { return same_place(path, input); };
  if (std::ranges::any_of(inputs, same)) return "this is one of the files that the answer comes from";
  return access(path.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
}

}  // namespace

bool same_place(const std::string& one, const std::string& other) {
  std::error_code error;
  if (fs::equivalent(one, other, error) && !error) return true;
  const auto place = [&](const std::string& path) { return fs::weakly_canonical(fs::absolute(path, error), error); };
  return place(one) == place(other);
}

Diagnostics write_report(const std::string& path, std::string_view text, const std::vector<std::string>& inputs) {
  const fs::path target = target_of(path);
  if (std::string why = objection(path, target, inputs); !why.empty()) return refused(path, std::move(why));
  const std::string fresh = target.string() + ".oomplan-" + std::to_string(getpid());
  const int descriptor = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return refused(path, std::strerror(errno));
  bool written = write_all(descriptor, text);
  std::string why = written ? "" : std::strerror(errno);
  if (close(descriptor) != 0 && written) {
    written = false;
    why = std::strerror(errno);
  }
  if (written && rename(fresh.c_str(), target.c_str()) == 0) return {};
  if (written) why = std::strerror(errno);
  unlink(fresh.c_str());
  return refused(path, std::move(why));
}

void add_report(Outcome& outcome, const std::string& path, std::string_view text,
                const std::vector<std::string>& inputs) {
  if (outcome.code == ExitCode::usage) return;
  const Diagnostics failed = write_report(path, text, inputs);
  for (const Diagnostic& problem : failed) outcome.err += to_text(problem);
  if (!failed.empty()) outcome.code = ExitCode::invalid;
}

}  // namespace oomplan::cli
