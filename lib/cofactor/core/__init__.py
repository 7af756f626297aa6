"""Code shared by the four problems: tables, moments, the latent-class model, EM, alignment."""
