"""Figures: what they show, and gnuplot, which draws them."""
