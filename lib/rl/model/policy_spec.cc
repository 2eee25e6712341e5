// SPDX-License-Identifier: Apache-2.0
#include "rl/model/policy_spec.h"

#include <algorithm>
#include <array>
#include <iomanip>
#include <limits>
#include <set>
#include <sstream>
#include <string_view>

#include "platform/runtime/config_text.h"
#include "rl/model/candidate_mark.h"
#include "rl/model/convolution.h"
#include "rl/model/digest.h"

namespace shoal::model {
namespace {

constexpr double kMaxWidth = 65536;

std::int64_t IndexOf(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : found - names.begin();
}

// Parameters older than these knobs behave as with 0, false, an empty text or list, or no
// convolution, so these values must not change their digest.
bool IsLater(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kLater = {"action_values",
                                                              "body_size",
                                                              "candidate_marks",
                                                              "convolution",
                                                              "dueling",
                                                              "frame_shape",
                                                              "normalise_observations",
                                                              "quantile_cosines",
                                                              "similarity_field",
                                                              "similarity_size",
                                                              "twin_critics"};
  return std::find(kLater.begin(), kLater.end(), name) != kLater.end();
}

// Writes each knob as name=value, which is the form that the digest covers.
class SpecWriter final : public runtime::Visitor {
 public:
  SpecWriter() { out_ << std::setprecision(std::numeric_limits<double>::max_digits10); }
  void Knob(std::string_view name, std::int64_t& value, const runtime::KnobInfo&) override {
    if (name == "body_size") sees_body_size_ = value != 0;
    if (value == 0 && IsLater(name)) return;
    out_ << name << '=' << value << '\n';
  }
  void Knob(std::string_view name, double& value, const runtime::KnobInfo&) override {
    out_ << name << '=' << value << '\n';
  }
  void Knob(std::string_view name, bool& value, const runtime::KnobInfo&) override {
    if (!value && IsLater(name)) return;
    out_ << name << '=' << value << '\n';
  }
  void Knob(std::string_view name, std::string& value, const runtime::KnobInfo&) override {
    if (value.empty() && IsLater(name)) return;
    if (name == "body_field" && !sees_body_size_) return;
    if ((name == "convolution" || name == "split_values") && value == "none") return;
    out_ << name << '=' << value.size() << ':' << value << '\n';
  }
  void Knob(std::string_view name, std::vector<std::int64_t>& value,
            const runtime::KnobInfo&) override {
    if (value.empty() && IsLater(name)) return;
    out_ << name << '=';
    for (const std::int64_t element : value) out_ << element << ',';
    out_ << '\n';
  }
  void Knob(std::string_view name, std::vector<std::string>& value,
            const runtime::KnobInfo&) override {
    out_ << name << '=';
    for (const std::string& element : value) out_ << element.size() << ':' << element << ',';
    out_ << '\n';
  }
  std::string Text() const { return out_.str(); }

 protected:
  bool Enter(std::string_view) override { return true; }
  void Leave() override {}
  std::optional<std::size_t> EnterList(std::string_view) override { return std::nullopt; }
  void EnterElement(std::size_t) override {}
  void LeaveList() override {}

 private:
  std::ostringstream out_;
  // Whether body_size, which comes before body_field, is not 0.
  bool sees_body_size_ = false;
};

absl::Status CheckConvolution(const PolicySpec& spec) {
  if (!spec.has_convolution()) {
    if (spec.frame_shape.empty()) return absl::OkStatus();
    return runtime::InvalidArgument("policy.frame_shape: needs a policy.convolution");
  }
  if (spec.twin_critics) {
    return runtime::InvalidArgument(
        "policy.convolution: not with twin_critics, whose losses would both train it");
  }
  if (spec.normalise_observations) {
    return runtime::InvalidArgument(
        "policy.normalise_observations: not with a convolution, which sees each byte as a share of "
        "255");
  }
  SHOAL_ASSIGN_OR_RETURN(const Convolution convolution, ConvolutionOf(spec));
  const std::int64_t size = convolution.layers.front().in.size();
  if (size == spec.observation_size) return absl::OkStatus();
  return runtime::InvalidArgument(
      "policy.observation_size: " + std::to_string(spec.observation_size) +
      ", but frame_shape has " + std::to_string(size) + " numbers");
}

}  // namespace

void PolicySpec::Visit(runtime::Visitor& visitor) {
  visitor.Knob(
      "head", head,
      {.help = "candidates: a pointer into the catalog; discrete: one logit an action; box: "
               "a squashed Gaussian over continuous actions (algorithm sac); gaussian: one that is "
               "not squashed (ppo and its kin)",
       .choices = {"candidates", "discrete", "box", "gaussian"}});
  visitor.Knob("action_values", action_values,
               {.help = "the head's numbers are action values, and training acts "
                        "epsilon-greedily (algorithm dqn)"});
  visitor.Knob("dueling", dueling,
               {.help = "action values are the critic's value plus the head's advantages"});
  visitor.Knob("quantile_cosines", quantile_cosines,
               {.help = "the head states quantiles of returns, whose fractions enter as this many "
                        "cosines (algorithm iqn); 0: it states their mean",
                .min = 0,
                .max = kMaxWidth});
  visitor.Knob("split_values", split_values,
               {.help = "a second network states the values of intrinsic rewards, which are added "
                        "as they are, or as returns whose transforms both networks state",
                .choices = {"none", "sum", "transformed"}});
  visitor.Knob("twin_critics", twin_critics,
               {.help = "two networks of action values and a temperature are trained beside the "
                        "policy (algorithm sac)"});
  visitor.Knob("observation_size", observation_size,
               {.help = "numbers in the numeric observation", .min = 0, .max = kMaxWidth});
  visitor.Knob("convolution", convolution,
               {.help = "through which the network sees an observation that is a frame of bytes",
                .choices = {"none", "nature", "small", "impala"}});
  visitor.Knob("frame_shape", frame_shape,
               {.help = "with a convolution: height, width and channels of the frame",
                .min = 1,
                .max = kMaxWidth});
  visitor.Knob("normalise_observations", normalise_observations,
               {.help = "the network sees observations less their running mean, divided by their "
                        "running deviation"});
  visitor.Knob("action_count", action_count,
               {.help = "actions of a discrete head, or the dimension of a box",
                .min = 0,
                .max = kMaxWidth});
  visitor.Knob("content_fields", content_fields, {.help = "contents of a row, in order"});
  visitor.Knob("goal_field", goal_field, {.help = "the content that says what is wanted"});
  visitor.Knob("similarity_field", similarity_field,
               {.help = "the content that candidates are compared with; empty: goal_field"});
  visitor.Knob("request_field", request_field, {.help = "the content that is the last request"});
  visitor.Knob("embedding_size", embedding_size,
               {.help = "numbers in an embedding", .min = 1, .max = kMaxWidth});
  visitor.Knob("body_size", body_size,
               {.help = "numbers in the embedding of a response's body, where body_encoder makes "
                        "shorter ones; 0: as in all embeddings",
                .min = 0,
                .max = kMaxWidth});
  visitor.Knob("body_field", body_field, {.help = "the content that is a response's body"});
  visitor.Knob("projection_size", projection_size,
               {.help = "numbers in a projected embedding", .min = 1, .max = kMaxWidth});
  visitor.Knob("hidden", hidden, {.help = "widths of the torso", .min = 1, .max = kMaxWidth});
  visitor.Knob("value_hidden", value_hidden,
               {.help = "widths of the critic", .min = 1, .max = kMaxWidth});
  visitor.Knob("activation", activation, {.help = "between layers", .choices = {"tanh", "relu"}});
  visitor.Knob("core", core, {.help = "recurrent core", .choices = {"none", "gru", "lstm"}});
  visitor.Knob("core_size", core_size, {.help = "width of the core", .min = 1, .max = kMaxWidth});
  visitor.Knob("past_requests", past_requests,
               {.help = "the sum of the episode's earlier requests is a feature"});
  visitor.Knob("query_scale", query_scale,
               {.help = "factor on the product of query and key", .min = 0, .max = 1000});
  visitor.Knob("similarity_weight", similarity_weight,
               {.help = "weight of the similarity of goal and candidate", .min = 0, .max = 1000});
  visitor.Knob("similarity_size", similarity_size,
               {.help = "of an embedding's numbers, the first that the similarity sees; 0: all",
                .min = 0,
                .max = kMaxWidth});
  visitor.Knob("candidate_marks", candidate_marks,
               {.help = "kinds of marks that say what the episode knows of a candidate; 0: none",
                .min = 0,
                .max = static_cast<double>(kMaximumMarkKinds)});
  visitor.Knob("query_init", query_init,
               {.help = "factor on the initial weights of the head", .min = 0, .max = 100});
  visitor.Knob(
      "context_init", context_init,
      {.help = "factor on the initial projections of other contents", .min = 0, .max = 100});
  visitor.Knob("train_keys", train_keys, {.help = "learn the projection of the candidates"});
}

absl::Status PolicySpec::Validate() const {
  const auto bad = [](const std::string& what) {
    return runtime::InvalidArgument("policy." + what);
  };
  if (head != "candidates" && head != "discrete" && !has_box()) {
    return bad("head: unknown value " + head);
  }
  if (activation != "tanh" && activation != "relu") return bad("activation: unknown value");
  if (core != "none" && core != "gru" && core != "lstm") return bad("core: unknown value " + core);
  if (!has_candidates() && action_count < 1) return bad("action_count: at least 1 is needed");
  if (dueling && !action_values) return bad("dueling: needs action_values");
  if (quantile_cosines < 0) return bad("quantile_cosines: negative");
  if (quantile_cosines > 0 && (!action_values || dueling)) {
    return bad("quantile_cosines: needs action_values, and not with dueling");
  }
  if (split_values != "none" && split_values != "sum" && split_values != "transformed") {
    return bad("split_values: unknown value " + split_values);
  }
  if (has_split_values() && (!action_values || head != "discrete" || has_core() ||
                             has_convolution() || quantile_cosines > 0)) {
    return bad(
        "split_values: needs action_values and the head discrete, and not with a core, a "
        "convolution or quantile_cosines");
  }
  if (has_split_values() && observation_size < estimators::kSplitNumbers) {
    return bad("split_values: observation_size is " + std::to_string(observation_size) +
               ", and observations begin with " + std::to_string(estimators::kSplitNumbers) +
               " numbers that the network does not see");
  }
  if (head == "box" && !twin_critics) {
    return bad(
        "twin_critics: the head box needs them (algorithm sac); other algorithms of policies act "
        "in a box by the head gaussian");
  }
  if (has_gaussian() && twin_critics) {
    return bad("head: gaussian is not trained with twin_critics, whose head is box");
  }
  if (has_box() && action_values) {
    return bad("head: " + head + " is a distribution over a box, which has no action_values");
  }
  if (twin_critics && (has_candidates() || action_values || has_core())) {
    return bad("twin_critics: not with candidates, action_values or a core");
  }
  if (observation_size < 0) return bad("observation_size: negative");
  if (observation_size == 0 && content_fields.empty()) {
    return bad("observation_size: 0, and there are no content_fields: nothing to see");
  }
  SHOAL_RETURN_IF_ERROR(CheckConvolution(*this));
  if (observation_size == 0 && normalise_observations) {
    return bad("normalise_observations: observation_size is 0");
  }
  const std::set<std::string> names(content_fields.begin(), content_fields.end());
  if (names.size() != content_fields.size() || names.contains("")) {
    return bad("content_fields: an empty or repeated name");
  }
  if (has_candidates() && IndexOf(content_fields, goal_field) < 0) {
    return bad("goal_field: not one of content_fields");
  }
  if (has_candidates() && similarity_index() < 0) {
    return bad("similarity_field: not one of content_fields");
  }
  if (past_requests && request_index() < 0) {
    return bad("request_field: not one of content_fields, and past_requests needs it");
  }
  if (candidate_marks < 0 || candidate_marks > kMaximumMarkKinds) {
    return bad("candidate_marks: " + std::to_string(candidate_marks) + " is not in [0, " +
               std::to_string(kMaximumMarkKinds) + "]");
  }
  if (candidate_marks > 0 && !has_candidates()) {
    return bad("candidate_marks: a head without candidates has none to mark");
  }
  for (const std::int64_t width : {embedding_size, projection_size, core_size}) {
    if (width < 1) return bad("embedding_size, projection_size, core_size: at least 1");
  }
  if (similarity_size < 0 || similarity_size > embedding_size) {
    return bad("similarity_size: " + std::to_string(similarity_size) + ", embedding_size is " +
               std::to_string(embedding_size));
  }
  if (body_size < 0 || body_size > embedding_size) {
    return bad("body_size: " + std::to_string(body_size) + ", embedding_size is " +
               std::to_string(embedding_size));
  }
  if (body_size > 0 && IndexOf(content_fields, body_field) < 0) {
    return bad("body_field: not one of content_fields, and body_size needs it");
  }
  if (body_size > 0 &&
      (body_field == goal_field || body_field == request_field || body_field == similarity_field)) {
    return bad("body_field: " + body_field +
               " is also the goal, the request or compared with "
               "candidates, whose embeddings have all numbers");
  }
  for (const auto& widths : {hidden, value_hidden}) {
    for (const std::int64_t width : widths) {
      if (width < 1) return bad("hidden, value_hidden: widths are at least 1");
    }
  }
  return absl::OkStatus();
}

std::int64_t PolicySpec::similarity_index() const {
  return IndexOf(content_fields, similarity_field.empty() ? goal_field : similarity_field);
}
std::int64_t PolicySpec::request_index() const { return IndexOf(content_fields, request_field); }

std::string PolicySpec::Print() const {
  PolicySpec copy = *this;
  return runtime::PrintSection("policy", [&](runtime::Visitor& visitor) { copy.Visit(visitor); });
}

absl::StatusOr<PolicySpec> PolicySpec::Parse(std::string_view text, const std::string& source) {
  PolicySpec spec;
  runtime::Config config;
  config.Add("policy", spec);
  SHOAL_RETURN_IF_ERROR(config.Parse(text, source, {}));
  SHOAL_RETURN_IF_ERROR(runtime::Annotate(spec.Validate(), source));
  return spec;
}

std::string PolicySpec::Digest() const {
  PolicySpec copy = *this;
  SpecWriter writer;
  copy.Visit(writer);
  return HexSha256(writer.Text());
}

}  // namespace shoal::model
