"""Pictures for slides, drawn without a display."""
