// SPDX-License-Identifier: MIT
#ifndef ORI_DEAD_STORES_H
#define ORI_DEAD_STORES_H

#include "phases/phase.h"

// Removes stores to local variables that are overwritten, or die with the function, before any read; returns progress.
// Part of OriStoreForwarding.
bool remove_dead_stores(Ctx *ctx, Fn *fn);

#endif
