# Derivatives by JAX in float64, for transform_test.go: python transforms.py > transforms.json
import json
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def numbers(n, k):  # what the test computes too
    return jnp.sin(jnp.arange(n, dtype=jnp.float64) * 1.7 + k)


x6, v6, w6 = numbers(6, 0.3), numbers(6, 1.1), numbers(6, 2.2)
a = numbers(24, 0.7).reshape(4, 6)
m = x6.reshape(2, 3)

functions = {
    "tanh_linear": (lambda x: jnp.tanh(a @ x), x6),
    "tall": (lambda x: jnp.outer(jnp.exp(x), jnp.sin(x)), x6),
    "gram": (lambda x: x @ x.T, m),
    "softmax": (lambda x: jax.nn.softmax(x, axis=1), m),
    "norm": (lambda x: (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 0.1), m),
    "cumprod": (lambda x: jnp.cumprod(x), x6),
    "sort": (lambda x: jnp.sort(x) * jnp.arange(6.0), x6),
    "windows": (lambda x: x[1:5:2] * x[::-3], x6),
    "put": (lambda x: (x * 2).at[1:3].set(x[3:5] ** 2), x6),
    "pick": (lambda x: x[jnp.array([4, 0, 4, 2])] ** 2, x6),
    "conv": (lambda x: jax.lax.conv(x.reshape(1, 1, 1, 6), a[:2, :3].reshape(2, 1, 1, 3), (1, 1), "VALID"), x6),
    "max": (lambda x: jnp.stack([x.max(), x.min(), x.prod()]), x6),
    "constant": (lambda x: a[0, :2], x6),
}
scalars = {
    "quadratic": (lambda x: jnp.sum(jnp.sin(x) * (numbers(36, 0.1).reshape(6, 6) @ x)), x6),
    "logsumexp": (lambda x: jax.nn.logsumexp(a @ x), x6),
    "mlp": (lambda x: jnp.sum(jnp.tanh(jnp.tanh(a @ x) @ a) ** 3), x6),
    "matrix": (lambda x: jnp.sum((x @ x.T) ** 2), m),
    "linear": (lambda x: jnp.sum(x * w6), x6),
}
out = {}
flat = lambda t: jnp.ravel(t).tolist()
for name, (f, x) in functions.items():
    v = v6.reshape(x.shape)
    y, dy = jax.jvp(f, (x,), (v,))
    u = numbers(y.size, 0.9).reshape(y.shape)
    out[name] = {
        "y": flat(y), "jvp": flat(dy), "vjp": flat(jax.vjp(f, x)[1](u)[0]), "jacobian": flat(jax.jacrev(f)(x)),
        "shape": list(jax.jacrev(f)(x).shape),
    }
for name, (f, x) in scalars.items():
    v = v6.reshape(x.shape)
    h = jax.hessian(f)(x)
    out[name] = {
        "y": flat(f(x)), "gradient": flat(jax.grad(f)(x)), "hessian": flat(h), "shape": list(h.shape),
        "hessianvector": flat(jax.jvp(jax.grad(f), (x,), (v,))[1]),
        "third": flat(jax.jacfwd(jax.hessian(f))(x)),
    }
print(json.dumps(out))
