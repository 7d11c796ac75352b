// A file that appears under its name whole or not at all, and never in the place of another.
#pragma once

#include <string>
#include <string_view>

#include "oomplan/core/result.hpp"

namespace oomplan::measure {

/// A file without a name in `directory`, open for reading and writing. Error: measure/cannot-write.
Result<int> nameless_file(const std::string& directory);

Diagnostic cannot_write(const std::string& path, int error);

class OutputFile {
 public:
  /// Errors: measure/output-exists, measure/cannot-write.
  static Result<OutputFile> create(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&& other) noexcept;
  ~OutputFile();

  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }
  Result<bool> write(std::string_view bytes);
  /// Gives it its name, once all is on the disk.
  Result<bool> publish();

 private:
  OutputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_;
};

}  // namespace oomplan::measure
