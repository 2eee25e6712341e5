// SPDX-License-Identifier: Apache-2.0
// Accounts (DSP0266, "Accounts"; ManagerAccount). They are created by POST and removed by DELETE.
// Where a capture has account slots, an account is created by PATCH of an empty slot and removed by
// emptying its UserName.
//
// POST: UserName, Password and RoleId are required. The answer is 400 for a member that is missing
// or does not fit, for a role that does not exist, and for a password shorter or longer than
// AccountService allows; it is 409 for a user name that is taken. The account looks like the
// service's other accounts, and its last URI segment is the user name where theirs are.
//
// PATCH, beyond the schema: Password is kept beside the tree and clears PasswordChangeRequired; a
// password that must be changed is not accepted again. Locked can only be cleared. Links.Role
// follows RoleId. "UserName": "" empties a slot, which then looks like the captured empty ones;
// Enabled and Password need a user name. The answer is the account, or 204.
//
// ManagerAccount.ChangePassword acts as that PATCH of Password. SessionAccountPassword must be the
// present password of the user who asks or, where no user is identified, of the account (otherwise
// 400).
//
// A user cannot disable, demote, empty or remove their own account when nobody else is an enabled
// Administrator: the answer has AccountNotModified or ResourceCannotBeDeleted (403). sessions.h
// says when sessions end. With AccountService.ServiceEnabled false, all these requests are 503.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddAccounts(HandlerTable& handlers);

}  // namespace shoal::mockserver
