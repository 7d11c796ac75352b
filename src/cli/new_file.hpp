// A file that was not there before: nothing is ever overwritten.
#pragma once

#include <string>
#include <string_view>

#include "oomplan/core/result.hpp"

namespace oomplan::cli {

class NewFile {
 public:
  /// Error: cli/not-written, also where there is such a file already.
  static Result<NewFile> create(const std::string& path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  /// Where nothing was written there is no file.
  ~NewFile();

  const std::string& path() const { return path_; }
  /// After the first failure nothing more is written.
  void write(std::string_view text);
  /// Why not all was written (cli/not-written); empty where it was.
  Diagnostics problems() const;

 private:
  NewFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_{};
  int descriptor_ = -1;
  int error_ = 0;
  bool empty_ = true;
};

}  // namespace oomplan::cli
