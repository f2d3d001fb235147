"""The instrument held against truths that it makes itself, and the certificate of what came out."""
