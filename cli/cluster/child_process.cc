// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/child_process.h"

#include <absl/strings/ascii.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <deque>
#include <fstream>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "platform/runtime/log.h"
#include "platform/runtime/program.h"

namespace shoal::cli {
namespace {

constexpr int kExecFailed = 127;

struct Descriptors {
  // -1 for /dev/null.
  int in = -1;
  int out = -1;
  int error = -1;
};

// The pipes to a program with parts: its ends and ours.
struct Conversation {
  std::array<int, 2> orders = {-1, -1};
  std::array<int, 2> answers = {-1, -1};

  // Returns RESOURCE_EXHAUSTED when the process has too many open files.
  absl::Status Open() {
    if (::pipe2(orders.data(), O_CLOEXEC) == 0 && ::pipe2(answers.data(), O_CLOEXEC) == 0) {
      // Neither a program that reads no orders nor one that is silent may stop us.
      ::fcntl(orders[1], F_SETFL, O_NONBLOCK);
      ::fcntl(answers[0], F_SETFL, O_NONBLOCK);
      return absl::OkStatus();
    }
    return runtime::ResourceExhausted("no pipe left");
  }
  static void Close(std::initializer_list<int> descriptors) {
    for (const int descriptor : descriptors) {
      if (descriptor >= 0) ::close(descriptor);
    }
  }
};

std::vector<char*> Arguments(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

// Runs between fork and exec, so it makes only async-signal-safe calls.
[[noreturn]] void Become(char* const* arguments, const Descriptors& descriptors, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kExecFailed);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input =
      descriptors.in >= 0 ? descriptors.in : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(input, STDIN_FILENO);
  ::dup2(descriptors.out, STDOUT_FILENO);
  ::dup2(descriptors.error, STDERR_FILENO);
  ::execv(arguments[0], arguments);
  ::_exit(kExecFailed);
}

absl::StatusOr<pid_t> Spawn(const std::vector<std::string>& command,
                            const Descriptors& descriptors) {
  if (command.empty()) return runtime::InvalidArgument("a command without words");
  if (::access(command[0].c_str(), X_OK) != 0) {
    return runtime::NotFound("no program at " + command[0] +
                             ": build it, or run shoal from where "
                             "it was built");
  }
  const std::vector<char*> arguments = Arguments(command);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    return runtime::Internal("cannot start " + command[0] + ": " + ::strerror(errno));
  }
  if (child == 0) Become(arguments.data(), descriptors, parent);
  ::setpgid(child, child);
  return child;
}

ExitState FromWait(int status) {
  if (WIFEXITED(status)) return {.code = WEXITSTATUS(status), .signal = {}};
  return {.code = {}, .signal = WTERMSIG(status)};
}

ExitState Reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return FromWait(status);
}

// A command under way whose output we read. A pipe is -1 where there is none. Collect closes them.
struct Captured {
  absl::StatusOr<pid_t> pid = runtime::Internal("no pipe left");
  std::array<int, 2> ends = {-1, -1};
  // Standard output and standard error.
  std::array<std::string, 2> texts;
};

Captured StartCaptured(const std::vector<std::string>& command) {
  Captured started;
  std::array<int, 2> out;
  std::array<int, 2> error;
  if (::pipe2(out.data(), O_CLOEXEC) != 0) return started;
  if (::pipe2(error.data(), O_CLOEXEC) != 0) {
    ::close(out[0]);
    ::close(out[1]);
    return started;
  }
  started.pid = Spawn(command, {.out = out[1], .error = error[1]});
  ::close(out[1]);
  ::close(error[1]);
  started.ends = {out[0], error[0]};
  return started;
}

// Reads all pipes until they close.
void Collect(std::vector<Captured>& commands) {
  std::vector<pollfd> polled;
  for (const Captured& one : commands) {
    for (const int end : one.ends) polled.push_back({end, POLLIN, 0});
  }
  std::array<char, 16384> buffer;
  const auto open = [](const pollfd& pipe) { return pipe.fd >= 0; };
  while (std::any_of(polled.begin(), polled.end(), open)) {
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      const ssize_t count = ::read(polled[i].fd, buffer.data(), buffer.size());
      if (count > 0) {
        commands[i / 2].texts[i % 2].append(buffer.data(), static_cast<std::size_t>(count));
      } else if (count == 0 || errno != EINTR) {
        ::close(std::exchange(polled[i].fd, -1));
      }
    }
  }
}

absl::StatusOr<std::string> OutcomeOf(Captured& ended, const std::vector<std::string>& command) {
  SHOAL_RETURN_IF_ERROR(ended.pid.status());
  const ExitState state = Reap(*ended.pid);
  auto& [output, error] = ended.texts;
  if (state.code == 0) return std::move(output);
  absl::StripTrailingAsciiWhitespace(&error);
  const std::string message = error.empty() ? command[0] + ": " + ToString(state) : error;
  return IsHopeless(state) ? runtime::InvalidArgument(message) : runtime::Internal(message);
}

}  // namespace

void WaitForChild() {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  const timespec limit = {.tv_sec = 0, .tv_nsec = 20'000'000};
  ::sigtimedwait(&child, nullptr, &limit);
}

std::string ToString(const ExitState& state) {
  if (state.signal) {
    return "signal " + std::to_string(*state.signal) + " (" + ::strsignal(*state.signal) + ")";
  }
  return "exit code " + std::to_string(state.code.value_or(0));
}

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const ProcessSpec& spec) {
  const std::string path = spec.log_path.empty() ? "/dev/null" : spec.log_path;
  const int log = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) return runtime::Internal("cannot write " + path + ": " + ::strerror(errno));
  Conversation pipes;
  absl::StatusOr<pid_t> pid = runtime::Internal("not started");
  if (const absl::Status opened = spec.parts.empty() ? absl::OkStatus() : pipes.Open();
      !opened.ok()) {
    pid = opened;
  } else {
    pid = Spawn(
        spec.command,
        {.in = pipes.orders[0], .out = spec.parts.empty() ? log : pipes.answers[1], .error = log});
  }
  Conversation::Close({pipes.orders[0], pipes.answers[1], log});
  if (pid.ok()) {
    return std::unique_ptr<ChildProcess>(new ChildProcess(*pid, pipes.orders[1], pipes.answers[0]));
  }
  Conversation::Close({pipes.orders[1], pipes.answers[0]});
  return pid.status();
}

ChildProcess::~ChildProcess() {
  if (!Poll()) {
    Kill();
    Reap(pid_);
  }
  Conversation::Close({orders_, answers_});
}

std::optional<ExitState> ChildProcess::Poll() {
  if (exit_) return exit_;
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended != pid_) return std::nullopt;
  exit_ = FromWait(status);
  // If the program alone got SIGKILL, its own children still run.
  ::kill(-pid_, SIGKILL);
  return exit_;
}

void ChildProcess::RequestStop() {
  if (!exit_) ::kill(pid_, SIGTERM);
}

void ChildProcess::Kill() {
  if (!exit_) ::kill(-pid_, SIGKILL);
}

void ChildProcess::Order(const std::string& order) {
  const std::string line = order + "\n";
  [[maybe_unused]] const ssize_t written = ::write(orders_, line.data(), line.size());
}

std::vector<std::string> ChildProcess::TakeAnswers() {
  std::array<char, 4096> buffer;
  ssize_t count = 0;
  while ((count = ::read(answers_, buffer.data(), buffer.size())) > 0) {
    unfinished_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  std::vector<std::string> lines;
  for (std::size_t end = unfinished_.find('\n'); end != std::string::npos;
       end = unfinished_.find('\n')) {
    lines.push_back(unfinished_.substr(0, end));
    unfinished_.erase(0, end + 1);
  }
  return lines;
}

absl::StatusOr<std::string> RunToEnd(const std::vector<std::string>& command) {
  return std::move(RunAllToEnd({command}).front());
}

std::vector<absl::StatusOr<std::string>> RunAllToEnd(
    const std::vector<std::vector<std::string>>& commands) {
  std::vector<Captured> started;
  for (const std::vector<std::string>& command : commands) {
    started.push_back(StartCaptured(command));
  }
  Collect(started);
  std::vector<absl::StatusOr<std::string>> outcomes;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    outcomes.push_back(OutcomeOf(started[i], commands[i]));
  }
  return outcomes;
}

bool IsHopeless(const ExitState& state) { return state.code && runtime::IsFinalExit(*state.code); }

std::string LastFailure(const std::string& path) {
  constexpr std::string_view kFailed = "event=failed ";
  constexpr std::string_view kMessage = " message=";
  std::ifstream file(path);
  std::string failure;
  std::string last;
  for (std::string line; std::getline(file, line);) {
    const std::size_t failed = line.find(kFailed);
    const std::size_t message = line.find(kMessage, failed);
    if (failed != std::string::npos && message != std::string::npos) {
      failure = runtime::Unquoted(std::string_view(line).substr(message + kMessage.size()));
    }
    if (!line.empty()) last = std::move(line);
  }
  std::string text = failure.empty() ? last : failure;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string LastLines(const std::string& path, int lines) {
  std::ifstream file(path);
  std::deque<std::string> last;
  for (std::string line; std::getline(file, line);) {
    last.push_back(line);
    if (last.size() > static_cast<std::size_t>(lines)) last.pop_front();
  }
  std::string text;
  for (const std::string& line : last) text += line + "\n";
  return text;
}

}  // namespace shoal::cli
