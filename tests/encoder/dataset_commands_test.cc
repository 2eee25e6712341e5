// SPDX-License-Identifier: Apache-2.0
#include "encoder/dataset_commands.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include "tests/doubles/temporary_folder.h"
#include "tests/encoder/printed.h"

namespace shoal::encoder {
namespace {

BuildDatasetOptions CatfishBuild(const doubles::TemporaryFolder& folder) {
  BuildDatasetOptions options;
  options.build = {.captures = {"data/captures/dmtf-catfish.tar.xz"},
                   .tokenizer = "data/gpt2",
                   .output = folder.At("data")};
  options.licences = {"MIT", "dmtf-catfish=BSD-3-Clause"};
  return options;
}

}  // namespace

TEST_CASE("a dataset is built, verified, packed, fetched and shown", "[dataset]") {
  const doubles::TemporaryFolder folder;
  std::ostringstream progress;
  BuildDatasetOptions build = CatfishBuild(folder);
  build.progress = &progress;
  std::ostringstream built;
  REQUIRE(BuildDataset(build, built).ok());
  REQUIRE(Contains(built.str(), "licence=\"BSD-3-Clause\""));
  REQUIRE(Contains(built.str(), "spans: response="));
  REQUIRE(Contains(LastLine(built), "wrote " + folder.At("data") + " chunks="));
  REQUIRE(Contains(progress.str(), "dmtf-catfish: resources=30 of 30 chunks="));

  std::ostringstream verified;
  REQUIRE(VerifyDataset({.dataset = folder.At("data")}, verified).ok());
  REQUIRE(Contains(LastLine(verified), "captures=1"));

  std::ostringstream packed;
  REQUIRE(PackDataset({.dataset = folder.At("data"), .mirror = folder.At("mirror"), .name = "fish"},
                      packed)
              .ok());
  REQUIRE(Contains(LastLine(packed), "mirror/fish.tar.xz: bytes="));
  REQUIRE(VerifyDataset({.mirror = folder.At("mirror")}, packed).ok());
  REQUIRE(Contains(LastLine(packed), "archives=1"));

  std::ostringstream unpacked;
  REQUIRE(UnpackDataset({.archive = folder.At("mirror/fish.tar.xz"), .output = folder.At("a")},
                        unpacked)
              .ok());
  std::ostringstream fetched;
  FetchDatasetOptions fetch;
  fetch.fetch = {.mirror = folder.At("mirror"), .name = "fish", .destination = folder.At("b")};
  fetch.progress = &progress;
  REQUIRE(FetchDataset(fetch, fetched).ok());
  REQUIRE(Contains(progress.str(), "fish: bytes="));
  REQUIRE(Contains(LastLine(fetched), "chunks="));

  std::ostringstream manifest;
  REQUIRE(ShowDataset({.dataset = folder.At("b")}, manifest).ok());
  REQUIRE(Contains(manifest.str(), "\"format\": \"shoal-dataset/1\""));
  std::ostringstream chunk;
  REQUIRE(
      ShowDataset({.dataset = folder.At("b"), .chunk = 0, .kinds = {"odata_id", "response"}}, chunk)
          .ok());
  REQUIRE(Contains(chunk.str(), "GET /redfish/v1 [GET"));
  REQUIRE(Contains(chunk.str(), "\nodata_id "));
  REQUIRE_FALSE(Contains(chunk.str(), "\nobject "));
  REQUIRE(Contains(LastLine(chunk), "capture=dmtf-catfish tokens="));
}

TEST_CASE("members are dropped and kept as the flags say", "[dataset]") {
  const doubles::TemporaryFolder folder;
  BuildDatasetOptions build = CatfishBuild(folder);
  build.drop = {"Name"};
  build.keep = {"DateTime"};
  std::ostringstream out;
  REQUIRE(BuildDataset(build, out).ok());
  std::ostringstream manifest;
  REQUIRE(ShowDataset({.dataset = folder.At("data")}, manifest).ok());
  REQUIRE(Contains(manifest.str(), "\"Name\""));
  REQUIRE_FALSE(Contains(manifest.str(), "\"DateTime\""));
  build.keep = {"AssetTag"};
  REQUIRE(absl::IsInvalidArgument(BuildDataset(build, out)));
}

TEST_CASE("what is missing or makes no sense is named by the dataset's commands", "[dataset]") {
  const doubles::TemporaryFolder folder;
  std::ostringstream out;
  REQUIRE(absl::IsInvalidArgument(VerifyDataset({}, out)));
  REQUIRE(absl::IsInvalidArgument(VerifyDataset({.dataset = "a", .mirror = "b"}, out)));
  const absl::Status missing = ShowDataset({.dataset = folder.At("none")}, out);
  REQUIRE(absl::IsNotFound(missing));
  REQUIRE(Contains(std::string(missing.message()), "none/manifest.json"));
  REQUIRE(absl::IsInvalidArgument(
      ShowDataset({.dataset = folder.At("none"), .kinds = {"nothing"}}, out)));
  BuildDatasetOptions build = CatfishBuild(folder);
  REQUIRE(BuildDataset(build, out).ok());
  const absl::Status past = ShowDataset({.dataset = folder.At("data"), .chunk = 100'000}, out);
  REQUIRE(absl::IsInvalidArgument(past));
  REQUIRE(Contains(std::string(past.message()), "has no chunk 100000"));
  REQUIRE(absl::IsInvalidArgument(
      PackDataset({.dataset = folder.At("data"), .mirror = folder.At("m"), .name = "../x"}, out)));
}

}  // namespace shoal::encoder
