// SPDX-License-Identifier: Apache-2.0
// A disk that fills up in the middle of a write: while an object lives, files of this process
// cannot grow beyond some bytes, so that a longer write is cut short and the next one fails.
//
// The report of a test that fails meanwhile is written to a file as well. Not thread-safe.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cstddef>

namespace shoal::doubles {

class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::size_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit smaller = {.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &smaller) == 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  const sighandler_t handler_;
  rlimit before_ = {};
};

}  // namespace shoal::doubles
