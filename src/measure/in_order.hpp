// Units of work done by several threads, and what they give taken in the units' order.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan::measure {

/// A unit whose turn has not come holds a few values at most, and only a few units are begun before theirs.
template <class T>
class InOrder {
 public:
  /// Hands on one value; false where no more are wanted.
  using Emit = std::function<bool(T&&)>;
  using Work = std::function<Result<bool>(std::size_t unit, const Emit& emit)>;

  InOrder(std::size_t units, std::size_t threads, Work work)
      : units_(units), most_begun_(2 * threads), work_(std::move(work)) {
    try {
      for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {  // the system starts no more: those that there are do all
    }
  }
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
  ~InOrder() {
    {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// False at the end, or at the first unit that failed; what that gave before has come then. At once where the system
  /// starts no thread.
  bool next(T& out) {
    if (threads_.empty()) return false;
    std::unique_lock lock(mutex_);
    while (head_ < units_) {
      if (!begun_.empty()) {
        Unit& unit = begun_.front();
        if (!unit.made.empty()) {
          out = std::move(unit.made.front());
          unit.made.pop_front();
          changed_.notify_all();
          return true;
        }
        if (unit.failed) return false;
        if (unit.ended) {
          begun_.pop_front();
          ++head_;
          changed_.notify_all();
          continue;
        }
      }
      changed_.wait(lock);
    }
    return false;
  }
  /// How many units have given all: the number of the one that failed, where one did.
  std::size_t done() const { return head_; }
  std::size_t threads() const { return threads_.size(); }
  /// What the unit that failed threw, if it did.
  void rethrow() {
    const std::scoped_lock lock(mutex_);
    if (!begun_.empty() && begun_.front().thrown) std::rethrow_exception(begun_.front().thrown);
  }

 private:
  static constexpr std::size_t most_made = 2;
  struct Unit {
    std::deque<T> made{};
    bool ended = false;
    bool failed = false;
    std::exception_ptr thrown{};
  };

  void run() {
    while (true) {
      std::size_t number = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock,
                      [this] { return stopped_ || head_ + begun_.size() == units_ || begun_.size() < most_begun_; });
        if (stopped_ || head_ + begun_.size() == units_) return;
        number = head_ + begun_.size();
        begun_.emplace_back();
      }
      const bool good = done(number);
      const std::scoped_lock lock(mutex_);
      Unit& unit = begun_[number - head_];
      (good ? unit.ended : unit.failed) = true;
      changed_.notify_all();
    }
  }

  bool done(std::size_t number) {
    try {
      return work_(number, [&](T&& value) { return give(number, std::move(value)); }).ok();
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      begun_[number - head_].thrown = std::current_exception();
      return false;
    }
  }

  bool give(std::size_t number, T&& value) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || begun_[number - head_].made.size() < most_made; });
    if (stopped_) return false;
    begun_[number - head_].made.push_back(std::move(value));
    changed_.notify_all();
    return true;
  }

  const std::size_t units_;
  const std::size_t most_begun_;
  const Work work_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<Unit> begun_{};  // from head_ on
  std::size_t head_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_{};
};

}  // namespace oomplan::measure
