"""What predictors say of their models (`confidence`)."""
