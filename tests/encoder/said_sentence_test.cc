// SPDX-License-Identifier: Apache-2.0
#include "encoder/said_sentence.h"

#include <catch2/catch.hpp>

#include "platform/runtime/atomic_file.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::encoder {
namespace {

absl::StatusOr<std::vector<SaidSentence>> Read(const std::string& bytes) {
  const doubles::TemporaryFolder folder;
  REQUIRE(runtime::WriteFileAtomically(folder.At("said.tsv"), bytes).ok());
  return ReadSaidSentences(folder.At("said.tsv"));
}

TEST_CASE("sentences that ask for a goal are read, and comments and refusals left out") {
  const auto said = Read(
      "# a comment\n\nlab\tpower_on\t{}\tturn it\ton\nlab\t-\t{}\tsing\n"
      "lab\tasset_tag\t{\"AssetTag\":\"A-1\"}\ttag A-1");
  INFO(said.status().ToString());
  REQUIRE(said.ok());
  REQUIRE(said->size() == 2);
  REQUIRE(said->at(0).capture == "lab");
  REQUIRE(said->at(0).goal == "power_on");
  REQUIRE(said->at(0).text == "turn it\ton");
  REQUIRE(said->at(1).values.at("AssetTag") == "A-1");
}

TEST_CASE("a line that is no sentence is named") {
  for (const char* line : {"lab\tpower_on\tturn it on\n", "lab\tpower_on\t[]\tturn it on\n"}) {
    const absl::Status status = Read(std::string("# first\n") + line).status();
    REQUIRE(absl::IsInvalidArgument(status));
    REQUIRE(runtime::Message(status).find("said.tsv, line 2: ") != std::string::npos);
  }
  REQUIRE(absl::IsNotFound(ReadSaidSentences("no/such/file").status()));
}

TEST_CASE("people's sentences of the parser's test can be read") {
  const auto said = ReadSaidSentences("tests/text/intent/people.tsv");
  REQUIRE(said.ok());
  REQUIRE(said->size() > 190);
}

}  // namespace
}  // namespace shoal::encoder
