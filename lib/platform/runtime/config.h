// SPDX-License-Identifier: Apache-2.0
// Configuration: one TOML cluster file, one section a process, one struct a section, and one
// Visit() in that struct that names each knob once; parsing, range checks, --print-config and
// --help come from it.
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
// keys). Nested structs: visitor.Group("batcher", batcher) reads [inference.batcher]. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
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

 protected:
  virtual bool Enter(std::string_view name) = 0;
  virtual void Leave() = 0;
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
  // syntax; a bare word is taken as text) in order. NOT_FOUND when the file is missing.
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
