// SPDX-License-Identifier: Apache-2.0
#include "rl/training/checkpoint_manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "rl/model/digest.h"
#include "rl/model/safetensors.h"

namespace shoal::training {
namespace {

using nlohmann::json;

// Beyond what any memory holds, and far from where sums overflow.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 48;
constexpr std::size_t kMaxParts = 1 << 16;

// Of what a return is.
constexpr const char* kEvaluation = "evaluation";
constexpr const char* kEpisodes = "episodes";

struct Cut {
  std::string file;
  std::uint64_t begin = 0;
  std::int64_t size = 0;
};

// Returns what belongs to a part.
std::vector<Cut> CutsOf(const std::map<std::string, std::uint64_t>& divided, std::size_t part,
                        std::size_t parts) {
  std::uint64_t total = 0;
  for (const auto& [name, bytes] : divided) total += bytes;
  // The first parts are one byte longer where the bytes do not divide evenly.
  const auto start = [&](std::uint64_t of) {
    return total / parts * of + std::min<std::uint64_t>(total % parts, of);
  };
  std::vector<Cut> cuts;
  std::uint64_t place = 0;
  for (const auto& [name, bytes] : divided) {
    const std::uint64_t begin = std::max(place, start(part));
    const std::uint64_t end = std::min(place + bytes, start(part + 1));
    if (begin < end) {
      cuts.push_back({name, begin - place, static_cast<std::int64_t>(end - begin)});
    }
    place += bytes;
  }
  return cuts;
}

absl::StatusOr<FileDigest> ParseDigest(const json& value, const std::string& where) {
  const bool whole = value.is_object() && value.contains("bytes") && value.contains("sha256") &&
                     value["bytes"].is_number_unsigned() && value["sha256"].is_string() &&
                     value["bytes"].get<std::uint64_t>() <= kMaxBytes;
  if (!whole) return runtime::DataLoss(where);
  return FileDigest{value["bytes"].get<std::uint64_t>(), value["sha256"].get<std::string>()};
}

absl::StatusOr<MeanReturn> ParseReturn(const json& value, const std::string& where) {
  const bool whole = value.is_object() && value.contains("mean") && value["mean"].is_number() &&
                     value.contains("of") &&
                     (value["of"] == kEvaluation || value["of"] == kEpisodes);
  if (!whole) return runtime::DataLoss(where + ": bad return");
  return MeanReturn{value["mean"].get<double>(), value["of"] == kEvaluation};
}

json ToJson(const FileDigest& digest) {
  return {{"bytes", digest.bytes}, {"sha256", digest.sha256}};
}

}  // namespace

FileDigest DigestOf(const FileContent& content) {
  model::Sha256 sha256;
  for (const runtime::SharedBytes& piece : content.pieces()) sha256.Add(piece.bytes);
  return {content.size(), sha256.Hex()};
}

std::map<std::string, FileDigest> CheckpointManifest::Pieces() const {
  std::map<std::string, FileDigest> pieces = files;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    pieces[PartName(part, parts.size())] = parts[part];
  }
  return pieces;
}

std::string ToText(const CheckpointManifest& manifest) {
  json files = json::object();
  for (const auto& [name, digest] : manifest.files) files[name] = ToJson(digest);
  json text = {{"version", manifest.parts.empty() ? 1 : 2},
               {"number", manifest.number},
               {"files", std::move(files)}};
  if (manifest.mean_return) {
    text["return"] = {{"mean", manifest.mean_return->value},
                      {"of", manifest.mean_return->is_of_evaluation ? kEvaluation : kEpisodes}};
  }
  if (!manifest.parts.empty()) {
    text["divided"] = manifest.divided;
    text["parts"] = json::array();
    for (const FileDigest& part : manifest.parts) text["parts"].push_back(ToJson(part));
  }
  return text.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

absl::StatusOr<CheckpointManifest> ParseManifest(std::string_view text, const std::string& where) {
  const json read = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto member = [&read](const char* name, json otherwise) {
    return read.is_object() && read.contains(name) ? read[name] : std::move(otherwise);
  };
  const json files = member("files", json());
  const json number = member("number", 0);
  const json divided = member("divided", json::object());
  const json parts = member("parts", json::array());
  if (!files.is_object() || !number.is_number_integer() || !divided.is_object() ||
      !parts.is_array() || parts.size() > kMaxParts) {
    return runtime::DataLoss(where + " is no manifest");
  }
  CheckpointManifest manifest;
  manifest.number = number.get<std::int64_t>();
  for (const auto& [name, info] : files.items()) {
    const std::string bad = where + ": bad entry '" + name + "'";
    if (!IsPlainName(name)) return runtime::DataLoss(bad);
    SHOAL_ASSIGN_OR_RETURN(manifest.files[name], ParseDigest(info, bad));
  }
  std::uint64_t total = 0;
  for (const auto& [name, bytes] : divided.items()) {
    if (!IsPlainName(name) || files.contains(name) || !bytes.is_number_unsigned() ||
        bytes.get<std::uint64_t>() > kMaxBytes - total) {
      return runtime::DataLoss(where + ": bad divided file '" + name + "'");
    }
    total += manifest.divided[name] = bytes.get<std::uint64_t>();
  }
  for (const json& part : parts) {
    SHOAL_ASSIGN_OR_RETURN(
        manifest.parts.emplace_back(),
        ParseDigest(part, where + ": bad part " + std::to_string(manifest.parts.size())));
  }
  if (const json value = member("return", json()); !value.is_null()) {
    SHOAL_ASSIGN_OR_RETURN(manifest.mean_return, ParseReturn(value, where));
  }
  if (manifest.parts.empty() && !manifest.divided.empty()) {
    return runtime::DataLoss(where + ": divided files without parts");
  }
  return manifest;
}

bool IsPlainName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name != "manifest.json" &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

std::string PartName(std::size_t part, std::size_t parts) {
  return "part-" + std::to_string(part) + "-of-" + std::to_string(parts) + ".safetensors";
}

bool IsDivided(const std::string& name) { return name.ends_with(".safetensors"); }

FileContent WritePart(const Checkpoint& checkpoint, std::size_t part, std::size_t parts) {
  std::map<std::string, std::uint64_t> divided;
  for (const auto& [name, content] : checkpoint.files) {
    if (IsDivided(name)) divided[name] = content.size();
  }
  FileContent data;
  std::vector<model::SafetensorsSlot> items;
  for (const Cut& cut : CutsOf(divided, part, parts)) {
    items.push_back({cut.file, runtime::DType::kUInt8, {cut.size}});
    data.Append(checkpoint.files.at(cut.file), cut.begin, static_cast<std::uint64_t>(cut.size));
  }
  FileContent file =
      model::WriteSafetensorsHeader(items, {{"checkpoint", std::to_string(checkpoint.number)}});
  file.Append(data, 0, data.size());
  return file;
}

absl::StatusOr<Checkpoint> PutTogether(const CheckpointManifest& manifest,
                                       std::map<std::string, FileContent> pieces) {
  Checkpoint checkpoint{
      .number = manifest.number, .files = {}, .mean_return = manifest.mean_return};
  for (const auto& [name, digest] : manifest.files) {
    checkpoint.files[name] = std::move(pieces[name]);
  }
  // A file of which no part has anything is there all the same.
  for (const auto& [name, bytes] : manifest.divided) checkpoint.files[name];
  for (std::size_t part = 0; part < manifest.parts.size(); ++part) {
    const std::string name = PartName(part, manifest.parts.size());
    const runtime::SharedBytes bytes = pieces[name].Joined();
    const auto view = model::SafetensorsView::Parse(bytes.bytes);
    if (!view.ok()) return runtime::DataLoss(name + ": " + runtime::Message(view.status()));
    for (const Cut& cut : CutsOf(manifest.divided, part, manifest.parts.size())) {
      const model::SafetensorsView::Entry* const entry = view->Find(cut.file);
      if (entry == nullptr || entry->bytes.size() != static_cast<std::size_t>(cut.size)) {
        return runtime::DataLoss(name + " lacks bytes of " + cut.file);
      }
      checkpoint.files[cut.file].Append(
          {{reinterpret_cast<const char*>(entry->bytes.data()), entry->bytes.size()}, bytes.owner});
    }
    pieces.erase(name);
  }
  return checkpoint;
}

}  // namespace shoal::training
