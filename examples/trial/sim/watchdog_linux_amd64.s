// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// hold is a signal handler. It sleeps for the time of watchdogRest, and changes nothing.
TEXT hold<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ $35, AX // nanosleep
	LEAQ ·watchdogRest(SB), DI
	XORL SI, SI
	SYSCALL
	RET

TEXT comeBack<>(SB), NOSPLIT|NOFRAME, $0
	MOVQ $15, AX // rt_sigreturn
	SYSCALL
	INT $3

// func holder() (handler, restorer uintptr)
TEXT ·holder(SB), NOSPLIT, $0-16
	LEAQ hold<>(SB), AX
	MOVQ AX, handler+0(FP)
	LEAQ comeBack<>(SB), AX
	MOVQ AX, restorer+8(FP)
	RET
