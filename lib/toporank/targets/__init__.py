"""What is known of a target beside its decoys: labels from its native, and the sequences of its chains."""
