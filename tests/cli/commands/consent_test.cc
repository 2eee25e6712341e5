// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/consent.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
namespace {

// An input of `kind` that holds `text` and then ends.
class Input {
 public:
  enum class Kind { kPipe, kSocket, kFile };
  static constexpr std::array kKinds = {Kind::kPipe, Kind::kSocket, Kind::kFile};

  Input(Kind kind, const std::string& text) {
    std::array<int, 2> ends = {};
    if (kind == Kind::kFile) {
      ends[0] = ::open(files_.Write("input", text).c_str(), O_RDONLY | O_CLOEXEC);
      REQUIRE(ends[0] >= 0);
    } else {
      REQUIRE((kind == Kind::kPipe ? ::pipe2(ends.data(), O_CLOEXEC)
                                   : ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data())) == 0);
      REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
      ::close(ends[1]);
    }
    input_ = ends[0];
  }
  ~Input() { ::close(input_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  int descriptor() const { return input_; }
  // Takes all that is left.
  std::string Rest() const {
    std::string rest;
    char c = 0;
    while (::read(input_, &c, 1) == 1) rest.push_back(c);
    return rest;
  }

 private:
  const doubles::TemporaryFolder files_;
  int input_ = -1;
};

}  // namespace

TEST_CASE("a line that is exactly yes consents once, and the lines behind it stay") {
  for (const Input::Kind kind : Input::kKinds) {
    const Input input(kind, "yes\nyes\nbmc1.lab\n");
    REQUIRE(TakeYes(input.descriptor()));
    REQUIRE(TakeYes(input.descriptor()));
    REQUIRE_FALSE(TakeYes(input.descriptor()));
    REQUIRE(input.Rest() == "bmc1.lab\n");
  }
}

TEST_CASE("whatever is not yes stays where it was for who reads it next") {
  for (const Input::Kind kind : Input::kKinds) {
    for (const std::string text : {"", "\n", "y", "yes", "yes please\n", "yes.lab\nno.lab\n",
                                   "YES\n", "yes\r\n", "\nyes\n", "bmc1.lab\nyes\n"}) {
      const Input input(kind, text);
      REQUIRE_FALSE(TakeYes(input.descriptor()));
      REQUIRE(input.Rest() == text);
    }
  }
}

TEST_CASE("a yes that comes in pieces consents once it is whole") {
  std::array<int, 2> ends = {};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  REQUIRE(::write(ends[1], "ye", 2) == 2);
  bool consents = false;
  std::thread asked([&] { consents = TakeYes(ends[0]); });
  REQUIRE(::write(ends[1], "s\nmore", 6) == 6);
  asked.join();
  REQUIRE(consents);
  ::close(ends[1]);
  std::string rest(8, '\0');
  REQUIRE(::read(ends[0], rest.data(), rest.size()) == 4);
  REQUIRE(rest.starts_with("more"));
  ::close(ends[0]);
}

TEST_CASE("an input that cannot say yes does not consent") {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  REQUIRE_FALSE(TakeYes(nothing));
  ::close(nothing);
  REQUIRE_FALSE(TakeYes(nothing));
  const int zeros = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  REQUIRE_FALSE(TakeYes(zeros));
  ::close(zeros);
  const int folder = ::open("/", O_RDONLY | O_CLOEXEC);
  REQUIRE_FALSE(TakeYes(folder));
  ::close(folder);
}

}  // namespace shoal::cli
