// SPDX-License-Identifier: Apache-2.0
// Configuration: there is one TOML cluster file with one section for each process. A section is one
// struct, and one Visit() in that struct names each knob once: parsing, range checks,
// --print-config and --help come from it.
//
//   struct BatcherOptions {
//     std::int64_t max_rows = 256;
//     void Visit(runtime::Visitor& visitor) {
//       visitor.Knob("max_rows", max_rows, {.help = "rows in a batch at most", .unit = "rows", .min
//       = 1, .max = 65536});
//     }
//   };
//   runtime::Config config;
//   config.Add("inference", options);            // options outlives config
//   SHOAL_RETURN_IF_ERROR(config.Load("cluster.toml", {"inference.max_rows=64"}));
//
// A section of another process is skipped; a section that no process has, an unknown key, a wrong
// type and a value out of range are INVALID_ARGUMENT naming file, line and key ("did you mean" for
// keys). Nested structs: visitor.Group("batcher", batcher) reads [inference.batcher]. Lists of
// structs: visitor.Groups("table", tables) reads every [[replay.table]]; without any the list stays
// as it was. A section names its own knobs before its groups, as TOML wants them. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::runtime {

struct KnobInfo {
  std::string_view help;
  // "rows", "bytes", "ms"; empty for a number without unit.
  std::string_view unit = {};
  // Inclusive; ignored for text and booleans. Lists: of each element.
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  // Text: the values allowed; empty for any.
  std::vector<std::string_view> choices = {};
};

class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void Knob(std::string_view name, std::int64_t& value, const KnobInfo& info) = 0;
  virtual void Knob(std::string_view name, double& value, const KnobInfo& info) = 0;
  virtual void Knob(std::string_view name, bool& value, const KnobInfo& info) = 0;
  virtual void Knob(std::string_view name, std::string& value, const KnobInfo& info) = 0;
  virtual void Knob(std::string_view name, std::vector<std::int64_t>& value,
                    const KnobInfo& info) = 0;
  virtual void Knob(std::string_view name, std::vector<std::string>& value,
                    const KnobInfo& info) = 0;

  // A nested table [section.name]; Options has Visit(Visitor&).
  template <typename Options>
  void Group(std::string_view name, Options& options) {
    if (Enter(name)) options.Visit(*this);
    Leave();
  }

  // A list of tables [[section.name]]; Options has Visit(Visitor&), and each table that the file
  // has begins with the values of Options().
  template <typename Options>
  void Groups(std::string_view name, std::vector<Options>& list) {
    if (const std::optional<std::size_t> count = EnterList(name)) list.assign(*count, Options());
    for (std::size_t i = 0; i < list.size(); ++i) {
      EnterElement(i);
      list[i].Visit(*this);
      Leave();
    }
    LeaveList();
  }

 protected:
  virtual bool Enter(std::string_view name) = 0;
  // Ends an Enter or an EnterElement.
  virtual void Leave() = 0;
  // How many tables the list has now; nothing: the list stays as it is.
  virtual std::optional<std::size_t> EnterList(std::string_view name) = 0;
  virtual void EnterElement(std::size_t index) = 0;
  virtual void LeaveList() = 0;
};

class Config {
 public:
  Config();
  ~Config();
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  // `options` has Visit(Visitor&) and outlives this. `name` must be one of the known sections.
  template <typename Options>
  void Add(std::string name, Options& options) {
    AddSection(std::move(name), [&options](Visitor& visitor) { options.Visit(visitor); });
  }

  // Reads `path` (empty: defaults alone), then `overrides` ("section.key=value", value in TOML
  // syntax; a bare word is taken as text) in order. A table of a list is chosen by its place from 0
  // or by its `name`: "replay.table.0.max_size=64", "replay.table.unrolls.max_size=64"; the place
  // after the last one adds a table. NOT_FOUND when the file is missing.
  absl::Status Load(const std::string& path, const std::vector<std::string>& overrides);

  // The effective configuration as TOML, each knob with its help, unit and range as a comment.
  std::string Print() const;
  // Every knob as section.key, its default, unit, range and help, for --help.
  std::string Help() const;

 private:
  void AddSection(std::string name, std::function<void(Visitor&)> visit);

  struct Section {
    std::string name;
    std::function<void(Visitor&)> visit;
  };
  std::vector<Section> sections_;
};

}  // namespace shoal::runtime
