// SPDX-License-Identifier: Apache-2.0
#include "mockserver/resources/new_object.h"

#include "mockserver/messages/extended_info.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

using redfish::Property;
using redfish::PropertyKind;

class ObjectJudge {
 public:
  ObjectJudge(const redfish::Schema& schema, std::string_view odata_type)
      : schema_(schema), odata_type_(odata_type) {}

  void Visit(const Json& members, const std::string& parent) {
    for (const auto& [name, value] : members.items()) {
      if (name.find('@') != std::string::npos) continue;
      const std::string pointer = redfish::AppendPointer(parent, name);
      const Property* const property = schema_.Find(odata_type_, pointer);
      if (property == nullptr) {
        Complain("PropertyUnknown", {name}, pointer);
      } else {
        VisitValue(*property, value, pointer);
      }
    }
  }

  std::vector<Problem> problems;

 private:
  void VisitValue(const Property& property, const Json& value, const std::string& pointer) {
    if (property.kind == PropertyKind::kComplex && value.is_object()) return Visit(value, pointer);
    const bool is_array = property.kind == PropertyKind::kArray && value.is_array();
    const bool has_complex =
        is_array && property.element != nullptr && property.element->kind == PropertyKind::kComplex;
    if (!property.writable && !property.required_on_create && !has_complex) {
      return Complain("PropertyNotWritable", {property.name}, pointer);
    }
    if (!is_array || property.element == nullptr) return VisitLeaf(property, value, pointer);
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string at = redfish::AppendPointer(pointer, std::to_string(i));
      if (has_complex && value[i].is_object()) {
        Visit(value[i], at);
      } else {
        VisitLeaf(*property.element, value[i], at);
      }
    }
  }

  void VisitLeaf(const Property& property, const Json& value, const std::string& pointer) {
    const std::string_view misfit = redfish::Misfit(property, value);
    if (!misfit.empty()) Complain(misfit, {Excerpt(value, property.name), property.name}, pointer);
  }

  void Complain(std::string_view id, std::initializer_list<std::string> args,
                const std::string& pointer) {
    problems.push_back({pointer, ExtendedInfo(id, args, pointer)});
  }

  const redfish::Schema& schema_;
  const std::string_view odata_type_;
};

}  // namespace

std::vector<Problem> JudgeNewObject(const redfish::Schema& schema, std::string_view odata_type,
                                    const std::string& pointer, const Json& members) {
  ObjectJudge judge(schema, odata_type);
  judge.Visit(members, pointer);
  return std::move(judge.problems);
}

}  // namespace shoal::mockserver
