#include <gtest/gtest.h>

#include "support.hpp"

namespace oomplan::read {
namespace {

TEST(Yaml, KnowsWhereKeysAndValuesStand) {
  EXPECT_EQ(yaml("# a comment\n"
                 "model:\n"
                 "  name: 'gpt 2'  # quoted\n"
                 "  layers: [12, 24]\n"
                 "list:\n"
                 "- x\n"
                 "- a: 1\n"
                 "  b: 2\n"),
            "mapping @2:1\n"
            "model @2:1: mapping @3:3\n"
            "  name @3:3: string 'gpt 2' @3:9\n"
            "  layers @4:3: sequence @4:11\n"
            "    - integer '12' @4:12\n"
            "    - integer '24' @4:16\n"
            "list @5:1: sequence @6:1\n"
            "  - string 'x' @6:3\n"
            "  - mapping @7:3\n"
            "    a @7:3: integer '1' @7:6\n"
            "    b @8:3: integer '2' @8:6\n");
}

TEST(Yaml, CountsColumnsInBytesAndLinesWithCrLf) {
  EXPECT_EQ(yaml("é: ñ\r\nb: [é, 2]\r\n"),
            "mapping @1:1\n"
            "é @1:1: string 'ñ' @1:5\n"
            "b @2:1: sequence @2:4\n"
            "  - string 'é' @2:5\n"
            "  - integer '2' @2:9\n");
}

TEST(Yaml, PlacesTheValueBehindAnchorsAndTags) {
  EXPECT_EQ(yaml("a: &x !!str 5\n"
                 "b: &y  # why\n"
                 "  c: 1\n"
                 "d: !!float 3\n"
                 "e: &z \"\"\n"),
            "mapping @1:1\n"
            "a @1:1: string '5' @1:13\n"
            "b @2:1: mapping @3:3\n"
            "  c @3:3: integer '1' @3:6\n"
            "d @4:1: real '3' @4:12\n"
            "e @5:1: string @5:7\n");
}

TEST(Yaml, PlacesAnAbsentValueBehindItsColonOrDash) {
  EXPECT_EQ(yaml("a:\n"
                 "b: ~\n"
                 "c:   null\n"
                 "d: &x\n"
                 "nullable:\n"
                 "e:\n"
                 "-\n"
                 "- [NULL]\n"
                 "f:"),
            "mapping @1:1\n"
            "a @1:1: null @1:3\n"
            "b @2:1: null @2:4\n"
            "c @3:1: null @3:6\n"
            "d @4:1: null @4:4\n"
            "nullable @5:1: null @5:10\n"
            "e @6:1: sequence @7:1\n"
            "  - null @7:2\n"
            "  - sequence @8:3\n"
            "    - null @8:4\n"
            "f @9:1: null @9:3\n");
}

TEST(Yaml, ReadsBlockScalarsAndFoldedText) {
  EXPECT_EQ(yaml("a: |\n  x\n   y\nb: >-\n  p\n  q\nc: p\n  q\n"),
            "mapping @1:1\n"
            "a @1:1: string 'x\n y\n' @1:4\n"
            "b @4:1: string 'p q' @4:4\n"
            "c @7:1: string 'p q' @7:4\n");
}

TEST(Yaml, ReadsAScalarOrAListAlone) {
  EXPECT_EQ(yaml("hello"), "string 'hello' @1:1\n");
  EXPECT_EQ(yaml("--- 5\n...\n"), "integer '5' @1:5\n");
  EXPECT_EQ(yaml("%YAML 1.1\n---\n- a\n"), "sequence @3:1\n- string 'a' @3:3\n");
}

TEST(Yaml, KeysAreTextAsWritten) {
  EXPECT_EQ(yaml("1: a\nyes: b\n~: c\nnull: d\n'q r': e\n? k\n: f\n"),
            "mapping @1:1\n"
            "1 @1:1: string 'a' @1:4\n"
            "yes @2:1: string 'b' @2:6\n"
            "~ @3:1: string 'c' @3:4\n"
            "null @4:1: string 'd' @4:7\n"
            "q r @5:1: string 'e' @5:8\n"
            "k @6:3: string 'f' @7:3\n");
}

TEST(YamlAlias, StandsForTheValueAndItsPlace) {
  EXPECT_EQ(yaml("a: &x {k: 1}\nb: *x\nc: [*x]\n"),
            "mapping @1:1\n"
            "a @1:1: mapping @1:7\n"
            "  k @1:8: integer '1' @1:11\n"
            "b @2:1: mapping @1:7\n"
            "  k @1:8: integer '1' @1:11\n"
            "c @3:1: sequence @3:4\n"
            "  - mapping @1:7\n"
            "    k @1:8: integer '1' @1:11\n");
}

TEST(YamlAlias, MayBeAKeyAndMayBeNull) {
  EXPECT_EQ(yaml("- &x a\n- &y\n- {*x : *y}\n"),
            "sequence @1:1\n"
            "- string 'a' @1:6\n"
            "- null @2:3\n"
            "- mapping @3:3\n"
            "  a @1:6: null @2:3\n");
}

TEST(YamlAlias, HasOneAnchor) {
  EXPECT_EQ(yaml("a: &x 1\nb: &x 2\n"),
            "c:2:4: error: this anchor is defined twice, which PyYAML refuses [read/syntax]\n"
            "    b: &x 2\n"
            "       ^\n");
}

TEST(YamlAlias, CannotStandInsideItself) {
  EXPECT_EQ(yaml("a: &x [1, *x]\n"),
            "c:1:11: error: this alias stands for a value it is part of [read/syntax]\n"
            "    a: &x [1, *x]\n"
            "              ^\n");
  EXPECT_EQ(first_line(yaml("&x a: *x\nb: &y {<<: *y}")),
            "c:2:12: error: this alias stands for a value it is part of [read/syntax]");
}

TEST(YamlAlias, NeedsItsAnchor) {
  EXPECT_EQ(yaml("a: *b\n"),
            "c:1:4: error: no anchor of this name comes before [read/syntax]\n"
            "    a: *b\n"
            "       ^\n");
}

TEST(YamlMerge, OwnKeysWinAndMergedOnesFollow) {
  EXPECT_EQ(yaml("base: &b {x: 1, y: 2}\n"
                 "run:\n"
                 "  <<: *b\n"
                 "  y: 3\n"
                 "  z: 4\n"),
            "mapping @1:1\n"
            "base @1:1: mapping @1:10\n"
            "  x @1:11: integer '1' @1:14\n"
            "  y @1:17: integer '2' @1:20\n"
            "run @2:1: mapping @3:3\n"
            "  y @4:3: integer '3' @4:6\n"
            "  z @5:3: integer '4' @5:6\n"
            "  x @1:11: integer '1' @1:14\n");
}

TEST(YamlMerge, TheFirstOfAListWins) {
  EXPECT_EQ(yaml("- &a {x: 1}\n- &b {x: 2, y: 2}\n- <<: [*a, *b]\n"),
            "sequence @1:1\n"
            "- mapping @1:6\n"
            "  x @1:7: integer '1' @1:10\n"
            "- mapping @2:6\n"
            "  x @2:7: integer '2' @2:10\n"
            "  y @2:13: integer '2' @2:16\n"
            "- mapping @3:3\n"
            "  x @1:7: integer '1' @1:10\n"
            "  y @2:13: integer '2' @2:16\n");
}

TEST(YamlMerge, ALaterMergeIsStrongerAsInPyYaml) {
  EXPECT_EQ(yaml("<<: {x: 1}\n<<: {x: 2}\n"), "mapping @1:1\nx @2:6: integer '2' @2:9\n");
}

TEST(YamlMerge, GoesThroughMergedMappings) {
  EXPECT_EQ(yaml("<<: {<<: {x: 1}, y: 2}\n"),
            "mapping @1:1\n"
            "y @1:18: integer '2' @1:21\n"
            "x @1:11: integer '1' @1:14\n");
}

TEST(YamlMerge, AQuotedKeyIsAKey) {
  EXPECT_EQ(yaml("'<<': {x: 1}\n"), "mapping @1:1\n<< @1:1: mapping @1:7\n  x @1:8: integer '1' @1:11\n");
}

TEST(YamlMerge, TakesOnlyMappings) {
  EXPECT_EQ(yaml("a: 1\n<<: 3\n"),
            "c:2:1: error: '<<' merges a mapping or a list of mappings [read/syntax]\n"
            "    <<: 3\n"
            "    ^\n");
  EXPECT_EQ(first_line(yaml("<<: [{a: 1}, 2]\n")),
            "c:1:1: error: '<<' merges a mapping or a list of mappings [read/syntax]");
}

TEST(YamlRefuses, AKeyGivenTwice) {
  EXPECT_EQ(yaml("lr: 1\nb:\n  x: 1\n  y: 2\n  'x': 3\nlr: 2\n"),
            "c:5:3: error: key 'x' is given twice [read/duplicate-key]\n"
            "      'x': 3\n"
            "      ^\n"
            "hint: the first is at c:3:3; keep one of them\n"
            "c:6:1: error: key 'lr' is given twice [read/duplicate-key]\n"
            "    lr: 2\n"
            "    ^\n"
            "hint: the first is at c:1:1; keep one of them\n");
}

TEST(YamlRefuses, MoreDuplicatesThanAnyoneReads) {
  const auto document = parse_document(repeated("a: 1\n", 1000), "c", Syntax::yaml);
  ASSERT_FALSE(document);
  EXPECT_EQ(document.errors().size(), 10U);
}

TEST(YamlRefuses, ASecondDocument) {
  EXPECT_EQ(yaml("a: 1\n---\nb: 2\n"),
            "c:2:1: error: a second document begins here [read/many-documents]\n"
            "    ---\n"
            "    ^\n"
            "hint: a config is one document\n");
  EXPECT_EQ(first_line(yaml("a: 1\n---\n")), "c:2:1: error: a second document begins here [read/many-documents]");
  EXPECT_EQ(first_line(yaml("a: 1\n...\nb: 2\n")), "c:3:1: error: this follows the end of the document [read/syntax]");
}

TEST(YamlRefuses, TagsThatMakeObjects) {
  EXPECT_EQ(yaml("a: !!python/object/apply:os.system [ls]\n"),
            "c:1:4: error: this tag has no meaning here [read/syntax]\n"
            "    a: !!python/object/apply:os.system [ls]\n"
            "       ^\n"
            "hint: write the value without a tag\n");
  EXPECT_EQ(first_line(yaml("a: !env HOME\n")), "c:1:4: error: this tag has no meaning here [read/syntax]");
  EXPECT_EQ(first_line(yaml("a: !!seq {}\n")), "c:1:4: error: this tag has no meaning here [read/syntax]");
}

TEST(YamlRefuses, ATagThatIsNotTrue) {
  EXPECT_EQ(yaml("a: !!int abc\n"),
            "c:1:10: error: this is no !!int [read/syntax]\n"
            "    a: !!int abc\n"
            "             ^\n");
  EXPECT_EQ(first_line(yaml("!!int 1.5")), "c:1:7: error: this is no !!int [read/syntax]");
  EXPECT_EQ(first_line(yaml("!!bool 1")), "c:1:8: error: this is no !!bool [read/syntax]");
  EXPECT_EQ(first_line(yaml("!!float 0x1")), "c:1:9: error: this is no !!float [read/syntax]");
  EXPECT_EQ(yaml("[!!float .inf, !!float 1e5, !!int '3', !!bool 'on', !!null x]"),
            "sequence @1:1\n"
            "- real '.inf' @1:10\n"
            "- real '1e5' @1:24\n"
            "- integer '3' @1:35\n"
            "- boolean 'on' @1:47\n"
            "- null @1:60\n");
}

TEST(YamlRefuses, TemplatesAndOtherKeysThatAreNoWords) {
  EXPECT_EQ(yaml("a: {{ lr }}\n"),
            "c:1:5: error: a key must be a single word or string [read/syntax]\n"
            "    a: {{ lr }}\n"
            "        ^\n"
            "hint: '{{ ... }}' is a template: render it first\n");
  EXPECT_EQ(first_line(yaml("{% if x %}\na: 1\n")),
            "c:1:2: error: a value cannot begin with this character: put it in quotes [read/syntax]");
  EXPECT_EQ(yaml("? [a, b]\n: 1\n"),
            "c:1:3: error: a key must be a single word or string [read/syntax]\n"
            "    ? [a, b]\n"
            "      ^\n");
}

TEST(YamlRefuses, BrokenSyntax) {
  EXPECT_EQ(yaml("a: [1, 2\nb: 3\n"),
            "c:2:2: error: ',' or ']' is expected here [read/syntax]\n"
            "    b: 3\n"
            "     ^\n");
  EXPECT_EQ(yaml("a: 1\n b: 2\n"),
            "c:2:3: error: no ':' can stand here: is one missing above, is the indent right, does text with ': ' lack "
            "quotes? "
            "[read/syntax]\n"
            "     b: 2\n"
            "      ^\n");
  EXPECT_EQ(first_line(yaml("a: b: c\n")),
            "c:1:5: error: no ':' can stand here: is one missing above, is the indent right, does text with ': ' lack "
            "quotes? "
            "[read/syntax]");
  EXPECT_EQ(first_line(yaml("a: @x\n")),
            "c:1:4: error: a value cannot begin with this character: put it in quotes [read/syntax]");
}

TEST(YamlRefuses, AKeyWithoutItsColon) {
  EXPECT_EQ(yaml("a: 1\nlr 1e-5\nb: 2\n"),
            "c:2:1: error: ':' is missing after this key, or the line lacks its indent [read/syntax]\n"
            "    lr 1e-5\n"
            "    ^\n");
  for (const char* text : {"a: 1\nlr 1e-5 # what: ever\nb: 2\n", "a: 1\nlr 1e-5\n", "a:\nlr 1e-5  # what: ever\nb: 2\n",
                           "a:\n{b: 1}\n", "a:\nlr:1"}) {
    EXPECT_EQ(first_line(yaml(text)),
              "c:2:1: error: ':' is missing after this key, or the line lacks its indent [read/syntax]")
        << text;
  }
  EXPECT_EQ(first_line(yaml("a:\n  b:\n  'c'\n")),
            "c:3:3: error: ':' is missing after this key, or the line lacks its indent [read/syntax]");
}

// PyYAML ends lines where editors do not.
TEST(Yaml, EndsLinesWherePyYamlDoes) {
  EXPECT_EQ(yaml("# seen\u2028rows: 64\n# too\u0085b: 2\u2029c: 3\n"),
            "mapping @1:10\n"
            "rows @1:10: integer '64' @1:16\n"
            "b @2:8: integer '2' @2:11\n"
            "c @2:15: integer '3' @2:18\n");
  EXPECT_EQ(yaml("a: 1\rb: 2\r"), "mapping @1:1\na @1:1: integer '1' @1:4\nb @1:6: integer '2' @1:9\n");
}

TEST(YamlRefuses, Tabs) {
  EXPECT_EQ(yaml("a: 2\t# rows\n"),
            "c:1:5: error: a tab cannot stand here [read/syntax]\n"
            "    a: 2 # rows\n"
            "        ^\n"
            "hint: PyYAML takes no tabs between values: write spaces\n");
  for (const char* text : {"a:\t2\n", "a\t: 2\n", "\ta: 1\n", "a:\n\t- b\n", "a: [1,\t2]\n", "a: 1\n\t\nb: 2\n"}) {
    EXPECT_NE(yaml(text).find("[read/syntax]"), std::string::npos) << text;
  }
  EXPECT_EQ(yaml("a: 'b\tc'\n"), "mapping @1:1\na @1:1: string 'b\tc' @1:4\n");
}

TEST(YamlRefuses, WhatPyYamlCannotMakeAValueOf) {
  for (const char* text : {"a: 2024-02-30\n", "a: 0x_\n", "a: 2024-01-30 25:00:00\n"}) {
    EXPECT_NE(yaml(text).find("put it in quotes"), std::string::npos) << text;
  }
  EXPECT_EQ(first_line(yaml("a: =\n")),
            "c:1:4: error: a '=' alone stands in quotes: PyYAML has no value for it [read/syntax]");
  EXPECT_EQ(first_line(yaml("a: <<\n")),
            "c:1:4: error: '<<' is a key that merges: as a value it stands in quotes [read/syntax]");
  EXPECT_EQ(first_line(yaml("a: \u0080\n")),
            "c:1:4: error: PyYAML takes no such character, which cannot be printed [read/binary]");
}

TEST(Yaml, AValueMayStandOnTheNextLine) {
  EXPECT_EQ(yaml("a:\n  1\nb:\n- 2\n? c\n:\n  3\n? d\n: 4\ne: &x\n  5\nf:\n # why\n {g: [\n6\n]}\n"),
            "mapping @1:1\n"
            "a @1:1: integer '1' @2:3\n"
            "b @3:1: sequence @4:1\n"
            "  - integer '2' @4:3\n"
            "c @5:3: integer '3' @7:3\n"
            "d @8:3: integer '4' @9:3\n"
            "e @10:1: integer '5' @11:3\n"
            "f @12:1: mapping @14:2\n"
            "  g @14:3: sequence @14:6\n"
            "    - integer '6' @15:1\n");
}

TEST(YamlRefuses, AColonWithoutItsKey) {
  EXPECT_EQ(yaml("a: 1\n: 2\n"),
            "c:2:1: error: the key before this ':' is missing [read/syntax]\n"
            "    : 2\n"
            "    ^\n");
  EXPECT_EQ(first_line(yaml("{: 1}")), "c:1:2: error: the key before this ':' is missing [read/syntax]");
}

TEST(Yaml, AKeyMayHaveNoValue) {
  EXPECT_EQ(yaml("? a\n'c:': # why\nd :\n\"f\\\"\":\ng: {h, i: }\n\"\":\n"),
            "mapping @1:1\n"
            "a @1:3: null @1:1\n"
            "c: @2:1: null @2:6\n"
            "d @3:1: null @3:4\n"
            "f\" @4:1: null @4:7\n"
            "g @5:1: mapping @5:4\n"
            "  h @5:5: null @5:5\n"
            "  i @5:8: null @5:10\n"
            " @6:1: null @6:4\n");
}

TEST(YamlRefuses, AQuoteThatIsNeverClosed) {
  EXPECT_EQ(yaml("a: 'it''s\nb: 2\n"),
            "c:1:4: error: this quote is never closed [read/syntax]\n"
            "    a: 'it''s\n"
            "       ^\n");
  EXPECT_EQ(first_line(yaml("a: \"x\\\"\n")), "c:1:4: error: this quote is never closed [read/syntax]");
}

TEST(YamlRefuses, NothingButComments) {
  EXPECT_EQ(yaml("# nothing\n\n# here\n"),
            "c:1:1: error: the file holds nothing but comments [read/empty]\n"
            "    # nothing\n"
            "    ^\n");
}

}  // namespace
}  // namespace oomplan::read
