// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace shoal::bench {

double ProcessorSecondsOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  // The name of the program, the second field, may have spaces.
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  constexpr int kUserTime = 14;
  double ticks = 0;
  for (int field = 3; field <= kUserTime + 1 && fields >> text; ++field) {
    if (field >= kUserTime) ticks += std::stod(text);
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

Child::Child(const std::function<void(const Tell& tell, int life)>& serve) {
  int told[2];
  int life[2];
  if (::pipe(told) != 0 || ::pipe(life) != 0) std::abort();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::close(told[0]);
    ::close(life[1]);
    serve(
        [&told](const std::string& address) {
          if (::write(told[1], address.data(), address.size()) < 0) std::abort();
          ::close(told[1]);
        },
        life[0]);
    ::_exit(0);
  }
  ::close(told[1]);
  ::close(life[0]);
  life_ = life[1];
  char text[64] = {};
  if (::read(told[0], text, sizeof text - 1) > 0) address_ = text;
  ::close(told[0]);
}

Child::~Child() {
  ::close(life_);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace shoal::bench
