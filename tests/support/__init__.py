"""What tests, benchmarks and the gallery share."""
