"""What a paper says behind its tables: how it was measured, and on which machines."""
