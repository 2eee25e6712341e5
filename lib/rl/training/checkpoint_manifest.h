// SPDX-License-Identifier: Apache-2.0
// What a checkpoint consists of, and the parts into which its large files are divided among several
// folders.
//
// manifest.json: {"version", "number", "files": {name: {"bytes", "sha256"}}}, and where a return is
// known {"return": {"mean", "of"}}, of "evaluation" or "episodes". A divided checkpoint
// (version 2) also has {"divided": {name: bytes}, "parts": [{"bytes", "sha256"}]}. Divided files
// are those of safetensors. One after the other, in the order of their names, they are cut into
// parts of equal length, whatever tensor a cut goes through; so the number of parts says nothing
// about who can read them. Part 0 of 4 is part-0-of-4.safetensors, in which each tensor is a piece
// of the file of its name.
//
// The functions are pure, and what they read may come from anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/training/checkpoint.h"
#include "rl/training/file_content.h"

namespace shoal::training {

// By which a file is recognised.
struct FileDigest {
  std::uint64_t bytes = 0;
  std::string sha256;

  friend bool operator==(const FileDigest&, const FileDigest&) = default;
};
FileDigest DigestOf(const FileContent& content);

struct CheckpointManifest {
  std::int64_t number = 0;
  // The files that every folder with a part of the checkpoint has whole, by name.
  std::map<std::string, FileDigest> files = {};
  // The sizes of divided files, by name, and the parts that they were cut into; empty where nothing
  // is divided.
  std::map<std::string, std::uint64_t> divided = {};
  std::vector<FileDigest> parts = {};
  // As in Checkpoint.
  std::optional<MeanReturn> mean_return = {};

  // All that has to be there for the checkpoint to be whole, by the name of the file.
  std::map<std::string, FileDigest> Pieces() const;

  friend bool operator==(const CheckpointManifest&, const CheckpointManifest&) = default;
};

// The same manifests have the same text.
std::string ToText(const CheckpointManifest& manifest);
// Returns DATA_LOSS, which begins with `where`, for a text that is no manifest.
absl::StatusOr<CheckpointManifest> ParseManifest(std::string_view text, const std::string& where);

// Whether `name` can be the name of a file of a checkpoint: no folder, and not manifest.json.
bool IsPlainName(const std::string& name);
std::string PartName(std::size_t part, std::size_t parts);

// Whether a file of this name is divided.
bool IsDivided(const std::string& name);
// Returns a safetensors file of what belongs to a part, which shares the checkpoint's bytes.
// Without divided files it holds nothing. REQUIRES: part < parts.
FileContent WritePart(const Checkpoint& checkpoint, std::size_t part, std::size_t parts);

// Makes a checkpoint of its pieces, whose bytes it shares, and each of which has the digest that
// the manifest names. DATA_LOSS names the part that does not hold what belongs to it.
absl::StatusOr<Checkpoint> PutTogether(const CheckpointManifest& manifest,
                                       std::map<std::string, FileContent> pieces);

}  // namespace shoal::training
