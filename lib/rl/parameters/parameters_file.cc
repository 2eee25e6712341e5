// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/parameters_file.h"

#include <openssl/sha.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/log.h"
#include "rl/parameters/half_precision.h"

namespace shoal::parameters {
namespace {

constexpr std::string_view kPrefix = "parameters-";
constexpr std::string_view kSuffix = ".safetensors";
// In the names of files that WriteFileAtomically has not finished.
constexpr std::string_view kUnfinished = ".tmp-";

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text.push_back(kDigits[value >> 4]);
    text.push_back(kDigits[value & 15]);
  }
  return text;
}

std::string NameOf(const Version& version) {
  char name[80];
  std::snprintf(name, sizeof(name), "parameters-%012llu-%012llu",
                static_cast<unsigned long long>(version.epoch),
                static_cast<unsigned long long>(version.step));
  return name;
}

std::optional<Version> VersionOf(const std::string& stem) {
  unsigned long long epoch = 0;
  unsigned long long step = 0;
  if (std::sscanf(stem.c_str(), "parameters-%llu-%llu", &epoch, &step) != 2) return std::nullopt;
  const Version version{.epoch = epoch, .step = step};
  if (NameOf(version) != stem) return std::nullopt;
  return version;
}

std::string Describe(const Parameters& parameters) {
  const bool known = !parameters.sha256.empty();
  return nlohmann::json{{"epoch", parameters.version.epoch},
                        {"step", parameters.version.step},
                        {"spec_digest", parameters.spec_digest},
                        {"encoder_version", parameters.encoder_version},
                        {"bytes", parameters.bytes->size()},
                        {"sha256", Hex(known ? parameters.sha256 : Sha256(*parameters.bytes))}}
             .dump(2) +
         "\n";
}

absl::Status CheckDescription(const std::string& text, const std::string& path,
                              Parameters& parameters) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto field = [&json](const char* name) -> std::string {
    if (!json.is_object() || !json.contains(name) || !json[name].is_string()) return {};
    return json[name].get<std::string>();
  };
  parameters.sha256 = Sha256(*parameters.bytes);
  if (field("sha256") != Hex(parameters.sha256)) {
    return runtime::DataLoss(path + " does not match its SHA-256");
  }
  parameters.spec_digest = field("spec_digest");
  parameters.encoder_version = field("encoder_version");
  return absl::OkStatus();
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

absl::StatusOr<Parameters> Finished(Parameters parameters, bool halves) {
  if (!parameters.sha256.empty()) return parameters;
  if (halves) {
    SHOAL_ASSIGN_OR_RETURN(std::string rounded, RoundToHalf(*parameters.bytes));
    parameters.bytes = std::make_shared<const std::string>(std::move(rounded));
  }
  parameters.sha256 = Sha256(*parameters.bytes);
  return parameters;
}

std::string ParametersFolder::FileOf(const Version& version) const {
  return path_ + "/" + NameOf(version) + std::string(kSuffix);
}

void ParametersFolder::RemoveIncomplete() const {
  std::vector<std::filesystem::path> remains;
  std::error_code error;
  std::filesystem::directory_iterator entry(path_, error);
  const std::filesystem::directory_iterator end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    const std::string name = path.filename().string();
    const std::size_t suffix = name.find(kSuffix);
    if (!name.starts_with(kPrefix) || suffix == std::string::npos) continue;
    std::error_code ignored;
    const bool lacks_description = name.ends_with(kSuffix) && VersionOf(path.stem().string()) &&
                                   !std::filesystem::exists(path.string() + ".json", ignored);
    if (lacks_description || name.find(kUnfinished, suffix) != std::string::npos) {
      remains.push_back(path);
    }
  }
  for (const std::filesystem::path& path : remains) std::filesystem::remove(path, error);
}

absl::Status ParametersFolder::Save(const Parameters& parameters) const {
  RemoveIncomplete();
  const std::string path = FileOf(parameters.version);
  SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(path, *parameters.bytes));
  return runtime::WriteFileAtomically(path + ".json", Describe(parameters));
}

absl::StatusOr<Parameters> ParametersFolder::Load(const Version& version) const {
  const std::string path = FileOf(version);
  SHOAL_ASSIGN_OR_RETURN(const std::string description, runtime::ReadFile(path + ".json"));
  SHOAL_ASSIGN_OR_RETURN(std::string bytes, runtime::ReadFile(path));
  Parameters parameters;
  parameters.version = version;
  parameters.bytes = std::make_shared<const std::string>(std::move(bytes));
  SHOAL_RETURN_IF_ERROR(CheckDescription(description, path, parameters));
  return parameters;
}

absl::StatusOr<Parameters> ParametersFolder::LoadNewest() const {
  const std::vector<Version> versions = List();
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    auto parameters = Load(*version);
    if (parameters.ok()) return parameters;
    spdlog::warn("event=parameters_skipped reason={}",
                 runtime::Quoted(parameters.status().ToString()));
  }
  return runtime::NotFound("no parameters in " + path_);
}

absl::StatusOr<Parameters> ParametersFolder::LoadInitial() const {
  const std::vector<Version> versions = List();
  if (versions.empty()) return runtime::NotFound("no parameters in " + path_);
  return Load(versions.front());
}

std::vector<Version> ParametersFolder::List() const {
  std::vector<Version> versions;
  std::error_code error;
  std::filesystem::directory_iterator entry(path_, error);
  const std::filesystem::directory_iterator end;
  for (; !error && entry != end; entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    if (path.extension() != kSuffix) continue;
    const auto version = VersionOf(path.stem().string());
    std::error_code ignored;
    if (version && std::filesystem::exists(path.string() + ".json", ignored)) {
      versions.push_back(*version);
    }
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

absl::Status ParametersFolder::KeepNewest(std::size_t count) const {
  const std::vector<Version> versions = List();
  for (std::size_t i = 1; i + count < versions.size(); ++i) {
    const std::string path = FileOf(versions[i]);
    for (const std::string& name : {path + ".json", path}) {
      std::error_code error;
      std::filesystem::remove(name, error);
      if (error) return runtime::Internal("cannot remove " + name + ": " + error.message());
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal::parameters
