#include "textflag.h"

// func thisGoroutine() unsafe.Pointer
TEXT ·thisGoroutine(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET
