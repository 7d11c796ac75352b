#include "oomplan/read/packed.hpp"

#include <gtest/gtest.h>

namespace oomplan {
namespace {

const std::string text = R"(# What data files have.
name: "quoted 12 \"text\" with \\ and \u00e9"
empty:
list: [1, -2.5, true, null, [], {}]
nested:
  - key with spaces: |
      a line 3
      another
    7: yes
  - {a: {b: [{c: d}]}}
)";

Node root_of(const std::string& yaml) { return parse_document(yaml, "data.yaml", Syntax::yaml)->root; }

void expect_same(const Node& a, const Node& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.line, b.line);
  EXPECT_EQ(a.column, b.column);
  ASSERT_EQ(a.items.size(), b.items.size());
  for (std::size_t i = 0; i < a.items.size(); ++i) expect_same(a.items[i], b.items[i]);
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    EXPECT_EQ(a.entries[i].key, b.entries[i].key);
    EXPECT_EQ(a.entries[i].line, b.entries[i].line);
    EXPECT_EQ(a.entries[i].column, b.entries[i].column);
    expect_same(a.entries[i].value, b.entries[i].value);
  }
}

TEST(Packed, AllThatADocumentSaysComesBackWithItsPlace) {
  const Node root = root_of(text);
  ASSERT_EQ(root.entries.size(), 4U);
  expect_same(unpack(pack(root)), root);
}

TEST(Packed, PlacesMayLieBehindTheOnesBefore) {
  const Node root =
      root_of("a: &first\n" + std::string(300, ' ') + "- 1\nb: *first\nc: " + std::string(200, 'x') + "\n");
  expect_same(unpack(pack(root)), root);
}

TEST(Packed, ADataFileIsWhatTheBuildParsedElseItsText) {
  const auto packed = data_document("a: 1", pack(root_of("a: 2")), "data.yaml");
  EXPECT_EQ(packed->root.find("a")->text, "2");
  EXPECT_EQ(packed->text, "");
  EXPECT_EQ(packed->at(*packed->root.find("a")), (Location{"data.yaml", 1, 4}));
  EXPECT_EQ(data_document("a: 1", {}, "data.yaml")->root.find("a")->text, "1");
}

TEST(Packed, AFileOfTheUsersKeepsToItsBudget) {
  const auto refused = data_document("a: [1, 2]", {}, "own.yaml", {.nodes = 2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors().front().code, "read/too-many-nodes");
}

}  // namespace
}  // namespace oomplan
