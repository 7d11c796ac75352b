// What the processes of a run cost before they hold any data: the data in models/libraries and models/runtimes.
#pragma once

#include <string>
#include <vector>

#include "oomplan/core/bytes.hpp"

namespace oomplan {

/// A library that a process imports, without what it imports itself.
struct Library {
  std::string name{};   ///< The file's ("torch").
  std::string title{};  ///< "PyTorch 2.13.0, CPU build".
  Bytes own{};          ///< Anonymous memory, in every process that imports it.
  Bytes mapped{};       ///< Pages of its files, once for all processes of a machine.
  std::string source{};
};

struct Price {
  Bytes bytes{};
  std::string source{};
};

/// Python's processes and objects.
struct PythonCosts {
  Price forked_worker{};         ///< What a forked worker and its parent come to hold apart, rows in arrays.
  Price forked_object_worker{};  ///< The same where rows are Python objects.
  Price helper{};                ///< multiprocessing's resource tracker or fork server, a bare interpreter.
  Price integer{};               ///< An int above Python's cache of small ones.
  Price slot{};                  ///< A reference in a list.
  Price list{};                  ///< A list itself.
  Price text{};                  ///< A bytes or str object, beside its text.
  Price pickled_integer{};
  Price apart{};  ///< Of a row's ints, beyond the pages that they fill: on those of other rows.
  Price page{};   ///< Of the kernel: what is copied on a write, and what /dev/shm rounds up to.
};

}  // namespace oomplan
