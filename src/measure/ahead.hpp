// Values made in a thread of their own, a few ahead of who takes them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "oomplan/result.hpp"

namespace oomplan::measure {

template <class T>
class Ahead {
 public:
  /// `make` fills the next value, or says that there are no more, or why there are none; it is not called again then.
  Ahead(std::function<Result<bool>(T&)> make, std::size_t most) : make_(std::move(make)), most_(most) {
    thread_ = std::thread([this] { run(); });
  }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;
  ~Ahead() {
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// What `make` gave, value for value. Throws what it threw.
  Result<bool> next(T& out) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !made_.empty() || end_ || thrown_; });
    if (!made_.empty()) {
      out = std::move(made_.front());
      made_.pop_front();
      changed_.notify_all();
      return true;
    }
    if (thrown_) std::rethrow_exception(thrown_);
    return *end_;
  }

 private:
  void run() {
    try {
      while (true) {
        T value{};
        Result<bool> more = make_(value);
        std::unique_lock lock(mutex_);
        if (!more || !*more) {
          end_ = std::move(more);
          break;
        }
        made_.push_back(std::move(value));
        changed_.notify_all();
        changed_.wait(lock, [this] { return made_.size() < most_ || stopped_; });
        if (stopped_) return;
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      thrown_ = std::current_exception();
    }
    changed_.notify_all();
  }

  std::function<Result<bool>(T&)> make_;
  const std::size_t most_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<T> made_{};
  std::optional<Result<bool>> end_{};
  std::exception_ptr thrown_{};
  bool stopped_ = false;
  std::thread thread_{};
};

}  // namespace oomplan::measure
