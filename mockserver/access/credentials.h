// SPDX-License-Identifier: Apache-2.0
// Passwords of accounts, and what wrong ones lead to (DSP0266, "Accounts"; AccountService).
//
// Passwords are beside the tree, which shows null. A captured account logs in with
// InstanceOptions::account_password until its password is set; one that was made, or a slot that
// was filled, has none until then. AccountLockoutThreshold wrong ones lock an account for
// AccountLockoutDuration; AccountLockoutCounterResetAfter forgets earlier ones, unless
// AccountLockoutCounterResetEnabled is false: then a lock stays until someone clears Locked.
//
// Where a capture has no enabled account in the role Administrator, user "admin" with
// account_password is one, beside the tree.
//
// How goals see it, in the history:
//   "password"      uri: the account; {"UserName": u}: u's password was set. With the account's
//                   Enabled and not Locked: u can log in.
//   "login"         uri: the account; {"UserName": u, "PasswordChangeRequired": false}: a session
//                   was made (sessions.h); false after true: with the new password.
//   "login_failed"  uri: the account, or the account collection for a user that it lacks; {}.
// The old password is refused from "password" on: one that must be changed is not taken again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mockserver/service/editor.h"
#include "redfish/goals/predicate.h"

namespace shoal::mockserver {

using redfish::kPasswordRecord;
inline constexpr std::string_view kLoginFailedRecord = "login_failed";

struct Identity {
  std::string user;
  // None: the administrator beside the tree.
  std::optional<ResourceId> account;
};

std::optional<ResourceId> AccountService(const Editor& editor);
// AccountService.HTTPBasicAuth; empty when there is none.
std::string BasicAuthentication(const Editor& editor);
// The account that has this user name, which is not empty.
std::optional<ResourceId> FindAccount(const Editor& editor, std::string_view user);

// Who logs in with these; nothing when nobody does, which counts against the account.
std::optional<Identity> Verify(Editor& editor, const std::string& user,
                               const std::string& password);
// Enabled and not locked.
bool IsActive(const Editor& editor, ResourceId account);

// Whether it is the present password; what it is compared with does not show in the time it takes.
bool HasPassword(const Editor& editor, ResourceId account, std::string_view password);
void SetPassword(Editor& editor, ResourceId account, std::string password);
// The account has the password again that captured accounts start with.
void ForgetPassword(Editor& editor, ResourceId account);
// Nobody logs in with the account.
void ClearPassword(Editor& editor, ResourceId account);
// Forgets wrong passwords, and a lock that came of them.
void Unlock(Editor& editor, ResourceId account);

}  // namespace shoal::mockserver
