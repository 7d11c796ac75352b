#include "byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "oomplan/core/bytes.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::read {
namespace {

class OfDescriptor final : public ByteSource {
 public:
  OfDescriptor(int number, Descriptor owned, std::string name)
      : number_(number), owned_(std::move(owned)), name_(std::move(name)) {}
  Result<std::size_t> read(char* out, std::size_t most) override {
    while (true) {
      const ssize_t got = ::read(number_, out, most);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return system_error(name_, errno);
    }
  }

 private:
  int number_;
  Descriptor owned_;
  std::string name_;
};

class OfMemory final : public ByteSource {
 public:
  explicit OfMemory(std::string_view rest) : rest_(rest) {}
  Result<std::size_t> read(char* out, std::size_t most) override {
    const std::size_t got = rest_.copy(out, most);
    rest_.remove_prefix(got);
    return got;
  }

 private:
  std::string_view rest_;
};

class Refused final : public ByteSource {
 public:
  explicit Refused(Diagnostic error) : error_(std::move(error)) {}
  Result<std::size_t> read(char*, std::size_t) override { return error_; }

 private:
  Diagnostic error_;
};

class PutBack final : public ByteSource {
 public:
  PutBack(std::unique_ptr<ByteSource> rest, std::string begun) : rest_(std::move(rest)), begun_(std::move(begun)) {}
  Result<std::size_t> read(char* out, std::size_t most) override {
    if (at_ == begun_.size()) return rest_->read(out, most);
    const std::size_t got = std::min(most, begun_.size() - at_);
    std::memcpy(out, begun_.data() + at_, got);
    at_ += got;
    return got;
  }

 private:
  std::unique_ptr<ByteSource> rest_;
  std::string begun_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> refused(Diagnostic error) { return std::make_unique<Refused>(std::move(error)); }

Diagnostic no_library(const std::string& path, const std::string& kind) {
  return {.code = "read/no-library",
          .message = "this is packed with " + kind + ", which this oomplan was built without",
          .where = {path},
          .hint = "unpack it first, or build oomplan where the library's development files are"};
}

Diagnostic cut_short(const std::string& path) {
  return {.code = "read/truncated", .message = "the file ends within the compressed data", .where = {path}};
}

Diagnostic needs_memory(const std::string& path, std::int64_t needed, std::int64_t room) {
  return {.code = "read/needs-memory",
          .message = "unpacking needs " + to_text(Bytes(needed)) + ", and there may be " + to_text(Bytes(room)),
          .where = {path}};
}

Diagnostic broken(const std::string& path, const std::string& why) {
  return {.code = "read/damaged", .message = "the compressed data is broken: " + why, .where = {path}};
}

std::unique_ptr<ByteSource> bytes_of(int descriptor, const std::string& name) {
  return std::make_unique<OfDescriptor>(descriptor, Descriptor(-1), name);
}

std::unique_ptr<ByteSource> bytes_of(Descriptor owned, const std::string& name) {
  const int number = owned.number();
  return std::make_unique<OfDescriptor>(number, std::move(owned), name);
}

std::unique_ptr<ByteSource> bytes_of(std::string_view memory) { return std::make_unique<OfMemory>(memory); }

// A pipe is welcome here (`<(zcat …)`), so only a directory is refused before it is opened.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path) {
  if (path == "-") return bytes_of(STDIN_FILENO, "standard input");
  if (path.find('\0') != std::string::npos) return system_error(path, ENOENT);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return system_error(path, errno);
  if (S_ISDIR(status.st_mode)) {
    return Diagnostic{.code = "read/not-a-file", .message = "this is a directory, not a file", .where = {path}};
  }
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.number() < 0) return system_error(path, errno);
  return bytes_of(std::move(file), path);
}

Result<std::string> first_bytes(ByteSource& source, std::size_t most) {
  std::string out(most, '\0');
  std::size_t have = 0;
  while (have < most) {  // a pipe may bring them one by one
    const Result<std::size_t> got = source.read(out.data() + have, most - have);
    if (!got) return got.errors();
    if (*got == 0) break;
    have += *got;
  }
  out.resize(have);
  return out;
}

std::unique_ptr<ByteSource> put_back(std::unique_ptr<ByteSource> rest, std::string begun) {
  return std::make_unique<PutBack>(std::move(rest), std::move(begun));
}

namespace {

enum class Packing { none, gzip, zstd, bzip2, xz };

/// Of bzip2 also what follows its size's digit, as text may well begin with the letters.
Packing packing_of(std::string_view begun) {
  if (begun.starts_with("\x1f\x8b")) return Packing::gzip;
  if (begun.starts_with("\x28\xb5\x2f\xfd")) return Packing::zstd;
  // A frame to be skipped, as pzstd begins with one.
  const bool skippable = !begun.empty() && (begun[0] & 0xf0) == 0x50 && begun.substr(1).starts_with("\x2a\x4d\x18");
  if (skippable) return Packing::zstd;
  if (begun.starts_with(std::string_view("\xfd\x37\x7a\x58\x5a\x00", 6))) return Packing::xz;
  const std::string_view block = begun.substr(std::min<std::size_t>(begun.size(), 4));
  const bool bzip2 = block.starts_with("\x31\x41\x59\x26\x53\x59") || block.starts_with("\x17\x72\x45\x38\x50\x90");
  return begun.starts_with("BZh") && bzip2 ? Packing::bzip2 : Packing::none;
}

// Beside its dictionary xz takes tables and buffers.
constexpr std::int64_t beside_xz_dictionary = std::int64_t{2} << 20;

}  // namespace

bool is_packed(std::string_view begun) { return packing_of(begun) != Packing::none; }

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed, std::string begun, const std::string& path,
                                     int window_log) {
  const Packing packing = packing_of(begun);
  auto whole = put_back(std::move(packed), std::move(begun));
  switch (packing) {
    case Packing::none:
      return whole;
    case Packing::gzip:
      return gunzipped(std::move(whole), path);
    case Packing::zstd:
      return unzstded(std::move(whole), path, window_log);
    case Packing::bzip2:
      return unbzip2ed(std::move(whole), path);
    case Packing::xz:
      break;
  }
  return unxzed(std::move(whole), path, (std::int64_t{1} << window_log) + beside_xz_dictionary);
}

Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> packed, const std::string& path,
                                             int window_log) {
  Result<std::string> begun = first_bytes(*packed, packed_mark_length);
  if (!begun) return begun.errors();
  return unpacked(std::move(packed), std::move(*begun), path, window_log);
}

}  // namespace oomplan::read
