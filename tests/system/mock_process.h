// SPDX-License-Identifier: Apache-2.0
// Runs the mockserver as a process of its own, on a free port of loopback.
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
  // `settings` are "key=value" of the section [mockserver] with values in TOML. Without any it
  // simulates dmtf-rackmount1. Returns once the server listens, and REQUIREs that it does.
  explicit MockProcess(std::vector<std::string> settings);
  MockProcess(const MockProcess&) = delete;
  MockProcess& operator=(const MockProcess&) = delete;

  // Returns an address such as "127.0.0.1:8000".
  const std::string& address() const { return address_; }
  // Returns the address of the control API; empty for a proxy.
  const std::string& control() const { return control_; }
  std::string log() const;

  // Ends the process as an operator does, and returns its exit code. REQUIREs that it ends soon.
  int Stop();
  // Ends the process as a crash does.
  void Kill();

 private:
  const doubles::TemporaryFolder folder_;
  std::string address_;
  std::string control_;
  std::unique_ptr<cli::ChildProcess> process_;
};

// The exit code and the log of a mockserver that failed to start.
struct FailedStart {
  int code = -1;
  std::string log;
};
FailedStart StartAndFail(std::vector<std::string> settings);

// Returns settings for a capture of data/captures, with a quiet clock.
std::vector<std::string> Simulating(const std::string& capture);

}  // namespace shoal::tests
