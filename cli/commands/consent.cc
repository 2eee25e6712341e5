// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/consent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::cli {
namespace {

constexpr std::string_view kYes = "yes\n";
using YesBytes = std::array<char, kYes.size()>;

// Reads what a pipe holds and leaves it there.
ssize_t PeekPipe(int input, YesBytes& bytes) {
  std::array<int, 2> copy = {};
  if (::pipe2(copy.data(), O_CLOEXEC) != 0) return -1;
  ssize_t size = ::tee(input, copy[1], bytes.size(), 0);
  const int error = errno;
  if (size > 0) size = ::read(copy[0], bytes.data(), bytes.size());
  ::close(copy[0]);
  ::close(copy[1]);
  errno = error;
  return size;
}

// Returns the first bytes of the input without taking them; none at its end. Nothing where they
// cannot be had, with errno.
std::optional<std::string> Peek(int input, mode_t kind) {
  YesBytes bytes = {};
  ssize_t size = -1;
  if (S_ISFIFO(kind)) {
    size = PeekPipe(input, bytes);
  } else if (S_ISSOCK(kind)) {
    size = ::recv(input, bytes.data(), bytes.size(), MSG_PEEK);
  } else if (S_ISREG(kind)) {
    size = ::pread(input, bytes.data(), bytes.size(), ::lseek(input, 0, SEEK_CUR));
  } else {
    errno = ENOTSUP;
  }
  if (size < 0) return std::nullopt;
  return std::string(bytes.data(), static_cast<std::size_t>(size));
}

// Reads a line that a person types.
bool TypesYes(int terminal) {
  std::string line;
  char c = 0;
  while (::read(terminal, &c, 1) == 1) {
    line.push_back(c);
    if (c == '\n') return line == kYes;
  }
  return false;
}

}  // namespace

bool TakeYes(int input) {
  if (::isatty(input) != 0) return TypesYes(input);
  struct stat state = {};
  if (::fstat(input, &state) != 0) return false;
  constexpr int kPauseMilliseconds = 10;
  while (true) {
    pollfd waiting = {.fd = input, .events = POLLIN | POLLRDHUP, .revents = 0};
    if (::poll(&waiting, 1, -1) < 0 && errno != EINTR) return false;
    const bool is_whole =
        S_ISREG(state.st_mode) || (waiting.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0;
    const std::optional<std::string> next = Peek(input, state.st_mode);
    if (!next && errno != EINTR && errno != EAGAIN) return false;
    if (next == kYes) {
      YesBytes taken = {};
      return ::read(input, taken.data(), taken.size()) == static_cast<ssize_t>(taken.size());
    }
    if (next && (next->empty() || is_whole || !kYes.starts_with(*next))) return false;
    // The rest of the line is on its way.
    ::poll(nullptr, 0, kPauseMilliseconds);
  }
}

bool SaysYes() {
  std::printf("Type yes to send these requests: ");
  std::fflush(stdout);
  const bool consents = TakeYes(STDIN_FILENO);
  // Nobody ends the line of a question that is answered by no terminal.
  if (::isatty(STDIN_FILENO) == 0) std::printf("\n");
  return consents;
}

void SayNothingWasSent() {
  std::printf("Nothing was sent; --execute sends these requests.%s\n",
              ::isatty(STDIN_FILENO) != 0
                  ? ""
                  : " Nothing was read from standard input, as its next line is not yes;"
                    " < /dev/null does not even wait for one.");
}

}  // namespace shoal::cli
