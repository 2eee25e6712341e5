// SPDX-License-Identifier: Apache-2.0
// Consent to send announced requests: a whole line that is exactly "yes".
//
// A person types it. Another program or a file says it as the next line of standard input, where
// everything else is left unread, so that a shell's loop that reads hosts there loses none of them.
#pragma once

namespace shoal::cli {

// Asks on standard output and returns whether standard input consents.
bool SaysYes();

// Returns whether the next line of `input` is exactly "yes", and takes that line then. Of a pipe, a
// file or a socket nothing else is taken; of a terminal the line is. Waits for a line to come.
// False at the end, for a last line without an end, and for other kinds of input.
bool TakeYes(int input);

// Prints that nothing was sent, and what would change that.
void SayNothingWasSent();

}  // namespace shoal::cli
