// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// hold is a signal handler. It sleeps for the time of watchdogRest, and changes nothing.
TEXT hold<>(SB), NOSPLIT|NOFRAME, $0
	MOVD $·watchdogRest(SB), R0
	MOVD $0, R1
	MOVD $101, R8 // nanosleep
	SVC
	RET

TEXT comeBack<>(SB), NOSPLIT|NOFRAME, $0
	MOVD $139, R8 // rt_sigreturn
	SVC
	BRK

// func holder() (handler, restorer uintptr)
TEXT ·holder(SB), NOSPLIT, $0-16
	MOVD $hold<>(SB), R0
	MOVD R0, handler+0(FP)
	MOVD $comeBack<>(SB), R0
	MOVD R0, restorer+8(FP)
	RET
