// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/config.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/cluster.h"

namespace shoal::runtime {
namespace {

struct Inner {
  double rate = 0.5;
  void Visit(Visitor& visitor) {
    visitor.Knob("rate", rate, {.help = "how fast", .unit = "1/s", .min = 0, .max = 1});
  }
};

struct Options {
  std::int64_t max_rows = 256;
  bool eager = false;
  std::string core = "none";
  std::vector<std::int64_t> hidden = {64, 64};
  std::vector<std::string> names = {};
  Inner inner;
  void Visit(Visitor& visitor) {
    visitor.Knob("max_rows", max_rows, {.help = "rows", .unit = "rows", .min = 1, .max = 4096});
    visitor.Knob("eager", eager, {.help = "at once"});
    visitor.Knob("core", core, {.help = "core", .choices = {"none", "gru"}});
    visitor.Knob("hidden", hidden, {.help = "widths", .min = 1, .max = 4096});
    visitor.Knob("names", names, {.help = "names"});
    visitor.Group("inner", inner);
  }
};

struct Table {
  std::string name = "unrolls";
  std::int64_t max_size = 16;
  Inner inner;
  void Visit(Visitor& visitor) {
    visitor.Knob("name", name, {.help = "of the table"});
    visitor.Knob("max_size", max_size, {.help = "items", .unit = "items", .min = 1});
    visitor.Group("inner", inner);
  }
};

// A table that knows where it was read.
struct PlacedTable {
  std::int64_t size = 16;
  std::string place = {};
  void Visit(Visitor& visitor) {
    place = visitor.Place();
    visitor.Knob("size", size, {.help = "items"});
  }
};

struct PlacedTables {
  std::vector<PlacedTable> tables = {};
  std::string place = {};
  void Visit(Visitor& visitor) {
    place = visitor.Place();
    visitor.Groups("table", tables, {.size = 5});
  }
};

struct Tables {
  std::int64_t credit = 8;
  std::vector<Table> tables = {{}};
  void Visit(Visitor& visitor) {
    visitor.Knob("credit", credit, {.help = "items on their way"});
    visitor.Groups("table", tables);
  }
};

class File {
 public:
  explicit File(const std::string& text)
      : path_((std::filesystem::temp_directory_path() /
               ("shoal-config-" + std::to_string(::getpid()) + ".toml"))
                  .string()) {
    REQUIRE(WriteFileAtomically(path_, text).ok());
  }
  ~File() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

struct Loaded {
  Options options;
  absl::Status status;
};

Loaded Load(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const File file(text);
  Loaded loaded;
  Config config;
  config.Add("inference", loaded.options);
  loaded.status = config.Load(file.path(), overrides);
  return loaded;
}

struct LoadedTables {
  Tables options;
  absl::Status status;
};

LoadedTables LoadTables(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const File file(text);
  LoadedTables loaded;
  Config config;
  config.Add("replay", loaded.options);
  loaded.status = config.Load(file.path(), overrides);
  return loaded;
}

constexpr char kTwoTables[] =
    "[replay]\ncredit = 3\n\n[[replay.table]]\nmax_size = 5\n\n[[replay.table]]\nname = \"other\"\n"
    "[replay.table.inner]\nrate = 0.25\n";

template <typename Result>
void RequireError(const Result& loaded, const std::vector<std::string>& parts) {
  REQUIRE(loaded.status.code() == absl::StatusCode::kInvalidArgument);
  for (const std::string& part : parts) {
    INFO(Message(loaded.status));
    REQUIRE(Message(loaded.status).find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("a cluster file sets the knobs of its section and leaves the others alone") {
  const Loaded loaded = Load(
      "[replay]\nunread = 1\n[inference]\nmax_rows = 8\neager = true\ncore = \"gru\"\n"
      "hidden = [1, 2, 3]\nnames = [\"a\"]\n[inference.inner]\nrate = 1\n");
  REQUIRE(loaded.status.ok());
  REQUIRE(loaded.options.max_rows == 8);
  REQUIRE(loaded.options.eager);
  REQUIRE(loaded.options.core == "gru");
  REQUIRE(loaded.options.hidden == std::vector<std::int64_t>{1, 2, 3});
  REQUIRE(loaded.options.names == std::vector<std::string>{"a"});
  REQUIRE(loaded.options.inner.rate == 1.0);
}

TEST_CASE("an unknown key names file, line, key and the nearest known one") {
  RequireError(Load("[inference]\n\nmax_row = 8\n"),
               {".toml:3:", "inference.max_row", "max_rows?"});
  RequireError(Load("[inference.inner]\nrat = 1\n"), {".toml:2:", "inference.inner.rat"});
}

TEST_CASE("an unknown section is an error that names it") {
  RequireError(Load("[inferense]\nmax_rows = 8\n"), {"[inferense]", "inference?"});
}

TEST_CASE("a wrong type names what is expected and what was found") {
  RequireError(Load("[inference]\nmax_rows = \"many\"\n"),
               {".toml:2:", "max_rows", "integer", "string"});
  RequireError(Load("[inference]\neager = 1\n"), {"eager", "true or false"});
  RequireError(Load("[inference]\ninner = 1\n"), {"inner", "table"});
  RequireError(Load("[inference]\nhidden = [1, \"x\"]\n"), {"hidden", "integer"});
}

TEST_CASE("a value out of range names the limits") {
  RequireError(Load("[inference]\nmax_rows = 0\n"), {"max_rows", "0", "1 .. 4096 rows"});
  RequireError(Load("[inference]\ncore = \"lstm\"\n"), {"core", "lstm", "none, gru"});
  RequireError(Load("[inference]\nhidden = [64, 0]\n"), {"hidden", "outside"});
}

TEST_CASE("a file that is no TOML names the line") {
  RequireError(Load("[inference]\nmax_rows = = 3\n"), {".toml:2"});
}

TEST_CASE("a missing file is not found") {
  Config config;
  REQUIRE(config.Load("/nonexistent/cluster.toml", {}).code() == absl::StatusCode::kNotFound);
}

TEST_CASE("a text is read like a file, under the name that it is given") {
  Options options;
  Config config;
  config.Add("inference", options);
  REQUIRE(config.Parse("[inference]\nmax_rows = 8\n", "notes.toml", {"inference.core=gru"}).ok());
  REQUIRE(options.max_rows == 8);
  REQUIRE(options.core == "gru");
  const absl::Status wrong = config.Parse("[inference]\nmax_rows = 0\n", "notes.toml", {});
  REQUIRE(absl::IsInvalidArgument(wrong));
  REQUIRE(Message(wrong).find("notes.toml:2") != std::string::npos);
}

TEST_CASE("overrides win over the file, take bare words and reach nested tables") {
  const Loaded loaded = Load("[inference]\nmax_rows = 8\n",
                             {"inference.max_rows=9", "inference.core=gru",
                              "inference.inner.rate=0.25", "inference.names=[\"x\", \"y\"]"});
  REQUIRE(loaded.status.ok());
  REQUIRE(loaded.options.max_rows == 9);
  REQUIRE(loaded.options.core == "gru");
  REQUIRE(loaded.options.inner.rate == 0.25);
  REQUIRE(loaded.options.names == std::vector<std::string>{"x", "y"});
}

TEST_CASE("an override that is wrong is reported as one") {
  RequireError(Load("", {"inference.max_rows=0"}), {"--set", "max_rows"});
  RequireError(Load("", {"max_rows"}), {"section.key=value"});
  RequireError(Load("", {"inference.nothing=1"}), {"inference.nothing"});
}

TEST_CASE("what is printed reads back as the same configuration") {
  Options first;
  first.max_rows = 77;
  first.inner.rate = 0.125;
  first.names = {"a \"quoted\" name", "b\\c"};
  Config printer;
  printer.Add("inference", first);
  const Loaded loaded = Load(printer.Print());
  REQUIRE(loaded.status.ok());
  REQUIRE(loaded.options.max_rows == 77);
  REQUIRE(loaded.options.inner.rate == 0.125);
  REQUIRE(loaded.options.names == first.names);
}

TEST_CASE("help shows every knob with its default and range") {
  Options options;
  Config config;
  config.Add("inference", options);
  const std::string help = config.Help();
  REQUIRE(help.find("inference.max_rows = 256") != std::string::npos);
  REQUIRE(help.find("1 .. 4096 rows") != std::string::npos);
  REQUIRE(help.find("inference.inner.rate = 0.5") != std::string::npos);
}

TEST_CASE("a list of tables has what the file says, and each table its own defaults") {
  const LoadedTables loaded = LoadTables(kTwoTables);
  REQUIRE(loaded.status.ok());
  REQUIRE(loaded.options.credit == 3);
  REQUIRE(loaded.options.tables.size() == 2);
  REQUIRE(loaded.options.tables[0].name == "unrolls");
  REQUIRE(loaded.options.tables[0].max_size == 5);
  REQUIRE(loaded.options.tables[0].inner.rate == 0.5);
  REQUIRE(loaded.options.tables[1].name == "other");
  REQUIRE(loaded.options.tables[1].max_size == 16);
  REQUIRE(loaded.options.tables[1].inner.rate == 0.25);
}

TEST_CASE("tables of a list start from values that are given, and know their file and line") {
  PlacedTables read;
  Config config;
  config.Add("replay", read);
  REQUIRE(config.Parse("[[replay.table]]\n\n[[replay.table]]\nsize = 7\n", "a.toml", {}).ok());
  REQUIRE(read.tables.size() == 2);
  REQUIRE(read.tables[0].size == 5);
  REQUIRE(read.tables[0].place == "a.toml:1");
  REQUIRE(read.tables[1].size == 7);
  REQUIRE(read.tables[1].place == "a.toml:3");
  REQUIRE(config.Parse("[replay]\ntable = [ {}, { size = 9 } ]\n", "a.toml", {}).ok());
  REQUIRE(read.place == "a.toml:1");
  REQUIRE(read.tables[1].place == "a.toml:2");
  REQUIRE(config.Print().find("size = 9") != std::string::npos);
  REQUIRE(read.tables[1].place.empty());
}

TEST_CASE("a file without a list of tables leaves the list as it was") {
  const LoadedTables loaded = LoadTables("[replay]\ncredit = 3\n");
  REQUIRE(loaded.status.ok());
  REQUIRE(loaded.options.tables.size() == 1);
  REQUIRE(LoadTables("[replay]\ntable = []\n").options.tables.empty());
}

TEST_CASE("errors in a list of tables name file, line, place and key") {
  const std::string file = kTwoTables;
  RequireError(LoadTables(file + "[[replay.table]]\nmax_sise = 4\n"),
               {".toml:12:", "replay.table.2.max_sise", "max_size?"});
  RequireError(LoadTables("[replay]\n[[replay.table]]\nmax_size = \"many\"\n"),
               {".toml:3:", "replay.table.0.max_size", "integer", "string"});
  RequireError(LoadTables("[replay]\n[[replay.table]]\n[[replay.table]]\nmax_size = 0\n"),
               {".toml:4:", "replay.table.1.max_size", "at least 1 items"});
  RequireError(LoadTables("[replay]\ntable = 3\n"),
               {".toml:2:", "replay.table", "[[replay.table]]", "integer"});
  RequireError(LoadTables("[replay.table]\nmax_size = 3\n"),
               {".toml:1:", "replay.table", "[[replay.table]]", "table"});
}

TEST_CASE("an override reaches a table of a list by place and by name, and adds one at its end") {
  const LoadedTables loaded =
      LoadTables(kTwoTables, {"replay.table.0.max_size=7", "replay.table.other.max_size=8",
                              "replay.table.other.inner.rate=1", "replay.table.2.name=third"});
  REQUIRE(loaded.status.ok());
  REQUIRE(loaded.options.tables.size() == 3);
  REQUIRE(loaded.options.tables[0].max_size == 7);
  REQUIRE(loaded.options.tables[1].max_size == 8);
  REQUIRE(loaded.options.tables[1].inner.rate == 1.0);
  REQUIRE(loaded.options.tables[2].name == "third");
  REQUIRE(LoadTables("", {"replay.table.0.max_size=7"}).options.tables[0].max_size == 7);
  RequireError(LoadTables(kTwoTables, {"replay.table.5.max_size=7"}), {"--set", "no table 5"});
  RequireError(LoadTables(kTwoTables, {"replay.table.nobody.max_size=7"}), {"no table nobody"});
  RequireError(LoadTables(kTwoTables, {"replay.table.0.max_size=0"}),
               {"--set", "table.0.max_size"});
}

TEST_CASE("a list of tables is printed in TOML that reads back, and described by place") {
  Tables first;
  first.tables = {{.name = "one", .max_size = 3, .inner = {}}, {.name = "two", .inner = {}}};
  first.tables[1].inner.rate = 0.125;
  Config printer;
  printer.Add("replay", first);
  const LoadedTables loaded = LoadTables(printer.Print());
  INFO(printer.Print());
  REQUIRE(loaded.status.ok());
  REQUIRE(loaded.options.tables.size() == 2);
  REQUIRE(loaded.options.tables[0].max_size == 3);
  REQUIRE(loaded.options.tables[1].name == "two");
  REQUIRE(loaded.options.tables[1].inner.rate == 0.125);
  REQUIRE(printer.Help().find("replay.table.1.inner.rate = 0.125") != std::string::npos);
}

}  // namespace shoal::runtime
