// SPDX-License-Identifier: MIT
// Computes the results of ../run/settings.run.
#include "cuda_shim.h"
#include "launches.h"

#include "settings.cu"

LAUNCHES("settings", KERNEL(settings_filter), KERNEL(settings_transform), KERNEL(settings_checksum))
