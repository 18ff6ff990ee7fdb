/*
 * colo from C and C++: ring journals in shared memory, and strategies. README.md beside this folder goes from nothing to a running one.
 *
 * What all functions have in common:
 * - Zero or more is success. A negative value is a colo_code; colo_error() says which file or order it was and what to do, in the
 *   calling thread; colo_code_text() says what the code means.
 * - Pointers are null, where a function says that it may be, or good for the call. Nothing that is passed in is kept, except by
 *   colo_run, which keeps the strategy.
 * - Handles are made by the functions that take a pointer to a pointer, belong to one thread at a time, and are closed once.
 * - Structures of the library's own begin with struct_size: set it to sizeof before the first call. The messages (colo_quote and so on)
 *   do not: their layout is that of the journals.
 * - No panic leaves a function, and no C++ exception may enter one through a callback.
 */
#ifndef COLO_H
#define COLO_H

#include "colo_layout.h"
#include "colo_messages.h"
#include "colo_functions.h"
#include "colo_inline.h"

#endif
