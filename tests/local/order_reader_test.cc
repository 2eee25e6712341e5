// SPDX-License-Identifier: Apache-2.0
#include "local/order_reader.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "platform/runtime/mutex.h"
#include "tests/doubles/eventually.h"

namespace shoal::local {
namespace {

// A pipe, and what a reader at its end has got.
class Orders {
 public:
  Orders() {
    REQUIRE(::pipe2(pipe_.data(), O_CLOEXEC) == 0);
    reader_ = std::make_unique<OrderReader>(pipe_[0], [this](const std::string& order) {
      const runtime::MutexLock lock(mutex_);
      got_.push_back(order);
    });
  }
  ~Orders() {
    End();
    Close();
    ::close(pipe_[0]);
  }
  void Write(const std::string& text) {
    REQUIRE(::write(pipe_[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  void Close() {
    if (pipe_[1] >= 0) ::close(pipe_[1]);
    pipe_[1] = -1;
  }
  void End() { reader_.reset(); }
  // Returns how many bytes wait in the pipe.
  int unread() const {
    int bytes = 0;
    REQUIRE(::ioctl(pipe_[0], FIONREAD, &bytes) == 0);
    return bytes;
  }
  // Returns whether these are all orders that were read, now or soon.
  bool Get(const std::vector<std::string>& orders) {
    return doubles::Eventually([&] {
      const runtime::MutexLock lock(mutex_);
      return got_ == orders;
    });
  }

 private:
  std::array<int, 2> pipe_ = {-1, -1};
  runtime::Mutex mutex_;
  std::vector<std::string> got_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<OrderReader> reader_;
};

}  // namespace

TEST_CASE("orders come whole and in order, however their bytes come") {
  Orders orders;
  orders.Write("stop act");
  orders.Write("ors\nstop learner\n\nwa");
  REQUIRE(orders.Get({"stop actors", "stop learner", ""}));
  orders.Write("it\n");
  REQUIRE(orders.Get({"stop actors", "stop learner", "", "wait"}));
}

TEST_CASE("a reader ends with its input, and while the input is still open") {
  {
    Orders orders;
    orders.Write("a\n");
    orders.Close();
    REQUIRE(orders.Get({"a"}));
  }
  const Orders open;
}

TEST_CASE("a line without an end does not grow for ever") {
  Orders orders;
  orders.Write(std::string(OrderReader::kMaxBytes, 'x'));
  REQUIRE(doubles::Eventually([&] { return orders.unread() == 0; }));
  orders.Write("\n");
  orders.End();
  REQUIRE(orders.unread() == 1);
  REQUIRE(orders.Get({}));
}

}  // namespace shoal::local
