"""The instrument compared with truths that it makes itself, and the certificate of the result."""
