"""Rules on tool calls that are still being written. Text is parsed, never executed."""
