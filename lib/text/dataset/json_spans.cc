// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/json_spans.h"

#include <algorithm>

#include "redfish/capture/uri.h"

namespace shoal::dataset {
namespace {

// The name of a member; an element or the whole text has none.
struct MemberName {
  std::string_view text;
  std::size_t begin = 0;
};

class SpanScanner {
 public:
  explicit SpanScanner(std::string_view json) : json_(json) {}

  std::vector<TextSpan> Scan() {
    Value({});
    std::sort(spans_.begin(), spans_.end());
    return std::move(spans_);
  }

 private:
  void Value(const MemberName& name) {
    const std::size_t begin = at_;
    switch (Here()) {
      case '{':
        Members();
        Add(SpanKind::kObject, begin, at_);
        if (name.text == "Actions") Add(SpanKind::kActions, name.begin, at_);
        break;
      case '[':
        Elements();
        Add(SpanKind::kArray, begin, at_);
        if (name.text.ends_with("AllowableValues")) Add(SpanKind::kAllowableValues, begin, at_);
        break;
      case '"':
        Text(name.text);
        break;
      default:
        at_ = std::min(json_.find_first_of(",]}", at_), json_.size());
    }
  }

  void Members() {
    for (++at_; at_ < json_.size() && Here() != '}';) {
      if (Here() == ',') ++at_;
      const std::size_t begin = at_;
      const std::string_view name = String();
      ++at_;
      Value({name, begin});
    }
    ++at_;
  }

  void Elements() {
    for (++at_; at_ < json_.size() && Here() != ']';) {
      if (Here() == ',') ++at_;
      Value({});
    }
    ++at_;
  }

  void Text(std::string_view name) {
    const std::size_t begin = at_ + 1;
    const std::string_view text = String();
    const std::size_t end = begin + text.size();
    if (name == "@odata.id") Add(SpanKind::kODataId, begin, end);
    if (name == "target") Add(SpanKind::kTarget, begin, end);
    if (redfish::IsAtOrBelow(text, redfish::kServiceRoot)) {
      Add(SpanKind::kApiPrefix, begin, begin + redfish::kServiceRoot.size());
    }
  }

  // Returns the text between the quotes, and moves past the closing one.
  std::string_view String() {
    const std::size_t begin = ++at_;
    while (at_ < json_.size() && Here() != '"') at_ += Here() == '\\' ? 2 : 1;
    return json_.substr(begin, at_++ - begin);
  }

  // Returns 0 at the end.
  char Here() const { return at_ < json_.size() ? json_[at_] : '\0'; }

  void Add(SpanKind kind, std::size_t begin, std::size_t end) {
    if (begin < end) spans_.push_back({kind, begin, end});
  }

  const std::string_view json_;
  std::size_t at_ = 0;
  std::vector<TextSpan> spans_;
};

}  // namespace

std::vector<TextSpan> FindTextSpans(std::string_view json) { return SpanScanner(json).Scan(); }

}  // namespace shoal::dataset
