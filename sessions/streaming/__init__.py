"""Model answers while they arrive: bytes in, facts about text, thinking and calls out. No Django, network or clock."""
