"""How heavy the tails of deviations are: Student's distribution that fits them."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from railgauge.base.arrays import NDArray, np
from railgauge.stats import special

_Values: TypeAlias = "NDArray[np.float64]"
# Reciprocal degrees of freedom and scales that are tried; with the first of these degrees Student's
# distribution is the normal one.
_NORMAL = 1e-6
_RECIPROCALS = (_NORMAL, 0.04, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 1 / 3, 0.4, 0.5, 0.65, 0.8, 1.0)
_SCALES = tuple(0.4 + 0.05 * step for step in range(17))
# Of more values as many quantiles.
_MOST = 600


class Tails(NamedTuple):
    """Student's distribution around 0, with so many `degrees` of freedom, times `scale`."""

    degrees: float
    scale: float

    def p(self, deviations: _Values) -> _Values:
        """Return how often one is as far off as these (n,), either way."""
        p: _Values = 2 * special.stdtr(self.degrees, -np.abs(deviations) / self.scale)
        return p

    def half(self, level: float) -> float:
        """Return half of what holds a share `level` of them."""
        return self.scale * float(special.stdtrit(self.degrees, (1 + level) / 2))

    def likelihood(self, deviations: _Values) -> float:
        """Return the logarithm of the likelihood of these (n,)."""
        likelihoods = _likelihoods(np.abs(deviations), self.degrees, self.scale)
        return float(likelihoods.sum())


NORMAL = Tails(1 / _NORMAL, 1.0)


def fit_tails(deviations: _Values, penalty: float = 1.0, least: float = 3.0) -> Tails:
    """Return the most likely of Student's distributions for `deviations` (n,), n >= 3, around 0.

    They should be of the order of 1: scales from 0.4 to 1.2 are tried, and degrees of freedom from
    `least` (1 or more) up. Of the greatest it counts that it is beyond all others, and not by how
    much, as one value that is far off says nothing of how the rest spread (a likelihood that is
    censored: Lawless, Statistical Models and Methods for Lifetime Data, 2003, section 2.2). Heavy
    tails have to be more likely than normal ones by `penalty`, a logarithm: 1 for a parameter more
    (Akaike, IEEE Trans. Automatic Control 19, 1974).
    """
    ordered = np.sort(np.abs(deviations))
    if len(ordered) > _MOST:
        ordered = ordered[np.linspace(0, len(ordered) - 1, _MOST).round().astype(np.intp)]
    tried = 1 / np.array(_RECIPROCALS)
    degrees = tried[tried >= least * (1 - 1e-9)][:, None]
    scales = np.array(_SCALES)[None, :]
    likelihoods = _likelihoods(ordered[:-1], degrees[..., None], scales[..., None]).sum(axis=-1)
    beyond = special.stdtr(degrees, -ordered[-2] / scales)
    likelihoods += np.log(2 * np.maximum(beyond, np.finfo(np.float64).tiny))
    likelihoods[1:] -= penalty
    row, column = np.unravel_index(np.argmax(likelihoods), likelihoods.shape)
    return Tails(float(degrees[row, 0]), _SCALES[column])


def student_likelihoods(t: _Values, degrees: _Values) -> _Values:
    """Return the logarithms of Student's density at `t` (n,) with `degrees` (n,) of freedom."""
    return _likelihoods(t, degrees, 1.0)


def _likelihoods(deviations: _Values, degrees: _Values | float, scale: _Values | float) -> _Values:
    constant = special.gammaln((degrees + 1) / 2) - special.gammaln(degrees / 2)
    constant = constant - np.log(np.pi * np.asarray(degrees)) / 2 - np.log(scale)
    squares = (deviations / scale) ** 2
    likelihoods: _Values = constant - (degrees + 1) / 2 * np.log1p(squares / degrees)
    return likelihoods
