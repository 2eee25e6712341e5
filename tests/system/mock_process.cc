// SPDX-License-Identifier: Apache-2.0
#include "mock_process.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "shoal_run.h"

namespace shoal::tests {
namespace {

using std::chrono::seconds;

constexpr std::string_view kListening = "event=listening address=";
constexpr std::string_view kControl = " control=";

std::unique_ptr<cli::ChildProcess> Start(const std::vector<std::string>& settings,
                                         const std::string& log) {
  cli::ProcessSpec spec = {
      .name = "mockserver", .command = {SHOAL_PROGRAMS "/mockserver"}, .log_path = log};
  for (const std::string& setting : settings) {
    spec.command.insert(spec.command.end(), {"--set", "mockserver." + setting});
  }
  auto process = cli::ChildProcess::Start(spec);
  INFO(runtime::Message(process.status()));
  REQUIRE(process.ok());
  return *std::move(process);
}

std::string LogIn(const std::string& folder) {
  return runtime::ReadFile(folder + "/log").value_or("");
}

}  // namespace

MockProcess::MockProcess(std::vector<std::string> settings)
    : process_(Start(settings, folder_.path() + "/log")) {
  const bool listens = Eventually(seconds(60), [this] {
    const std::string text = log();
    const std::size_t at = text.find(kListening);
    if (at == std::string::npos || text.find('\n', at) == std::string::npos) {
      return process_->Poll().has_value();
    }
    const std::size_t begin = at + kListening.size();
    address_ = text.substr(begin, text.find(' ', begin) - begin);
    const std::string_view line =
        std::string_view(text).substr(begin, text.find('\n', begin) - begin);
    const std::size_t named = line.find(kControl);
    if (named != line.npos) control_ = line.substr(named + kControl.size());
    return true;
  });
  INFO(log());
  REQUIRE(listens);
  REQUIRE_FALSE(address_.empty());
}

std::string MockProcess::log() const { return LogIn(folder_.path()); }

int MockProcess::Stop() {
  process_->RequestStop();
  std::optional<cli::ExitState> exit;
  const bool ended = Eventually(seconds(30), [&] {
    exit = process_->Poll();
    return exit.has_value();
  });
  INFO(log());
  REQUIRE(ended);
  return exit->code.value_or(-1);
}

void MockProcess::Kill() {
  process_->Kill();
  REQUIRE(Eventually(seconds(10), [this] { return process_->Poll().has_value(); }));
}

FailedStart StartAndFail(std::vector<std::string> settings) {
  const doubles::TemporaryFolder folder;
  const auto process = Start(settings, folder.path() + "/log");
  std::optional<cli::ExitState> exit;
  const bool ended = Eventually(seconds(30), [&] {
    exit = process->Poll();
    return exit.has_value();
  });
  REQUIRE(ended);
  return {exit->code.value_or(-1), LogIn(folder.path())};
}

std::vector<std::string> Simulating(const std::string& capture) {
  return {"captures=[\"data/captures/" + capture + ".tar.xz\"]", "listen=\"127.0.0.1:0\"",
          "control_listen=\"127.0.0.1:0\"", "clock=\"virtual\""};
}

}  // namespace shoal::tests
