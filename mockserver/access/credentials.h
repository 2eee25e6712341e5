// SPDX-License-Identifier: Apache-2.0
// Passwords of accounts, and the effect of wrong ones (DSP0266, "Accounts"; AccountService).
//
// Passwords are kept beside the tree, which shows null. A captured account logs in with
// InstanceOptions::account_password until its password is set; a new account, or a slot that was
// filled, has no password until then. AccountLockoutThreshold wrong passwords lock an account for
// AccountLockoutDuration. AccountLockoutCounterResetAfter resets the counter, unless
// AccountLockoutCounterResetEnabled is false: then the lock stays until a client clears Locked.
//
// Where a capture has no enabled account in the role Administrator, the user "admin" with
// account_password is an administrator beside the tree.
//
// Goals observe passwords through the history:
//   "password"      uri: the account; {"UserName": u}: u's password was set. If the account is also
//                   Enabled and not Locked, u can log in.
//   "login"         uri: the account; {"UserName": u, "PasswordChangeRequired": false}: a session
//                   was created (sessions.h). After an earlier true, false means that the new
//                   password was used.
//   "login_failed"  uri: the account, or the account collection for an unknown user; {}.
// The old password is refused from "password" on, because a password that must be changed is not
// accepted again.
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
  // Nothing for the administrator beside the tree.
  std::optional<ResourceId> account;
};

std::optional<ResourceId> AccountService(const Editor& editor);
// Returns AccountService.HTTPBasicAuth, or an empty text when there is none.
std::string BasicAuthentication(const Editor& editor);
// Returns the account with this user name, or nothing. An empty name matches no account.
std::optional<ResourceId> FindAccount(const Editor& editor, std::string_view user);

// Returns the user who logs in with these credentials, or nothing when they are wrong, which counts
// against the account.
std::optional<Identity> Verify(Editor& editor, const std::string& user,
                               const std::string& password);
// Returns whether the account is enabled and not locked.
bool IsActive(const Editor& editor, ResourceId account);

// Returns whether `password` is the present one. The comparison takes the same time whatever the
// present password is.
bool HasPassword(const Editor& editor, ResourceId account, std::string_view password);
void SetPassword(Editor& editor, ResourceId account, std::string password);
// Gives the account the initial password of captured accounts again.
void ForgetPassword(Editor& editor, ResourceId account);
// Removes the password, so that nobody can log in with the account.
void ClearPassword(Editor& editor, ResourceId account);
// Resets the counter of wrong passwords and removes the lock.
void Unlock(Editor& editor, ResourceId account);

}  // namespace shoal::mockserver
