// SPDX-License-Identifier: Apache-2.0
#include "rl/demonstrations/demonstration_file.h"

#include <google/protobuf/stubs/logging.h>

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/random.h"
#include "rl/demonstrations/chunk_file.h"
#include "tests/doubles/temporary_folder.h"
#include "tests/rl/demonstrations/some_demonstrations.h"

namespace shoal::demonstrations {
namespace {

// Returns the reader's status for `chunk` with valid checksums.
absl::Status Verdict(const proto::DemonstrationChunk& chunk) {
  const std::vector<std::string> chunks = {chunk.SerializeAsString()};
  return ParseDemonstrations(PackChunks(chunks).value()).status();
}

std::string MessageOf(const proto::DemonstrationChunk& chunk) {
  return std::string(Verdict(chunk).message());
}

}  // namespace

TEST_CASE("a file holds what was written, and equal contents are equal bytes") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("expert.demos");
  const proto::DemonstrationChunk all = SomeDemonstrations();
  REQUIRE(WriteDemonstrations(path, all).ok());
  const std::string bytes = runtime::ReadFile(path).value();
  const auto read = ReadDemonstrations(path);
  INFO(read.status());
  REQUIRE(read.ok());
  REQUIRE(read->all.SerializeAsString() == all.SerializeAsString());
  REQUIRE(read->offsets == std::vector<std::uint64_t>{32, 32});
  REQUIRE(NameOf(*read, 1) == "demonstration 2, 5 pxe_once on rackmount");
  REQUIRE(WriteDemonstrations(path, all).ok());
  REQUIRE(runtime::ReadFile(path).value() == bytes);
}

TEST_CASE("large recordings are cut into chunks, and each demonstration knows its own") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("expert.demos");
  proto::DemonstrationChunk all = SomeDemonstrations();
  for (int i = 0; i < 3; ++i) {
    const std::string text(900000, static_cast<char>('p' + i));
    proto::Content& content = *all.add_contents();
    content.set_key(KeyBytes(text));
    content.set_text(text);
  }
  REQUIRE(WriteDemonstrations(path, all).ok());
  const auto read = ReadDemonstrations(path);
  REQUIRE(read.ok());
  REQUIRE(read->all.SerializeAsString() == all.SerializeAsString());
  REQUIRE(read->offsets[0] > 32);
}

TEST_CASE("a damaged file is refused by name and offset, whichever byte it is") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("expert.demos");
  REQUIRE(WriteDemonstrations(path, SomeDemonstrations()).ok());
  const std::string sound = runtime::ReadFile(path).value();
  for (std::size_t at = 0; at < sound.size(); ++at) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(~damaged[at]);
    const auto parsed = ParseDemonstrations(damaged);
    INFO("byte " << at << ": " << parsed.status());
    REQUIRE_FALSE(parsed.ok());
    REQUIRE(std::string(parsed.status().message()).starts_with("offset "));
  }
  std::string damaged = sound;
  damaged[sound.size() / 2] = static_cast<char>(~damaged[sound.size() / 2]);
  REQUIRE(runtime::WriteFileAtomically(path, damaged).ok());
  const std::string message(ReadDemonstrations(path).status().message());
  REQUIRE(message.starts_with(path + ": offset "));
  REQUIRE(absl::IsNotFound(ReadDemonstrations(path + "-none").status()));
}

TEST_CASE("bytes that are spoiled under sound checksums never crash the reader") {
  // Protobuf logs an error for each text that is not UTF-8.
  const google::protobuf::LogSilencer silence;
  const std::string plain = SomeDemonstrations().SerializeAsString();
  runtime::Random random(7);
  int refused = 0;
  constexpr int kTries = 20000;
  for (int i = 0; i < kTries; ++i) {
    std::string spoiled = plain;
    const std::uint64_t changes = 1 + random.Below(3);
    for (std::uint64_t change = 0; change < changes; ++change) {
      spoiled[random.Below(spoiled.size())] = static_cast<char>(random.Below(256));
    }
    if (random.Below(4) == 0) spoiled.resize(random.Below(spoiled.size()));
    const std::vector<std::string> chunks = {spoiled};
    const auto parsed = ParseDemonstrations(PackChunks(chunks).value());
    if (parsed.ok()) continue;
    ++refused;
    REQUIRE(std::string(parsed.status().message()).starts_with("offset "));
  }
  REQUIRE(refused > kTries / 2);
}

TEST_CASE("whatever breaks the rules is named") {
  using Spoil = std::function<void(proto::DemonstrationChunk&)>;
  const std::vector<std::pair<std::string, Spoil>> spoils = {
      {"header: missing", [](auto& all) { all.clear_header(); }},
      {"canonicaliser", [](auto& all) { all.mutable_header()->set_canonicaliser_version("2"); }},
      {"neither candidates nor numbers", [](auto& all) { all.mutable_header()->clear_spec(); }},
      {"episode_limit", [](auto& all) { all.mutable_header()->set_episode_limit(0); }},
      {"content 2: the key", [](auto& all) { all.mutable_contents(1)->set_text("other"); }},
      {"content 1: an empty", [](auto& all) { all.mutable_contents(0)->clear_text(); }},
      {"content 5: twice", [](auto& all) { *all.add_contents() = all.contents(0); }},
      {"catalog 1: no candidates", [](auto& all) { all.mutable_catalogs(0)->Clear(); }},
      {"not whole",
       [](auto& all) { all.mutable_catalogs(0)->mutable_candidate_keys()->pop_back(); }},
      {"has no text",
       [](auto& all) {
         all.mutable_catalogs(0)->mutable_candidate_keys()->append(KeyBytes("unknown"));
       }},
      {"catalog 1: the key", [](auto& all) { all.mutable_catalogs(0)->set_key(KeyBytes("a")); }},
      {"overlay 1", [](auto& all) { all.add_overlays()->set_base(KeyBytes("a")); }},
      {"overlay 1: removed 3",
       [](auto& all) {
         all.add_overlays()->set_base(all.catalogs(0).key());
         all.mutable_overlays(0)->add_removed(3);
       }},
      {"demonstration 1: goal", [](auto& all) { all.mutable_demonstrations(0)->clear_goal(); }},
      {"demonstration 2: length 0",
       [](auto& all) { all.mutable_demonstrations(1)->mutable_unroll()->set_length(0); }},
      {"demonstration 2: an id",
       [](auto& all) { *all.mutable_demonstrations(1) = all.demonstrations(0); }},
      {"demonstration 1: catalog",
       [](auto& all) {
         all.mutable_demonstrations(0)->mutable_unroll()->set_catalog_keys(0, KeyBytes("a"));
       }},
      {"demonstration 1: content/goal: not a key",
       [](auto& all) { all.mutable_demonstrations(0)->mutable_unroll()->set_length(3); }},
      {"content/request",
       [](auto& all) {
         auto& column = *all.mutable_demonstrations(0)->mutable_unroll()->mutable_step_columns(2);
         column.mutable_tensor()->mutable_data()->replace(0, 16, KeyBytes("unknown"));
       }},
      {"left out 1", [](auto& all) { all.mutable_left_out(0)->clear_reason(); }}};
  REQUIRE(Verdict(SomeDemonstrations()).ok());
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("expert.demos");
  for (const auto& [part, spoil] : spoils) {
    proto::DemonstrationChunk all = SomeDemonstrations();
    spoil(all);
    INFO(part << " in " << MessageOf(all));
    REQUIRE(absl::IsInvalidArgument(Verdict(all)));
    REQUIRE(MessageOf(all).find(part) != std::string::npos);
    REQUIRE_FALSE(WriteDemonstrations(path, all).ok());
  }
}

TEST_CASE("the summary names pairs, lengths and what was left out") {
  const std::vector<std::string> chunks = {SomeDemonstrations().SerializeAsString()};
  const std::string text = Summarise(ParseDemonstrations(PackChunks(chunks).value()).value());
  INFO(text);
  REQUIRE(text.find("5 pxe_once") != std::string::npos);
  REQUIRE(text.find("2.00       2.00") != std::string::npos);
  REQUIRE(text.find("left out: 7 session_hygiene on rackmount, 3 episodes: no candidate is POST") !=
          std::string::npos);
  REQUIRE(text.find("2 demonstrations of 1 goals and captures") != std::string::npos);
}

}  // namespace shoal::demonstrations
