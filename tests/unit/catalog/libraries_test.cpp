#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oomplan/catalog/catalog.hpp"
#include "oomplan/core/text.hpp"
#include "temporary_folder.hpp"

namespace oomplan {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Libraries, ComeWithWhatTheyImportEachOnce) {
  const auto found = find_libraries({"pandas", "torch"});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(*found, SizeIs(3));
  EXPECT_THAT(*found, Contains(Field(&Library::name, "pyarrow")));
}

TEST(Libraries, ThatAreNotKnownAreAllSaid) {
  const auto found = find_libraries({"nowhere", "torch", "neither"});
  ASSERT_FALSE(found.ok());
  ASSERT_THAT(found.errors(), SizeIs(2));
  EXPECT_EQ(found.errors().front().code, "catalog/unknown-library");
  EXPECT_THAT(found.errors().front().hint, HasSubstr("torch"));
}

TEST(Libraries, OfTheUsersOwnMayImportOneAnother) {
  const TemporaryFolder folder;
  folder.write("libraries/a.yaml", "title: A\nimports: [b]\nown: 1 MiB\nmapped: 0 B\nsource: mine\n");
  folder.write("libraries/b.yaml", "title: B\nimports: [a]\nown: 2 MiB\nmapped: 0 B\nsource: mine\n");
  const auto catalog = read_models(folder.path());
  ASSERT_TRUE(catalog.ok());
  EXPECT_THAT(*find_libraries({"a"}, *catalog), SizeIs(2));
}

TEST(Libraries, OfTheUsersOwnAreChecked) {
  const TemporaryFolder folder;
  folder.write("libraries/a.yaml", "title: A\nimports: []\nown: much\nmapped: 0 B\nsource: mine\n");
  folder.write("runtimes/python.yaml", "title: mine\npage: 0 B\n");
  const auto catalog = read_models(folder.path());
  ASSERT_FALSE(catalog.ok());
  EXPECT_THAT(to_text(catalog.errors().front()), HasSubstr("must be a size"));
}

TEST(PythonCosts, AreAllThere) {
  const auto costs = python_costs();
  ASSERT_TRUE(costs.ok()) << to_text(costs.errors().front());
  EXPECT_EQ(costs->integer.bytes + costs->slot.bytes, Bytes(40));
  EXPECT_FALSE(costs->forked_worker.source.empty());
}

}  // namespace
}  // namespace oomplan
