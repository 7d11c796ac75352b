// Run when a page is built: `packer IN OUT` writes OUT, which is IN as small as zstd makes it. Its window is all of the file:
// what the program holds twice, as text and parsed, lies further apart than the 32 KiB that gzip looks back.
#include <zstd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

int main(int count, char** arguments) {
  if (count != 3) return 2;
  std::ifstream in(arguments[1], std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), ZSTD_maxCLevel());
  std::ofstream out(arguments[2], std::ios::binary);
  if (ZSTD_isError(size) == 0) out.write(packed.data(), static_cast<std::streamsize>(size)) << std::flush;
  if (in && out && ZSTD_isError(size) == 0 && !bytes.empty()) return 0;
  std::cerr << arguments[1] << ": cannot be packed into " << arguments[2] << '\n';
  return 1;
}
