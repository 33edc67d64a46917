"""What the programs accept, each in the version that was asked."""
