"""Who may ask what of the API, besides whom the kernel knows: tokens, rates, the audit log, TLS."""
