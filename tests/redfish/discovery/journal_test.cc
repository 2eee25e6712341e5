// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/journal.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/doubles/file_size_limit.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::discovery {
namespace {

using Json = nlohmann::json;

const Json kHeader = {{"source", "here"}};

std::vector<Json> RecordsOf(const Journal& journal) {
  std::vector<Json> records;
  REQUIRE(journal
              .ForEach([&](const Json& record, Journal::Position position) {
                REQUIRE(journal.Read(position).value() == record);
                records.push_back(record);
                return absl::OkStatus();
              })
              .ok());
  return records;
}

TEST_CASE("Whatever byte a journal is cut or damaged at, the records before it are read again") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.path() + "/journal";
  std::vector<std::uintmax_t> ends;
  for (int i = 0; i < 3; ++i) {
    const auto journal = Journal::Open(path, kHeader).value();
    if (i == 0) ends.push_back(std::filesystem::file_size(path));
    REQUIRE(journal->Append({{"uri", i}, {"body", "two\nlines"}}).ok());
    ends.push_back(std::filesystem::file_size(path));
  }
  for (std::uintmax_t cut = ends[0]; cut <= ends[3]; ++cut) {
    std::string bytes;
    {
      std::ifstream file(path, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    bytes.resize(cut);
    bytes += (cut % 2 == 0) ? "" : "noise";
    const std::string torn = folder.Write("torn/journal", bytes);
    const auto journal = Journal::Open(torn, kHeader).value();
    const std::size_t expected = cut >= ends[3] ? 3 : cut >= ends[2] ? 2 : cut >= ends[1] ? 1 : 0;
    REQUIRE(journal->size() == expected);
    REQUIRE(journal->Append({{"uri", "new"}}).ok());
    const std::vector<Json> records = RecordsOf(*journal);
    REQUIRE(records.size() == expected + 1);
    REQUIRE(records.back().at("uri") == "new");
  }
}

TEST_CASE("A record that the disk has no room for is not there, and does not spoil the next one") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.At("journal");
  {
    const auto journal = Journal::Open(path, kHeader).value();
    REQUIRE(journal->Append({{"uri", "first"}}).ok());
    absl::Status refused;
    {
      const doubles::FileSizeLimit limit(std::filesystem::file_size(path) + 20);
      refused = journal->Append({{"uri", "second"}});
    }
    REQUIRE_FALSE(refused.ok());
    REQUIRE(journal->Append({{"uri", "third"}}).ok());
    REQUIRE(RecordsOf(*journal).size() == 2);
  }
  const auto again = Journal::Open(path, kHeader).value();
  REQUIRE(again->size() == 2);
  REQUIRE(RecordsOf(*again).back().at("uri") == "third");
}

TEST_CASE("One process has a journal at a time, and a header is not changed") {
  const doubles::TemporaryFolder folder;
  const std::string path = folder.path() + "/a/journal";
  {
    const auto first = Journal::Open(path, kHeader).value();
    REQUIRE(first->Append({{"uri", "one"}}).ok());
    REQUIRE(absl::IsFailedPrecondition(Journal::Open(path, kHeader).status()));
    REQUIRE(absl::IsFailedPrecondition(Journal::Open(path, kHeader, true).status()));
    REQUIRE(RecordsOf(*first).size() == 1);
  }
  REQUIRE(absl::IsFailedPrecondition(Journal::Open(path, {{"source", "there"}}).status()));
  REQUIRE(Journal::Open(path, kHeader).value()->size() == 1);
  REQUIRE(Journal::Open(path, {{"source", "there"}}, true).value()->size() == 0);
}

}  // namespace
}  // namespace shoal::discovery
