// SPDX-License-Identifier: Apache-2.0
#include "mockserver/access/credentials.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "mockserver/access/roles.h"
#include "mockserver/access/sessions.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr std::string_view kAdmin = "admin";

struct Failures {
  std::int64_t count = 0;
  std::chrono::milliseconds last{0};
};

struct Credentials {
  // Nothing means no password.
  std::map<ResourceId, std::optional<std::string>> passwords;
  std::map<ResourceId, Failures> failures;
  // Holds locked accounts, also those without the property Locked.
  std::set<ResourceId> locked;
};

std::string LockoutTimer(const Editor& editor, ResourceId account) {
  return "lockout:" + editor.Uri(account);
}

bool IsLocked(const Editor& editor, ResourceId account) {
  const auto* const notes = editor.FindNotes<Credentials>();
  return editor.IsTrue(account, "/Locked") || (notes != nullptr && notes->locked.contains(account));
}

bool AreEqual(std::string_view expected, std::string_view given) {
  unsigned difference = expected.size() == given.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char other = expected.empty() ? '\0' : expected[i % expected.size()];
    difference |= static_cast<unsigned char>(other ^ given[i]);
  }
  return difference == 0;
}

bool HasAdministrator(const World& world) {
  return std::any_of(world.resources().begin(), world.resources().end(),
                     [](const World::Resource& resource) {
                       const auto enabled = resource.json->find("Enabled");
                       return resource.odata_type.starts_with("#ManagerAccount.") &&
                              enabled != resource.json->end() && *enabled == Json(true) &&
                              !redfish::TextAt(*resource.json, "UserName").empty() &&
                              redfish::TextAt(*resource.json, "RoleId") == kAdministrator;
                     });
}

void Lock(Editor& editor, ResourceId account, std::optional<std::chrono::seconds> duration) {
  editor.Notes<Credentials>().locked.insert(account);
  editor.SetPresent(account, "/Locked", true);
  if (duration) {
    editor.SetTimer(LockoutTimer(editor, account), *duration,
                    [account](Editor& later) { Unlock(later, account); });
  }
  EndSessionsOf(editor, editor.Text(account, "/UserName"), kAccountChanged);
}

void CountFailure(Editor& editor, ResourceId account) {
  const auto service = AccountService(editor);
  if (!service || IsLocked(editor, account)) return;
  const std::int64_t threshold = editor.Integer(*service, "/AccountLockoutThreshold").value_or(0);
  const Json* const resets = editor.Read(*service, "/AccountLockoutCounterResetEnabled");
  const bool until_cleared = resets != nullptr && *resets == Json(false);
  std::optional<std::chrono::seconds> duration;
  std::optional<std::chrono::seconds> window;
  if (!until_cleared) {
    duration = editor.Seconds(*service, "/AccountLockoutDuration");
    window = editor.Seconds(*service, "/AccountLockoutCounterResetAfter");
  }
  if (threshold <= 0 || (duration && duration->count() == 0)) return;
  Failures& failures = editor.Notes<Credentials>().failures[account];
  const bool is_over = window && window->count() > 0 && editor.now() - failures.last >= *window;
  failures = {is_over ? 1 : failures.count + 1, editor.now()};
  if (failures.count >= threshold) Lock(editor, account, duration);
}

std::optional<ResourceId> Accounts(const Editor& editor) {
  const auto service = AccountService(editor);
  return service ? editor.Linked(*service, "/Accounts") : std::nullopt;
}

void Fail(Editor& editor, std::optional<ResourceId> account) {
  const auto about = account ? account : Accounts(editor);
  if (about) editor.Record(kLoginFailedRecord, *about, Json::object());
  if (account) CountFailure(editor, *account);
}

}  // namespace

std::optional<ResourceId> AccountService(const Editor& editor) {
  const auto root = editor.Find(redfish::kServiceRoot);
  return root ? editor.Linked(*root, "/AccountService") : std::nullopt;
}

std::string BasicAuthentication(const Editor& editor) {
  const auto service = AccountService(editor);
  return service ? editor.Text(*service, "/HTTPBasicAuth") : std::string();
}

std::optional<ResourceId> FindAccount(const Editor& editor, std::string_view user) {
  const auto accounts = Accounts(editor);
  if (!accounts || user.empty()) return std::nullopt;
  for (const ResourceId account : editor.Members(*accounts)) {
    if (editor.Text(account, "/UserName") == user) return account;
  }
  return std::nullopt;
}

std::optional<Identity> Verify(Editor& editor, const std::string& user,
                               const std::string& password) {
  const auto account = FindAccount(editor, user);
  const bool is_right = account
                            ? HasPassword(editor, *account, password) && IsActive(editor, *account)
                            : user == kAdmin && !HasAdministrator(editor.world()) &&
                                  AreEqual(editor.options().account_password, password);
  if (!is_right) {
    Fail(editor, account);
    return std::nullopt;
  }
  if (account && editor.FindNotes<Credentials>() != nullptr) {
    editor.Notes<Credentials>().failures.erase(*account);
  }
  return Identity{user, account};
}

bool IsActive(const Editor& editor, ResourceId account) {
  const Json* const enabled = editor.Read(account, "/Enabled");
  return (enabled == nullptr || *enabled != Json(false)) && !IsLocked(editor, account);
}

bool HasPassword(const Editor& editor, ResourceId account, std::string_view password) {
  const auto* const notes = editor.FindNotes<Credentials>();
  if (notes != nullptr) {
    const auto found = notes->passwords.find(account);
    if (found != notes->passwords.end()) {
      return found->second && AreEqual(*found->second, password);
    }
  }
  const bool is_captured = account < editor.world().resources().size();
  return is_captured && AreEqual(editor.options().account_password, password);
}

void SetPassword(Editor& editor, ResourceId account, std::string password) {
  editor.Notes<Credentials>().passwords[account] = std::move(password);
  editor.Record(kPasswordRecord, account, {{"UserName", editor.Text(account, "/UserName")}});
}

void ClearPassword(Editor& editor, ResourceId account) {
  editor.Notes<Credentials>().passwords[account] = std::nullopt;
}

void ForgetPassword(Editor& editor, ResourceId account) {
  editor.Notes<Credentials>().passwords.erase(account);
}

void Unlock(Editor& editor, ResourceId account) {
  auto& notes = editor.Notes<Credentials>();
  notes.failures.erase(account);
  notes.locked.erase(account);
  editor.CancelTimer(LockoutTimer(editor, account));
  if (editor.Find(editor.Uri(account)) == account) editor.SetPresent(account, "/Locked", false);
}

}  // namespace shoal::mockserver
