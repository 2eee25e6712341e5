// SPDX-License-Identifier: Apache-2.0
// The mockserver as a process of its own, on a free port of loopback.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/cluster/child_process.h"
#include "platform/http/client_connection.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {

class MockProcess {
 public:
  // `settings` are "key=value" of section [mockserver], values in TOML; without any it simulates
  // dmtf-rackmount1. Returns once it listens; REQUIREs that it does.
  explicit MockProcess(std::vector<std::string> settings);
  MockProcess(const MockProcess&) = delete;
  MockProcess& operator=(const MockProcess&) = delete;

  // "127.0.0.1:8000".
  const std::string& address() const { return address_; }
  std::string log() const;

  // As an operator ends it; its exit code. REQUIREs that it ends soon.
  int Stop();
  // As a crash does.
  void Kill();

 private:
  const doubles::TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<cli::ChildProcess> process_;
};

// A mockserver that does not come to listen: its exit code, and what it logged.
struct FailedStart {
  int code = -1;
  std::string log;
};
FailedStart StartAndFail(std::vector<std::string> settings);

// Settings for a capture of data/captures, with a quiet clock.
std::vector<std::string> Simulating(const std::string& capture);

}  // namespace shoal::tests
