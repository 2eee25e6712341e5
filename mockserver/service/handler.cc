// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/handler.h"

#include "mockserver/messages/extended_info.h"

namespace shoal::mockserver {
namespace {

// Converts "#Session.v1_1_0.Session" to "Session".
std::string_view TypeOf(std::string_view odata_type) {
  if (odata_type.starts_with('#')) odata_type.remove_prefix(1);
  return odata_type.substr(0, odata_type.find('.'));
}

}  // namespace

const HandlerTable& HandlerTable::None() {
  static const HandlerTable kTable;
  return kTable;
}

void HandlerTable::OnAction(std::string action, Handler handler) {
  actions_.insert_or_assign(std::move(action), std::move(handler));
}

void HandlerTable::On(Method method, std::string type, Handler handler) {
  types_.insert_or_assign({std::move(type), method}, std::move(handler));
}

void HandlerTable::OnElsewhere(ElsewhereHandler handler) {
  elsewhere_.push_back(std::move(handler));
}

void HandlerTable::OnBoot(BootStage stage, BootHook hook) {
  boot_hooks_[stage].push_back(std::move(hook));
}

const Handler* HandlerTable::FindAction(std::string_view action) const {
  const auto found = actions_.find(action);
  return found == actions_.end() ? nullptr : &found->second;
}

const Handler* HandlerTable::Find(Method method, std::string_view odata_type) const {
  const auto found = types_.find(std::pair(std::string(TypeOf(odata_type)), method));
  return found == types_.end() ? nullptr : &found->second;
}

std::optional<Response> HandlerTable::AnswerElsewhere(Editor& editor, const Request& request,
                                                      const Principal* principal,
                                                      std::string_view uri) const {
  for (const ElsewhereHandler& handler : elsewhere_) {
    if (std::optional<Response> response = handler(editor, request, principal, uri))
      return response;
  }
  return std::nullopt;
}

void HandlerTable::RunBootHooks(BootStage stage, Editor& editor, ResourceId system,
                                Json& boot) const {
  const auto hooks = boot_hooks_.find(stage);
  if (hooks == boot_hooks_.end()) return;
  for (const BootHook& hook : hooks->second) hook(editor, system, boot);
}

Response Done(const Editor& editor) {
  return editor.world().options().style == WorldOptions::Style::kNoContent ? Response{.status = 204}
                                                                           : SuccessResponse();
}

Response Created(Editor& editor, ResourceId id) {
  Response response = editor.Representation(id);
  response.status = 201;
  response.location = editor.Uri(id);
  return response;
}

}  // namespace shoal::mockserver
