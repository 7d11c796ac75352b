// Unpacks the page's program, which packer.cpp packs: a module of its own, without JavaScript of Emscripten's, that the worker
// asks before there is a program.
#include <zstd.h>

#include <cstddef>

extern "C" {

std::size_t unpacked_size(const char* packed, std::size_t size) {
  return static_cast<std::size_t>(ZSTD_getFrameContentSize(packed, size));
}

/// Returns `room`, where all of it is whole.
std::size_t unpack(char* to, std::size_t room, const char* packed, std::size_t size) {
  return ZSTD_decompress(to, room, packed, size);
}
}
