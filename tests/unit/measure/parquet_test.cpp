#include <gmock/gmock.h>

#include "oomplan/measure/measure.hpp"
#include "parquet_file.hpp"
#include "temporary.hpp"

namespace oomplan::measure {
namespace {

constexpr std::string_view thousand = "\xd0\x0f";  // as Thrift's compact protocol writes it
constexpr std::string_view one_less = "\xce\x0f";
constexpr std::string_view one_more = "\xd2\x0f";

/// A file of a thousand rows whose footer says otherwise: at the first place, which is the whole file's, or everywhere.
std::string lying(const Temporary& folder, std::string_view count, bool everywhere) {
  write_parquet(*table_of_texts(std::vector<std::string>(1000, "x")), folder / "honest.parquet");
  std::string bytes = text_of(folder / "honest.parquet");
  std::size_t at = bytes.rfind("schema");
  for (at = bytes.find(thousand, at); at != std::string::npos; at = bytes.find(thousand, at + 2)) {
    bytes.replace(at, 2, count);
    if (!everywhere) break;
  }
  return folder.file("lying.parquet", bytes);
}

std::string error_of(const std::string& path) {
  const StreamReport report = stream({path}, {});
  return report.diagnostics.empty() ? "" : report.diagnostics[0].message;
}

TEST(Parquet, ThatLiesAboutItsRowsIsRefused) {
  const Temporary folder;
  const auto has = [](const char* text) { return testing::HasSubstr(text); };
  EXPECT_THAT(error_of(lying(folder, one_less, true)), has("a column has more rows than the file"));
  EXPECT_THAT(error_of(lying(folder, one_more, true)), has("a column has fewer rows than the file"));
  EXPECT_THAT(error_of(lying(folder, one_less, false)), has("its row groups have other rows than it"));
  EXPECT_EQ(error_of(lying(folder, thousand, true)), "");
}

TEST(Parquet, ThatIsEncryptedIsSaidToBe) {
  const Temporary folder;
  EXPECT_THAT(error_of(folder.file("a", "PAREabcdefghijPARE")), testing::HasSubstr("encrypted"));
}

}  // namespace
}  // namespace oomplan::measure
