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

void RequireError(const Loaded& loaded, const std::vector<std::string>& parts) {
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

}  // namespace shoal::runtime
