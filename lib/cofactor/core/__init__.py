"""What the four problems share: tables, moments, the latent-class model, EM, alignment."""
