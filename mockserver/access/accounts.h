// SPDX-License-Identifier: Apache-2.0
// Accounts (DSP0266, "Accounts"; ManagerAccount): made by POST and removed by DELETE, or, where a
// capture has slots, by PATCH of an empty one and by emptying its UserName.
//
// POST: UserName, Password and RoleId are required. 400 for what is missing or does not fit, a role
// that is not there, a password shorter or longer than AccountService takes; 409 for a user name
// that is taken. The account looks like the service's others, and its last segment is the user name
// where theirs are.
//
// PATCH, beyond the schema: Password is kept beside the tree and ends PasswordChangeRequired; one
// that must be changed is not taken again. Locked can only be cleared. Links.Role follows RoleId. A
// slot is emptied with "UserName": "" and is then as empty ones are; Enabled and Password need a
// name. Answers with the account, or 204.
//
// ManagerAccount.ChangePassword: as that PATCH of Password, and SessionAccountPassword must be the
// present password of who asks, or where nobody says who asks, of the account (400).
//
// A user cannot disable, demote, empty or remove their own account when nobody else is an enabled
// Administrator: AccountNotModified, ResourceCannotBeDeleted (403). Sessions end as sessions.h
// says. With AccountService.ServiceEnabled false everything here is 503.
#pragma once

#include "mockserver/service/handler.h"

namespace shoal::mockserver {

void AddAccounts(HandlerTable& handlers);

}  // namespace shoal::mockserver
