// Bytes from a file, a pipe or memory, a piece at a time, unpacked where they are compressed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "oomplan/core/result.hpp"

namespace oomplan::read {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  /// Fills `out` with up to `most` (> 0) bytes and says how many; 0 at the end.
  virtual Result<std::size_t> read(char* out, std::size_t most) = 0;
};

/// Of memory, which must outlive it.
std::unique_ptr<ByteSource> bytes_of(std::string_view memory);

/// The file's own bytes, a pipe's or device's too; "-" is standard input.
/// Errors: read/missing, read/not-a-file, read/unreadable.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

/// The first `most` bytes, fewer where there are no more.
Result<std::string> first_bytes(ByteSource& source, std::size_t most);

/// `rest` with `begun`, the bytes already read from it, before it again.
std::unique_ptr<ByteSource> put_back(std::unique_ptr<ByteSource> rest, std::string begun);

/// The largest zstd window, and xz dictionary, that is accepted where nobody says otherwise, as zstd's own tools have
/// it.
inline constexpr int usual_zstd_window_log = 27;

/// So many bytes from the beginning tell how a file is packed.
inline constexpr std::size_t packed_mark_length = 10;

/// `packed` with `begun`, the bytes already read from it, put back, and unpacked where those are gzip, zstd, bzip2 or
/// xz. Reading then fails with read/truncated or read/damaged where the compressed data is cut short or broken, and
/// with read/no-library where this was built without. A zstd frame whose window is larger than 2^`window_log` bytes,
/// and xz with such a dictionary, are read/needs-memory: that much memory would be needed to unpack them.
std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed, std::string begun, const std::string& path,
                                     int window_log = usual_zstd_window_log);
/// The same with nothing read from it yet.
Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> packed, const std::string& path,
                                             int window_log = usual_zstd_window_log);

/// Whether bytes that begin like this are compressed in a way that unpacked() knows.
bool is_packed(std::string_view begun);

}  // namespace oomplan::read
