// SPDX-License-Identifier: Apache-2.0
#include "cli/session/run_directory.h"

#include <absl/strings/str_split.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/log.h"
#include "rl/parameters/parameters_file.h"

namespace shoal::cli {
namespace fs = std::filesystem;
namespace {

// How much of a file LastLines looks at.
constexpr std::uintmax_t kLastBytes = std::uintmax_t{4} << 20;

}  // namespace

// Holds the lock until it is destroyed, or its process ends.
struct RunDirectory::Lock {
  explicit Lock(int file) : descriptor(file) {}
  ~Lock() { ::close(descriptor); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  const int descriptor;
};

absl::StatusOr<RunDirectory> RunDirectory::LockAt(const std::string& path) {
  const std::string name = path + "/lock";
  const int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return runtime::Internal("cannot open " + name);
  auto lock = std::make_shared<const Lock>(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    if (reason == EWOULDBLOCK) {
      return runtime::FailedPrecondition("the run " + path + " goes on in another program");
    }
    // Some file systems have no locks, and a run can do without.
    spdlog::warn("event=run_not_locked path={} reason={}", runtime::Quoted(path),
                 runtime::Quoted(std::generic_category().message(reason)));
  }
  return RunDirectory(path, std::move(lock));
}

absl::StatusOr<RunDirectory> RunDirectory::Open(const std::string& path) {
  if (!fs::exists(path + "/config.toml")) {
    return absl::NotFoundError(path + " holds no run that can go on: it has no config.toml");
  }
  return LockAt(path);
}

absl::StatusOr<RunDirectory> RunDirectory::Create(const std::string& directory,
                                                  const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos || name == "." || name == ".." ||
      name == "latest") {
    return runtime::InvalidArgument("\"" + name + "\" cannot be the name of a run");
  }
  const std::string path = directory + "/" + name;
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error && !fs::create_directory(path, error) && !error) {
    return absl::AlreadyExistsError("the run " + path + " is there already: give another --name");
  }
  for (const char* part : {"/logs", "/evaluations"}) {
    if (!error) fs::create_directory(path + part, error);
  }
  if (error) return runtime::Internal("cannot make " + path + ": " + error.message());
  return LockAt(path);
}

absl::Status RunDirectory::ForgetDivergence() const {
  const std::string path = path_ + "/diverged";
  std::error_code error;
  fs::remove(path, error);
  return error ? runtime::Internal("cannot remove " + path + ": " + error.message())
               : absl::OkStatus();
}

void RunDirectory::BecomeLatest() const {
  const fs::path path(path_);
  const fs::path latest = path.parent_path() / "latest";
  std::error_code ignored;
  fs::remove(latest, ignored);
  fs::create_directory_symlink(path.filename(), latest, ignored);
}

absl::Status RunDirectory::Write(const std::string& name, std::string_view text) const {
  return runtime::WriteFileAtomically(path_ + "/" + name, text);
}

absl::Status RunDirectory::AppendLine(const std::string& name, std::string_view line) const {
  std::ofstream file(path_ + "/" + name, std::ios::app | std::ios::binary);
  file << line << '\n';
  file.flush();
  if (!file) return runtime::Internal("cannot write " + path_ + "/" + name);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> RunDirectory::LastLines(const std::string& name) const {
  const std::string path = path_ + "/" + name;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error == std::errc::no_such_file_or_directory) return std::vector<std::string>();
  const std::uintmax_t begin = size > kLastBytes ? size - kLastBytes : 0;
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(begin));
  std::string text(static_cast<std::size_t>(size - begin), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (error || !file) return runtime::Internal("cannot read " + path);
  const std::size_t end = text.rfind('\n');
  const std::size_t whole = end == std::string::npos ? 0 : end + 1;
  if (whole < text.size() && (whole > 0 || begin == 0)) {
    fs::resize_file(path, begin + whole, error);
    if (error) return runtime::Internal("cannot mend " + path + ": " + error.message());
  }
  std::vector<std::string> lines = absl::StrSplit(text.substr(0, whole), '\n');
  lines.pop_back();
  // The first one may have begun before what was read.
  if (begin > 0 && !lines.empty()) lines.erase(lines.begin());
  return lines;
}

std::string LearnedParameters(const std::string& path) {
  const std::string best = path + "/best";
  // That folder holds the run's initial version besides.
  const bool has_best = parameters::ParametersFolder(best).List().size() > 1;
  return has_best ? best : path + "/parameters";
}

std::string DefaultRunName(const std::string& config_path) {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "-%Y%m%d-%H%M%S", &utc);
  return fs::path(config_path).stem().string() + text;
}

}  // namespace shoal::cli
