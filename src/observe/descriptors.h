// Standard streams that are closed or no longer ours to hold.
#pragma once

namespace fullbore::observe {

// Puts /dev/null (close-on-exec) in place of a standard stream of this process.
void replace_by_null(int standard_fd);

// Occupies those of 0, 1, 2 that are closed, so that no file of ours gets their number and a message to stderr ends in
// a run folder. Close-on-exec: the command finds them closed, as without us.
void hold_closed_streams();

// Writes all of it; errors are nobody's business (stderr may be closed or full).
void write_to(int fd, const char* text, unsigned long size);

}  // namespace fullbore::observe
