// SPDX-License-Identifier: Apache-2.0
#include "learner/asynchronous/gradient_note.h"

#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

namespace shoal::learner {
namespace {

using nlohmann::json;

// Calls `visit` with the name and the place of every number of the note.
template <typename Note, typename Visit>
void VisitNumbers(Note& note, const Visit& visit) {
  auto& report = note.report;
  visit("rows", report.rows);
  visit("policy_loss", report.policy_loss);
  visit("value_loss", report.value_loss);
  visit("entropy", report.entropy);
  visit("approximate_kl", report.approximate_kl);
  visit("effective_sample_size", report.effective_sample_size);
  visit("explained_variance", report.explained_variance);
  visit("max_absolute_value", report.max_absolute_value);
  visit("mean_return", report.mean_return);
  visit("mean_advantage", report.mean_advantage);
  visit("mean_staleness", report.mean_staleness);
  visit("max_staleness", report.max_staleness);
  visit("update_epochs", report.update_epochs);
  visit("estimate_seconds", report.estimate_seconds);
  visit("gradient_seconds", report.gradient_seconds);
  visit("reduce_seconds", report.reduce_seconds);
  visit("unrolls", note.unrolls);
  visit("mean_use", note.mean_use);
  visit("episodes", note.episodes.episodes);
  visit("episode_return", note.episodes.mean_return);
  visit("episode_length", note.episodes.mean_length);
  visit("lost_episodes", note.episodes.lost);
  visit("accepted", note.counts.accepted);
  visit("repeated", note.counts.repeated);
  visit("stale", note.counts.stale);
  visit("condemned", note.counts.condemned);
  visit("invalid", note.counts.invalid);
  visit("cut_short", note.counts.cut_short);
  visit("inserted_steps", note.inserted_steps);
  visit("waiting_seconds", note.waiting_seconds);
  visit("decoding_seconds", note.decoding_seconds);
  visit("updating_seconds", note.updating_seconds);
  visit("exchanging_seconds", note.exchanging_seconds);
  visit("target_number", note.target_number);
}

std::string ToBytes(const json& value) {
  std::string bytes;
  json::to_cbor(value, bytes);
  return bytes;
}

absl::Status Missing(const std::string& name) {
  return runtime::InvalidArgument("note of a gradient: " + name +
                                  " is missing, of another type, or negative");
}

// Reads numbers and texts of a CBOR map; what is wrong first is its status.
class Fields {
 public:
  explicit Fields(const std::string& bytes)
      : map_(json::from_cbor(bytes, /*strict=*/true, /*allow_exceptions=*/false)) {
    if (!map_.is_object()) status_ = Missing("all of it");
  }

  const json* Find(const std::string& name, bool (*fits)(const json&)) {
    if (!status_.ok()) return nullptr;
    const auto found = map_.find(name);
    if (found != map_.end() && fits(*found)) return &*found;
    status_ = Missing(name);
    return nullptr;
  }
  template <typename Number>
  void Read(const std::string& name, Number& number) {
    const auto fits = [](const json& value) {
      if constexpr (std::is_floating_point_v<Number>) {
        return value.is_number();
      } else {  // All whole numbers are counts.
        return value.is_number_unsigned() &&
               std::in_range<Number>(value.template get<std::uint64_t>());
      }
    };
    if (const json* const value = Find(name, fits)) value->get_to(number);
  }
  void Fail(const std::string& name) {
    if (status_.ok()) status_ = Missing(name);
  }
  const absl::Status& status() const { return status_; }

 private:
  const json map_;
  absl::Status status_;
};

bool IsText(const json& value) { return value.is_string(); }
bool IsList(const json& value) { return value.is_array(); }

bool AreNumbers(const json& list) {
  for (const json& number : list) {
    if (!number.is_number_unsigned()) return false;
  }
  return true;
}

void ReadMetrics(const json& list, Fields& fields, GradientNote& note) {
  for (const json& pair : list) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number()) {
      fields.Fail("metrics");
      return;
    }
    note.report.algorithm_metrics.emplace_back(pair[0].get<std::string>(), pair[1].get<double>());
  }
}

void ReadUses(const json& list, Fields& fields, GradientNote& note) {
  for (const json& use : list) {
    if (!use.is_array() || use.size() != 4 || !AreNumbers(use) ||
        !std::in_range<std::uint32_t>(use[3].get<std::uint64_t>())) {
      fields.Fail("uses");
      return;
    }
    note.uses.push_back({.id = {use[0].get<std::uint64_t>(), use[1].get<std::uint64_t>(),
                                use[2].get<std::uint64_t>()},
                         .use = use[3].get<std::uint32_t>()});
  }
}

void ReadStaleness(const json& list, Fields& fields, GradientNote& note) {
  auto& rows = note.report.staleness_rows;
  if (list.size() != rows.size()) return fields.Fail("staleness_rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!list[i].is_number()) return fields.Fail("staleness_rows");
    rows[i] = list[i].get<double>();
  }
}

}  // namespace

std::string Encode(const GradientNote& note) {
  json value = {{"encoder_version", note.encoder_version},
                {"staleness_rows", note.report.staleness_rows},
                {"metrics", json::array()},
                {"uses", json::array()}};
  VisitNumbers(note, [&value](const char* name, const auto& number) { value[name] = number; });
  for (const auto& [name, number] : note.report.algorithm_metrics) {
    value["metrics"].push_back({name, number});
  }
  for (const UnrollUse& one : note.uses) {
    value["uses"].push_back({one.id.environment_id, one.id.incarnation, one.id.first_sequence,
                             static_cast<std::uint64_t>(one.use)});
  }
  return ToBytes(value);
}

std::string Encode(const ParameterNote& note) {
  return ToBytes({{"step", note.step}, {"target_number", note.target_number}});
}

absl::StatusOr<GradientNote> DecodeGradientNote(const std::string& bytes) {
  Fields fields(bytes);
  GradientNote note;
  VisitNumbers(note, [&fields](const char* name, auto& number) { fields.Read(name, number); });
  if (const json* const text = fields.Find("encoder_version", IsText)) {
    note.encoder_version = text->get<std::string>();
  }
  if (const json* const list = fields.Find("metrics", IsList)) ReadMetrics(*list, fields, note);
  if (const json* const list = fields.Find("uses", IsList)) ReadUses(*list, fields, note);
  if (const json* const list = fields.Find("staleness_rows", IsList)) {
    ReadStaleness(*list, fields, note);
  }
  SHOAL_RETURN_IF_ERROR(fields.status());
  return note;
}

absl::StatusOr<ParameterNote> DecodeParameterNote(const std::string& bytes) {
  Fields fields(bytes);
  ParameterNote note;
  fields.Read("step", note.step);
  fields.Read("target_number", note.target_number);
  SHOAL_RETURN_IF_ERROR(fields.status());
  return note;
}

}  // namespace shoal::learner
