#ifndef IFCOUNT_CFUZZER_H
#define IFCOUNT_CFUZZER_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/* libFuzzer as a library (https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library). */
int LLVMFuzzerRunDriver(int *argc, char *_Nullable *_Nonnull *_Nonnull argv,
                        int (*look)(const uint8_t *_Nullable bytes, size_t length));

#pragma clang assume_nonnull end

#endif
