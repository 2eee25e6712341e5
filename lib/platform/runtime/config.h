// SPDX-License-Identifier: Apache-2.0
// Configuration: there is one TOML cluster file with one section for each process. A section is one
// struct, and the struct's Visit() names each knob once. Parsing, range checks, --print-config and
// --help all use that one description.
//
//   struct BatcherOptions {
//     std::int64_t max_rows = 256;
//     void Visit(runtime::Visitor& visitor) {
//       visitor.Knob("max_rows", max_rows,
//                    {.help = "rows in a batch at most", .unit = "rows", .min = 1, .max = 65536});
//     }
//   };
//   runtime::Config config;
//   config.Add("inference", options);            // options outlives config
//   SHOAL_RETURN_IF_ERROR(config.Load("cluster.toml", {"inference.max_rows=64"}));
//
// Sections of other processes are skipped. A section that no process has, an unknown key, a wrong
// type and a value out of range are INVALID_ARGUMENT with file, line and key; for a key the message
// adds "did you mean". For a nested struct, visitor.Group("batcher", batcher) reads
// [inference.batcher]. For a list of structs, visitor.Groups("table", tables) reads every
// [[replay.table]]; without any, the list stays as it was. A section must name its own knobs before
// its groups, as TOML requires. Not thread-safe.
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
  // For example "rows", "bytes" or "ms"; empty for a number without a unit.
  std::string_view unit = {};
  // Inclusive bounds of a number, or of each element of a list. Text and booleans ignore them.
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  // The values that a text may have; empty allows any.
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

  // Visits a nested table [section.name]; Options has Visit(Visitor&).
  template <typename Options>
  void Group(std::string_view name, Options& options) {
    if (Enter(name)) options.Visit(*this);
    Leave();
  }

  // Visits a list of tables [[section.name]]. Options has Visit(Visitor&), and each table of the
  // file starts from the values of `initial`.
  template <typename Options>
  void Groups(std::string_view name, std::vector<Options>& list,
              const Options& initial = Options()) {
    if (const std::optional<std::size_t> count = EnterList(name)) list.assign(*count, initial);
    for (std::size_t i = 0; i < list.size(); ++i) {
      EnterElement(i);
      list[i].Visit(*this);
      Leave();
    }
    LeaveList();
  }

  // Returns where the visited table begins, as "file:line", for errors that concern several knobs
  // of it; empty where it is read from no file.
  virtual std::string Place() const { return {}; }

 protected:
  virtual bool Enter(std::string_view name) = 0;
  // Ends an Enter or an EnterElement.
  virtual void Leave() = 0;
  // Returns the new number of tables in the list, or nothing when the list stays as it is.
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

  // `options` has Visit(Visitor&) and must outlive this object. `name` must be one of the known
  // sections.
  template <typename Options>
  void Add(std::string name, Options& options) {
    AddSection(std::move(name), [&options](Visitor& visitor) { options.Visit(visitor); });
  }

  // Reads `path` (empty: only the defaults apply), then applies `overrides` in order. An override
  // is "section.key=value" with the value in TOML syntax; a bare word is taken as text. A table of
  // a list is chosen by its index from 0 or by its `name`: "replay.table.0.max_size=64",
  // "replay.table.unrolls.max_size=64". The index after the last one adds a table. NOT_FOUND when
  // the file is missing.
  absl::Status Load(const std::string& path, const std::vector<std::string>& overrides);

  // The same for the text of a file that is called `source` in errors.
  absl::Status Parse(std::string_view text, const std::string& source,
                     const std::vector<std::string>& overrides);

  // Returns the effective configuration as TOML. A comment gives each knob's help, unit and range.
  std::string Print() const;
  // Returns the text for --help: every knob as section.key with its default, unit, range and help.
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
