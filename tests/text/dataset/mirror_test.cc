// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/mirror_index.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/text/dataset/small_dataset.h"

namespace shoal::dataset {
namespace {

using Json = nlohmann::json;

MirrorIndex TwoArchives() {
  MirrorIndex index;
  for (const char* name : {"b", "a"}) {
    index.Put({.name = name, .bytes = 10, .sha256 = std::string(64, 'a'), .licences = {"MIT"}});
  }
  return index;
}

absl::Status IndexWith(const char* pointer, const Json& value) {
  Json json = Json::parse(TwoArchives().ToJson());
  json[Json::json_pointer(pointer)] = value;
  return MirrorIndex::Parse(json.dump()).status();
}

}  // namespace

TEST_CASE("a mirror lists what was packed into it, and is verified") {
  const doubles::TemporaryFolder folder;
  const Manifest manifest = BuildSmall(folder, "data");
  const std::string mirror = folder.At("mirror");
  for (const char* name : {"second", "first", "first"}) {
    const auto archive = PackIntoMirror(folder.At("data"), mirror, name, {});
    REQUIRE(archive.ok());
    REQUIRE(archive->chunks == manifest.chunks);
  }
  std::vector<std::string> seen;
  const auto index =
      VerifyMirror(mirror, [&seen](const MirrorArchive& archive) { seen.push_back(archive.name); });
  REQUIRE(index.ok());
  REQUIRE(seen == std::vector<std::string>{"first", "second"});
}

TEST_CASE("an archive that is not what its mirror says is named") {
  const doubles::TemporaryFolder folder;
  BuildSmall(folder, "data");
  const std::string mirror = folder.At("mirror");
  REQUIRE(PackIntoMirror(folder.At("data"), mirror, "small", {}).ok());
  std::string bytes = ContentsOf(mirror + "/small.tar.xz");
  folder.Write("mirror/small.tar.xz", bytes + "x");
  REQUIRE(Says(VerifyMirror(mirror, {}).status(), "small.tar.xz has"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  folder.Write("mirror/small.tar.xz", bytes);
  const absl::Status changed = VerifyMirror(mirror, {}).status();
  REQUIRE(absl::IsDataLoss(changed));
  REQUIRE(Says(changed, "SHA-256"));
  REQUIRE(absl::IsNotFound(VerifyMirror(folder.At("none"), {}).status()));
  folder.Write("mirror/mirror.json", "{");
  REQUIRE(Says(PackIntoMirror(folder.At("data"), mirror, "b", {}).status(), "mirror.json"));
}

TEST_CASE("a mirror's index is read as it was written") {
  const std::string written = TwoArchives().ToJson();
  const auto index = MirrorIndex::Parse(written);
  REQUIRE(index.ok());
  REQUIRE(index->ToJson() == written);
  REQUIRE(index->Find("a")->File() == "a.tar.xz");
  const absl::Status missing = index->Find("c").status();
  REQUIRE(absl::IsNotFound(missing));
  REQUIRE(Says(missing, "there are: a b"));
}

TEST_CASE("a mirror's index is refused with the byte or the member that is wrong") {
  REQUIRE(Says(MirrorIndex::Parse("[1").status(), "byte"));
  const auto refused = [](const char* pointer, const Json& value) {
    const absl::Status status = IndexWith(pointer, value);
    return absl::IsDataLoss(status) && Says(status, pointer);
  };
  REQUIRE(refused("/format", 1));
  REQUIRE(refused("/archives", "a"));
  REQUIRE(refused("/archives/0/name", "../a"));
  REQUIRE(refused("/archives/0/file", "/etc/passwd"));
  REQUIRE(refused("/archives/0/bytes", 0));
  REQUIRE(refused("/archives/0/bytes", kMaximumArchive + 1));
  REQUIRE(refused("/archives/0/sha256", "abc"));
  REQUIRE(refused("/archives/0/chunks", -1));
  REQUIRE(refused("/archives/0/licences/0", 1));
  Json twice = Json::parse(TwoArchives().ToJson());
  twice["archives"][1] = twice["archives"][0];
  REQUIRE(Says(MirrorIndex::Parse(twice.dump()).status(), "/archives/1 has a name"));
}

TEST_CASE("a mirror's URL with a query or a fragment is refused") {
  const doubles::TemporaryFolder folder;
  for (const char* mirror : {"http://127.0.0.1:1/?b", "http://127.0.0.1:1/#b", "ftp://a/"}) {
    INFO(mirror);
    const auto fetched =
        FetchDataset({.mirror = mirror, .name = "a", .destination = folder.At("out")}, nullptr);
    REQUIRE(absl::IsInvalidArgument(fetched.status()));
    REQUIRE(Says(fetched.status(), mirror));
  }
}

TEST_CASE("names of archives are plain") {
  for (const char* name : {"servers", "a", "Servers-2026_1.b"}) REQUIRE(IsArchiveName(name));
  for (const std::string& name : {std::string(), std::string("."), std::string("../a"),
                                  std::string("a/b"), std::string("-a"), std::string(129, 'a')}) {
    REQUIRE_FALSE(IsArchiveName(name));
  }
}

}  // namespace shoal::dataset
