// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/goal_definition.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "redfish/goals/goal.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

const std::string kPhrasings = "train = [\"x\"]\nevaluate = [\"y\"]\n";

// Returns a goal that wants `value` at /A of the system and starts in "no" or "later".
std::string Part(int id, const std::string& name, const std::string& value,
                 const std::string& more = {}) {
  return "id = " + std::to_string(id) + "\nname = \"" + name + "\"\n" + kPhrasings +
         "[[places]]\nname = \"bios\"\nfrom = \"system\"\nlinks = [\"/Bios\"]\n"
         "[[require]]\nequals = { uri = \"$bios\", pointer = \"/A\", value = \"" +
         value +
         "\" }\n"
         "[[require]]\nexists = { uri = \"$bios\", pointer = \"/B\" }\n"
         "[[allowed]]\nresource = \"bios\"\npointer = \"/A\"\n"
         "[[situations]]\nname = \"no\"\noptimum = 1\n"
         "where = { exists = { uri = \"$bios\", pointer = \"/" +
         name +
         "\" } }\n"
         "start = [{ uri = \"$bios\", pointer = \"/A\", value = \"not " +
         value + "\" }]\n" + "[[situations]]\nname = \"later\"\noptimum = 2\n" + more;
}

std::string Whole(const std::string& of, const std::string& parts = "\"one\", \"two\"") {
  return "id = 9\nname = \"whole\"\nparts = [" + parts + "]\n" + kPhrasings +
         "[[require]]\nexists = { uri = \"$bios\", pointer = \"/C\" }\n"
         "[[situations]]\nname = \"all\"\noptimum = 3\n"
         "start = [{ uri = \"$bios\", pointer = \"/C\", value = 1 }]\n"
         "[situations.of]\n" +
         of;
}

const std::string kOf = "one = \"no\"\ntwo = \"later\"\n";

struct Files {
  Files() {
    folder.Write("one.toml", Part(1, "one", "1"));
    folder.Write("two.toml", Part(2, "two", "2"));
  }
  std::string Refusal(const std::string& whole) const {
    const auto goal = Goal::Load(folder.Write("whole.toml", whole));
    REQUIRE(goal.status().code() == absl::StatusCode::kInvalidArgument);
    return std::string(goal.status().message());
  }
  const doubles::TemporaryFolder folder;
};

bool Says(const std::string& message, const std::string& text) {
  INFO(message);
  return message.find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("A phrasing names a part to say what the part's own phrasings say") {
  const Files files;
  files.folder.Write("phrasings/lists.toml", "hi = [\"hello, \"]\nend = [\" now\"]\n");
  const std::string x = "train = [\"x\"]";
  std::string one = Part(1, "one", "1");
  one.replace(one.find(x), x.size(), "train = [\"<hi>set <a|b><end>\"]");
  files.folder.Write("one.toml", one);
  std::string whole = Whole(kOf);
  whole.replace(whole.find(x), x.size(), "train = [\"<hi><one>; <two>\"]");
  const auto goal = Goal::Load(files.folder.Write("whole.toml", whole));
  INFO(goal.status().message());
  REQUIRE(goal.ok());
  std::set<std::string> texts;
  (*goal)->train_patterns().front().AddTexts(100, texts);
  REQUIRE(texts == std::set<std::string>{"hello, set a; x", "hello, set b; x"});

  files.folder.Write("phrasings/lists.toml", "hi = [\"\"]\nend = [\"\"]\ntwo = [\"a list\"]\n");
  REQUIRE(Says(files.Refusal(whole), "\"two\" has the name of a phrase list"));
}

TEST_CASE("A goal has what its parts want, what they share once, and their starts before its own") {
  const Files files;
  const auto goal = Goal::Load(files.folder.Write("whole.toml", Whole(kOf)));
  INFO(goal.status().message());
  REQUIRE(goal.ok());
  const Goal::Definition& whole = (*goal)->definition();
  REQUIRE(whole.places.size() == 1);
  REQUIRE(whole.allowed.size() == 1);
  REQUIRE(whole.require.size() == 4);
  REQUIRE(whole.situations.size() == 1);
  const Situation& all = whole.situations.front();
  REQUIRE(all.optimum == 3);
  REQUIRE(all.start.size() == 2);
  REQUIRE(all.start[0].at("value") == "not 1");
  REQUIRE(all.start[1].at("value") == 1);
  REQUIRE(all.where.at("all").size() == 1);
}

TEST_CASE("Parts that are missing, that clash or that have parts are refused") {
  const Files files;
  REQUIRE(Says(files.Refusal(Whole(kOf, "\"one\", \"three\"")), "three"));
  files.folder.Write("two.toml", Part(2, "two", "2", "[parameters]\nX = \"tag\"\n"));
  files.folder.Write("one.toml", Part(1, "one", "1", "[parameters]\nX = \"user\"\n"));
  REQUIRE(Says(files.Refusal(Whole(kOf)), "\"X\" is something else"));
  files.folder.Write("one.toml", "parts = [\"one\"]\n" + Part(1, "one", "1"));
  REQUIRE(Says(files.Refusal(Whole(kOf)), "has no parts"));
  const std::string choice = "[[choices]]\nvalues = { A = ";
  files.folder.Write("one.toml", Part(1, "one", "1", choice + "1 }\n"));
  files.folder.Write("two.toml", Part(2, "two", "2", choice + "2 }\n"));
  REQUIRE(Says(files.Refusal(Whole(kOf)), "choices"));
  files.folder.Write("two.toml",
                     "id = 2\nname = \"two\"\n" + kPhrasings +
                         "[[targets]]\nname = \"t\"\nresource = \"system\"\n"
                         "properties = [{ pointer = \"/A\", wanted = [1], start = [0] }]\n");
  REQUIRE(Says(files.Refusal(Whole(kOf)), "situations"));
}

TEST_CASE("A situation of a goal with parts names one of each, and no other does") {
  const Files files;
  REQUIRE(Says(files.Refusal(Whole("one = \"no\"\n")), "of each part"));
  REQUIRE(Says(files.Refusal(Whole("one = \"no\"\nthree = \"no\"\n")), "two"));
  REQUIRE(Says(files.Refusal(Whole("one = \"no\"\ntwo = \"never\"\n")), "never"));
  REQUIRE(Says(files.Refusal(Part(3, "three", "3", "[situations.of]\none = \"no\"\n")), "of"));
}

}  // namespace shoal::redfish
