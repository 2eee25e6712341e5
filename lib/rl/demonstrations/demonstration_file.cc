// SPDX-License-Identifier: Apache-2.0
#include "rl/demonstrations/demonstration_file.h"

#include <absl/strings/str_format.h>

#include <map>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "rl/demonstrations/chunk_file.h"
#include "rl/demonstrations/demonstration_check.h"

namespace shoal::demonstrations {

namespace {

// A chunk ends once it has this many plain bytes.
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

// Fills chunks one after the other.
class Chunker {
 public:
  template <typename Part>
  void Add(const Part& part,
           google::protobuf::RepeatedPtrField<Part>* (proto::DemonstrationChunk::*parts)()) {
    *(chunk_.*parts)()->Add() = part;
    bytes_ += part.ByteSizeLong();
    if (bytes_ >= kChunkBytes) Flush();
  }
  void SetHeader(const proto::DemonstrationHeader& header) { *chunk_.mutable_header() = header; }

  std::vector<std::string> Take() {
    Flush();
    return std::move(chunks_);
  }

 private:
  void Flush() {
    std::string bytes = chunk_.SerializeAsString();
    if (!bytes.empty()) chunks_.push_back(std::move(bytes));
    chunk_.Clear();
    bytes_ = 0;
  }

  proto::DemonstrationChunk chunk_;
  std::size_t bytes_ = 0;
  std::vector<std::string> chunks_;
};

}  // namespace

absl::Status WriteDemonstrations(const std::string& path,
                                 const proto::DemonstrationChunk& demonstrations) {
  using proto::DemonstrationChunk;
  DemonstrationCheck check;
  SHOAL_RETURN_IF_ERROR(runtime::Annotate(check.Add(demonstrations), path));
  SHOAL_RETURN_IF_ERROR(runtime::Annotate(check.Finish(), path));
  Chunker chunker;
  chunker.SetHeader(demonstrations.header());
  for (const auto& content : demonstrations.contents()) {
    chunker.Add(content, &DemonstrationChunk::mutable_contents);
  }
  for (const auto& catalog : demonstrations.catalogs()) {
    chunker.Add(catalog, &DemonstrationChunk::mutable_catalogs);
  }
  for (const auto& overlay : demonstrations.overlays()) {
    chunker.Add(overlay, &DemonstrationChunk::mutable_overlays);
  }
  for (const auto& demonstration : demonstrations.demonstrations()) {
    chunker.Add(demonstration, &DemonstrationChunk::mutable_demonstrations);
  }
  for (const auto& left_out : demonstrations.left_out()) {
    chunker.Add(left_out, &DemonstrationChunk::mutable_left_out);
  }
  const absl::StatusOr<std::string> packed = PackChunks(chunker.Take());
  if (!packed.ok()) return runtime::Annotate(packed.status(), path);
  return runtime::WriteFileAtomically(path, *packed);
}

absl::StatusOr<DemonstrationFile> ParseDemonstrations(std::string_view bytes) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Chunk> chunks, UnpackChunks(bytes));
  DemonstrationFile file;
  DemonstrationCheck check;
  for (const Chunk& chunk : chunks) {
    const std::string where = "offset " + std::to_string(chunk.offset);
    proto::DemonstrationChunk part;
    if (!part.ParseFromString(chunk.bytes)) {
      return runtime::InvalidArgument(where + ": the chunk is no DemonstrationChunk");
    }
    SHOAL_RETURN_IF_ERROR(runtime::Annotate(check.Add(part), where));
    file.offsets.resize(file.offsets.size() + static_cast<std::size_t>(part.demonstrations_size()),
                        chunk.offset);
    file.all.MergeFrom(part);
  }
  SHOAL_RETURN_IF_ERROR(runtime::Annotate(check.Finish(), "offset 0"));
  return file;
}

absl::StatusOr<DemonstrationFile> ReadDemonstrations(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(path));
  absl::StatusOr<DemonstrationFile> file = ParseDemonstrations(bytes);
  if (!file.ok()) return runtime::Annotate(file.status(), path);
  return file;
}

std::string NameOf(const DemonstrationFile& file, int demonstration) {
  const proto::Demonstration& one = file.all.demonstrations(demonstration);
  return "demonstration " + std::to_string(demonstration + 1) + ", " + one.goal() + " on " +
         one.capture();
}

namespace {

struct Totals {
  std::int64_t episodes = 0;
  std::int64_t steps = 0;
  std::int64_t mutations = 0;
  std::int64_t optimum = 0;

  void Add(const proto::Demonstration& demonstration) {
    ++episodes;
    steps += demonstration.unroll().length();
    mutations += demonstration.mutations();
    optimum += demonstration.optimum();
  }
};

double Per(std::int64_t sum, std::int64_t count) {
  return static_cast<double>(sum) / static_cast<double>(count > 0 ? count : 1);
}

std::string Line(const std::string& goal, const std::string& capture, const Totals& totals) {
  return absl::StrFormat("%-24s %-20s %8d %8.2f %10.2f\n", goal, capture, totals.episodes,
                         Per(totals.steps, totals.episodes),
                         totals.optimum > 0 ? Per(totals.mutations, totals.optimum) : 1.0);
}

}  // namespace

std::string Summarise(const DemonstrationFile& file) {
  // Goals and captures are listed in the order of their first appearance in the file.
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::vector<std::pair<std::pair<std::string, std::string>, Totals>> pairs;
  Totals all;
  for (const proto::Demonstration& demonstration : file.all.demonstrations()) {
    const std::pair<std::string, std::string> name = {demonstration.goal(),
                                                      demonstration.capture()};
    const auto [place, is_new] = places.try_emplace(name, pairs.size());
    if (is_new) pairs.push_back({name, {}});
    pairs[place->second].second.Add(demonstration);
    all.Add(demonstration);
  }
  std::string text = absl::StrFormat("%-24s %-20s %8s %8s %10s\n", "goal", "capture", "episodes",
                                     "length", "/ optimum");
  for (const auto& [name, totals] : pairs) text += Line(name.first, name.second, totals);
  for (const proto::LeftOut& left_out : file.all.left_out()) {
    text += absl::StrFormat("left out: %s on %s, %d episodes: %s\n", left_out.goal(),
                            left_out.capture(), left_out.episodes(), left_out.reason());
  }
  return text + absl::StrFormat(
                    "%d demonstrations of %d goals and captures, %.2f requests long; %d texts, %d "
                    "catalogs; at most %d requests an episode\n",
                    all.episodes, pairs.size(), Per(all.steps, all.episodes),
                    file.all.contents_size(), file.all.catalogs_size(),
                    file.all.header().episode_limit());
}

}  // namespace shoal::demonstrations
