// SPDX-License-Identifier: Apache-2.0
#include "rl/training/checkpoint.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

#include "rl/training/checkpoint_folder.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::training {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  std::string path() const { return folder_.At("checkpoints"); }
  std::string At(std::int64_t number, const std::string& file) const {
    return path() + "/checkpoint-00000000000" + std::to_string(number) + "/" + file;
  }

 private:
  const doubles::TemporaryFolder folder_;
};

void Write(const Folder& folder, std::int64_t number, std::int64_t keep = 10) {
  const std::string text = "contents of " + std::to_string(number);
  REQUIRE(WriteCheckpoint(folder.path(), {number, {{"a", text}, {"b", std::string(3, '\0')}}}, keep)
              .ok());
}

void Overwrite(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::trunc) << text;
}

TEST_CASE("the newest checkpoint comes back as it was written") {
  const Folder folder;
  Write(folder, 2);
  Write(folder, 3);
  const Checkpoint read = ReadNewestCheckpoint(folder.path()).value();
  REQUIRE(read.number == 3);
  REQUIRE(read.files.at("a") == "contents of 3");
  REQUIRE(read.files.at("b") == std::string(3, '\0'));
}

TEST_CASE("the checkpoints with the highest returns stay, those of evaluations before all others") {
  const Folder folder;
  const std::vector<std::optional<MeanReturn>> returns = {
      MeanReturn{.value = 5}, MeanReturn{.value = 9}, MeanReturn{.value = 9},
      std::nullopt,           MeanReturn{.value = 1}, MeanReturn{.value = 2}};
  const auto save = [&](std::int64_t number, std::optional<MeanReturn> mean_return) {
    const Checkpoint checkpoint{
        .number = number, .files = {{"a", "x"}}, .mean_return = mean_return};
    REQUIRE(WriteCheckpoint(folder.path(), checkpoint, 1, 2).ok());
  };
  const auto kept = [&] {
    std::vector<std::string> problems;
    std::vector<std::int64_t> numbers;
    for (const CheckpointManifest& manifest : CheckpointFolder(folder.path()).Manifests(problems)) {
      numbers.push_back(manifest.number);
    }
    return numbers;
  };
  std::int64_t number = 0;
  for (const auto& one : returns) save(++number, one);
  REQUIRE(kept() == std::vector<std::int64_t>{6, 3, 2});
  save(7, MeanReturn{.value = -3, .is_of_evaluation = true});
  save(8, MeanReturn{.value = 9});
  // Of equal ones the older stays.
  REQUIRE(kept() == std::vector<std::int64_t>{8, 7, 2});
  REQUIRE(ReadNewestCheckpoint(folder.path())->mean_return == MeanReturn{.value = 9});
}

TEST_CASE("the name of a checkpoint's folder tells its number, and other names tell none") {
  for (const char* path : {"runs/a/checkpoints/checkpoint-000000000042", "checkpoint-000000000042/",
                           "./checkpoint-42"}) {
    REQUIRE(CheckpointFolder::NumberIn(path) == 42);
  }
  for (const char* path : {"runs/a", "runs/a/checkpoints", "checkpoint-", "checkpoint-4x", ""}) {
    REQUIRE_FALSE(CheckpointFolder::NumberIn(path));
  }
}

TEST_CASE("where nothing was written, nothing is found") {
  const Folder folder;
  REQUIRE(absl::IsNotFound(ReadNewestCheckpoint(folder.path()).status()));
}

TEST_CASE("a damaged checkpoint is passed over for the one before") {
  const Folder folder;
  Write(folder, 1);
  Write(folder, 2);
  const std::string file = folder.At(2, "a");
  SECTION("cut short") { fs::resize_file(file, 4); }
  SECTION("another byte") { Overwrite(file, "contents of 9"); }
  SECTION("missing") { fs::remove(file); }
  SECTION("no manifest") { fs::remove(folder.At(2, "manifest.json")); }
  SECTION("a manifest that is no JSON") { Overwrite(folder.At(2, "manifest.json"), "{"); }
  SECTION("a manifest that names a file elsewhere") {
    Overwrite(folder.At(2, "manifest.json"),
              R"({"files": {"../../x": {"bytes": 1, "sha256": "00"}}})");
  }
  REQUIRE(ReadNewestCheckpoint(folder.path()).value().number == 1);
}

TEST_CASE("large files in pieces come back as they were, and one other byte is noticed") {
  const Folder folder;
  Write(folder, 1);
  Checkpoint checkpoint{2, {{"b", "small"}}};
  std::string bytes(9 << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i >> 7);
  const FileContent whole = bytes;
  FileContent& large = checkpoint.files["a"];
  large.Append(whole, 0, 5);
  large.Append(whole, 5, whole.size() - 5);
  REQUIRE(WriteCheckpoint(folder.path(), checkpoint, 10).ok());
  REQUIRE((ReadNewestCheckpoint(folder.path()).value() == checkpoint));
  const auto place = static_cast<std::streamoff>(GENERATE(0, 5 << 20, (9 << 20) - 1));
  std::fstream file(folder.At(2, "a"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(place);
  file.put(static_cast<char>(bytes[static_cast<std::size_t>(place)] ^ 1));
  file.close();
  REQUIRE(ReadNewestCheckpoint(folder.path()).value().number == 1);
}

TEST_CASE("when every checkpoint is damaged the error names what is wrong") {
  const Folder folder;
  Write(folder, 1);
  Overwrite(folder.At(1, "a"), "other");
  const absl::Status status = ReadNewestCheckpoint(folder.path()).status();
  REQUIRE(absl::IsNotFound(status));
  REQUIRE(std::string(status.message()).find("/a is not what was written") != std::string::npos);
}

TEST_CASE("what a crash left half written is not taken for a checkpoint") {
  const Folder folder;
  Write(folder, 1);
  fs::create_directories(folder.path() + "/.writing-checkpoint-000000000002");
  REQUIRE(ReadNewestCheckpoint(folder.path()).value().number == 1);
  Write(folder, 2);
  REQUIRE(ReadNewestCheckpoint(folder.path()).value().number == 2);
}

TEST_CASE("old checkpoints are removed, the newest stay") {
  const Folder folder;
  for (std::int64_t number = 1; number <= 5; ++number) Write(folder, number, 2);
  REQUIRE_FALSE(fs::exists(folder.At(3, "")));
  REQUIRE(fs::exists(folder.At(4, "a")));
  REQUIRE(fs::exists(folder.At(5, "a")));
}

TEST_CASE("later checkpoints that cannot be read do not push out what is written after them") {
  const Folder folder;
  for (std::int64_t number = 7; number <= 9; ++number) {
    Write(folder, number);
    Overwrite(folder.At(number, "a"), "other");
  }
  Write(folder, 1, 2);
  REQUIRE(ReadNewestCheckpoint(folder.path()).value().number == 1);
  REQUIRE(fs::exists(folder.At(9, "a")));
}

TEST_CASE("a checkpoint's file that has grown is not read to its end") {
  const Folder folder;
  Write(folder, 1);
  fs::resize_file(folder.At(1, "a"), 1 << 20);
  const absl::Status status = ReadNewestCheckpoint(folder.path()).status();
  REQUIRE(absl::IsNotFound(status));
  REQUIRE(std::string(status.message()).find("/a") != std::string::npos);
}

TEST_CASE("a checkpoint of the same number is replaced") {
  const Folder folder;
  Write(folder, 1);
  REQUIRE(WriteCheckpoint(folder.path(), {1, {{"a", "again"}}}, 3).ok());
  REQUIRE(ReadNewestCheckpoint(folder.path()).value().files.at("a") == "again");
}

TEST_CASE("a checkpoint that a crash kept from being renamed stays while it is written again") {
  const Folder folder;
  Write(folder, 1);
  fs::rename(folder.At(1, ""), folder.path() + "/.writing-checkpoint-000000000001");
  REQUIRE(CheckpointFolder(folder.path()).Begin(1).ok());
  REQUIRE(ReadNewestCheckpoint(folder.path()).value().files.at("a") == "contents of 1");
}

TEST_CASE("a checkpoint that is begun makes room of what was never one, and leaves what counts") {
  const Folder folder;
  Write(folder, 1);
  Write(folder, 2);
  const std::string counts = folder.path() + "/.writing-checkpoint-000000000002";
  fs::rename(folder.At(2, ""), counts);
  const std::vector<std::string> remains = {
      folder.path() + "/.writing-checkpoint-000000000003",
      folder.path() + "/.writing-checkpoint-000000000001-replaced"};
  for (const std::string& path : remains) {
    fs::create_directories(path);
    Overwrite(path + "/a.tmp-1", "half of it");
  }
  Overwrite(remains[1] + "/manifest.json", "{}");
  REQUIRE(CheckpointFolder(folder.path()).Begin(4).ok());
  for (const std::string& path : remains) REQUIRE_FALSE(fs::exists(path));
  REQUIRE(fs::exists(counts + "/manifest.json"));
  REQUIRE(ReadNewestCheckpoint(folder.path()).value().number == 2);
}

TEST_CASE("a name that is no plain file name is refused") {
  const Folder folder;
  for (const char* name : {"", "..", "x/y", "manifest.json"}) {
    REQUIRE(absl::IsInvalidArgument(WriteCheckpoint(folder.path(), {1, {{name, "x"}}}, 3)));
  }
}

}  // namespace
}  // namespace shoal::training
