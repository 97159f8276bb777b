"""What the documentation's examples start from."""
