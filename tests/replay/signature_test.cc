// SPDX-License-Identifier: Apache-2.0
#include "replay/signature.h"

#include <catch2/catch.hpp>

namespace shoal::replay {
namespace {

Signature Parsed(std::string_view text) {
  auto signature = Signature::Parse(text);
  REQUIRE(signature.ok());
  return *std::move(signature);
}

TEST_CASE("a signature is read whatever the order of its columns, and written by name") {
  REQUIRE(Parsed("value FLOAT32 []\nobservation/x UINT8 [3, 84]\n").Text() ==
          "observation/x UINT8 [3, 84]\nvalue FLOAT32 []");
  REQUIRE(Parsed("marks INT32 [?] optional").Text() == "marks INT32 [?] optional");
}

TEST_CASE("a line that is no column is refused and quoted") {
  for (const std::string line :
       {"value", "value FLOAT32", "value FLOAT32 3", "value float [3]", " FLOAT32 [3]",
        "value FLOAT32 [3,4]", "value FLOAT32 [-3]", "value FLOAT32 [3] sometimes",
        "value FLOAT32 [9999999999999999999]", "value  [3]"}) {
    const auto signature = Signature::Parse("reward FLOAT32 []\n" + line);
    REQUIRE(absl::IsInvalidArgument(signature.status()));
    REQUIRE(runtime::Message(signature.status()).find("'" + line + "'") != std::string::npos);
  }
  REQUIRE(absl::IsInvalidArgument(Signature::Parse("a INT8 []\na INT8 [2]").status()));
  REQUIRE(absl::IsInvalidArgument(Signature::Parse("").status()));
  REQUIRE(absl::IsInvalidArgument(Signature::Parse(std::string(70000, 'a')).status()));
  std::string many;
  for (int i = 0; i < 513; ++i) many += "c" + std::to_string(i) + " INT8 []\n";
  REQUIRE(absl::IsInvalidArgument(Signature::Parse(many).status()));
}

TEST_CASE("the same columns are admitted, and the first that differs is named with both shapes") {
  Signature table = Parsed("observation/x FLOAT32 [4]\nreward FLOAT32 []");
  REQUIRE(table.Admit(Parsed("reward FLOAT32 []\nobservation/x FLOAT32 [4]")).ok());
  const auto refusal = [&table](std::string_view text) {
    const absl::Status status = table.Admit(Parsed(text));
    REQUIRE(absl::IsFailedPrecondition(status));
    return runtime::Message(status);
  };
  REQUIRE(refusal("observation/x FLOAT32 [5]\nreward FLOAT32 []") ==
          "column observation/x is FLOAT32 [4] in the table and FLOAT32 [5] in the item");
  REQUIRE(refusal("observation/x FLOAT16 [4]\nreward FLOAT32 []") ==
          "column observation/x is FLOAT32 [4] in the table and FLOAT16 [4] in the item");
  REQUIRE(refusal("observation/x FLOAT32 [4]") ==
          "column reward is FLOAT32 [] in the table and missing in the item");
  REQUIRE(refusal("a INT8 []\nobservation/x FLOAT32 [4]\nreward FLOAT32 []") ==
          "column a is missing in the table and INT8 [] in the item");
}

TEST_CASE("an optional column may come and go, but never changes once it came") {
  Signature table = Parsed("reward FLOAT32 []");
  REQUIRE(table.Admit(Parsed("reward FLOAT32 []\nforced BOOL [] optional")).ok());
  REQUIRE(table.Admit(Parsed("reward FLOAT32 []")).ok());
  REQUIRE(runtime::Message(table.Admit(Parsed("reward FLOAT32 []\nforced INT8 [] optional"))) ==
          "column forced is BOOL [] in the table and INT8 [] in the item");
}

TEST_CASE("a refused signature adds none of its columns") {
  Signature table = Parsed("reward FLOAT32 []");
  REQUIRE_FALSE(table.Admit(Parsed("extra BOOL [] optional\nreward FLOAT64 []")).ok());
  REQUIRE_FALSE(table.Admit(Parsed("extra BOOL [] optional\nmore INT8 []")).ok());
  REQUIRE(table.Text() == "reward FLOAT32 []");
}

TEST_CASE("a reader may expect some of the columns, and one that differs or is missing is named") {
  const Signature table = Parsed("forced BOOL [] optional\nreward FLOAT32 []\nvalue FLOAT32 []");
  REQUIRE(table.CheckReader(Parsed("reward FLOAT32 []")).ok());
  REQUIRE(table.CheckReader(Parsed("legal BOOL [9] optional\nvalue FLOAT32 []")).ok());
  REQUIRE(runtime::Message(table.CheckReader(Parsed("reward FLOAT32 [2]"))) ==
          "column reward is FLOAT32 [] in the table and FLOAT32 [2] for the reader");
  REQUIRE(runtime::Message(table.CheckReader(Parsed("core FLOAT32 [8]"))) ==
          "column core is missing in the table and FLOAT32 [8] for the reader");
}

}  // namespace
}  // namespace shoal::replay
