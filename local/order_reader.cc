// SPDX-License-Identifier: Apache-2.0
#include "local/order_reader.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "platform/runtime/check.h"

namespace shoal::local {

OrderReader::OrderReader(int input, std::function<void(const std::string&)> on_order)
    : input_(input),
      on_order_(std::move(on_order)),
      end_(::eventfd(0, EFD_CLOEXEC)),
      thread_("orders", [this] { Run(); }) {
  SHOAL_CHECK(end_ >= 0);
}

OrderReader::~OrderReader() {
  const std::uint64_t one = 1;
  SHOAL_CHECK(::write(end_, &one, sizeof one) == sizeof one);
  thread_.Join();
  ::close(end_);
}

void OrderReader::Run() {
  std::array<char, kMaxBytes> buffer;
  std::string text;
  while (text.size() < kMaxBytes) {
    std::array<pollfd, 2> waits = {{{input_, POLLIN, 0}, {end_, POLLIN, 0}}};
    if (::poll(waits.data(), waits.size(), -1) < 0) continue;
    if (waits[1].revents != 0) return;
    const ssize_t count = ::read(input_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      on_order_(text.substr(0, end));
      text.erase(0, end + 1);
    }
  }
}

}  // namespace shoal::local
