#include "totals.hpp"

namespace oomplan::measure {
namespace {

void add(FileTotals& file, const FileTotals& part) {
  const bool declared = file.declared_rows && part.declared_rows;
  file.declared_rows = declared ? std::optional(*file.declared_rows + *part.declared_rows) : std::nullopt;
  file.bytes += part.bytes;
  file.rows += part.rows;
  file.decoded += part.decoded;
  file.skipped += part.skipped;
  file.broken = file.broken || part.broken;
}

}  // namespace

void add(ReadTotals& all, const ReadTotals& more, bool goes_on) {
  all.files += more.files - (goes_on ? 1 : 0);
  all.file_bytes += more.file_bytes;
  all.rows += more.rows;
  all.decoded += more.decoded;
  all.skipped += more.skipped;
  all.broken_files += more.broken_files;
  for (const FileTotals& file : more.listed) {
    if (goes_on && &file == &more.listed.front()) {
      if (all.listed.back().path == file.path) add(all.listed.back(), file);
    } else if (all.listed.size() < most_files_listed) {
      all.listed.push_back(file);
    }
  }
}

}  // namespace oomplan::measure
