# What TestProgram assembles, for GNU as. The suffix .d32 asks for the long form
# that weft's encoder takes for every forward jump.
	.intel_syntax noprefix
	lea rdx, [rip+done]
	xor eax, eax
	jmp.d32 check
loop:
	vmovups ymm0, YMMWORD PTR [rsi+rax*4]
	vaddps ymm0, ymm0, YMMWORD PTR [rip+vec]
	vaddps zmm0, zmm0, DWORD PTR [rip+one]{1to16}
	vcmpps k1, zmm0, DWORD PTR [rip+one]{1to16}, 5
	vmulsd xmm1, xmm1, QWORD PTR [rip+pi]
	vpermt2d zmm0{k1}{z}, zmm2, ZMMWORD PTR [rip+vec+0x40]
	cmp DWORD PTR [rip+one], 0x12345678
	imul rbx, QWORD PTR [rip+pi], 0x12345
	add rax, 8
	je.d32 done
check:
	cmp rax, rcx
	jl loop
	.rept 30
	vaddps zmm0, zmm0, ZMMWORD PTR [rax+0x12345678]
	.endr
	jne loop
	jmp loop
	jmp rdx
done:
	vzeroupper
	ret
	.balign 64, 0xCC
vec:
	.byte 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	.byte 32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63
	.byte 64,65,66,67,68,69,70,71
	.balign 64, 0
pi:
	.quad 0x400921FB54442D18
one:
	.long 0x3F800000
