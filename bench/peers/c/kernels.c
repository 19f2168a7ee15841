// The works of bench/ours/functions.go as a C programmer writes them, compiled by bench/run with
// gcc -O3 -march=native. Results are written into memory that the caller allocates anew.
#include <stddef.h>
#include <stdint.h>

// The border of a result is 0.
#define EDGES_2(T) \
    for (size_t j = 0; j < n; j++) r[j] = r[(n - 1) * n + j] = 0; \
    for (size_t i = 0; i < n; i++) r[i * n] = r[i * n + n - 1] = 0

#define WORKS(T) \
void mandelbrot_##T(const T *restrict x, const T *restrict y, int32_t *restrict r, size_t n) { \
    for (size_t i = 0; i < n; i++) \
        for (size_t j = 0; j < n; j++) { \
            T zr = 0, zi = 0; \
            int32_t k = 0; \
            for (; k < 200; k++) { \
                T rr = zr * zr, ii = zi * zi; \
                if (rr + ii > 4) break; \
                zi = 2 * zr * zi + y[i]; \
                zr = rr - ii + x[j]; \
            } \
            r[i * n + j] = k; \
        } \
} \
/* 16 points in step, which gcc turns into vectors: as fast as C gets here without intrinsics. */ \
void mandelbrot_blocks_##T(const T *restrict x, const T *restrict y, int32_t *restrict r, size_t n) { \
    enum { B = 16 }; \
    for (size_t i = 0; i < n; i++) \
        for (size_t j = 0; j < n; j += B) { \
            T zr[B] = {0}, zi[B] = {0}, c[B]; \
            T count[B] = {0}; \
            size_t m = n - j < B ? n - j : B; \
            for (size_t l = 0; l < B; l++) c[l] = x[j + (l < m ? l : 0)]; \
            for (int k = 0; k < 200; k++) { \
                T any = 0; \
                for (size_t l = 0; l < B; l++) { \
                    T rr = zr[l] * zr[l], ii = zi[l] * zi[l]; \
                    T in = rr + ii > 4 ? 0 : 1; \
                    T zn = 2 * zr[l] * zi[l] + y[i]; \
                    zi[l] = in != 0 ? zn : zi[l]; \
                    zr[l] = in != 0 ? rr - ii + c[l] : zr[l]; \
                    count[l] += in; \
                    any += in; \
                } \
                if (any == 0) break; \
            } \
            for (size_t l = 0; l < m; l++) r[i * n + j + l] = (int32_t)count[l]; \
        } \
} \
void jacobi_##T(const T *restrict a, T *restrict r, size_t n) { \
    EDGES_2(T); \
    for (size_t i = 1; i + 1 < n; i++) \
        for (size_t j = 1; j + 1 < n; j++) { \
            const T *p = a + i * n + j; \
            r[i * n + j] = (T)0.25 * (p[-n] + p[n] + p[-1] + p[1]); \
        } \
} \
void mean_9_##T(const T *restrict a, T *restrict r, size_t n) { \
    EDGES_2(T); \
    for (size_t i = 1; i + 1 < n; i++) \
        for (size_t j = 1; j + 1 < n; j++) { \
            const T *p = a + i * n + j; \
            r[i * n + j] = (p[-n - 1] + p[-n] + p[-n + 1] + p[-1] + p[0] + p[1] + p[n - 1] + p[n] + p[n + 1]) * (T)(1.0 / 9); \
        } \
} \
void seven_##T(const T *restrict a, T *restrict r, size_t n) { \
    size_t s = n * n; \
    for (size_t k = 0; k < s; k++) r[k] = r[(n - 1) * s + k] = 0; \
    for (size_t i = 1; i + 1 < n; i++) { \
        for (size_t j = 0; j < n; j++) r[i * s + j] = r[i * s + (n - 1) * n + j] = r[i * s + j * n] = r[i * s + j * n + n - 1] = 0; \
        for (size_t j = 1; j + 1 < n; j++) \
            for (size_t k = 1; k + 1 < n; k++) { \
                const T *p = a + i * s + j * n + k; \
                r[i * s + j * n + k] = (T)0.4 * p[0] + (T)0.1 * (p[-s] + p[s] + p[-n] + p[n] + p[-1] + p[1]); \
            } \
    } \
} \
void mean_31_##T(const T *restrict a, T *restrict r, size_t n) { \
    for (size_t i = 0; i < 15; i++) r[i] = r[n - 1 - i] = 0; \
    for (size_t i = 15; i + 15 < n; i++) { \
        T s = 0; \
        for (ptrdiff_t k = -15; k <= 15; k++) s += a[i + k]; \
        r[i] = s * (T)(1.0 / 31); \
    } \
}

WORKS(float)
WORKS(double)
