// SPDX-License-Identifier: Apache-2.0
#include "redfish/catalog.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "redfish/archive.h"
#include "redfish/candidate_generator.h"
#include "runtime/atomic_file.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

// Raised whenever other candidates come out of the same capture.
constexpr int kGeneratorVersion = 1;

std::string IdentityOf(const Capture& capture, const Schema& schema) {
  return capture.digest() + ":" + schema.digest() + ":" + std::to_string(kGeneratorVersion);
}

Json Optional(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::optional<double> ReadOptional(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional<double>(value.get<double>());
}

Json Pack(const Candidate& candidate) {
  Json slots = Json::array();
  for (const Slot& slot : candidate.slots) {
    slots.push_back({slot.name, slot.pointer, static_cast<int>(slot.kind),
                     static_cast<int>(slot.format), Optional(slot.minimum),
                     Optional(slot.maximum)});
  }
  return {candidate.method, candidate.uri,  candidate.type,  candidate.name,
          candidate.action, candidate.body, std::move(slots)};
}

Candidate Unpack(const Json& packed) {
  Candidate candidate;
  candidate.method = packed.at(0);
  candidate.uri = packed.at(1);
  candidate.type = packed.at(2);
  candidate.name = packed.at(3);
  candidate.action = packed.at(4);
  candidate.body = packed.at(5);
  for (const Json& from : packed.at(6)) {
    Slot slot;
    slot.name = from.at(0);
    slot.pointer = from.at(1);
    slot.kind = static_cast<PropertyKind>(from.at(2).get<std::uint8_t>());
    slot.format = static_cast<StringFormat>(from.at(3).get<std::uint8_t>());
    slot.minimum = ReadOptional(from.at(4));
    slot.maximum = ReadOptional(from.at(5));
    candidate.slots.push_back(std::move(slot));
  }
  candidate.Seal();
  return candidate;
}

std::string Join(const Catalog::Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
  }
  return text;
}

}  // namespace

Catalog::Catalog(std::string capture_name, std::string identity, std::vector<Candidate> candidates,
                 Counts left_out)
    : capture_name_(std::move(capture_name)),
      identity_(std::move(identity)),
      candidates_(std::move(candidates)),
      left_out_(std::move(left_out)) {
  std::vector<content::ContentKey> keys;
  keys.reserve(candidates_.size());
  for (const Candidate& candidate : candidates_) {
    index_.emplace(candidate.key, static_cast<std::int64_t>(keys.size()));
    keys.push_back(candidate.key);
    ++counts_[candidate.method];
    if (!candidate.slots.empty()) ++counts_["slots"];
  }
  key_ = content::KeyOf(keys);
}

absl::StatusOr<std::shared_ptr<const Catalog>> Catalog::Build(const Capture& capture,
                                                              const Schema& schema) {
  CandidateGenerator generator(capture, schema);
  generator.AddWait();
  for (const auto& [uri, resource] : capture.resources()) generator.Add(uri, resource);
  return std::shared_ptr<const Catalog>(new Catalog(capture.name(), IdentityOf(capture, schema),
                                                    std::move(generator.candidates),
                                                    std::move(generator.left_out)));
}

absl::StatusOr<std::shared_ptr<const Catalog>> Catalog::BuildCached(const Capture& capture,
                                                                    const Schema& schema,
                                                                    const std::string& folder) {
  if (folder.empty()) return Build(capture, schema);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string path =
      folder + "/" + capture.name() + "-" + capture.digest().substr(0, 16) + ".catalog";
  if (auto cached = Load(path, capture, schema); cached.ok()) return cached;
  SHOAL_ASSIGN_OR_RETURN(std::shared_ptr<const Catalog> built, Build(capture, schema));
  SHOAL_RETURN_IF_ERROR(built->Save(path));
  return built;
}

absl::StatusOr<std::shared_ptr<const Catalog>> Catalog::Load(const std::string& path,
                                                             const Capture& capture,
                                                             const Schema& schema) {
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path));
  const std::string identity = IdentityOf(capture, schema);
  try {
    const Json root = Json::from_cbor(bytes);
    if (root.at("identity") != identity) {
      return runtime::DataLoss("catalog " + path + " is of another capture or version");
    }
    std::vector<Candidate> candidates;
    candidates.reserve(root.at("candidates").size());
    for (const Json& packed : root.at("candidates")) candidates.push_back(Unpack(packed));
    return std::shared_ptr<const Catalog>(new Catalog(
        capture.name(), identity, std::move(candidates), root.at("left_out").get<Counts>()));
  } catch (const Json::exception& error) {
    return runtime::DataLoss("catalog " + path + " is corrupt: " + error.what());
  }
}

absl::Status Catalog::Save(const std::string& path) const {
  Json candidates = Json::array();
  for (const Candidate& candidate : candidates_) candidates.push_back(Pack(candidate));
  const Json root = {
      {"identity", identity_}, {"left_out", left_out_}, {"candidates", std::move(candidates)}};
  std::string bytes;
  Json::to_cbor(root, bytes);
  return runtime::WriteFileAtomically(path, bytes);
}

std::int64_t Catalog::IndexOf(const content::ContentKey& key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? -1 : found->second;
}

std::string Catalog::Summary() const {
  return capture_name_ + ": " + std::to_string(size()) + " candidates (" + Join(counts_) +
         "); left out: " + Join(left_out_);
}

}  // namespace shoal::redfish
