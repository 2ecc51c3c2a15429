// SPDX-License-Identifier: MIT
// The library.
#ifndef ORI_H
#define ORI_H

#ifdef __cplusplus
extern "C" {
#endif

const char *ori_version(void);

#ifdef __cplusplus
}
#endif

#endif
