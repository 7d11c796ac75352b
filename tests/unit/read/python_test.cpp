// Python scripts and notebooks: what is read of them, and what is not.
#include <gtest/gtest.h>

#include <string>

#include "support.hpp"

namespace oomplan::read {
namespace {

Result<Document> script(std::string text) { return parse_document(std::move(text), "t.py", Syntax::python); }

const Node* steps_of(const Document& document) { return document.root.find("steps"); }

/// The keyword `name` of the n-th call, or null.
const Node* keyword(const Document& document, std::size_t n, std::string_view name) {
  for (const Node& step : steps_of(document)->items) {
    if (step.find("call") == nullptr || n-- > 0) continue;
    return step.find("keywords")->find(name);
  }
  return nullptr;
}

/// "integer '16' @2:3" of `f(x=…)`.
std::string value(const std::string& code) {
  const Result<Document> document = script(code);
  if (!document) return document.errors().front().code;
  const Node* node = keyword(*document, 0, "x");
  if (node == nullptr) return "none";
  std::string out;
  describe(*node, "", out);
  return out.substr(0, out.size() - 1);
}

TEST(Python, ReadsLiterals) {
  EXPECT_EQ(value("f(x=16)"), "integer '16' @1:5");
  EXPECT_EQ(value("f(x=1_000)"), "integer '1000' @1:5");
  EXPECT_EQ(value("f(x=0x10)"), "integer '16' @1:5");
  EXPECT_EQ(value("f(x=2e-4)"), "real '2e-04' @1:5");
  EXPECT_EQ(value("f(x=None)"), "null @1:5");
  EXPECT_EQ(value("f(x=True)"), "boolean 'true' @1:5");
  EXPECT_EQ(value("f(x='a\\tb' \"c\")"), "string 'a\tbc' @1:5");
  EXPECT_EQ(value("f(x=r'a\\tb')"), "string 'a\\tb' @1:5");
  EXPECT_EQ(value("f(x='\\u00e9')"), "string 'é' @1:5");
  EXPECT_EQ(value("f(x=[1, 'a',])"), "sequence @1:5\n- integer '1' @1:6\n- string 'a' @1:9");
  EXPECT_EQ(value("f(x=(1,))"), "sequence @1:5\n- integer '1' @1:6");
  EXPECT_EQ(value("f(x={'a': 1})"), "mapping @1:5\na @1:6: integer '1' @1:11");
  EXPECT_EQ(value("f(x=dict(a=1))"), "mapping @1:9\na @1:10: integer '1' @1:12");
}

TEST(Python, WorksOutNumbers) {
  EXPECT_EQ(value("f(x=4 * 1024)"), "integer '4096' @1:5");
  EXPECT_EQ(value("f(x=-2 ** 2)"), "integer '-4' @1:5");
  EXPECT_EQ(value("f(x=7 // -2)"), "integer '-4' @1:5");
  EXPECT_EQ(value("f(x=-7 % 3)"), "integer '2' @1:5");
  EXPECT_EQ(value("f(x=1 / 2)"), "real '0.5' @1:5");
  EXPECT_EQ(value("f(x=(1 + 2) * 3)"), "integer '9' @1:6");
  EXPECT_EQ(value("f(x=2 ** 80)"), "expression '2 ** 80' @1:5");
  EXPECT_EQ(value("f(x=1 // 0)"), "expression '1 // 0' @1:5");
  EXPECT_EQ(value("f(x='a' * 3)"), "expression ''a' * 3' @1:5");
}

TEST(Python, AnythingElseIsAnExpression) {
  EXPECT_EQ(value("f(x=g(1))"), "expression 'g(1)' @1:5");
  EXPECT_EQ(value("f(x=a.b)"), "expression 'a.b' @1:5");
  EXPECT_EQ(value("f(x=not\n  y)"), "expression 'not y' @1:5");
  EXPECT_EQ(value("f(x=f'{a}')"), "expression 'f'{a}'' @1:5");
  EXPECT_EQ(value("f(x=1 if y else 2)"), "expression '1 if y else 2' @1:5");
  EXPECT_EQ(value("f(x=[i for i in y])"), "expression '[i for i in y]' @1:5");
  EXPECT_EQ(value("f(x=[1, g()])"), "expression '[1, g()]' @1:5");
}

TEST(Python, ANameStandsForItsOneValue) {
  EXPECT_EQ(value("a = 8\nf(x=a)"), "integer '8' @1:5");
  EXPECT_EQ(value("a = b = 8\nf(x=b)"), "integer '8' @1:9");
  EXPECT_EQ(value("a: int = 8\nf(x=a * 2)"), "integer '16' @1:10");
  EXPECT_EQ(value("f(x=a)\na = 8"), "integer '8' @2:5");
  EXPECT_EQ(value("a = 8\na = 8\nf(x=a)"), "integer '8' @1:5");
  EXPECT_EQ(value("a = 8\na = 9\nf(x=a)"), "expression 'a' @3:5");
  EXPECT_EQ(value("a = 8\na += 1\nf(x=a)"), "expression 'a' @3:5");
  EXPECT_EQ(value("a = b\nb = a\nf(x=a)"), "read/too-deep");
  EXPECT_EQ(value("from m import a\na = 8\nf(x=a)"), "expression 'a' @3:5");
  EXPECT_EQ(value("a = 8\nfor a in y: pass\nf(x=a)"), "expression 'a' @3:5");
  EXPECT_EQ(value("a = [1]\na[0] = 2\nf(x=a)"), "expression 'a' @3:5");
}

TEST(Python, NamesOfAFunctionAreItsOwn) {
  EXPECT_EQ(value("a = 8\ndef g(a):\n  pass\nf(x=a)"), "integer '8' @1:5");
  EXPECT_EQ(value("a = 8\ndef g(a):\n  f(x=a)"), "expression 'a' @3:7");
  EXPECT_EQ(value("def g():\n  a = 8\n  f(x=a)"), "integer '8' @2:7");
  EXPECT_EQ(value("a = 8\ndef g():\n  global a\n  a = 9\nf(x=a)"), "expression 'a' @5:5");
}

TEST(Python, WhatNeverRunsIsLeftOut) {
  EXPECT_EQ(value("if False: f(x=1)\nf(x=2)"), "integer '2' @2:5");
  EXPECT_EQ(value("if 0:\n  f(x=1)\nelse:\n  f(x=2)"), "integer '2' @4:7");
  EXPECT_EQ(value("# f(x=1)\n'''\nf(x=2)\n'''\nf(x=3)"), "integer '3' @5:5");
  EXPECT_EQ(value("if y: f(x=1)"), "integer '1' @1:11");
}

TEST(Python, SplatsOfKnownMappingsAreKeywords) {
  EXPECT_EQ(value("c = dict(x = 3)\nf(**c)"), "integer '3' @1:14");
  EXPECT_EQ(value("f(**{'x': 3})"), "integer '3' @1:11");
  const Result<Document> unknown = script("f(**g())");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(keyword(*unknown, 0, "**")->text, "g()");
}

TEST(Python, TellsCallsAssignmentsImportsAndShells) {
  const Result<Document> document = script(
      "import a.b as c, d\nfrom e.f import (g,)\nx.y = 1\nos.environ['Z'] = '1'\n!pip install q\nA.b(1, C(k=2)).d()\n");
  ASSERT_TRUE(document);
  std::string out;
  describe(document->root, "", out);
  EXPECT_EQ(out,
            "mapping @1:1\n"
            "imports @1:1: sequence @1:1\n"
            "  - string 'a.b' @1:8\n"
            "  - string 'd' @1:18\n"
            "  - string 'e.f' @2:6\n"
            "steps @1:1: sequence @1:1\n"
            "  - mapping @3:1\n"
            "    set @3:1: string 'x.y' @3:1\n"
            "    value @3:1: integer '1' @3:7\n"
            "  - mapping @4:1\n"
            "    set @4:1: string 'os.environ.Z' @4:1\n"
            "    value @4:1: string '1' @4:19\n"
            "  - mapping @5:1\n"
            "    shell @5:1: string '!pip install q' @5:1\n"
            "  - mapping @6:1\n"
            "    call @6:1: string 'A.b' @6:1\n"
            "    positional @6:4: sequence @6:4\n"
            "      - integer '1' @6:5\n"
            "      - expression 'C(k=2)' @6:8\n"
            "    keywords @6:4: mapping @6:4\n"
            "  - mapping @6:8\n"
            "    call @6:8: string 'C' @6:8\n"
            "    positional @6:9: sequence @6:9\n"
            "    keywords @6:9: mapping @6:9\n"
            "      k @6:10: integer '2' @6:12\n"
            "  - mapping @6:16\n"
            "    call @6:16: string '.d' @6:16\n"
            "    positional @6:17: sequence @6:17\n"
            "    keywords @6:17: mapping @6:17\n");
}

TEST(Python, RefusesWhatIsNoPython) {
  EXPECT_EQ(value("f(x=1"), "read/syntax");
  EXPECT_EQ(value("f(x=1]"), "read/syntax");
  EXPECT_EQ(value("f(x='a)"), "read/syntax");
  EXPECT_EQ(value("f(x='''a)"), "read/syntax");
  EXPECT_EQ(value("f(x=1, x=2)"), "read/duplicate-key");
}

TEST(Python, HostileTextEndsInARefusal) {
  EXPECT_EQ(value("f(x=" + repeated("[", 5000) + repeated("]", 5000) + ")"), "read/too-deep");
  EXPECT_EQ(value("f(x=" + repeated("-", 5000) + "1)"), "read/too-deep");
  std::string laughs = "a0 = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string before = "a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + " = [" + repeated(before + ", ", 10) + "]\n";
  }
  EXPECT_EQ(value(laughs + "f(x=a19)"), "read/too-many-nodes");
}

TEST(Notebook, ReadsCodeCellsAsOneScript) {
  const std::string text = R"json({"cells": [
    {"cell_type": "markdown", "source": ["f(x=0)"]},
    {"cell_type": "code", "source": ["%%capture\n", "!pip install q\n", "a = 4"]},
    {"cell_type": "code", "source": "%%bash\nnot python at all ((("},
    {"cell_type": "code", "source": ["f(\n", "  x = a,\n", "  y = b,\n", ")"]}
  ], "nbformat": 4})json";
  const Result<Document> document = parse_document(text, "t.ipynb", Syntax::notebook);
  ASSERT_TRUE(document);
  const Node* x = keyword(*document, 0, "x");
  const Node* y = keyword(*document, 0, "y");
  ASSERT_TRUE(x != nullptr && y != nullptr);
  EXPECT_EQ(x->text, "4");
  EXPECT_EQ(document->at(*x), (Location{"t.ipynb cell 2", 3, 5}));
  EXPECT_EQ(document->at(*y), (Location{"t.ipynb cell 4", 3, 7}));
  EXPECT_EQ(document->excerpt(document->at(*y)), "  y = b,");
}

TEST(Notebook, RefusesOtherJson) {
  const auto code = [](std::string text) {
    return parse_document(std::move(text), "t.ipynb", Syntax::notebook).errors().front();
  };
  EXPECT_EQ(code(R"({"a": 1})").code, "read/syntax");
  EXPECT_EQ(code(R"({"cells": []})").code, "read/empty");
  const Diagnostic open = code(R"json({"cells": [{"cell_type": "code", "source": "f("}]})json");
  EXPECT_EQ(open.code, "read/syntax");
  EXPECT_EQ(open.where, (Location{"t.ipynb cell 1", 1, 2}));
}

}  // namespace
}  // namespace oomplan::read
