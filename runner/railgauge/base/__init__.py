"""What everything may use: errors, units, numbers, characters, clocks, small tools."""
