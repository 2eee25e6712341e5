// SPDX-License-Identifier: Apache-2.0
#include "cli/session/run_directory.h"

#include <ctime>
#include <filesystem>
#include <fstream>

#include "platform/runtime/atomic_file.h"
#include "rl/parameters/parameters_file.h"

namespace shoal::cli {
namespace fs = std::filesystem;

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
  return RunDirectory(path);
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
