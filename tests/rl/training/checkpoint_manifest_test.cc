// SPDX-License-Identifier: Apache-2.0
#include "rl/training/checkpoint_manifest.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "platform/runtime/random.h"
#include "rl/model/safetensors.h"

namespace shoal::training {
namespace {

// A checkpoint whose files have sizes that no number of parts divides.
Checkpoint SomeCheckpoint(runtime::Random& random) {
  Checkpoint checkpoint{static_cast<std::int64_t>(random.Below(1000)), {}};
  const auto fill = [&](const std::string& name, std::size_t size) {
    // In pieces, as a trainer's arrays are.
    FileContent& content = checkpoint.files[name];
    for (std::size_t left = size; left > 0;) {
      std::string bytes(1 + random.Below(left), '\0');
      for (char& byte : bytes) byte = static_cast<char>(random.Below(256));
      left -= bytes.size();
      const FileContent piece = bytes;
      content.Append(piece, 0, piece.size());
    }
  };
  fill("counters.json", random.Below(50));
  for (const char* name : {"parameters.safetensors", "optimiser.safetensors", "a.safetensors"}) {
    fill(name, random.Below(4) == 0 ? random.Below(4) : random.Below(500));
  }
  if (random.Below(2) == 0) {
    checkpoint.mean_return = {.value = random.Uniform() / 3,
                              .is_of_evaluation = random.Below(2) == 0};
  }
  return checkpoint;
}

// Divides a checkpoint as several folders do.
CheckpointManifest Divide(const Checkpoint& checkpoint, std::size_t parts,
                          std::map<std::string, FileContent>& pieces) {
  CheckpointManifest manifest{.number = checkpoint.number, .mean_return = checkpoint.mean_return};
  for (const auto& [name, bytes] : checkpoint.files) {
    if (IsDivided(name)) {
      manifest.divided[name] = bytes.size();
    } else {
      manifest.files[name] = DigestOf(bytes);
      pieces[name] = bytes;
    }
  }
  for (std::size_t part = 0; part < parts; ++part) {
    const FileContent& file = pieces[PartName(part, parts)] = WritePart(checkpoint, part, parts);
    manifest.parts.push_back(DigestOf(file));
  }
  return manifest;
}

TEST_CASE("a checkpoint that was divided into one to nine parts comes back as it was") {
  runtime::Random random(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t parts = 1 + random.Below(9);
    const Checkpoint checkpoint = SomeCheckpoint(random);
    INFO("round " << round << ", " << parts << " parts");
    std::map<std::string, FileContent> pieces;
    const CheckpointManifest manifest = Divide(checkpoint, parts, pieces);
    const auto read = ParseManifest(ToText(manifest), "manifest");
    REQUIRE(read.ok());
    REQUIRE(*read == manifest);
    REQUIRE(read->Pieces().size() == pieces.size());
    REQUIRE(PutTogether(*read, pieces).value() == checkpoint);
  }
}

TEST_CASE("parts hold the same number of bytes, give or take one") {
  runtime::Random random(8);
  for (std::size_t parts = 1; parts <= 9; ++parts) {
    const Checkpoint checkpoint = SomeCheckpoint(random);
    std::vector<std::size_t> sizes;
    for (std::size_t part = 0; part < parts; ++part) {
      const runtime::SharedBytes file = WritePart(checkpoint, part, parts).Joined();
      const auto view = model::SafetensorsView::Parse(file.bytes);
      REQUIRE(view.ok());
      std::size_t size = 0;
      for (const auto& entry : view->entries()) size += entry.bytes.size();
      sizes.push_back(size);
    }
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    REQUIRE(*most - *least <= 1);
  }
}

TEST_CASE("a part that holds something else than belongs to it is named") {
  const Checkpoint checkpoint{1, {{"a.safetensors", "0123456789"}}};
  std::map<std::string, FileContent> pieces;
  CheckpointManifest manifest = Divide(checkpoint, 2, pieces);
  SECTION("no safetensors") { pieces["part-1-of-2.safetensors"] = "x"; }
  SECTION("another part") { pieces["part-1-of-2.safetensors"] = WritePart(checkpoint, 0, 3); }
  SECTION("longer files") { manifest.divided["a.safetensors"] = 30; }
  SECTION("more files") { manifest.divided["b.safetensors"] = 3; }
  SECTION("missing") { pieces.erase("part-1-of-2.safetensors"); }
  const auto put = PutTogether(manifest, pieces);
  REQUIRE(absl::IsDataLoss(put.status()));
  REQUIRE(std::string(put.status().message()).find("-of-2.safetensors") != std::string::npos);
}

TEST_CASE("texts that are no manifests are refused by name") {
  for (const char* text :
       {"", "{", "[]", R"({"files": []})", R"({"files": {"../x": {"bytes": 1, "sha256": ""}}})",
        R"({"files": {"a": {"bytes": -1, "sha256": ""}}})", R"({"files": {"a": {"bytes": 1}}})",
        R"({"files": {}, "number": "one"})", R"({"files": {}, "divided": {"a": 1}})",
        R"({"files": {}, "divided": {"a": 1.5}})",
        R"({"files": {}, "divided": {"a": 18446744073709551615}, "parts": []})",
        R"({"files": {}, "divided": {"/": 1}, "parts": [{"bytes": 1, "sha256": ""}]})",
        R"({"files": {}, "divided": {}, "parts": [1]})", R"({"files": {}, "parts": {}})",
        R"({"files": {}, "return": 1})", R"({"files": {}, "return": {"mean": 1, "of": "luck"}})",
        R"({"files": {}, "return": {"mean": "1", "of": "episodes"}})"}) {
    INFO(text);
    const auto read = ParseManifest(text, "the manifest");
    REQUIRE(absl::IsDataLoss(read.status()));
    REQUIRE(std::string(read.status().message()).starts_with("the manifest"));
  }
}

}  // namespace
}  // namespace shoal::training
