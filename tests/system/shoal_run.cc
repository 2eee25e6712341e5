// SPDX-License-Identifier: Apache-2.0
#include "shoal_run.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "platform/runtime/atomic_file.h"

namespace shoal::tests {
namespace fs = std::filesystem;
namespace {

std::string Read(const std::string& path) { return runtime::ReadFile(path).value_or(""); }

// Returns the words of a process's command line, each followed by a newline, or nothing if it is
// gone.
std::string CommandOf(pid_t pid) {
  std::string text = Read("/proc/" + std::to_string(pid) + "/cmdline");
  for (char& c : text) c = c == '\0' ? '\n' : c;
  return text;
}

}  // namespace

ShoalRun::ShoalRun(std::vector<std::string> arguments, const std::string& programs)
    : programs_(programs.empty() ? SHOAL_PROGRAMS : programs) {
  char pattern[] = "/tmp/shoal-system-XXXXXX";
  folder_ = ::mkdtemp(pattern);
  const bool runs = arguments.size() > 1 && (arguments[0] == "train" || arguments[0] == "up") &&
                    arguments[1] != "--resume";
  if (runs) {
    arguments.insert(arguments.end(),
                     {"--name", "run", "--set", "run.directory=\"" + folder_ + "\""});
  }
  Start(std::move(arguments));
}

void ShoalRun::Start(std::vector<std::string> arguments) {
  cli::ProcessSpec spec = {
      .name = "shoal", .command = {programs_ + "/shoal"}, .log_path = folder_ + "/output.log"};
  spec.command.insert(spec.command.end(), arguments.begin(), arguments.end());
  auto process = cli::ChildProcess::Start(spec);
  INFO(runtime::Message(process.status()));
  REQUIRE(process.ok());
  process_ = std::move(*process);
}

ShoalRun::~ShoalRun() {
  process_.reset();
  if (exit_ && std::uncaught_exceptions() == 0) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
}

bool ShoalRun::WaitForExit(std::chrono::seconds limit) {
  return Eventually(limit, [this] {
    exit_ = process_->Poll();
    return exit_.has_value();
  });
}

std::string ShoalRun::output() const { return Read(folder_ + "/output.log"); }

std::string ShoalRun::last_line() const {
  std::string text = output();
  text.erase(text.find_last_not_of('\n') + 1);
  return text.substr(text.rfind('\n') + 1);
}

std::string ShoalRun::File(const std::string& name) const { return Read(folder_ + "/run/" + name); }

std::size_t ShoalRun::recorded_rows() const {
  const std::string text = File("metrics.jsonl");
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

double ShoalRun::Last(const std::string& file, const std::string& key) const {
  const std::string text = File(file);
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos) return 0;
  const std::size_t start = text.rfind('\n', end - 1);
  const auto row = nlohmann::json::parse(text.substr(start + 1, end - start - 1), nullptr, false);
  return row.is_object() ? row.value(key, 0.0) : 0;
}

std::vector<pid_t> ShoalRun::Children(const std::string& program) const {
  std::vector<pid_t> pids;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || pid == process_->pid()) continue;
    const std::string command = CommandOf(pid);
    const std::string name = command.substr(0, command.find('\n'));
    if (command.find(folder_ + "/run/") == std::string::npos) continue;
    if (program.empty() || name == programs_ + "/" + program) pids.push_back(pid);
  }
  return pids;
}

void ShoalRun::Interrupt() { ::kill(process_->pid(), SIGINT); }

void ShoalRun::Kill() { ::kill(process_->pid(), SIGKILL); }

void ShoalRun::Resume(const std::vector<std::string>& more) {
  exit_.reset();
  std::vector<std::string> arguments = {"train", "--resume", folder_ + "/run"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Start(std::move(arguments));
}

EndedRun RunToEnd(std::vector<std::string> arguments, std::chrono::seconds limit) {
  ShoalRun run(std::move(arguments));
  REQUIRE(run.WaitForExit(limit));
  EndedRun ended{run.exit().code.value_or(-1), run.output(), run.last_line()};
  REQUIRE_FALSE(ended.Says("terminate"));
  return ended;
}

bool Eventually(std::chrono::seconds limit, const std::function<bool()>& condition) {
  return Eventually(std::chrono::steady_clock::now() + limit, condition);
}

bool Eventually(std::chrono::steady_clock::time_point deadline,
                const std::function<bool()>& condition) {
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    ::usleep(50'000);
  }
  return true;
}

double NumberIn(const std::string& line, const std::string& key) {
  const std::size_t at = line.find(" " + key + "=");
  if (at == std::string::npos) return -1;
  return std::strtod(line.c_str() + at + key.size() + 2, nullptr);
}

std::size_t Count(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace shoal::tests
